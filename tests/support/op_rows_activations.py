"""Rows of the op table: activations, dropout, losses of single elements and of margins, distances, padding."""

import itertools

import numpy as np
import op_references as ref
import op_samples as samples
from op_case import BOOL, COMPLEX, FLOATS, HALF, INTS, NONZERO, OpInfo, S
from op_promotion import promote
from op_samples import calls

from autograd_cy._core.arrays.dtypes import kind_of

F = "nn.functional."
FLOAT = {"dtypes": FLOATS, "forward": HALF}
MORE = {"dtypes": FLOATS + COMPLEX, "forward": INTS + HALF, "result": "float"}
ANY = {"dtypes": FLOATS + COMPLEX, "forward": BOOL + INTS + HALF, "result": "first"}
UNIT = ((0.1, 0.9),)
# off the kinks at -3, -1, -0.5, 0, 0.5, 1, 3, 6
SMOOTH = ((-2.9, -1.1), (-0.9, -0.6), (-0.4, -0.1), (0.1, 0.4), (0.6, 0.9), (1.1, 2.9))


def activation(name, reference, generate=samples.unary, **columns):
    return OpInfo(F + name, reference, generate, **{"domain": SMOOTH, "result": "first", "method": False} | FLOAT | columns)


def softplus(x):
    return np.logaddexp(0, x)


def elu(x, alpha=1.0, scale=1.0):
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def celu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x / alpha))


def prelu(x, weight):
    if weight.size > 1 and x.ndim > 1:
        weight = weight.reshape((-1,) + (1,) * (x.ndim - 2))
    return np.where(x > 0, x, x * weight)


def glu(x, dim=-1):
    a, b = np.split(x, 2, dim)
    return a / (1 + np.exp(-b))


def softmin(x, dim):
    return ref.softmax(-x, dim)


def real_float(args):
    """The type of a length."""
    dtype = promote(*args, 1.0)
    return np.empty(0, dtype).real.dtype


LENGTHS = {"dtypes": FLOATS + COMPLEX, "forward": INTS + HALF, "result": real_float}

ACTIVATIONS = [
    activation("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    activation("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, extremes=samples.finite_extremes),
    activation("hardtanh", lambda x, low=-1, high=1: np.clip(x, low, high),
               calls(([2, 3],), ([4], -2, 2), ([], 0.0, 0.5)), forward=HALF + INTS),
    activation("relu6", lambda x: np.clip(x, 0, 6), forward=HALF + INTS),
    activation("threshold", lambda x, t, value: np.where(x <= t, value, x),
               calls(([2, 3], 1, 20), ([], -1, 3), ([0, 2], 1, 2)), forward=HALF + INTS),
    activation("softshrink", lambda x, b=0.5: np.where(abs(x) > b, x - np.sign(x) * b, 0),
               calls(([2, 3],), ([4], 1.0), ([],))),
    OpInfo("hardshrink", lambda x, b=0.5: np.where(abs(x) > b, x, 0), calls(([2, 3],), ([4], 1.0), ([],)),
           domain=SMOOTH, result="first", **FLOAT),
    activation("elu", elu, calls(([2, 3],), ([4], 0.5), ([],)), extremes=samples.finite_extremes),
    activation("selu", lambda x: elu(x, 1.6732632423543772, 1.0507009873554805)),
    activation("celu", celu, calls(([2, 3],), ([4], 0.5), ([],))),
    activation("softplus", lambda x, beta=1, limit=20: np.where(x * beta > limit, x, softplus(x * beta) / beta),
               calls(([2, 3],), ([4], 2, 3), ([],)), domain=((-3.0, 1.4), (1.6, 3.0)), extremes=samples.finite_extremes),
    activation("logsigmoid", lambda x: -softplus(-x), extremes=samples.finite_extremes),
    activation("mish", lambda x: x * np.tanh(softplus(x)), extremes=samples.finite_extremes),
    activation("softsign", lambda x: x / (1 + abs(x)), domain=NONZERO, **MORE),
    activation("tanhshrink", lambda x: x - np.tanh(x), **MORE),
    activation("softmin", softmin, calls(([2, 3], 1), ([4], 0))),
    activation("glu", glu, calls(([4],), ([2, 3], 0), ([2, 4],))),
    OpInfo("prelu", prelu, calls(([2, 3], [3]), ([2, 3, 2], [3]), ([4], [1]), ([2, 3], [])), domain=SMOOTH, result="first",
           **FLOAT),
    activation("rrelu", lambda x, low=1 / 8, high=1 / 3: np.where(x > 0, x, x * (low + high) / 2),
               calls(([2, 3],), ([4], 0.1, 0.3), ([],))),
]


# dropout, of which nothing is random

def unchanged(x, *flags):
    return x


def dropping(path, call):
    return OpInfo(path, unchanged, calls(([2, 3, 2], *call), ([4, 1], *call)), method=False, **ANY)


DROPOUT = [dropping(name, (0.5, False)) for name in (
    "dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", f"{F}dropout", f"{F}alpha_dropout",
    f"{F}feature_alpha_dropout")]
DROPOUT += [
    OpInfo(F + name, unchanged, calls((shape, 0.5, False)), method=False, **ANY)
    for name, shape in (("dropout1d", [2, 3]), ("dropout2d", [2, 2, 2, 1]), ("dropout3d", [2, 2, 2, 1, 1]))
]
DROPOUT += [
    OpInfo("native_dropout", lambda x, p, train: (x, np.ones(x.shape, bool)), calls(([2, 3], 0.5, False), ([], 0.0, True)),
           method=False, **ANY | {"result": ("first", "bool")}),
]


# losses

def reductions(make):
    for shape, reduction in itertools.product(([2, 3], [4], []), ("mean", "sum", "none")):
        yield S(make(*shape), make(*shape), reduction=reduction)
    yield S(make(0, 2), make(0, 2), reduction="sum")


def loss(name, terms, generate=None, **columns):
    def reference(*args, reduction="mean", **named):
        return ref.reduce_loss(terms(*args, **named), reduction)

    return OpInfo(F + name, reference, generate or reductions, **{"method": False} | FLOAT | columns)


def with_numbers(**numbers):
    def generate(make):
        yield from reductions(make)
        yield S(make(2, 3), make(2, 3), **numbers, reduction="sum")

    return generate


def smooth_l1(x, y, beta=1.0):
    d = abs(x - y)
    return np.where(d < beta, d * d / 2 / beta, d - beta / 2)


def huber(x, y, delta=1.0, weight=None):
    d = abs(x - y)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2)) * (1 if weight is None else weight)


def binary_cross_entropy(x, y, weight=1.0):
    return -(y * np.log(x) + (1 - y) * np.log(1 - x)) * weight


def with_logits(x, y, weight=1.0, pos_weight=1.0):
    return weight * ((1 - y) * softplus(x) + pos_weight * y * softplus(-x))


def weighted_logits(make):
    yield from reductions(make)
    yield S(make(2, 3), make(2, 3), weight=make(2, 3))
    yield S(make(2, 3), make(2, 3), pos_weight=make(3), reduction="sum")
    yield S(make(2, 3), make(2, 3), weight=make(3), pos_weight=make(3), reduction="none")


def multi_margin(x, target, p=1, margin=1.0, weight=None):
    rows, classes = x.reshape(-1, x.shape[-1]), target.reshape(-1)
    terms = np.maximum(0, margin - rows[np.arange(len(rows)), classes][:, None] + rows) ** p
    terms = terms * (1 if weight is None else weight[classes][:, None])
    terms[np.arange(len(rows)), classes] = 0
    return (terms.sum(1) / rows.shape[1]).reshape(target.shape)


def multi_margins(make):
    target = np.array([0, 2])
    for reduction in ("mean", "sum", "none"):
        yield S(make(2, 3), target, reduction=reduction)
    yield S(make(2, 3), target, p=2, margin=0.5, weight=make(3))
    yield S(make(3), np.array(1))


def multilabel_margin(x, target):
    losses = []
    for row, labels in zip(x.reshape(-1, x.shape[-1]), target.reshape(-1, x.shape[-1]), strict=True):
        own = list(itertools.takewhile(lambda label: label >= 0, labels.tolist()))
        others = [i for i in range(len(row)) if i not in own]
        losses.append(sum(max(0, 1 - row[j] + row[i]) for j in own for i in others) / len(row))
    return np.array(losses).reshape(x.shape[:-1])


def multilabels(make):
    target = np.array([[2, -1, 0], [1, 0, -1]])
    for reduction in ("mean", "sum", "none"):
        yield S(make(2, 3), target, reduction=reduction)
    yield S(make(3), target[0])


def kl_div(x, y, log_target=False):
    return np.exp(y) * (y - x) if log_target else y * (np.log(y) - x)


def divergences(make):
    """Without the mean, of which it warns."""
    for reduction in ("sum", "none"):
        yield S(make(2, 3), make(2, 3), reduction=reduction)
        yield S(make(3), make(3), log_target=True, reduction=reduction)


def poisson(x, y, log_input=True, full=False, eps=1e-8):
    return np.exp(x) - y * x if log_input else x - y * np.log(x + eps)


def gaussian(x, y, var, full=False, eps=1e-6):
    var = var[:, None] if var.ndim < x.ndim else var
    return (np.log(np.maximum(var, eps)) + (x - y) ** 2 / np.maximum(var, eps)) / 2 + full * np.log(2 * np.pi) / 2


def variances(make):
    for reduction in ("mean", "sum", "none"):
        yield S(make(2, 3), make(2, 3), var=make(2, 3, domain=UNIT), reduction=reduction)
    yield S(make(2, 3), make(2, 3), var=make(2, domain=UNIT), full=True)


def hinge(x, target, margin=1.0):
    return np.where(target == 1, 0, np.maximum(0, margin - x)) + np.where(target == -1, 0, x)


def signs(shape):
    return np.sign(np.arange(np.prod(shape)).reshape(shape) % 2 - 0.5)


def hinges(make):
    for reduction in ("mean", "sum", "none"):
        yield S(make(2, 3), target=signs((2, 3)), reduction=reduction)


FAR, NEAR = ((2.1, 2.9),), ((0.3, 0.9),)        # differences of unsigned integers are positive


def rankings(make):
    for reduction in ("mean", "sum", "none"):
        first = make(2, 3)
        second = first.copy() if kind_of(make.dtype) == "u" else make(2, 3)
        yield S(first, second, target=make.of(signs((2, 3))), margin=0.25, reduction=reduction)


def cosine_embedding(a, b, target, margin=0.0):
    cosine = (a * b).sum(-1) / np.sqrt(((a * a).sum(-1) + 1e-12) * ((b * b).sum(-1) + 1e-12))
    return np.where(target == 1, 1 - cosine, np.maximum(0, cosine - margin))


def cosine_pairs(make):
    for reduction in ("mean", "sum", "none"):
        yield S(make(2, 3), make(2, 3), target=signs((2,)), margin=-2.0, reduction=reduction)


def triplet(a, b, c, margin=1.0, p=2.0, swap=False):
    def distance(x, y):
        return (abs(x - y + 1e-6) ** p).sum(-1) ** (1 / p)

    far = np.minimum(distance(a, c), distance(b, c)) if swap else distance(a, c)
    return np.maximum(0, margin + distance(a, b) - far)


def triplets(make):
    for reduction in ("mean", "sum", "none"):
        yield S(make(2, 3, domain=FAR), make(2, 3, domain=NEAR), make(2, 3, domain=NEAR), margin=9.0, reduction=reduction)


def linear_cross_entropy(x, w, target, reduction="mean"):
    return ref.cross_entropy(x @ w.T, target, reduction=reduction)


def linear_scores(make):
    for reduction in ("mean", "sum", "none"):
        yield S(make(2, 3), make(4, 3), np.array([1, 3]), reduction=reduction)


def ctc_loss(logs, targets, input_lengths, target_lengths):
    """Of sequences of two steps and targets of one class: its three alignments."""
    p = np.exp(logs)
    picked = p[:, np.arange(len(targets)), targets[:, 0]]
    return -np.log(picked[0] * picked[1] + p[0, :, 0] * picked[1] + picked[0] * p[1, :, 0])


def sequences(make):
    for reduction in ("mean", "sum", "none"):
        yield S(make(2, 3, 4), np.array([[1], [2], [3]]), [2, 2, 2], [1, 1, 1], reduction=reduction)


LOSSES = [
    loss("ctc_loss", ctc_loss, sequences, dtypes=(), forward=FLOATS),
    loss("smooth_l1_loss", smooth_l1, with_numbers(beta=0.5)),
    loss("huber_loss", huber, with_numbers(delta=0.5)),
    loss("binary_cross_entropy", binary_cross_entropy, domain=UNIT, regular=True),
    loss("binary_cross_entropy_with_logits", with_logits, weighted_logits),
    loss("soft_margin_loss", lambda x, y: softplus(-x * y)),
    loss("kl_div", kl_div, divergences, domain=UNIT),
    loss("poisson_nll_loss", poisson, with_numbers(log_input=False), domain=UNIT, **MORE),
    loss("gaussian_nll_loss", gaussian, variances),
    loss("multilabel_soft_margin_loss", lambda x, y: with_logits(x, y).mean(-1), calls(([2, 3], [2, 3]), ([3], [3]))),
    loss("hinge_embedding_loss", hinge, hinges, domain=SMOOTH),
    loss("margin_ranking_loss", lambda a, b, target, margin: np.maximum(0, margin - target * (a - b)), rankings,
         forward=INTS + HALF, result="float"),
    loss("cosine_embedding_loss", cosine_embedding, cosine_pairs, domain=NONZERO, forward=BOOL + INTS + HALF,
         result="float"),
    loss("triplet_margin_loss", triplet, triplets, **LENGTHS),
    loss("triplet_margin_with_distance_loss", triplet, triplets, **LENGTHS),
    loss("multi_margin_loss", multi_margin, multi_margins),
    loss("multilabel_margin_loss", multilabel_margin, multilabels),
    OpInfo(f"{F}linear_cross_entropy", linear_cross_entropy, linear_scores, method=False, **FLOAT),
]


# distances, borders, channels

def pairs(x, p=2.0):
    first, second = np.triu_indices(len(x), 1)
    return (abs(x[first] - x[second]) ** p).sum(-1) ** (1 / p)


def pad(x, widths, mode="constant", value=0):
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    around = [(0, 0)] * (x.ndim - len(widths) // 2) + [widths[k:k + 2] for k in range(len(widths) - 2, -1, -2)]
    return np.pad(x, around, modes[mode], **{"constant_values": value} if mode == "constant" else {})


def pads(make):
    yield S(make(2, 3), (1, 2))
    yield S(make(2, 3), (0, 1, 2, 0), value=1.5)
    for mode in ("reflect", "replicate", "circular"):
        yield S(make(2, 3), (2, 1), mode=mode)
        yield S(make(1, 2, 3), (1, 0, 1, 1), mode=mode)


def pixels(x, r):
    *outer, c, h, w = x.shape
    parts = x.reshape(*outer, c // r // r, r, r, h, w)
    return np.einsum("...cijhw->...chiwj", parts).reshape(*outer, c // r // r, h * r, w * r)


def channels(x, r):
    *outer, c, h, w = x.shape
    parts = x.reshape(*outer, c, h // r, r, w // r, r)
    return np.einsum("...chiwj->...cijhw", parts).reshape(*outer, c * r * r, h // r, w // r)


def shuffled(x, groups):
    return x.reshape(x.shape[0], groups, -1, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)


def cosines(make):
    yield S(make(2, 3), make(2, 3))
    yield S(make(2, 3), make(1, 3), dim=-1)


def far_pairs(make):
    yield S(make(2, 3, domain=FAR), make(2, 3, domain=NEAR))
    yield S(make(2, 3, domain=FAR), make(3, domain=NEAR), 3.0)


MOVING = {"result": "first", "method": False}
OTHERS = [
    OpInfo(f"{F}normalize", lambda x, p=2.0, dim=1: x / (abs(x) ** p).sum(dim, keepdims=True) ** (1 / p),
           calls(([2, 3],), ([2, 3], 3.0, 0)), domain=NONZERO, method=False,
           dtypes=FLOATS + COMPLEX, forward=HALF),
    OpInfo("cosine_similarity", lambda a, b, dim=1: (a * b).sum(dim) / np.sqrt((a * a).sum(dim) * (b * b).sum(dim)), cosines,
           domain=NONZERO, method=False, **FLOAT),
    OpInfo("pairwise_distance", lambda a, b, p=2.0: (abs(a - b + 1e-6) ** p).sum(-1) ** (1 / p),
           far_pairs, method=False, **LENGTHS),
    OpInfo("pdist", pairs, calls(([4, 2],), ([3, 2], 3.0)), method=False, **FLOAT),
    OpInfo(f"{F}one_hot", lambda x, num_classes: np.eye(num_classes, dtype=int)[x],
           lambda make: [S(make.of([0, 2, 1]), 3), S(make.of([[1]]), num_classes=2)], dtypes=(),
           forward=("int64",), result="int64", method=False),
    OpInfo(f"{F}pad", pad, pads, **MOVING),
    OpInfo("pixel_shuffle", pixels, calls(([4, 1, 2], 2), ([2, 4, 1, 1], 2)), **MOVING),
    OpInfo("pixel_unshuffle", channels, calls(([1, 2, 4], 2), ([2, 1, 2, 2], 2)), **MOVING),
    OpInfo("channel_shuffle", shuffled, calls(([1, 4, 2], 2), ([2, 6, 1], 3)), **MOVING),
    OpInfo("native_channel_shuffle", shuffled, calls(([1, 4, 2], 2), ([2, 6, 1], 3)), **MOVING),
]

ROWS = ACTIVATIONS + DROPOUT + LOSSES + OTHERS
