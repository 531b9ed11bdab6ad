"""Losses with exact references, rows as in precision_rows.

The inputs are the scores of one sample, or a score and its target.
"""

import precision_numbers as n
from precision_numbers import hyper
from precision_rows import F, different, row

import autograd_cy as ag


def loss(name, reference, where=None, call=None, variant="", **columns):
    function = getattr(ag.nn.functional, name)
    return row(f"{F}{name}", reference, where, lambda *xs: (call or plain)(function, *xs), variant, **columns)


def plain(function, *xs):
    return function(*xs, reduction="none")


def named(**arguments):
    return lambda function, *xs: function(*xs, reduction="none", **arguments)


def scores(*xs):
    return ag.stack(xs, -1)


def labels(x, label):
    return ag.full((len(x),), label)


def to_class(label, **arguments):
    """Calls a loss of classes with a and b as the scores."""
    return lambda function, a, b: function(scores(a, b), labels(a, label), reduction="none", **arguments)


def to_numbers(target, **arguments):
    """Calls it with a and b as scores, and the same target for all samples."""

    def call(function, a, b):
        targets = ag.tensor(target, dtype=None if isinstance(target[0], int) else a.dtype).expand(len(a), len(target))
        return function(scores(a, b), targets, reduction="none", **arguments)

    return call


def linear_scores(function, a, b):
    """The weight is the unit matrix."""
    return function(scores(a, b), ag.eye(2, dtype=a.dtype), labels(a, 0), reduction="none")


def signed(sign):
    return lambda function, *xs: function(*xs, ag.full_like(xs[0].detach(), sign), reduction="none")


def directions(function, a, b):
    """A pair (a, b) and the direction (0.75, 0.5), which are to be alike."""
    other = ag.tensor([0.75, 0.5], dtype=a.dtype).expand(len(a), 2)
    return function(scores(a, b), other, labels(a, 1), reduction="none")


def cosine_distance(a, b):
    c, d = hyper(0.75), hyper(0.5)
    return 1 - (a * c + b * d) / n.sqrt((a * a + b * b + 1e-12) * (c * c + d * d + 1e-12))


def corners(function, a, b):
    """The anchor (a, b), the positive (0.75, 0.5), the negative (-1.5, 2.5); the margin is so large that it does not clip."""
    near, far = (ag.tensor(v, dtype=a.dtype).expand(len(a), 2) for v in ([0.75, 0.5], [-1.5, 2.5]))
    return function(scores(a, b), near, far, margin=1e3, reduction="none")


def distance(a, b, c, d):
    x, y = a - c + 1e-6, b - d + 1e-6
    return n.sqrt(x * x + y * y)


def triplet(a, b):
    return 1000 + distance(a, b, 0.75, 0.5) - distance(a, b, -1.5, 2.5)


def sequence(function, a, b):
    """Two steps with the same scores of the blank and one class; the target is that class, once."""
    logs = ag.log_softmax(scores(a, b), -1).expand(2, len(a), 2)
    lengths = labels(a, 2), labels(a, 1)
    return function(logs, ag.ones(len(a), 1, dtype=ag.int64), *lengths, reduction="none")


def ctc(a, b):
    """Both steps may be the class, or one of them the blank: -log(q * (q + 2 * p))."""
    p, q = n.sigmoid(a - b), n.sigmoid(b - a)
    return n.softplus(a - b) - n.log(q + 2 * p)


def smooth_l1(x, y):
    d = abs(x - y)
    return d * d if d < 0.5 else d - 0.25


def huber(x, y):
    d = abs(x - y)
    return d * d / 2 if d <= 0.5 else 0.5 * (d - 0.25)


def binary_cross_entropy(x, y):
    """By its definition a logarithm is at least -100."""
    return -(y * n.maximum(n.log(x), -100) + (1 - y) * n.maximum(n.log1p(-x), -100))


def with_logits(x, y, weight=1):
    return (1 - y) * n.softplus(x) + weight * y * n.softplus(-x)


def probability(x, y):
    """The gradient's divisor is at least 1e-12, by definition."""
    return 1e-11 < x < 1 - 1e-11 and 0 <= y <= 1


def target(x, y):
    return 0 <= y <= 1


def apart(x, y):
    """Off the kink also after rounding."""
    return abs(abs(x - y) - 0.5) > 1e-3


def margin(a, b):
    return a - b != 1 and a != b


def targets_of(target, **arguments):
    """Calls a loss whose target is no input of the reference."""
    return lambda function, x: function(x, ag.full_like(x.detach(), target), reduction="none", **arguments)


LOSSES = [
    loss("mse_loss", lambda x, y: (x - y) * (x - y)),
    loss("l1_loss", lambda x, y: abs(x - y), different),
    loss("smooth_l1_loss", smooth_l1, apart, named(beta=0.5), "beta=0.5"),
    loss("huber_loss", huber, apart, named(delta=0.5), "delta=0.5"),
    loss("binary_cross_entropy", binary_cross_entropy, probability),
    loss("binary_cross_entropy_with_logits", with_logits, target),
    loss("binary_cross_entropy_with_logits", lambda x, y: with_logits(x, y, 2.5), target,
         lambda f, x, y: f(x, y, pos_weight=ag.full((1,), 2.5, dtype=x.dtype), reduction="none"), "pos_weight"),
    loss("soft_margin_loss", lambda x, y: n.softplus(-x * y)),
    loss("kl_div", lambda x, y: y * (n.log(y) - x), lambda x, y: y > 0),
    loss("kl_div", lambda x, y: n.exp(y) * (y - x), None, named(log_target=True), "log_target"),
    loss("poisson_nll_loss", lambda x, y: n.exp(x) - y * x, None),
    loss("poisson_nll_loss", lambda x, y: x - y * n.log(x + 1e-8), lambda x, y: x > 0, named(log_input=False), "of rates"),
    loss("gaussian_nll_loss", lambda x, v: (n.log(v) + (x - 0.5) * (x - 0.5) / v) / 2, lambda x, v: v > 1e-6,
         lambda f, x, v: f(x, ag.full_like(x.detach(), 0.5), v, reduction="none")),
    loss("hinge_embedding_loss", lambda x: n.maximum(0, 1 - x), lambda x: x != 1, targets_of(-1), "target -1"),
    loss("hinge_embedding_loss", lambda x: x, None, targets_of(1), "target 1"),
    loss("margin_ranking_loss", lambda a, b: n.maximum(0, b - a), different, signed(1)),
    loss("multilabel_soft_margin_loss", lambda a, b: (n.softplus(-a) + n.softplus(b)) / 2, None, to_numbers([1.0, 0.0])),
    loss("multi_margin_loss", lambda a, b: n.maximum(0, 1 - a + b) / 2, margin, to_class(0)),
    loss("multi_margin_loss", lambda a, b: n.maximum(0, 1 - a + b) * n.maximum(0, 1 - a + b) / 2, margin,
         to_class(0, p=2), "p=2"),
    loss("multilabel_margin_loss", lambda a, b: n.maximum(0, 1 - a + b) / 2, margin, to_numbers([0, -1])),
    loss("cosine_embedding_loss", cosine_distance, lambda a, b: a != 0 and b != 0, directions),
    loss("triplet_margin_loss", triplet, lambda a, b: abs(a) < 100 and abs(b) < 100, corners),
    loss("triplet_margin_with_distance_loss", triplet, lambda a, b: abs(a) < 100 and abs(b) < 100, corners),
    loss("cross_entropy", lambda a, b: n.softplus(b - a), None, to_class(0)),
    loss("cross_entropy", lambda a, b: 0.85 * n.softplus(b - a) + 0.15 * n.softplus(a - b), None,
         to_class(0, label_smoothing=0.3), "label_smoothing"),
    loss("cross_entropy", lambda a, b: 0.25 * n.softplus(b - a) + 0.75 * n.softplus(a - b), None, to_numbers([0.25, 0.75]),
         "probabilities"),
    loss("linear_cross_entropy", lambda a, b: n.softplus(b - a), None, linear_scores),
    loss("nll_loss", lambda a, b: -a, None, to_class(0)),
    loss("ctc_loss", ctc, None, sequence, order=1, forward=False),
]
