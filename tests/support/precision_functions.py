"""Activations and special functions with exact references, rows as in precision_rows."""

import precision_numbers as n
from mpmath import mp
from precision_numbers import constant, function, hyper
from precision_rows import F, moderate, moderate_positive, nonzero, positive, row, variant

import autograd_cy as ag

SLOPE = (1 / 8 + 1 / 3) / 2
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805


def softplus(x, beta=1, threshold=20):
    """By its definition a straight line above the threshold."""
    return x if x * beta > threshold else n.softplus(x * beta) / beta


def elu(x, alpha=1, scale=1):
    return scale * (x if x > 0 else alpha * n.expm1(x))


def mish(x):
    w = n.exp(x) * (n.exp(x) + 2)
    return x * (1 - 2 / (w + 2) if x > 0 else w / (w + 2))


def gelu_tanh(x):
    return x * n.sigmoid(2 * mp.sqrt(2 / mp.pi) * (x + 0.044715 * x * x * x))


def off(*kinks):
    return lambda x: x not in kinks


ACTIVATIONS = [
    row("relu", lambda x: n.maximum(x, 0), nonzero),
    row(f"{F}leaky_relu", lambda x: x if x > 0 else x * 0.01, nonzero),
    row("prelu", lambda x, w: x if x > 0 else x * w, nonzero, lambda x, w: ag.prelu(x[None], w)[0]),
    row(f"{F}rrelu", lambda x: x if x > 0 else x * SLOPE, nonzero),
    row(f"{F}threshold", lambda x: x if x > 1.5 else hyper(20), None, lambda x: ag.nn.functional.threshold(x, 1.5, 20)),
    row("hardshrink", lambda x: x if abs(x) > 0.5 else hyper(0), off(0.5, -0.5)),
    row(f"{F}softshrink", lambda x: x - mp.sign(x.v) / 2 if abs(x) > 0.5 else hyper(0), off(0.5, -0.5)),
    row(f"{F}hardtanh", lambda x: n.maximum(n.minimum(x, 1), -1), off(1, -1)),
    row(f"{F}relu6", lambda x: n.maximum(n.minimum(x, 6), 0), off(0, 6)),
    row(f"{F}hardsigmoid", lambda x: n.maximum(n.minimum(x + 3, 6), 0) / 6, off(-3, 3)),
    row(f"{F}hardswish", lambda x: x * n.maximum(n.minimum(x + 3, 6), 0) / 6, off(-3, 3)),
    row(f"{F}softsign", lambda x: x / (1 + abs(x)), nonzero),
    row(f"{F}tanhshrink", lambda x: x - n.tanh(x)),
    row(f"{F}silu", lambda x: x * n.sigmoid(x)),
    row(f"{F}mish", mish),
    row(f"{F}gelu", lambda x: x * n.normal_cdf(x)),
    variant(f"{F}gelu", "tanh", gelu_tanh, None, approximate="tanh"),
    row(f"{F}elu", elu, nonzero),
    row(f"{F}selu", lambda x: elu(x, ALPHA, SCALE), nonzero),
    row(f"{F}celu", elu, nonzero),
    variant(f"{F}celu", "alpha=2.5", lambda x: x if x > 0 else 2.5 * n.expm1(x / 2.5), nonzero, 2.5),
    row(f"{F}softplus", softplus, off(20)),
    variant(f"{F}softplus", "beta=2.5", lambda x: softplus(x, 2.5), off(8), 2.5),
    row(f"{F}logsigmoid", lambda x: -n.softplus(-x)),
    row(f"{F}glu", lambda a, b: a * n.sigmoid(b), None, lambda a, b: ag.nn.functional.glu(ag.stack([a, b], -1))[:, 0]),
    row(f"{F}softmin", lambda a, b: n.sigmoid(b - a), None,
        lambda a, b: ag.nn.functional.softmin(ag.stack([a, b], -1), -1)[:, 0]),
    row("softmax", lambda a, b: n.sigmoid(a - b), None, lambda a, b: ag.softmax(ag.stack([a, b], -1), -1)[:, 0]),
    row("log_softmax", lambda a, b: -n.softplus(b - a), None, lambda a, b: ag.log_softmax(ag.stack([a, b], -1), -1)[:, 0]),
    row("logsumexp", lambda a, b: n.softplus(b - a) + a, None, lambda a, b: ag.logsumexp(ag.stack([a, b], -1), -1)),
]


def of_one(key, reference, where=moderate, **columns):
    return row(key, reference, where, digits=40, **columns)


def value(key, reference, where=moderate, **columns):
    return row(key, constant(reference), where, values_alone=True, digits=40, **columns)


def polynomial(name, evaluated, degree=5):
    key = f"special.{name}"
    return row(key, lambda x: evaluated(degree, hyper(x).v), moderate, lambda x: getattr(ag.special, name)(x, degree),
               f"degree {degree}", values_alone=True, digits=40)  # fmt: skip


def chebyshev(first):
    """The kind whose polynomial of degree 1 is first(x), by the recurrence."""

    def of(degree, x):
        before, y = mp.mpf(1), first(x)
        for _ in range(degree - 1):
            before, y = y, 2 * x * y - before
        return y

    return of


def hermite_e(k, x):
    return mp.hermite(k, x / mp.sqrt(2)) / mp.sqrt(2) ** k


def gamma_ratio(lower):
    """igamma or igammac of a fixed order: their derivative for it is refused."""

    @function
    def of(x):
        y = mp.gammainc(1.75, 0, x, regularized=True) if lower else mp.gammainc(1.75, x, mp.inf, regularized=True)
        d = (1 if lower else -1) * mp.mpf(x) ** (mp.mpf(1.75) - 1) * mp.exp(-x) / mp.gamma(1.75)
        return y, d, d * ((mp.mpf(1.75) - 1) / x - 1)

    return of


@function
def zeta(q):
    s = mp.mpf(2.25)
    return mp.zeta(s, q), -s * mp.zeta(s + 1, q), s * (s + 1) * mp.zeta(s + 2, q)


@function
def ndtri(x):
    """By Newton's method for the logarithm, in which the tails are nearly parabolas."""
    sign, tail = (-1, x) if x < 0.5 else (1, 1 - x)
    y = step = mp.sqrt(-2 * mp.log(tail)) if tail != 0.5 else mp.mpf(0)
    while abs(step) > abs(y) * mp.mpf(10) ** -40:
        cdf = mp.erfc(y / mp.sqrt(2)) / 2
        step = mp.log(cdf / tail) * cdf * mp.sqrt(2 * mp.pi) * mp.exp(y * y / 2)
        y += step
    d = mp.sqrt(2 * mp.pi) * mp.exp(y * y / 2)
    return sign * y, d, sign * y * d * d


def log_ndtr(x):
    return n.log1p(-n.normal_cdf(-x)) if x > 0 else n.log(n.normal_cdf(x))


def scaled(bessel):
    return lambda x: n.exp(-abs(hyper(x))) * bessel(x)


CHEBYSHEV = {
    kind: chebyshev(first)
    for kind, first in {
        "t": lambda x: x, "u": lambda x: 2 * x, "v": lambda x: 2 * x - 1, "w": lambda x: 2 * x + 1
    }.items()
}  # fmt: skip

SPECIAL = [
    of_one("lgamma", n.lgamma),
    of_one("digamma", n.psi(0)),
    *[
        of_one("polygamma", n.psi(k), moderate_positive, call=lambda x, k=k: ag.polygamma(k, x), variant=f"order {k}")
        for k in (1, 2)
    ],
    of_one("mvlgamma", lambda x: n.lgamma(x) + n.lgamma(x - 0.5) + mp.log(mp.pi) / 2, lambda x: 0.5 < x < 1e4,
           call=lambda x: ag.mvlgamma(x, 2)),
    of_one("igamma", gamma_ratio(True), moderate_positive, call=lambda x: ag.igamma(ag.full_like(x, 1.75), x)),
    of_one("igammac", gamma_ratio(False), moderate_positive, call=lambda x: ag.igammac(ag.full_like(x, 1.75), x)),
    of_one("special.zeta", zeta, moderate_positive, call=lambda q: ag.special.zeta(ag.full_like(q, 2.25), q)),
    of_one("i0", n.bessel_i0),
    of_one("special.i0e", scaled(n.bessel_i0)),
    of_one("special.i1", n.bessel_i1),
    of_one("special.i1e", scaled(n.bessel_i1)),
    row("special.ndtr", n.normal_cdf),
    of_one("special.ndtri", ndtri, lambda x: 0 < x < 1),
    row("special.log_ndtr", log_ndtr),
    row("special.entr", lambda x: -x * n.log(x), positive),
    row("special.erfcx", n.erfcx),
    row("special.xlog1py", lambda a, b: a * n.log1p(b), lambda a, b: b > -1),
    value("special.airy_ai", mp.airyai, lambda x: 1e-30 < abs(x) < 100),
    *[value(f"special.bessel_j{k}", lambda x, k=k: mp.besselj(k, x)) for k in (0, 1)],
    *[value(f"special.bessel_y{k}", lambda x, k=k: mp.bessely(k, x), moderate_positive) for k in (0, 1)],
    *[value(f"special.modified_bessel_i{k}", lambda x, k=k: mp.besseli(k, x)) for k in (0, 1)],
    *[value(f"special.modified_bessel_k{k}", lambda x, k=k: mp.besselk(k, x), moderate_positive) for k in (0, 1)],
    *[
        value(f"special.scaled_modified_bessel_k{k}", lambda x, k=k: mp.exp(x) * mp.besselk(k, x), moderate_positive)
        for k in (0, 1)
    ],
    value("special.spherical_bessel_j0", lambda x: mp.sin(x) / x, nonzero),
    *[polynomial(f"chebyshev_polynomial_{kind}", of) for kind, of in CHEBYSHEV.items()],
    *[
        polynomial(f"shifted_chebyshev_polynomial_{kind}", lambda k, x, of=of: of(k, 2 * x - 1))
        for kind, of in CHEBYSHEV.items()
    ],
    polynomial("hermite_polynomial_h", mp.hermite),
    polynomial("hermite_polynomial_he", hermite_e),
    polynomial("laguerre_polynomial_l", lambda k, x: mp.laguerre(k, 0, x)),
    polynomial("legendre_polynomial_p", mp.legendre),
]
