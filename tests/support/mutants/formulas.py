"""Wrong formulas: signs, factors, terms that are missing, sums over the wrong axis, a transpose or a conj forgotten."""

from mutants.corpus import Inputs, Kind
from mutants.rules import (
    ABS, ADD_ROW, ADD_ROW_SQUARE, BILINEAR, C_ABS2, C_CONJ, C_EXP, C_IMAG, C_MATMUL, C_MUL, C_RECIPROCAL, C_SQUARE, CONV,
    CROSS_ENTROPY, CUBE, CUMSUM, DIFF, DIV, ENERGY, EXP, FLIP, GAUSS, GRAM, GRID, KERNEL, LINEAR, LOG, LOG_SOFTMAX, LOGSUMEXP,
    MATMUL, MATVEC, MEAN, MEAN_ROWS, MUL, MUL_COLUMN, NORM, OUTER, PICK, POOL, PRODUCT, QUADRATIC, RATIONAL, RECIPROCAL, ROLL,
    SCALE, SIGMOID, SIN, SIN_SQUARE, SOFTMAX, SQRT, SQUARE, SQUARE_MATMUL, STANDARDIZE, SUB_BATCH, SUM_ROWS, SUM_SQUARES, TAIL,
    TANH, TRACE, TRANSPOSE, UNIT, VAR, X_SIN, centred, first_column, length, spread, spread_taps, standardized,
)  # fmt: skip

SIGN = Kind("wrong sign", "sign")
SIGN.rule(SIN, "negative", lambda xp, g, x: -g * xp.cos(x))
SIGN.rule(EXP, "negative", lambda xp, g, x: -g * xp.exp(x))
SIGN.rule(RECIPROCAL, "positive", lambda xp, g, x: g / (x * x))
SIGN.rule(TANH, "tanh² - 1", lambda xp, g, x: g * (xp.tanh(x) * xp.tanh(x) - 1))
SIGN.rule(DIV, "the denominator's is positive", lambda xp, g, x, y: (g / y, g * x / (y * y)))
SIGN.rule(SUB_BATCH, "the mean row's is positive", lambda xp, g, x, y: (g * 1, xp.sum(g, (0, 1))))
SIGN.rule(MATVEC, "the matrix's is negative", lambda xp, g, a, x: (-xp.unsqueeze(g, 1) * x, xp.matmul(a.T, g)))
SIGN.rule(LOGSUMEXP, "negative", lambda xp, g, x: -xp.unsqueeze(g, 1) * xp.softmax(x, 1))
SIGN.rule(SOFTMAX, "negative", lambda xp, g, x: xp.softmax(x, 1) * (xp.sum(g * xp.softmax(x, 1), 1, True) - g))
SIGN.rule(NORM, "negative", lambda xp, g, x: -g * x / length(xp, x))
SIGN.rule(DIFF, "the operands swapped", lambda xp, g, x: -DIFF.vjp(xp, g, x))
SIGN.rule(C_IMAG, "-j", lambda xp, g, x: -1j * g, "sign", "conj")
SIGN.rule(
    KERNEL, "of one tap's", lambda xp, g, w, x: (KERNEL.vjp(xp, g, w, x)[0] * one_negative(xp, w), KERNEL.vjp(xp, g, w, x)[1]),
    "sign", "one entry",
)  # fmt: skip
SIGN.rule(
    UNIT, "of the second term", lambda xp, g, x: g / length(xp, x) + x * xp.sum(g * x) / length(xp, x) ** 3, "sign", "dropped term"
)


def one_negative(xp, w):
    one = xp.ones_like(w[:1])
    return xp.cat([one, -one, one])


FACTOR = Kind("wrong factor", "factor")
FACTOR.rule(SQUARE, "one half", lambda xp, g, x: g * x)
FACTOR.rule(CUBE, "two for three", lambda xp, g, x: 2 * g * x * x)
FACTOR.rule(MEAN, "without 1/n", lambda xp, g, x: g * xp.ones_like(x))
FACTOR.rule(MEAN_ROWS, "the other axis' 1/n", lambda xp, g, x: xp.unsqueeze(g, 1) * xp.ones_like(x) / x.shape[0])
FACTOR.rule(VAR, "without 2", lambda xp, g, x: g * centred(xp, x) / (x.shape[0] - 1))
FACTOR.rule(VAR, "1/n for 1/(n - 1)", lambda xp, g, x: 2 * g * centred(xp, x) / x.shape[0])
FACTOR.rule(SQRT, "without a half", lambda xp, g, x: g / xp.sqrt(x))
FACTOR.rule(GAUSS, "without 2", lambda xp, g, x: -x * g * xp.exp(-x * x))
FACTOR.rule(SUM_SQUARES, "doubled", lambda xp, g, x: 4 * g * x)
FACTOR.rule(POOL, "without a half", lambda xp, g, x: xp.stack([g, g], 1))
FACTOR.rule(STANDARDIZE, "not divided by the spread", lambda xp, g, x: (
    g - xp.mean(g, 1, True) - standardized(xp, x) * xp.mean(g * standardized(xp, x), 1, True)))  # fmt: skip
FACTOR.rule(MATMUL, "half of one", lambda xp, g, a, b: (xp.matmul(g, b.T), 0.5 * xp.matmul(a.T, g)))
FACTOR.rule(TRACE, "twice one", lambda xp, g, a, b: (g * b.T, 2 * g * a.T))
FACTOR.rule(LOG, "base 2", lambda xp, g, x: g / (x * 0.6931471805599453))
FACTOR.rule(CROSS_ENTROPY, "a sum for a mean", lambda xp, g, x: g * (xp.softmax(x, 1) - first_column(xp, x)))
FACTOR.rule(C_ABS2, "without 2", lambda xp, g, x: g * x)
FACTOR.rule(C_MUL, "j", lambda xp, g, x, y: (1j * g * xp.conj(y), g * xp.conj(x)), "factor", "conj")
POWER = ("factor", "dropped term")
FACTOR.rule(RECIPROCAL, "the exponent off", lambda xp, g, x: -g / (x * x * x), *POWER)
FACTOR.rule(CUBE, "the exponent off", lambda xp, g, x: 3 * g * x, *POWER)
FACTOR.rule(SQRT, "the root not inverted", lambda xp, g, x: 0.5 * g * xp.sqrt(x), *POWER)
FACTOR.rule(NORM, "over the square", lambda xp, g, x: g * x / xp.sum(x * x), *POWER)

TERM = Kind("dropped term", "dropped term")
TERM.rule(X_SIN, "of the product rule, first", lambda xp, g, x: g * x * xp.cos(x))
TERM.rule(X_SIN, "of the product rule, second", lambda xp, g, x: g * xp.sin(x))
TERM.rule(RATIONAL, "of the quotient rule", lambda xp, g, x: g / (1 + x * x))
TERM.rule(SIN_SQUARE, "the inner derivative", lambda xp, g, x: g * xp.cos(x * x), "dropped term", "factor")
TERM.rule(SOFTMAX, "the sum", lambda xp, g, x: xp.softmax(x, 1) * g)
TERM.rule(LOG_SOFTMAX, "the sum", lambda xp, g, x: g * 1)
TERM.rule(STANDARDIZE, "the mean's", lambda xp, g, x: (
    g - standardized(xp, x) * xp.mean(g * standardized(xp, x), 1, True)) / spread(xp, x))  # fmt: skip
TERM.rule(STANDARDIZE, "the spread's", lambda xp, g, x: (g - xp.mean(g, 1, True)) / spread(xp, x))
TERM.rule(QUADRATIC, "Aᵀx", lambda xp, g, a, x: (g * xp.unsqueeze(x, 1) * x, g * xp.matmul(a, x)))
TERM.rule(GRAM, "the right factor's", lambda xp, g, x: xp.matmul(g, x))
TERM.rule(UNIT, "the norm's", lambda xp, g, x: g / length(xp, x))
TERM.rule(TANH, "tanh²", lambda xp, g, x: g * 1, "dropped term", "factor")
TERM.rule(SIGMOID, "1 - s", lambda xp, g, x: g * xp.sigmoid(x), "dropped term", "factor")
TERM.rule(CUMSUM, "all but its own", lambda xp, g, x: g * 1)
TERM.rule(CONV, "the last tap's", lambda xp, g, x: spread_taps(xp, g, x, (0.5, -1.0, 0.0)))
TERM.rule(CROSS_ENTROPY, "the one of the class", lambda xp, g, x: g * xp.softmax(x, 1) / x.shape[0])
TERM.rule(DIFF, "the second", lambda xp, g, x: xp.cat([xp.zeros_like(x[:1]), g]))
TERM.rule(PICK, "of the value picked twice", lambda xp, g, x: xp.stack([g[0], 0 * g[0], g[2]]), "dropped term", "one entry")
TERM.rule(
    PRODUCT, "of one of three", lambda xp, g, x: g * xp.stack([x[1] * x[2], x[0] * x[2], 0 * x[0]]), "dropped term", "one entry"
)

BROADCAST = Kind("broadcast not summed", "broadcast not summed")
BROADCAST.rule(ADD_ROW, "first row alone", lambda xp, g, x, y: (g * 1, g[0]))
BROADCAST.rule(ADD_ROW, "last row alone", lambda xp, g, x, y: (g * 1, g[-1]))
BROADCAST.rule(ADD_ROW, "mean for sum", lambda xp, g, x, y: (g * 1, xp.mean(g, 0)), "broadcast not summed", "factor")
BROADCAST.rule(ADD_ROW_SQUARE, "summed over the other axis", lambda xp, g, x, y: (g * 1, xp.sum(g, 1)))
BROADCAST.rule(MUL_COLUMN, "first column alone", lambda xp, g, x, y: (g * y, g[:, :1] * x[:, :1]))
BROADCAST.rule(SCALE, "one entry alone", lambda xp, g, x, y: (g * y, xp.reshape(g[0, 0] * x[0, 0], (1,))))
BROADCAST.rule(SUB_BATCH, "summed over the batch alone", lambda xp, g, x, y: (g * 1, -xp.sum(g, 0)[0]))
BROADCAST.rule(GRID, "the row's over one column", lambda xp, g, x, y: (2 * x * xp.sum(g, 1, True), xp.cos(y) * g[:1]))
BROADCAST.rule(GRID, "the axes exchanged", lambda xp, g, x, y: (
    2 * x * xp.sum(g, 0, True).T, xp.cos(y) * xp.sum(g, 1, True).T), "broadcast not summed", "transposed")  # fmt: skip
BROADCAST.rule(LINEAR, "the bias' from one sample", lambda xp, g, x, w, c: (xp.matmul(g, w), xp.matmul(g.T, x), g[0]))
BROADCAST.rule(SUM_ROWS, "spread along the other axis", lambda xp, g, x: 2 * x * g, inputs=Inputs("n n"))

CONJ = Kind("missing conj", "conj")
CONJ.rule(C_MUL, "of both", lambda xp, g, x, y: (g * y, g * x))
CONJ.rule(C_MUL, "of one", lambda xp, g, x, y: (g * xp.conj(y), g * x))
CONJ.rule(C_EXP, "", lambda xp, g, x: g * xp.exp(x))
CONJ.rule(C_SQUARE, "", lambda xp, g, x: 2 * g * x)
CONJ.rule(C_MATMUL, "transposed, not adjoint", lambda xp, g, a, b: (xp.matmul(g, b.T), xp.matmul(a.T, g)))
CONJ.rule(C_CONJ, "passed on", lambda xp, g, x: g * 1)
CONJ.rule(C_ABS2, "one too many", lambda xp, g, x: 2 * g * xp.conj(x))
CONJ.rule(C_RECIPROCAL, "", lambda xp, g, x: -g / (x * x))

TRANSPOSED = Kind("transposed", "transposed")
TRANSPOSED.rule(SQUARE_MATMUL, "the right factor not", lambda xp, g, a, b: (xp.matmul(g, b), xp.matmul(a.T, g)))
TRANSPOSED.rule(SQUARE_MATMUL, "the left factor not", lambda xp, g, a, b: (xp.matmul(g, b.T), xp.matmul(a, g)))
TRANSPOSED.rule(SQUARE_MATMUL, "the gradient", lambda xp, g, a, b: (xp.matmul(g, b.T).T, xp.matmul(a.T, g)))
TRANSPOSED.rule(MATVEC, "the matrix not", lambda xp, g, a, x: (xp.unsqueeze(g, 1) * x, xp.matmul(a, g)))
TRANSPOSED.rule(MATVEC, "the matrix's gradient", lambda xp, g, a, x: (xp.unsqueeze(x, 1) * g, xp.matmul(a.T, g)))
TRANSPOSED.rule(BILINEAR, "the matrix's gradient", lambda xp, g, x, a, y: (
    g * xp.matmul(a, y), g * xp.unsqueeze(y, 1) * x, g * xp.matmul(a.T, x)))  # fmt: skip
TRANSPOSED.rule(OUTER, "exchanged", lambda xp, g, x, y: (xp.matmul(g.T, y), xp.matmul(g, x)))
TRANSPOSED.rule(LINEAR, "the weight's gradient", lambda xp, g, x, w, c: (xp.matmul(g, w), xp.matmul(x.T, g), xp.sum(g, 0)))
TRANSPOSED.rule(TRANSPOSE, "not at all", lambda xp, g, x: g * 1)
TRANSPOSED.rule(TRACE, "not at all", lambda xp, g, a, b: (g * b, g * a))

SHIFTED = Kind("shifted index", "shifted index")
SHIFTED.rule(ROLL, "the same way", lambda xp, g, x: xp.roll(g, 1, 0))
SHIFTED.rule(ROLL, "not back", lambda xp, g, x: g * 1)
SHIFTED.rule(FLIP, "not back", lambda xp, g, x: g * 1)
SHIFTED.rule(TAIL, "all but the last", lambda xp, g, x: xp.cat([g, xp.zeros_like(x[:1])]))
SHIFTED.rule(CUMSUM, "without its own", lambda xp, g, x: CUMSUM.vjp(xp, g, x) - g, "shifted index", "dropped term")
SHIFTED.rule(CUMSUM, "from the wrong end", lambda xp, g, x: xp.cumsum(g, 0), "shifted index", "transposed")
SHIFTED.rule(CONV, "taps not reversed", lambda xp, g, x: spread_taps(xp, g, x, (2.0, -1.0, 0.5)), "shifted index", "transposed")
SHIFTED.rule(CONV, "rolled by one", lambda xp, g, x: xp.roll(spread_taps(xp, g, x), 1, 0))
SHIFTED.rule(PICK, "the next", lambda xp, g, x: xp.roll(PICK.vjp(xp, g, x), 1, 0))
SHIFTED.rule(DIFF, "wrapped around", lambda xp, g, x: xp.roll(DIFF.vjp(xp, g, x), 1, 0))
SHIFTED.rule(POOL, "one pair on", lambda xp, g, x: 0.5 * xp.roll(xp.stack([g, g], 1), 1, 0))
SHIFTED.rule(MUL, "of the next row", lambda xp, g, x, y: (g * xp.roll(y, 1, 0), g * x))

SMALL = Kind("small error", "factor")
ONE = Kind("small error in one of 10⁴", "one entry")
for exponent in range(2, 7):
    error = 10.0**-exponent
    SMALL.rule(SIN, f"1e-{exponent} of all", lambda xp, g, x, e=error: g * xp.cos(x) * (1 + e))
    SMALL.rule(MATMUL, f"1e-{exponent} of one", lambda xp, g, a, b, e=error: (xp.matmul(g, b.T), xp.matmul(a.T, g) * (1 - e)))
    ONE.rule(ENERGY, f"1e-{exponent}", lambda xp, g, x, e=error: 2 * g * x * one_off(xp, x, e))


def one_off(xp, x, error):
    """1, but 1 + error at index 1234."""
    return xp.cat([xp.ones_like(x[:1234]), (1 + error) * xp.ones_like(x[1234:1235]), xp.ones_like(x[1235:])])


FORWARD = Kind("forward mode", "forward mode")
FORWARD.rule(SIN, "sign", jvp=lambda xp, t, x: -t * xp.cos(x))
FORWARD.rule(SQUARE, "factor", jvp=lambda xp, t, x: t * x)
FORWARD.rule(X_SIN, "dropped term", jvp=lambda xp, t, x: t * x * xp.cos(x))
FORWARD.rule(SOFTMAX, "the sum dropped", jvp=lambda xp, t, x: t * xp.softmax(x, 1))
FORWARD.rule(ABS, "zero", jvp=lambda xp, t, x: 0 * t)
FORWARD.rule(MUL, "the first tangent alone", jvp=lambda xp, s, t, x, y: s * y)
FORWARD.rule(C_CONJ, "without conj", jvp=lambda xp, t, x: t * 1)
FORWARD.rule(C_EXP, "conj as in reverse", jvp=lambda xp, t, x: t * xp.conj(xp.exp(x)))
FORWARD.rule(SQUARE_MATMUL, "transposed", jvp=lambda xp, s, t, a, b: xp.matmul(s, b) + xp.matmul(t, a))
FORWARD.rule(ROLL, "the other way", jvp=lambda xp, t, x: xp.roll(t, -1, 0))
FORWARD.rule(MEAN, "without 1/n", jvp=lambda xp, t, x: xp.sum(t))
FORWARD.rule(SIN, "1e-4 of all", jvp=lambda xp, t, x: t * xp.cos(x) * (1 + 1e-4))
