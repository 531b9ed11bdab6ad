"""Softmax, its logarithm and the losses made of them, compared with mpmath where one probability is nearly 1.

There 1 - p computed from p is only rounding: log_softmax([40, 0])[0] was 0, the gradient of cross_entropy at its target
too.
"""

import itertools
import math

import numpy as np
import pytest

import autograd_cy as ag

mpmath = pytest.importorskip("mpmath")
F = ag.nn.functional
ROWS = [[40.0, 0.0], [0.0, 40.0, 0.0], [0.5, -30.0, -30.5, -31.0], [1.0, 1.0, 1.0], [3.0, 2.5], [2.0, 2.0, -50.0],
        [-700.0, 0.0, -20.0], [7.0], [0.25, -1.5, 0.75, 0.0, 0.5]]
RTOL = {ag.float32: 1e-5, ag.float64: 1e-13}
VALUE = {ag.float32: 4 * 2.0**-23, ag.float64: 4 * 2.0**-52}


def long_row(scores, n=1500):
    """The same scores among many that count nothing."""
    return scores + [-2000.0] * (n - len(scores))


def probabilities(row):
    top = max(row)
    terms = [mpmath.exp(mpmath.mpf(x) - top) for x in row]
    total = mpmath.fsum(terms)
    return [term / total for term in terms]


def log_probability(row, i):
    rest = mpmath.fsum([mpmath.exp(mpmath.mpf(x) - row[i]) for j, x in enumerate(row) if j != i])
    return -mpmath.log1p(rest)


def others(p, i):
    """1 - p[i], exactly."""
    return mpmath.fsum([q for j, q in enumerate(p) if j != i])


def close(got, wanted, rtol, tiny=1e-37):
    for x, y in zip(np.ravel(got).tolist(), np.ravel(wanted).tolist(), strict=True):
        y = float(y)
        assert abs(x - y) <= rtol * abs(y) or max(abs(x), abs(y)) < tiny, (x, y)


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(60):
        yield


LAYOUTS = ["row", "long row", "columns"]


def laid_out(row, layout, dtype):
    """The row as a tensor, the dimension to reduce, how to read the row's first elements of a result."""
    if layout == "columns":
        x = ag.tensor([[v] * 3 for v in row], dtype=dtype)
        return x, 0, lambda y: y.detach().numpy()[:, 1]
    x = ag.tensor([long_row(row) if layout == "long row" else row] * 2, dtype=dtype)
    return x, 1, lambda y: y.detach().numpy()[1]


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_log_softmax_and_logsumexp(row, layout, dtype):
    x, dim, read = laid_out(row, layout, dtype)
    values = read(x).tolist()
    wanted = [log_probability(values, i) for i in range(len(row))]
    close(read(ag.log_softmax(x, dim))[:len(row)], wanted, VALUE[dtype])
    if max(row) == 0:       # else the largest element swallows the tail
        wanted = mpmath.log1p(others([mpmath.exp(v) for v in values], values.index(0)))
        close(np.ravel(ag.logsumexp(x, dim).numpy())[:1], [wanted], VALUE[dtype])


def jacobian(f, x, read, dim):
    """The derivative of f's elements of the row with respect to the row, by one incoming gradient each."""
    found = []
    for i in range(x.shape[dim]):
        leaf = x.detach().clone().requires_grad_()
        f(leaf).select(dim, i).sum().backward()
        found.append(read(leaf.grad))
    return found


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
@pytest.mark.parametrize("layout", ["row", "columns"])
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_jacobians(row, layout, dtype):
    x, dim, read = laid_out(row, layout, dtype)
    p, n = probabilities(row), len(row)
    close(jacobian(lambda v: v.softmax(dim), x, read, dim),
          [[p[i] * others(p, i) if i == j else -p[i] * p[j] for j in range(n)] for i in range(n)], RTOL[dtype])
    close(jacobian(lambda v: v.log_softmax(dim), x, read, dim),
          [[others(p, i) if i == j else -p[j] for j in range(n)] for i in range(n)], RTOL[dtype])


@pytest.mark.parametrize("f", [F.softmax, F.log_softmax], ids=["softmax", "log_softmax"])
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_tangents_and_graphs_agree_with_gradients(row, f):
    """Forward mode, a gradient under create_graph and one in a batch are other formulas for the same Jacobian."""
    x = ag.tensor(row, dtype=ag.float64)
    wanted = ag.func.jacrev(lambda v: f(v, 0))(x).numpy()
    columns = [ag.func.jvp(lambda v: f(v, 0), (x,), (e,))[1].numpy() for e in ag.eye(len(row), dtype=ag.float64)]
    close(np.stack(columns, 1), wanted, 1e-13)
    leaf = x.clone().requires_grad_()
    rows = [ag.autograd.grad(y, leaf, create_graph=True)[0].detach().numpy() for y in f(leaf, 0)]
    close(np.stack(rows), wanted, 1e-13)
    plain = np.stack([ag.func.grad(lambda v, i=i: f(v, 0)[i])(x).numpy() for i in range(len(row))])
    close(plain, wanted, 1e-13)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_second_derivatives(row):
    """d2 y_k / dx_i dx_j of softmax is p_k ((d_ki - p_i)(d_kj - p_j) - p_i (d_ij - p_j)), of log_softmax p_i (p_j - d_ij)."""
    x, p, n = ag.tensor(row, dtype=ag.float64), probabilities(row), len(row)

    def gap(i, j):          # d_ij - p_j
        return others(p, j) if i == j else -p[j]

    logs = [[-p[i] * gap(i, j) for j in range(n)] for i in range(n)]
    for k in range(n):
        close(ag.func.hessian(lambda v, k=k: v.log_softmax(0)[k])(x).numpy(), logs, 1e-13)
        of_softmax = [[p[k] * (gap(k, i) * gap(k, j) - p[i] * gap(i, j)) for j in range(n)] for i in range(n)]
        leaf = x.clone().requires_grad_()
        (g,) = ag.autograd.grad(leaf.softmax(0)[k], leaf, create_graph=True)
        got = [ag.autograd.grad(g[i], leaf, retain_graph=True)[0].numpy() for i in range(n)]
        scale = float(p[k])
        for a, b in zip(np.ravel(got).tolist(), np.ravel(of_softmax).tolist(), strict=True):
            # a difference of two terms in the mathematics, too: where those cancel, their error is left
            assert abs(a - float(b)) <= 1e-13 * abs(float(b)) + 1e-16 * scale
    hessian = ag.func.hessian(lambda v: v.logsumexp(0))(x).numpy()
    close(hessian, [[p[i] * gap(i, j) for j in range(n)] for i in range(n)], 1e-13)


def losses_of_classes(n):
    """The ways to the same loss of one sample with class t."""
    eye = ag.eye(n, dtype=ag.float64)
    return {
        "class numbers": lambda x, t: F.cross_entropy(x.unsqueeze(0), ag.tensor([t])),
        "summed": lambda x, t: F.cross_entropy(x.unsqueeze(0), ag.tensor([t]), reduction="sum"),
        "each": lambda x, t: F.cross_entropy(x.unsqueeze(0), ag.tensor([t]), reduction="none")[0],
        "weighted": lambda x, t: F.cross_entropy(x.unsqueeze(0), ag.tensor([t]), ag.full((n,), 0.5, dtype=x.dtype)),
        "one is ignored": lambda x, t: F.cross_entropy(ag.stack([x, x]), ag.tensor([t, -100])),
        "columns": lambda x, t: F.cross_entropy(x.reshape(1, n, 1).expand(1, n, 3), ag.full((1, 3), t)),
        "long row": lambda x, t: F.cross_entropy(
            ag.cat([x, ag.full((300,), -2000.0, dtype=x.dtype)]).unsqueeze(0), ag.tensor([t])),
        "probabilities": lambda x, t: F.cross_entropy(x.unsqueeze(0), eye[t:t + 1].to(x.dtype)),
        "nll_loss": lambda x, t: F.nll_loss(x.log_softmax(0).unsqueeze(0), ag.tensor([t])),
        "linear": lambda x, t: F.linear_cross_entropy(x.unsqueeze(0), eye.to(x.dtype), ag.tensor([t])),
        "Categorical": lambda x, t: -ag.distributions.Categorical(logits=x, validate_args=False).log_prob(ag.tensor(t)),
    }


@pytest.mark.parametrize("how", list(losses_of_classes(1)))
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_losses_of_classes(row, how):
    loss, n, p = losses_of_classes(len(row))[how], len(row), probabilities(row)
    for t, dtype in itertools.product(range(n), [ag.float32, ag.float64]):
        x = ag.tensor(row, dtype=dtype)
        close(loss(x, t).numpy(), -log_probability(row, t), VALUE[dtype])
        wanted = [-others(p, t) if i == t else p[i] for i in range(n)]
        close(ag.func.grad(lambda v, t=t: loss(v, t))(x).numpy(), wanted, RTOL[dtype])
        leaf = x.clone().requires_grad_()
        loss(leaf, t).backward()
        close(leaf.grad.numpy(), wanted, RTOL[dtype])
    x = ag.tensor(row, dtype=ag.float64)
    wanted = [[p[i] * (others(p, i) if i == j else -p[j]) for j in range(n)] for i in range(n)]
    close(ag.func.hessian(lambda v: loss(v, 0))(x).numpy(), wanted, 1e-12)


def softplus(x):
    return mpmath.log1p(mpmath.exp(-abs(x))) + max(x, 0)


BINARY = {
    "logits": (lambda x, t: F.binary_cross_entropy_with_logits(x, t), lambda t: (t, 1 - t)),
    "pos_weight": (lambda x, t: F.binary_cross_entropy_with_logits(x, t, pos_weight=ag.ones_like(x)), lambda t: (t, 1 - t)),
    "pos_weight 1/4": (lambda x, t: F.binary_cross_entropy_with_logits(x, t, pos_weight=ag.full_like(x, 0.25)),
                       lambda t: (t / 4, 1 - t)),
    "soft margin": (lambda x, t: F.soft_margin_loss(x, 2 * t - 1), lambda t: (t, 1 - t)),
    "multilabel": (lambda x, t: F.multilabel_soft_margin_loss(x.reshape(1, 1), t.reshape(1, 1)), lambda t: (t, 1 - t)),
    "Bernoulli": (lambda x, t: -ag.distributions.Bernoulli(logits=x, validate_args=False).log_prob(t), lambda t: (t, 1 - t)),
}


@pytest.mark.parametrize("how", list(BINARY))
@pytest.mark.parametrize("t", [0.0, 1.0])
def test_binary_losses(how, t):
    """a * softplus(-x) + b * softplus(x), its derivatives b * s(x) - a * s(-x) and (a + b) * s(x) * s(-x)."""
    loss, weights = BINARY[how]
    a, b = weights(mpmath.mpf(t))
    for v, dtype in itertools.product([-60.0, -40.0, -17.5, -1.0, 0.0, 0.5, 17.5, 40.0, 60.0], [ag.float32, ag.float64]):
        x, y, s = ag.tensor(v, dtype=dtype), ag.tensor(t, dtype=dtype), lambda z: 1 / (1 + mpmath.exp(-mpmath.mpf(z)))
        close(loss(x, y).numpy(), a * softplus(-v) + b * softplus(v), VALUE[dtype])
        first = b * s(v) - a * s(-v)
        close(ag.func.grad(lambda z, y=y: loss(z, y))(x).numpy(), first, RTOL[dtype])
        close(ag.func.jvp(lambda z, y=y: loss(z, y), (x,), (ag.ones_like(x),))[1].numpy(), first, RTOL[dtype])
        if how != "multilabel":
            second = ag.func.grad(ag.func.grad(lambda z, y=y: loss(z, y)))(x)
            close(second.numpy(), (a + b) * s(v) * s(-v), RTOL[dtype])


def test_infinite_scores_and_one_class():
    inf = float("inf")
    x = ag.tensor([[40.0, -inf, 0.0], [-inf, -inf, 0.0]], dtype=ag.float64, requires_grad=True)
    close(ag.log_softmax(x, 1).detach().numpy()[:, [0, 2]].ravel()[[0, 3]], [-4.248354255291589e-18, 0.0], 1e-15)
    F.cross_entropy(x, ag.tensor([0, 2]), reduction="sum").backward()
    e = 4.248354255291589e-18
    close(x.grad.numpy(), [[-e, 0, e], [0, 0, 0]], 1e-14)
    assert ag.logsumexp(ag.tensor([-inf, -inf]), 0).item() == -inf
    assert ag.logsumexp(ag.tensor([inf, 0.0]), 0).item() == inf
    assert ag.logsumexp(ag.zeros(0), 0).item() == -inf
    one = ag.tensor([[3.0]], requires_grad=True)
    F.cross_entropy(one, ag.tensor([0])).backward()
    assert one.grad.item() == 0 and not np.signbit(one.grad.item() + 0.0)


@pytest.mark.parametrize("n", [2, 3, 40, 100])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
@pytest.mark.parametrize("function", ["log_softmax", "logsumexp", "cross_entropy"])
def test_rows_do_not_depend_on_the_rows_beside_them(function, dtype, n):
    """Short rows are summed together: ties, infinities and nan take another way, for all of them."""
    rows = np.full((8, n), -30.0)
    rows[:, 0] = [40, 0, 1, 7, 2, math.inf, -30, 3]
    rows[:, 1] = [0, 0, 1, math.nan, -1, 0, -30, -math.inf]
    rows[6] = -math.inf

    def results(x):
        if function == "cross_entropy":
            return ag.nn.functional.cross_entropy(x, ag.zeros(len(x), dtype=ag.int64), reduction="none").numpy()
        return getattr(ag, function)(x, 1).numpy()

    together = results(ag.tensor(rows, dtype=dtype))
    alone = np.concatenate([results(ag.tensor(rows[k:k + 1], dtype=dtype)) for k in range(8)])
    np.testing.assert_array_equal(together, alone)
    finite = results(ag.tensor(rows[[0, 4]], dtype=dtype))
    np.testing.assert_array_equal(together[[0, 4]], finite)
