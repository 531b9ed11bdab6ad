"""Exact derivatives for the tests of precision: numbers of mpmath that carry two directions and their mixed derivative.

A Hyper stands for f + p * e1 + q * e2 + r * e1 * e2, where e1 and e2 square to 0: p and q are the derivatives of f for two
inputs, r its second derivative for both. Formulas of Python operators and the functions below give all four at once.
Source: J. Fike, J. Alonso, "The development of hyper-dual numbers for exact second-derivative calculations" (2011).
"""

from mpmath import mp, mpf

FAR = 1000  # from here on mpmath does not know erfc


class Hyper:
    """A number with its derivatives. Comparisons look at the number alone, so formulas may branch."""

    __slots__ = ("p", "q", "r", "v")

    def __init__(self, v, p=0, q=0, r=0):
        self.v, self.p, self.q, self.r = v, p, q, r

    def chain(self, f, df, ddf):
        """A function of this number, given its value, its slope and the slope of that."""
        return Hyper(f, df * self.p, df * self.q, df * self.r + ddf * self.p * self.q)

    def __add__(self, other):
        o = hyper(other)
        return Hyper(self.v + o.v, self.p + o.p, self.q + o.q, self.r + o.r)

    def __mul__(self, other):
        o = hyper(other)
        mixed = self.r * o.v + self.p * o.q + self.q * o.p + self.v * o.r
        return Hyper(self.v * o.v, self.p * o.v + self.v * o.p, self.q * o.v + self.v * o.q, mixed)

    def __truediv__(self, other):
        o = hyper(other)
        inverse = 1 / o.v
        return self * o.chain(inverse, -(inverse**2), 2 * inverse**3)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -hyper(other)

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return hyper(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __abs__(self):
        return -self if self.v < 0 else self

    def __lt__(self, other):
        return self.v < hyper(other).v

    def __le__(self, other):
        return self.v <= hyper(other).v

    def __gt__(self, other):
        return self.v > hyper(other).v

    def __ge__(self, other):
        return self.v >= hyper(other).v


def hyper(x):
    """A constant has no derivatives. A float is the number that it is, not the decimal it was written as."""
    return x if isinstance(x, Hyper) else Hyper(mpf(x))


def function(of):
    """`of(x)` gives value, slope and second derivative for a number of mpmath."""
    return lambda x: hyper(x).chain(*of(hyper(x).v))


def constant(of):
    """A function made of steps: its derivatives are 0."""
    return lambda *xs: Hyper(mpf(of(*(hyper(x).v for x in xs))))


@function
def exp(x):
    y = mp.exp(x)
    return y, y, y


@function
def expm1(x):
    y = mp.exp(x)
    return mp.expm1(x), y, y


@function
def log(x):
    return _real(mp.log(x)), 1 / x, -1 / x**2


@function
def log1p(x):
    return _real(mp.log1p(x)), 1 / (1 + x), -1 / (1 + x) ** 2


@function
def sqrt(x):
    y = _real(mp.sqrt(x))
    return y, 1 / (2 * y), -1 / (4 * y * x)


@function
def sin(x):
    c, s = mp.cos_sin(x)
    return s, c, -s


@function
def cos(x):
    c, s = mp.cos_sin(x)
    return c, -s, -c


@function
def asin(x):
    s = mp.sqrt(1 - x * x)
    return _real(mp.asin(x)), 1 / s, x / s**3


@function
def acos(x):
    s = mp.sqrt(1 - x * x)
    return _real(mp.acos(x)), -1 / s, -x / s**3


@function
def atan(x):
    d = 1 / (1 + x * x)
    return mp.atan(x), d, -2 * x * d * d


def sinh(x):
    return (exp(x) - exp(-x)) / 2


def cosh(x):
    return (exp(x) + exp(-x)) / 2


@function
def tanh(x):
    s = mp.sech(x) ** 2
    return mp.tanh(x), s, -2 * mp.tanh(x) * s


@function
def asinh(x):
    s = mp.sqrt(x * x + 1)
    return mp.asinh(x), 1 / s, -x / s**3


@function
def acosh(x):
    s = mp.sqrt(x * x - 1)
    return _real(mp.acosh(x)), 1 / s, -x / s**3


@function
def atanh(x):
    s = 1 - x * x
    return _real(mp.atanh(x)), 1 / s, 2 * x / s**2


@function
def erf(x):
    d = 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)
    return mp.erf(x), d, -2 * x * d


@function
def erfc(x):
    d = -2 / mp.sqrt(mp.pi) * mp.exp(-x * x)
    if x > FAR:
        term = total = -d / (2 * x)
        for k in range(1, 12):
            term = term * (1 - 2 * k) / (2 * x * x)
            total += term
        return total, d, -2 * x * d
    return mp.erfc(max(x, -FAR)), d, -2 * x * d


def erfcx(x):
    """exp(x**2) * erfc(x), which is 1 / x times a series in 1 / x**2."""
    if hyper(x) < FAR:
        return exp(x * x) * erfc(x)
    term = total = 1 / (x * mp.sqrt(mp.pi))
    for k in range(1, 12):
        term = term * (1 - 2 * k) / (2 * x * x)
        total = total + term
    return total


@function
def erfinv(x):
    y = mp.erfinv(x)
    d = mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
    return y, d, 2 * y * d * d


@function
def lgamma(x):
    return mp.re(mp.loggamma(x)), mp.psi(0, x), mp.psi(1, x)


def psi(n):
    """The polygamma function of order n."""
    return function(lambda x: (mp.psi(n, x), mp.psi(n + 1, x), mp.psi(n + 2, x)))


@function
def bessel_i0(x):
    y = mp.besseli(0, x)
    return y, mp.besseli(1, x), (y + mp.besseli(2, x)) / 2


@function
def bessel_i1(x):
    y = mp.besseli(1, x)
    return y, (mp.besseli(0, x) + mp.besseli(2, x)) / 2, (3 * y + mp.besseli(3, x)) / 4


def power(x, y):
    """x**y of a positive x, or of any x for a y that is a number."""
    if isinstance(y, Hyper):
        return exp(y * log(x))
    y = mpf(y)
    if not isinstance(x, Hyper):
        x = hyper(x)
    if y in (0, 1):
        return x if y else Hyper(mpf(1))
    f = mpf(x.v) ** (int(y) if y == int(y) else y)
    return x.chain(_real(f), y * f / x.v, y * (y - 1) * f / x.v**2) if x.v or y < 0 else Hyper(f)


def sigmoid(x):
    """Of two forms, the one of which exp does not overflow."""
    return 1 / (1 + exp(-x)) if hyper(x) > 0 else exp(x) / (1 + exp(x))


def softplus(x):
    return x + log1p(exp(-x)) if hyper(x) > 0 else log1p(exp(x))


def normal_cdf(x):
    return erfc(x * (-1 / mp.sqrt(2))) / 2


def normal_pdf(x):
    return exp(x * x / -2) / mp.sqrt(2 * mp.pi)


def maximum(a, b):
    return a if hyper(a) > b else hyper(b)


def minimum(a, b):
    return a if hyper(a) < b else hyper(b)


def _real(y):
    if isinstance(y, mp.mpc):
        raise ValueError("not defined here")
    return y
