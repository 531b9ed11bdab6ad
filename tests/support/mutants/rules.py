"""The right rules: functions with their derivatives, of which the mutants are made. test_corpus.py checks them."""

from mutants.corpus import NONZERO, POSITIVE, REAL, Inputs, Rule

RULES: list[Rule] = []


def rule(name, inputs, value, vjp, jvp=None, twice=True, **columns) -> Rule:
    made = Rule(name, Inputs(inputs, **columns), value, vjp, jvp, twice)
    RULES.append(made)
    return made


def elementwise(name, value, slope, **columns) -> Rule:
    """A function of single numbers, whose derivative is `slope(xp, x)`."""

    def times(xp, g, x):
        return g * slope(xp, x)

    return rule(name, columns.pop("inputs", "m n"), value, times, times, **columns)


# Elementwise
SIN = elementwise("sin", lambda xp, x: xp.sin(x), lambda xp, x: xp.cos(x))
EXP = elementwise("exp", lambda xp, x: xp.exp(x), lambda xp, x: xp.exp(x))
LOG = elementwise("log", lambda xp, x: xp.log(x), lambda xp, x: 1 / x, domain=POSITIVE)
SQRT = elementwise("sqrt", lambda xp, x: xp.sqrt(x), lambda xp, x: 0.5 / xp.sqrt(x), domain=POSITIVE)
TANH = elementwise("tanh", lambda xp, x: xp.tanh(x), lambda xp, x: 1 - xp.tanh(x) * xp.tanh(x))
SIGMOID = elementwise("sigmoid", lambda xp, x: xp.sigmoid(x), lambda xp, x: xp.sigmoid(x) * (1 - xp.sigmoid(x)))
SQUARE = elementwise("square", lambda xp, x: x * x, lambda xp, x: 2 * x)
CUBE = elementwise("cube", lambda xp, x: x * x * x, lambda xp, x: 3 * x * x)
RECIPROCAL = elementwise("reciprocal", lambda xp, x: 1 / x, lambda xp, x: -1 / (x * x), domain=NONZERO)
GAUSS = elementwise("gauss", lambda xp, x: xp.exp(-x * x), lambda xp, x: -2 * x * xp.exp(-x * x))
SIN_SQUARE = elementwise("sin of square", lambda xp, x: xp.sin(x * x), lambda xp, x: 2 * x * xp.cos(x * x))
X_SIN = elementwise("x sin x", lambda xp, x: x * xp.sin(x), lambda xp, x: xp.sin(x) + x * xp.cos(x))
RATIONAL = elementwise(
    "x over 1 + x²", lambda xp, x: x / (1 + x * x), lambda xp, x: 1 / (1 + x * x) - 2 * x * x / (1 + x * x) ** 2
)
SOFTPLUS = elementwise("softplus", lambda xp, x: xp.log(1 + xp.exp(-xp.abs(x))) + xp.relu(x), lambda xp, x: xp.sigmoid(x))

# Elementwise with kinks: domain NONZERO keeps off them, mutants of kind "at ties" go there.
RELU = elementwise("relu", lambda xp, x: xp.relu(x), lambda xp, x: xp.where(x > 0, 1.0, 0.0), domain=NONZERO)
ABS = elementwise(
    "abs", lambda xp, x: xp.abs(x), lambda xp, x: xp.where(x > 0, 1.0, xp.where(x < 0, -1.0, 0.0)), domain=NONZERO
)
LEAKY = elementwise(
    "leaky relu",
    lambda xp, x: xp.where(x > 0, x, 0.1 * x),
    lambda xp, x: 0.1 + xp.where(x > 0, 0.9 * xp.ones_like(x), 0.0),
    domain=NONZERO,
)
HARD_TANH = elementwise(
    "clamp to ±1", lambda xp, x: xp.minimum(xp.maximum(x, -xp.ones_like(x)), xp.ones_like(x)),
    lambda xp, x: xp.where(xp.abs(x) <= 1, 1.0, 0.0),
)  # fmt: skip
HINGE = elementwise("hinge", lambda xp, x: xp.relu(1 - x), lambda xp, x: xp.where(x < 1, -1.0, 0.0))
X_ABS = elementwise("x |x|", lambda xp, x: x * xp.abs(x), lambda xp, x: 2 * xp.abs(x))

# Of two
MUL = rule("mul", "m n, m n", lambda xp, x, y: x * y, lambda xp, g, x, y: (g * y, g * x), lambda xp, s, t, x, y: s * y + x * t)
DIV = rule(
    "div", "m n, m n", lambda xp, x, y: x / y, lambda xp, g, x, y: (g / y, -g * x / (y * y)),
    lambda xp, s, t, x, y: s / y - x * t / (y * y), domain=[REAL, NONZERO],
)  # fmt: skip
ADD_ROW = rule(
    "add a row", "m n, n", lambda xp, x, y: x + y, lambda xp, g, x, y: (g * 1, xp.sum(g, 0)), lambda xp, s, t, x, y: s + t
)
ADD_ROW_SQUARE = rule("add a row to a square", "n n, n", ADD_ROW.value, ADD_ROW.vjp, ADD_ROW.jvp)
MUL_COLUMN = rule(
    "times a column", "m n, m 1", lambda xp, x, y: x * y, lambda xp, g, x, y: (g * y, xp.sum(g * x, 1, True)),
    lambda xp, s, t, x, y: s * y + x * t,
)  # fmt: skip
SCALE = rule(
    "times a number", "m n, 1", lambda xp, x, y: x * y, lambda xp, g, x, y: (g * y, xp.reshape(xp.sum(g * x), (1,))),
    lambda xp, s, t, x, y: s * y + x * t,
)  # fmt: skip
SUB_BATCH = rule(
    "batch less its mean row", "b m n, n", lambda xp, x, y: x - y, lambda xp, g, x, y: (g * 1, -xp.sum(g, (0, 1))),
    lambda xp, s, t, x, y: s - t,
)  # fmt: skip
GRID = rule(
    "column plus row", "n 1, 1 n", lambda xp, x, y: x * x + xp.sin(y),
    lambda xp, g, x, y: (2 * x * xp.sum(g, 1, True), xp.cos(y) * xp.sum(g, 0, True)),
    lambda xp, s, t, x, y: 2 * x * s + xp.cos(y) * t,
)  # fmt: skip
MAXIMUM = rule(
    "maximum", "m n, m n", lambda xp, x, y: xp.maximum(x, y),
    lambda xp, g, x, y: (g * half_step(xp, x - y), g * half_step(xp, y - x)),
    lambda xp, s, t, x, y: s * half_step(xp, x - y) + t * half_step(xp, y - x),
)  # fmt: skip


def half_step(xp, d):
    """0 below zero, 1 above, a half at zero."""
    return xp.where(d > 0, 1.0, xp.where(d < 0, 0.0, 0.5))


# Reductions
SUM_ROWS = rule(
    "sum of rows", "m n", lambda xp, x: xp.sum(x * x, 1), lambda xp, g, x: 2 * x * xp.unsqueeze(g, 1),
    lambda xp, t, x: xp.sum(2 * x * t, 1),
)  # fmt: skip
MEAN = rule(
    "mean", "m n", lambda xp, x: xp.mean(x), lambda xp, g, x: g * xp.ones_like(x) / (x.shape[0] * x.shape[1]),
    lambda xp, t, x: xp.mean(t), smallest=1,
)  # fmt: skip
MEAN_ROWS = rule(
    "mean of rows", "m n", lambda xp, x: xp.mean(x, 1), lambda xp, g, x: xp.unsqueeze(g, 1) * xp.ones_like(x) / x.shape[1],
    lambda xp, t, x: xp.mean(t, 1), smallest=1,
)  # fmt: skip


def centred(xp, x):
    return x - xp.mean(x)


VAR = rule(
    "variance", "n", lambda xp, x: xp.sum(centred(xp, x) ** 2) / (x.shape[0] - 1),
    lambda xp, g, x: 2 * g * centred(xp, x) / (x.shape[0] - 1),
    lambda xp, t, x: 2 * xp.sum(centred(xp, x) * t) / (x.shape[0] - 1), smallest=2,
)  # fmt: skip


def length(xp, x):
    return xp.sqrt(xp.sum(x * x))


NORM = rule(
    "norm", "n", length, lambda xp, g, x: g * x / length(xp, x), lambda xp, t, x: xp.sum(x * t) / length(xp, x),
    domain=NONZERO, smallest=1,
)  # fmt: skip
UNIT = rule(
    "x over its norm", "n", lambda xp, x: x / length(xp, x),
    lambda xp, g, x: g / length(xp, x) - x * xp.sum(g * x) / length(xp, x) ** 3,
    lambda xp, t, x: t / length(xp, x) - x * xp.sum(t * x) / length(xp, x) ** 3, domain=NONZERO, smallest=1,
)  # fmt: skip
SUM_SQUARES = rule(
    "sum of squares", "n", lambda xp, x: xp.sum(x * x), lambda xp, g, x: 2 * g * x, lambda xp, t, x: 2 * xp.sum(x * t)
)
PRODUCT = rule(
    "product of three", "3", lambda xp, x: x[0] * x[1] * x[2],
    lambda xp, g, x: g * xp.stack([x[1] * x[2], x[0] * x[2], x[0] * x[1]]),
    lambda xp, t, x: t[0] * x[1] * x[2] + x[0] * t[1] * x[2] + x[0] * x[1] * t[2],
)  # fmt: skip
AMAX = rule(
    "max of rows", "m n", lambda xp, x: xp.amax(x, 1), lambda xp, g, x: xp.unsqueeze(g, 1) * share(xp, x, 1),
    lambda xp, t, x: xp.sum(t * share(xp, x, 1), 1), smallest=1,
)  # fmt: skip


def share(xp, x, dim):
    """One over the number of maxima where x is a maximum, else 0: what amax passes on."""
    is_top = xp.where(x == xp.amax(x, dim, True), 1.0, 0.0)
    return is_top / xp.sum(is_top, dim, True)


LOGSUMEXP = rule(
    "logsumexp", "m n", lambda xp, x: xp.logsumexp(x, 1), lambda xp, g, x: xp.unsqueeze(g, 1) * xp.softmax(x, 1),
    lambda xp, t, x: xp.sum(t * xp.softmax(x, 1), 1), smallest=1,
)  # fmt: skip


# Normalizations


def softmax_vjp(xp, g, x):
    s = xp.softmax(x, 1)
    return s * (g - xp.sum(g * s, 1, True))


SOFTMAX = rule("softmax", "m n", lambda xp, x: xp.softmax(x, 1), softmax_vjp, softmax_vjp, smallest=1)
LOG_SOFTMAX = rule(
    "log softmax", "m n", lambda xp, x: x - xp.unsqueeze(xp.logsumexp(x, 1), 1),
    lambda xp, g, x: g - xp.softmax(x, 1) * xp.sum(g, 1, True),
    lambda xp, t, x: t - xp.sum(t * xp.softmax(x, 1), 1, True), smallest=1,
)  # fmt: skip
CROSS_ENTROPY = rule(
    "cross entropy of class 0", "m n", lambda xp, x: xp.mean(xp.logsumexp(x, 1) - x[:, 0]),
    lambda xp, g, x: g * (xp.softmax(x, 1) - first_column(xp, x)) / x.shape[0],
    lambda xp, t, x: xp.mean(xp.sum(t * xp.softmax(x, 1), 1) - t[:, 0]), smallest=1,
)  # fmt: skip


def first_column(xp, x):
    return xp.cat([xp.ones_like(x[:, :1]), xp.zeros_like(x[:, 1:])], 1)


def spread(xp, x):
    c = x - xp.mean(x, 1, True)
    return xp.sqrt(xp.mean(c * c, 1, True) + 1e-3)


def standardized(xp, x):
    return (x - xp.mean(x, 1, True)) / spread(xp, x)


def standardize_vjp(xp, g, x):
    z = standardized(xp, x)
    return (g - xp.mean(g, 1, True) - z * xp.mean(g * z, 1, True)) / spread(xp, x)


STANDARDIZE = rule("standardize", "m n", standardized, standardize_vjp, standardize_vjp, smallest=1)

# Products of matrices
MATMUL = rule(
    "matmul", "m k, k n", lambda xp, a, b: xp.matmul(a, b), lambda xp, g, a, b: (xp.matmul(g, b.T), xp.matmul(a.T, g)),
    lambda xp, s, t, a, b: xp.matmul(s, b) + xp.matmul(a, t),
)  # fmt: skip
SQUARE_MATMUL = rule("matmul of squares", "n n, n n", MATMUL.value, MATMUL.vjp, MATMUL.jvp)
MATVEC = rule(
    "matrix times vector", "n n, n", lambda xp, a, x: xp.matmul(a, x),
    lambda xp, g, a, x: (xp.unsqueeze(g, 1) * x, xp.matmul(a.T, g)),
    lambda xp, s, t, a, x: xp.matmul(s, x) + xp.matmul(a, t),
)  # fmt: skip
QUADRATIC = rule(
    "quadratic form", "n n, n", lambda xp, a, x: xp.sum(x * xp.matmul(a, x)),
    lambda xp, g, a, x: (g * xp.unsqueeze(x, 1) * x, g * (xp.matmul(a, x) + xp.matmul(a.T, x))),
    lambda xp, s, t, a, x: xp.sum(x * xp.matmul(s, x)) + xp.sum(t * (xp.matmul(a, x) + xp.matmul(a.T, x))),
)  # fmt: skip
BILINEAR = rule(
    "bilinear form", "n, n n, n", lambda xp, x, a, y: xp.sum(x * xp.matmul(a, y)),
    lambda xp, g, x, a, y: (g * xp.matmul(a, y), g * xp.unsqueeze(x, 1) * y, g * xp.matmul(a.T, x)),
    lambda xp, r, s, t, x, a, y: xp.sum(r * xp.matmul(a, y)) + xp.sum(x * (xp.matmul(s, y) + xp.matmul(a, t))),
)  # fmt: skip
GRAM = rule(
    "x xᵀ", "n k", lambda xp, x: xp.matmul(x, x.T), lambda xp, g, x: xp.matmul(g + g.T, x),
    lambda xp, t, x: xp.matmul(t, x.T) + xp.matmul(x, t.T),
)  # fmt: skip
OUTER = rule(
    "outer product", "n, n", lambda xp, x, y: xp.unsqueeze(x, 1) * y, lambda xp, g, x, y: (xp.matmul(g, y), xp.matmul(g.T, x)),
    lambda xp, s, t, x, y: xp.unsqueeze(s, 1) * y + xp.unsqueeze(x, 1) * t,
)  # fmt: skip
LINEAR = rule(
    "linear", "b n, n n, n", lambda xp, x, w, c: xp.matmul(x, w.T) + c,
    lambda xp, g, x, w, c: (xp.matmul(g, w), xp.matmul(g.T, x), xp.sum(g, 0)),
    lambda xp, r, s, t, x, w, c: xp.matmul(r, w.T) + xp.matmul(x, s.T) + t,
)  # fmt: skip
TRACE = rule(
    "trace of a product", "n n, n n", lambda xp, a, b: xp.sum(a * b.T), lambda xp, g, a, b: (g * b.T, g * a.T),
    lambda xp, s, t, a, b: xp.sum(s * b.T) + xp.sum(a * t.T),
)  # fmt: skip

# Like convolutions
TAPS = (0.5, -1.0, 2.0)


def convolved(xp, x):
    return TAPS[0] * x[:-2] + TAPS[1] * x[1:-1] + TAPS[2] * x[2:]


def spread_taps(xp, g, x, taps=TAPS):
    zero = xp.zeros_like(x[:1])
    parts = [xp.cat([*[zero] * k, taps[k] * g, *[zero] * (2 - k)]) for k in range(3)]
    return parts[0] + parts[1] + parts[2]


CONV = rule("convolution", "n", convolved, spread_taps, lambda xp, t, x: convolved(xp, t), sizes={"n": 6}, smallest=3)
KERNEL = rule(
    "convolution's kernel", "3, n", lambda xp, w, x: w[0] * x[:-2] + w[1] * x[1:-1] + w[2] * x[2:],
    lambda xp, g, w, x: (xp.stack([xp.sum(g * x[:-2]), xp.sum(g * x[1:-1]), xp.sum(g * x[2:])]), spread_taps(xp, g, x, w)),
    lambda xp, s, t, w, x: KERNEL.value(xp, s, x) + KERNEL.value(xp, w, t), sizes={"n": 6}, smallest=3,
)  # fmt: skip
POOL = rule(
    "mean of pairs", "n 2", lambda xp, x: 0.5 * (x[:, 0] + x[:, 1]), lambda xp, g, x: 0.5 * xp.stack([g, g], 1),
    lambda xp, t, x: 0.5 * (t[:, 0] + t[:, 1]),
)  # fmt: skip

# Values that move
DIFF = rule(
    "differences", "n", lambda xp, x: x[1:] - x[:-1],
    lambda xp, g, x: xp.cat([xp.zeros_like(x[:1]), g]) - xp.cat([g, xp.zeros_like(x[:1])]),
    lambda xp, t, x: t[1:] - t[:-1], smallest=1,
)  # fmt: skip
TAIL = rule(
    "all but the first", "n", lambda xp, x: x[1:] * 1, lambda xp, g, x: xp.cat([xp.zeros_like(x[:1]), g]),
    lambda xp, t, x: t[1:] * 1, smallest=1,
)  # fmt: skip
ROLL = rule(
    "roll",
    "n",
    lambda xp, x: xp.roll(x, 1, 0),
    lambda xp, g, x: xp.roll(g, -1, 0),
    lambda xp, t, x: xp.roll(t, 1, 0),
    smallest=1,
)
FLIP = rule("flip", "n", lambda xp, x: xp.flip(x, (0,)), lambda xp, g, x: xp.flip(g, (0,)), lambda xp, t, x: xp.flip(t, (0,)))
CUMSUM = rule(
    "cumsum", "n", lambda xp, x: xp.cumsum(x, 0), lambda xp, g, x: xp.flip(xp.cumsum(xp.flip(g, (0,)), 0), (0,)),
    lambda xp, t, x: xp.cumsum(t, 0),
)  # fmt: skip
TRANSPOSE = rule(
    "transpose", "n n", lambda xp, x: xp.transpose(x, 0, 1) * 1, lambda xp, g, x: xp.transpose(g, 0, 1) * 1,
    lambda xp, t, x: xp.transpose(t, 0, 1) * 1,
)  # fmt: skip
PICK = rule(
    "x[[0, 2, 2]]", "3", lambda xp, x: xp.stack([x[0], x[2], x[2]]), lambda xp, g, x: xp.stack([g[0], 0 * g[0], g[1] + g[2]]),
    lambda xp, t, x: xp.stack([t[0], t[2], t[2]]),
)  # fmt: skip

# Complex
COMPLEX = {"dtype": "complex128"}
C_MUL = rule(
    "complex product", "m n, m n", lambda xp, x, y: x * y, lambda xp, g, x, y: (g * xp.conj(y), g * xp.conj(x)),
    lambda xp, s, t, x, y: s * y + x * t, **COMPLEX,
)  # fmt: skip
C_EXP = rule(
    "complex exp",
    "n",
    lambda xp, x: xp.exp(x),
    lambda xp, g, x: g * xp.conj(xp.exp(x)),
    lambda xp, t, x: t * xp.exp(x),
    **COMPLEX,
)
C_SQUARE = rule(
    "complex square", "n", lambda xp, x: x * x, lambda xp, g, x: 2 * g * xp.conj(x), lambda xp, t, x: 2 * t * x, **COMPLEX
)
C_MATMUL = rule(
    "complex matmul", "n n, n n", lambda xp, a, b: xp.matmul(a, b),
    lambda xp, g, a, b: (xp.matmul(g, xp.conj(b.T)), xp.matmul(xp.conj(a.T), g)),
    lambda xp, s, t, a, b: xp.matmul(s, b) + xp.matmul(a, t), **COMPLEX,
)  # fmt: skip
C_CONJ = rule(
    "conj", "n", lambda xp, x: xp.conj(x) * 1, lambda xp, g, x: xp.conj(g) * 1, lambda xp, t, x: xp.conj(t) * 1, **COMPLEX
)
C_ABS2 = rule(
    "|z|²", "n", lambda xp, x: xp.real(x * xp.conj(x)) * 1, lambda xp, g, x: 2 * g * x,
    lambda xp, t, x: xp.real(t * xp.conj(x)) * 2, **COMPLEX,
)  # fmt: skip
C_IMAG = rule(
    "imaginary part", "n", lambda xp, x: xp.imag(x) * 1, lambda xp, g, x: 1j * g, lambda xp, t, x: xp.imag(t) * 1, **COMPLEX
)
C_RECIPROCAL = rule(
    "complex reciprocal", "n", lambda xp, x: 1 / x, lambda xp, g, x: -g * xp.conj(1 / (x * x)),
    lambda xp, t, x: -t / (x * x), domain=NONZERO, **COMPLEX,
)  # fmt: skip

# A scalar of 10^4 numbers, for errors in one of them
MANY = 10_000
ENERGY = rule(
    "mean square of 10⁴", "n", lambda xp, x: xp.sum(x * x), lambda xp, g, x: 2 * g * x,
    lambda xp, t, x: 2 * xp.sum(x * t), sizes={"n": MANY}, twice=False, domain=((0.5, 1.5),),
)  # fmt: skip
