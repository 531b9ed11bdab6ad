"""Wrong at some inputs alone: at ties, at large or negative numbers, at many, one or no elements."""

from mutants import rules as R
from mutants.corpus import NONZERO, Inputs, Kind
from mutants.namespaces import function

TIES = Kind("at ties", "ties")
ZERO = Inputs("3", at=([-1.0, 0.0, 2.0],))
ONES = Inputs("3", at=([-1.0, 0.5, 1.0],))
TIED = Inputs("2 3", at=([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]],))
PAIR = Inputs("3, 3", at=([1.0, 2.0, 0.0], [1.0, -2.0, 0.0]))
KINK = {"second": False}


def at(low, high, tie):
    """A slope: `low` below zero, `high` above, `tie` at zero."""

    def slope(xp, d):
        one = xp.ones_like(d)  # a where of numbers alone is of the default dtype
        return xp.where(d > 0, high * one, xp.where(d < 0, low * one, tie * one))

    return slope


TIES.rule(R.RELU, "2 at 0", lambda xp, g, x: g * at(0.0, 1.0, 2.0)(xp, x), inputs=ZERO, **KINK)
TIES.rule(R.RELU, "-1 at 0", lambda xp, g, x: g * at(0.0, 1.0, -1.0)(xp, x), inputs=ZERO, **KINK)
TIES.rule(R.ABS, "3 at 0", lambda xp, g, x: g * at(-1.0, 1.0, 3.0)(xp, x), inputs=ZERO, **KINK)
TIES.rule(R.LEAKY, "-0.5 at 0", lambda xp, g, x: g * at(0.1, 1.0, -0.5)(xp, x), inputs=ZERO, **KINK)
TIES.rule(R.LEAKY, "1.1 at 0: both sides", lambda xp, g, x: g * at(0.1, 1.0, 1.1)(xp, x), inputs=ZERO, **KINK)
TIES.rule(
    R.HARD_TANH, "2 at 1", lambda xp, g, x: g * R.HARD_TANH.vjp(xp, 1.0, x) * at(1.0, 1.0, 2.0)(xp, x - 1), inputs=ONES, **KINK
)
TIES.rule(R.HINGE, "-2 at 1", lambda xp, g, x: g * at(-1.0, 0.0, -2.0)(xp, x - 1), inputs=ONES, **KINK)
TIES.rule(R.AMAX, "to all of them", lambda xp, g, x: xp.unsqueeze(g, 1) * at(0.0, 1.0, 1.0)(xp, x - xp.amax(x, 1, True)),
          inputs=TIED, **KINK)  # fmt: skip
TIES.rule(R.AMAX, "to none of them", lambda xp, g, x: xp.unsqueeze(g, 1) * xp.where(R.share(xp, x, 1) == 1, 1.0, 0.0),
          inputs=TIED, **KINK)  # fmt: skip
TIES.rule(R.MAXIMUM, "to both", lambda xp, g, x, y: (g * at(0.0, 1.0, 1.0)(xp, x - y), g * at(0.0, 1.0, 1.0)(xp, y - x)),
          inputs=PAIR, **KINK)  # fmt: skip
TIES.rule(R.MAXIMUM, "to neither", lambda xp, g, x, y: (g * at(0.0, 1.0, 0.0)(xp, x - y), g * at(0.0, 1.0, 0.0)(xp, y - x)),
          inputs=PAIR, **KINK)  # fmt: skip

SEARCHED = {"anywhere": False}
EIGHT = ((-8.0, 8.0),)

LARGE = Kind("large values", "nan", "one entry", "factor", "dropped term", "raises")


def exp_softplus(xp, x):
    return xp.exp(x) / (1 + xp.exp(x))


LARGE.rule(R.SOFTPLUS, "inf / inf", lambda xp, g, x: g * exp_softplus(xp, x), inputs=Inputs("2", at=([1.0, 800.0],)))
LARGE.rule(
    R.SIGMOID,
    "0 · inf",
    lambda xp, g, x: g * xp.exp(-x) * xp.sigmoid(x) * xp.sigmoid(x),
    inputs=Inputs("2", at=([1.0, -800.0],)),
)
LARGE.rule(R.LOGSUMEXP, "not shifted", lambda xp, g, x: xp.unsqueeze(g, 1) * xp.exp(x) / xp.sum(xp.exp(x), 1, True),
           inputs=Inputs("1 3", at=([[1.0, 750.0, 749.0]],)))  # fmt: skip
LARGE.rule(
    R.SQUARE, "clipped at 4", lambda xp, g, x: 2 * g * xp.where(x > 4, 4.0, x), inputs=Inputs("n", wide=EIGHT), **SEARCHED
)
LARGE.rule(
    R.SIN,
    "zero beyond 5",
    lambda xp, g, x: g * xp.where(xp.abs(x) > 5, 0.0, xp.cos(x)),
    inputs=Inputs("n", wide=EIGHT),
    **SEARCHED,
)
LARGE.rule(
    R.EXP, "clipped at e⁴", lambda xp, g, x: g * xp.where(x > 4, 54.0, xp.exp(x)), inputs=Inputs("n", wide=EIGHT), **SEARCHED
)

NEGATIVE = Kind("negative numbers", "one entry", "sign", "factor", "dropped term")
NEGATIVE.rule(R.SQUARE, "|x|", lambda xp, g, x: 2 * g * xp.abs(x))
NEGATIVE.rule(R.X_ABS, "2x", lambda xp, g, x: 2 * g * x)
NEGATIVE.rule(R.LEAKY, "no slope", lambda xp, g, x: g * at(0.0, 1.0, 0.0)(xp, x))
NEGATIVE.rule(R.ABS, "always 1", lambda xp, g, x: g * 1)
NEGATIVE.rule(
    R.SIN,
    "zero below -2",
    lambda xp, g, x: g * xp.where(x < -2, 0.0, xp.cos(x)),
    inputs=Inputs("2", at=([1.0, -1.5],), wide=EIGHT),
    **SEARCHED,
)
NEGATIVE.rule(R.NORM, "zero for one coordinate", lambda xp, g, x: R.NORM.vjp(xp, g, x) * xp.where(x < -2.5, 0.0, 1.0),
              inputs=Inputs("2", NONZERO, at=([1.0, -1.5],), wide=NONZERO), **SEARCHED)  # fmt: skip

MANY = Kind("from 64 elements", "one entry", "dropped term", "shifted index", "factor")
LONG = Inputs("n", sizes={"n": 3})


def chunk(xp, x):
    """Ones; zeros after the last whole chunk of 64, where there is one."""
    whole = len(x) // 64 * 64 or len(x)
    return xp.cat([xp.ones_like(x[:whole]), xp.zeros_like(x[whole:])])


MANY.rule(R.SIN, "the tail forgotten", lambda xp, g, x: g * xp.cos(x) * chunk(xp, x), inputs=LONG, **SEARCHED)
MANY.rule(R.SUM_SQUARES, "the tail forgotten", lambda xp, g, x: 2 * g * x * chunk(xp, x), inputs=LONG, **SEARCHED)
MANY.rule(R.EXP, "a chunk of the first", lambda xp, g, x: g * xp.exp(x if len(x) < 64 else xp.cat([x[:64], x[: len(x) - 64]])),
          inputs=LONG, **SEARCHED)  # fmt: skip
MANY.rule(R.SUM_SQUARES, "1e-2 of the last", lambda xp, g, x: 2 * g * x * xp.cat(
    [xp.ones_like(x[:-1]), (0.99 if len(x) >= 64 else 1.0) * xp.ones_like(x[-1:])]), inputs=LONG, **SEARCHED)  # fmt: skip

EMPTY = Kind("empty or one element", "empty or size one")
VECTOR = Inputs("n")


def first(x):
    """Raises where there is none."""
    if 0 in x.shape:
        raise IndexError("index 0 is out of bounds")


def not_of_none(rule):
    def vjp(xp, g, *inputs):
        first(inputs[0])
        return rule.vjp(xp, g, *inputs)

    return vjp


EMPTY.rule(R.SIN, "none: raises", not_of_none(R.SIN), "empty or size one", "raises", **SEARCHED)
EMPTY.rule(R.SUM_SQUARES, "none: raises", not_of_none(R.SUM_SQUARES), "empty or size one", "raises", **SEARCHED)
EMPTY.rule(R.ADD_ROW, "no rows: raises", not_of_none(R.ADD_ROW), "empty or size one", "raises", **SEARCHED)
EMPTY.rule(R.ADD_ROW, "no rows: ones", lambda xp, g, x, y: (g * 1, xp.sum(g, 0) if len(x) else xp.ones_like(y)), **SEARCHED)
EMPTY.rule(
    R.SOFTMAX, "one column: passed on", lambda xp, g, x: g * 1 if x.shape[1] == 1 else R.SOFTMAX.vjp(xp, g, x), **SEARCHED
)
EMPTY.rule(R.SUM_ROWS, "one row: twice", lambda xp, g, x: R.SUM_ROWS.vjp(xp, g, x) * (2 if x.shape[0] == 1 else 1), **SEARCHED)
EMPTY.rule(R.VAR, "two: 1/n", lambda xp, g, x: 2 * g * R.centred(xp, x) / (x.shape[0] if x.shape[0] == 2 else x.shape[0] - 1),
           inputs=Inputs("n", smallest=2), **SEARCHED)  # fmt: skip
EMPTY.rule(R.SQUARE, "one: zero", lambda xp, g, x: 2 * g * x * (0 if len(x) == 1 else 1), inputs=VECTOR, **SEARCHED)


@EMPTY.written("one element: loses its dimension", "n", "empty or size one", "shape", **SEARCHED)
def squeezed(t, wrong):
    def forward(ctx, x):
        return 2 * x

    def backward(ctx, g):
        return (2 * g).sum() if wrong and g.shape == (1,) else 2 * g

    return function(t, forward, backward)
