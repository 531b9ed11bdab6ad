"""Wrong formulas: signs, factors, terms that are missing, sums over the wrong axis, a transpose or a conj forgotten."""

from mutants import rules as R
from mutants.corpus import Inputs, Kind

SIGN = Kind("wrong sign", "sign")
SIGN.rule(R.SIN, "negative", lambda xp, g, x: -g * xp.cos(x))
SIGN.rule(R.EXP, "negative", lambda xp, g, x: -g * xp.exp(x))
SIGN.rule(R.RECIPROCAL, "positive", lambda xp, g, x: g / (x * x))
SIGN.rule(R.TANH, "tanh² - 1", lambda xp, g, x: g * (xp.tanh(x) * xp.tanh(x) - 1))
SIGN.rule(R.DIV, "the denominator's is positive", lambda xp, g, x, y: (g / y, g * x / (y * y)))
SIGN.rule(R.SUB_BATCH, "the mean row's is positive", lambda xp, g, x, y: (g * 1, xp.sum(g, (0, 1))))
SIGN.rule(R.MATVEC, "the matrix's is negative", lambda xp, g, a, x: (-xp.unsqueeze(g, 1) * x, xp.matmul(a.T, g)))
SIGN.rule(R.LOGSUMEXP, "negative", lambda xp, g, x: -xp.unsqueeze(g, 1) * xp.softmax(x, 1))
SIGN.rule(R.SOFTMAX, "negative", lambda xp, g, x: xp.softmax(x, 1) * (xp.sum(g * xp.softmax(x, 1), 1, True) - g))
SIGN.rule(R.NORM, "negative", lambda xp, g, x: -g * x / R.length(xp, x))
SIGN.rule(R.DIFF, "the operands swapped", lambda xp, g, x: -R.DIFF.vjp(xp, g, x))
SIGN.rule(R.C_IMAG, "-j", lambda xp, g, x: -1j * g, "sign", "conj")
SIGN.rule(R.KERNEL, "of one tap's", lambda xp, g, w, x: middle_negative(xp, *R.KERNEL.vjp(xp, g, w, x)), "sign", "one entry")
SIGN.rule(
    R.UNIT,
    "of the second term",
    lambda xp, g, x: g / R.length(xp, x) + x * xp.sum(g * x) / R.length(xp, x) ** 3,
    "sign",
    "dropped term",
)


def middle_negative(xp, taps, rest):
    return xp.cat([taps[:1], -taps[1:2], taps[2:]]), rest


FACTOR = Kind("wrong factor", "factor")
FACTOR.rule(R.SQUARE, "one half", lambda xp, g, x: g * x)
FACTOR.rule(R.CUBE, "two for three", lambda xp, g, x: 2 * g * x * x)
FACTOR.rule(R.MEAN, "without 1/n", lambda xp, g, x: g * xp.ones_like(x))
FACTOR.rule(R.MEAN_ROWS, "the other axis' 1/n", lambda xp, g, x: xp.unsqueeze(g, 1) * xp.ones_like(x) / x.shape[0])
FACTOR.rule(R.VAR, "without 2", lambda xp, g, x: g * R.centred(xp, x) / (x.shape[0] - 1))
FACTOR.rule(R.VAR, "1/n for 1/(n - 1)", lambda xp, g, x: 2 * g * R.centred(xp, x) / x.shape[0])
FACTOR.rule(R.SQRT, "without a half", lambda xp, g, x: g / xp.sqrt(x))
FACTOR.rule(R.GAUSS, "without 2", lambda xp, g, x: -x * g * xp.exp(-x * x))
FACTOR.rule(R.SUM_SQUARES, "doubled", lambda xp, g, x: 4 * g * x)
FACTOR.rule(R.POOL, "without a half", lambda xp, g, x: xp.stack([g, g], 1))
FACTOR.rule(R.STANDARDIZE, "not divided by the spread", lambda xp, g, x: (
    g - xp.mean(g, 1, True) - R.standardized(xp, x) * xp.mean(g * R.standardized(xp, x), 1, True)))  # fmt: skip
FACTOR.rule(R.MATMUL, "half of one", lambda xp, g, a, b: (xp.matmul(g, b.T), 0.5 * xp.matmul(a.T, g)))
FACTOR.rule(R.TRACE, "twice one", lambda xp, g, a, b: (g * b.T, 2 * g * a.T))
FACTOR.rule(R.LOG, "base 2", lambda xp, g, x: g / (x * 0.6931471805599453))
FACTOR.rule(R.CROSS_ENTROPY, "a sum for a mean", lambda xp, g, x: g * (xp.softmax(x, 1) - R.first_column(xp, x)))
FACTOR.rule(R.C_ABS2, "without 2", lambda xp, g, x: g * x)
FACTOR.rule(R.C_MUL, "j", lambda xp, g, x, y: (1j * g * xp.conj(y), g * xp.conj(x)), "factor", "conj")
POWER = ("factor", "dropped term")
FACTOR.rule(R.RECIPROCAL, "the exponent off", lambda xp, g, x: -g / (x * x * x), *POWER)
FACTOR.rule(R.CUBE, "the exponent off", lambda xp, g, x: 3 * g * x, *POWER)
FACTOR.rule(R.SQRT, "the root not inverted", lambda xp, g, x: 0.5 * g * xp.sqrt(x), *POWER)
FACTOR.rule(R.NORM, "over the square", lambda xp, g, x: g * x / xp.sum(x * x), *POWER)

TERM = Kind("dropped term", "dropped term")
TERM.rule(R.X_SIN, "of the product rule, first", lambda xp, g, x: g * x * xp.cos(x))
TERM.rule(R.X_SIN, "of the product rule, second", lambda xp, g, x: g * xp.sin(x))
TERM.rule(R.RATIONAL, "of the quotient rule", lambda xp, g, x: g / (1 + x * x))
TERM.rule(R.SIN_SQUARE, "the inner derivative", lambda xp, g, x: g * xp.cos(x * x), "dropped term", "factor")
TERM.rule(R.SOFTMAX, "the sum", lambda xp, g, x: xp.softmax(x, 1) * g)
TERM.rule(R.LOG_SOFTMAX, "the sum", lambda xp, g, x: g * 1)
TERM.rule(R.STANDARDIZE, "the mean's", lambda xp, g, x: (
    g - R.standardized(xp, x) * xp.mean(g * R.standardized(xp, x), 1, True)) / R.spread(xp, x))  # fmt: skip
TERM.rule(R.STANDARDIZE, "the spread's", lambda xp, g, x: (g - xp.mean(g, 1, True)) / R.spread(xp, x))
TERM.rule(R.QUADRATIC, "Aᵀx", lambda xp, g, a, x: (g * xp.unsqueeze(x, 1) * x, g * xp.matmul(a, x)))
TERM.rule(R.GRAM, "the right factor's", lambda xp, g, x: xp.matmul(g, x))
TERM.rule(R.UNIT, "the norm's", lambda xp, g, x: g / R.length(xp, x))
TERM.rule(R.TANH, "tanh²", lambda xp, g, x: g * 1, "dropped term", "factor")
TERM.rule(R.SIGMOID, "1 - s", lambda xp, g, x: g * xp.sigmoid(x), "dropped term", "factor")
TERM.rule(R.CUMSUM, "all but its own", lambda xp, g, x: g * 1)
TERM.rule(R.CONV, "the last tap's", lambda xp, g, x: R.spread_taps(xp, g, x, (0.5, -1.0, 0.0)))
TERM.rule(R.CROSS_ENTROPY, "the one of the class", lambda xp, g, x: g * xp.softmax(x, 1) / x.shape[0])
TERM.rule(R.DIFF, "the second", lambda xp, g, x: xp.cat([xp.zeros_like(x[:1]), g]))
TERM.rule(R.PICK, "of the value picked twice", lambda xp, g, x: xp.stack([g[0], 0 * g[0], g[2]]), "dropped term", "one entry")
TERM.rule(
    R.PRODUCT,
    "of one of three",
    lambda xp, g, x: g * xp.stack([x[1] * x[2], x[0] * x[2], 0 * x[0]]),
    "dropped term",
    "one entry",
)

BROADCAST = Kind("broadcast not summed", "broadcast not summed")
BROADCAST.rule(R.ADD_ROW, "first row alone", lambda xp, g, x, y: (g * 1, g[0]))
BROADCAST.rule(R.ADD_ROW, "last row alone", lambda xp, g, x, y: (g * 1, g[-1]))
BROADCAST.rule(R.ADD_ROW, "mean for sum", lambda xp, g, x, y: (g * 1, xp.mean(g, 0)), "broadcast not summed", "factor")
BROADCAST.rule(R.ADD_ROW_SQUARE, "summed over the other axis", lambda xp, g, x, y: (g * 1, xp.sum(g, 1)))
BROADCAST.rule(R.MUL_COLUMN, "first column alone", lambda xp, g, x, y: (g * y, g[:, :1] * x[:, :1]))
BROADCAST.rule(R.SCALE, "one entry alone", lambda xp, g, x, y: (g * y, xp.reshape(g[0, 0] * x[0, 0], (1,))))
BROADCAST.rule(R.SUB_BATCH, "summed over the batch alone", lambda xp, g, x, y: (g * 1, -xp.sum(g, 0)[0]))
BROADCAST.rule(R.GRID, "the row's over one column", lambda xp, g, x, y: (2 * x * xp.sum(g, 1, True), xp.cos(y) * g[:1]))
BROADCAST.rule(R.GRID, "the axes exchanged", lambda xp, g, x, y: (
    2 * x * xp.sum(g, 0, True).T, xp.cos(y) * xp.sum(g, 1, True).T), "broadcast not summed", "transposed")  # fmt: skip
BROADCAST.rule(R.LINEAR, "the bias' from one sample", lambda xp, g, x, w, c: (xp.matmul(g, w), xp.matmul(g.T, x), g[0]))
BROADCAST.rule(R.SUM_ROWS, "spread along the other axis", lambda xp, g, x: 2 * x * g, inputs=Inputs("n n"))

CONJ = Kind("missing conj", "conj")
CONJ.rule(R.C_MUL, "of both", lambda xp, g, x, y: (g * y, g * x))
CONJ.rule(R.C_MUL, "of one", lambda xp, g, x, y: (g * xp.conj(y), g * x))
CONJ.rule(R.C_EXP, "", lambda xp, g, x: g * xp.exp(x))
CONJ.rule(R.C_SQUARE, "", lambda xp, g, x: 2 * g * x)
CONJ.rule(R.C_MATMUL, "transposed, not adjoint", lambda xp, g, a, b: (xp.matmul(g, b.T), xp.matmul(a.T, g)))
CONJ.rule(R.C_CONJ, "passed on", lambda xp, g, x: g * 1)
CONJ.rule(R.C_ABS2, "one too many", lambda xp, g, x: 2 * g * xp.conj(x))
CONJ.rule(R.C_RECIPROCAL, "", lambda xp, g, x: -g / (x * x))

TRANSPOSED = Kind("transposed", "transposed")
WITHIN = ("transposed", "dropped term")  # of a factor in the formula, not of the gradient
TRANSPOSED.rule(R.SQUARE_MATMUL, "the right factor not", lambda xp, g, a, b: (xp.matmul(g, b), xp.matmul(a.T, g)), *WITHIN)
TRANSPOSED.rule(R.SQUARE_MATMUL, "the left factor not", lambda xp, g, a, b: (xp.matmul(g, b.T), xp.matmul(a, g)), *WITHIN)
TRANSPOSED.rule(R.SQUARE_MATMUL, "the gradient", lambda xp, g, a, b: (xp.matmul(g, b.T).T, xp.matmul(a.T, g)))
TRANSPOSED.rule(R.MATVEC, "the matrix not", lambda xp, g, a, x: (xp.unsqueeze(g, 1) * x, xp.matmul(a, g)), *WITHIN)
TRANSPOSED.rule(R.MATVEC, "the matrix's gradient", lambda xp, g, a, x: (xp.unsqueeze(x, 1) * g, xp.matmul(a.T, g)))
TRANSPOSED.rule(R.BILINEAR, "the matrix's gradient", lambda xp, g, x, a, y: (
    g * xp.matmul(a, y), g * xp.unsqueeze(y, 1) * x, g * xp.matmul(a.T, x)))  # fmt: skip
TRANSPOSED.rule(R.OUTER, "exchanged", lambda xp, g, x, y: (xp.matmul(g.T, y), xp.matmul(g, x)), *WITHIN)
TRANSPOSED.rule(R.LINEAR, "the weight's gradient", lambda xp, g, x, w, c: (xp.matmul(g, w), xp.matmul(x.T, g), xp.sum(g, 0)))
TRANSPOSED.rule(R.TRANSPOSE, "not at all", lambda xp, g, x: g * 1)
TRANSPOSED.rule(R.TRACE, "not at all", lambda xp, g, a, b: (g * b, g * a), *WITHIN)

SHIFTED = Kind("shifted index", "shifted index")
SHIFTED.rule(R.ROLL, "the same way", lambda xp, g, x: xp.roll(g, 1, 0), "shifted index", "transposed")
SHIFTED.rule(R.ROLL, "not back", lambda xp, g, x: g * 1)
SHIFTED.rule(R.FLIP, "not back", lambda xp, g, x: g * 1)
SHIFTED.rule(R.TAIL, "all but the last", lambda xp, g, x: xp.cat([g, xp.zeros_like(x[:1])]))
SHIFTED.rule(R.CUMSUM, "without its own", lambda xp, g, x: R.CUMSUM.vjp(xp, g, x) - g, "shifted index", "dropped term")
SHIFTED.rule(R.CUMSUM, "from the wrong end", lambda xp, g, x: xp.cumsum(g, 0), "shifted index", "transposed")
SHIFTED.rule(
    R.CONV, "taps not reversed", lambda xp, g, x: R.spread_taps(xp, g, x, (2.0, -1.0, 0.5)), "shifted index", "transposed"
)
SHIFTED.rule(R.CONV, "rolled by one", lambda xp, g, x: xp.roll(R.spread_taps(xp, g, x), 1, 0))
SHIFTED.rule(R.PICK, "the next", lambda xp, g, x: xp.roll(R.PICK.vjp(xp, g, x), 1, 0))
SHIFTED.rule(R.DIFF, "wrapped around", lambda xp, g, x: xp.roll(R.DIFF.vjp(xp, g, x), 1, 0))
SHIFTED.rule(R.POOL, "one pair on", lambda xp, g, x: 0.5 * xp.roll(xp.stack([g, g], 1), 1, 0))
SHIFTED.rule(R.MUL, "of the next row", lambda xp, g, x, y: (g * xp.roll(y, 1, 0), g * x), "shifted index", "dropped term")

SMALL = Kind("small error", "factor")
ONE = Kind("small error in one of 10⁴", "one entry")
for exponent in range(2, 7):
    error = 10.0**-exponent
    SMALL.rule(R.SIN, f"1e-{exponent} of all", lambda xp, g, x, e=error: g * xp.cos(x) * (1 + e))
    SMALL.rule(
        R.MATMUL, f"1e-{exponent} of one", lambda xp, g, a, b, e=error: (xp.matmul(g, b.T), xp.matmul(a.T, g) * (1 - e))
    )
    ONE.rule(R.ENERGY, f"1e-{exponent}", lambda xp, g, x, e=error: 2 * g * x * one_off(xp, x, e))


def one_off(xp, x, error):
    """1, but 1 + error at index 1234."""
    return xp.cat([xp.ones_like(x[:1234]), (1 + error) * xp.ones_like(x[1234:1235]), xp.ones_like(x[1235:])])


FORWARD = Kind("forward mode", "forward mode")
FORWARD.rule(R.SIN, "sign", jvp=lambda xp, t, x: -t * xp.cos(x))
FORWARD.rule(R.SQUARE, "factor", jvp=lambda xp, t, x: t * x)
FORWARD.rule(R.X_SIN, "dropped term", jvp=lambda xp, t, x: t * x * xp.cos(x))
FORWARD.rule(R.SOFTMAX, "the sum dropped", jvp=lambda xp, t, x: t * xp.softmax(x, 1))
FORWARD.rule(R.ABS, "zero", jvp=lambda xp, t, x: 0 * t)
FORWARD.rule(R.MUL, "the first tangent alone", jvp=lambda xp, s, t, x, y: s * y)
FORWARD.rule(R.C_CONJ, "without conj", jvp=lambda xp, t, x: t * 1)
FORWARD.rule(R.C_EXP, "conj as in reverse", jvp=lambda xp, t, x: t * xp.conj(xp.exp(x)))
FORWARD.rule(R.SQUARE_MATMUL, "transposed", jvp=lambda xp, s, t, a, b: xp.matmul(s, b) + xp.matmul(t, a))
FORWARD.rule(R.ROLL, "the other way", jvp=lambda xp, t, x: xp.roll(t, -1, 0))
FORWARD.rule(R.MEAN, "without 1/n", jvp=lambda xp, t, x: xp.sum(t))
FORWARD.rule(R.SIN, "1e-4 of all", jvp=lambda xp, t, x: t * xp.cos(x) * (1 + 1e-4))
