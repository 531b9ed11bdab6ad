"""Compositions of the library's own operations: one taken for a constant, or a gradient tampered with on its way."""

from mutants.corpus import NONZERO, POSITIVE, Inputs, Kind
from mutants.namespaces import detach, function_of
from mutants.rules import Rule, length

COMPOSED = Kind("composition", "detached", "dropped term")


def constant_if(xp, x, wrong):
    return detach(xp, x) if wrong else x


@COMPOSED.composed("x.detach() * x", "m n", "detached", "dropped term", "factor")
def detached_square(xp, wrong):
    return lambda x: constant_if(xp, x, wrong) * x


@COMPOSED.composed("all of it detached", "n", "detached")
def all_detached(xp, wrong):
    return lambda x: xp.sin(constant_if(xp, x, wrong)) + 0 * x


@COMPOSED.composed("one branch of a sum", "n")
def one_branch(xp, wrong):
    return lambda x: xp.sin(x) + constant_if(xp, x * x, wrong)


@COMPOSED.composed("softmax with a constant denominator", Inputs("m n", smallest=1))
def constant_denominator(xp, wrong):
    return lambda x: xp.exp(x) / constant_if(xp, xp.sum(xp.exp(x), 1, True), wrong)


@COMPOSED.composed("centring with a constant mean", Inputs("m n", smallest=1))
def constant_mean(xp, wrong):
    return lambda x: (x - constant_if(xp, xp.mean(x, 1, True), wrong)) ** 3


@COMPOSED.composed("variance with a constant mean, second moment", Inputs("n", smallest=2))
def raw_moment(xp, wrong):
    return lambda x: xp.mean(x * x) - constant_if(xp, xp.mean(x), wrong) ** 2


@COMPOSED.composed("a constant norm", Inputs("n", POSITIVE, smallest=1))
def constant_length(xp, wrong):
    return lambda x: x / constant_if(xp, length(xp, x), wrong)


@COMPOSED.composed("the loss' weights constant", "n, n")
def constant_weights(xp, wrong):
    return lambda x, y: xp.sum(constant_if(xp, xp.sigmoid(x), wrong) * (x - y) ** 2)


@COMPOSED.composed("the second input detached", "m k, k n", "detached", "subset of inputs")
def constant_factor(xp, wrong):
    return lambda a, b: xp.matmul(a, constant_if(xp, b, wrong))


@COMPOSED.composed("straight through a step", Inputs("n", NONZERO), "detached", "factor", "dropped term")
def straight_through(xp, wrong):
    return lambda x: x + constant_if(xp, xp.tanh(x) - x, wrong)


@COMPOSED.composed("a gate that passes no gradient", "n")
def constant_gate(xp, wrong):
    return lambda x: x * constant_if(xp, xp.sigmoid(3 * x), wrong)


@COMPOSED.composed("a step of Newton with a constant slope", Inputs("n", POSITIVE))
def newton(xp, wrong):
    return lambda x: x - (x * x - 2) / constant_if(xp, 2 * x, wrong)


@COMPOSED.composed("one row of a matrix", Inputs("m n", smallest=1), "detached", "one entry", "dropped term")
def one_row(xp, wrong):
    return lambda x: xp.cat([constant_if(xp, xp.sin(x[:1]), wrong), xp.sin(x[1:])])


@COMPOSED.composed("one entry of a hundred", Inputs("n", sizes={"n": 100}), "detached", "one entry", "dropped term")
def one_entry(xp, wrong):
    return lambda x: xp.cat([xp.sin(x[:77]), constant_if(xp, xp.sin(x[77:78]), wrong), xp.sin(x[78:])])


@COMPOSED.composed("a residual scaled by a constant of itself", Inputs("n", POSITIVE))
def residual(xp, wrong):
    return lambda x: x + 0.1 * constant_if(xp, xp.exp(x), wrong) * xp.log(x)


@COMPOSED.composed("the conjugate detached", Inputs("n", dtype="complex128"), "detached", "conj", "dropped term")
def constant_conj(xp, wrong):
    return lambda x: xp.real(x * constant_if(xp, xp.conj(x), wrong)) * 1


@COMPOSED.composed("recurrent, cut after two steps", "n")
def cut(xp, wrong):
    def f(x):
        h = x
        for k in range(5):
            h = xp.tanh(0.5 * constant_if(xp, h, wrong and k == 2) + x)
        return h

    return f


# An identity before a real operation: right forward, and its gradient tampered with on the way back.
TAMPERED = Kind("tampered gradient")


def tampered(what, shapes, operation, change, *culprits, **inputs):
    """`operation(xp, x)` of an x whose gradient passes through `change(xp, g)`."""

    @TAMPERED.composed(what, Inputs(shapes, **inputs), *culprits, forward=False)
    def make(xp, wrong):
        def passed(xp, g, x):
            return change(xp, g) if wrong else g * 1

        rule = Rule("identity", Inputs(shapes), lambda xp, x: x * 1, passed, lambda xp, t, x: t * 1)
        through = function_of(rule, xp, "torch" if hasattr(xp, "Tensor") else "autograd")
        return lambda x: operation(xp, through(x))


tampered("softmax, negative", "m n", lambda xp, x: xp.softmax(x, 1), lambda xp, g: -g, "sign", smallest=1)
tampered("logsumexp, doubled", "m n", lambda xp, x: xp.logsumexp(x, 1), lambda xp, g: 2 * g, "factor", smallest=1)
tampered("tanh, rolled", "n", lambda xp, x: xp.tanh(x), lambda xp, g: xp.roll(g, 1, 0), "shifted index", smallest=1)
tampered("exp, transposed", "n n", lambda xp, x: xp.exp(x), lambda xp, g: g.T * 1, "transposed")
tampered("cumsum, reversed", "n", lambda xp, x: xp.cumsum(x, 0), lambda xp, g: xp.flip(g, (0,)), "shifted index", "transposed")
tampered("matmul, first row twice", "n n", lambda xp, x: xp.matmul(x, x),
         lambda xp, g: xp.cat([2 * g[:1], g[1:]]), "factor", "one entry", "dropped term")  # fmt: skip
tampered("sum, one entry lost", "n", lambda xp, x: xp.sum(xp.sin(x)),
         lambda xp, g: xp.cat([g[:2], 0 * g[2:3], g[3:]]), "one entry", "dropped term", "detached")  # fmt: skip
tampered("square, clipped", "n", lambda xp, x: x * x, lambda xp, g: xp.minimum(g, xp.ones_like(g)),
         "one entry", "factor", "dropped term")  # fmt: skip
tampered("complex product, conj", "n", lambda xp, x: x * x * x, lambda xp, g: xp.conj(g) * 1, "conj", dtype="complex128")
tampered("mean, divided once more", "n", lambda xp, x: xp.mean(x * x), lambda xp, g: g / len(g), "factor", smallest=1)
tampered("reshape, columns first", "n n", lambda xp, x: xp.reshape(x * x, (-1,)),
         lambda xp, g: xp.reshape(g.T, g.shape) * 1, "transposed")  # fmt: skip
tampered(
    "where, both branches", "n", lambda xp, x: xp.where(x > 0, x, 0.1 * x), lambda xp, g: g * 1.1, "factor", domain=NONZERO
)
tampered(
    "stack, the halves exchanged", "2 n", lambda xp, x: x[0] * xp.sin(x[1]), lambda xp, g: xp.flip(g, (0,)), "shifted index"
)
tampered(
    "norm, centred",
    "n",
    lambda xp, x: length(xp, x),
    lambda xp, g: g - xp.mean(g),
    "dropped term",
    domain=POSITIVE,
    smallest=1,
)
tampered("product, 1e-4 too large", "n", lambda xp, x: x * xp.cos(x), lambda xp, g: g * (1 + 1e-4), "factor")
tampered(
    "sin, rounded to float32",
    "n",
    lambda xp, x: xp.sin(x),
    lambda xp, g: rounded(xp, g),
    "float32",
    "dtype",
    "factor",
    "one entry",
)


def rounded(xp, g):
    """g with its last bits lost, written with sums alone: (g + 2³⁰ g) - 2³⁰ g."""
    large = g * (2.0**30 + 1)
    return large - (large - g)
