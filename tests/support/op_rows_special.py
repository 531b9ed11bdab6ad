"""Rows of the op table: special functions, with SciPy as the reference."""

import functools

import numpy as np
import op_samples as samples
import scipy.special as sp
from op_case import BOOL, FLOATS, HALF, INTS, POSITIVE, OpInfo, S

from autograd_cy._core.arrays.dtypes import kind_of

WITHIN_ONE, BETWEEN = ((-0.9, 0.9),), ((0.1, 0.9),)

unary = functools.partial(OpInfo, samples=samples.unary, result="float", dtypes=FLOATS)
named = functools.partial(unary, method=False)  # in the namespace, and no method
plain = functools.partial(named, dtypes=(), forward=BOOL + INTS + HALF + FLOATS)


def orders(make):
    for n in (0, 1, 3):
        yield S(n, make(2, 3))
    yield S(2, make())
    yield S(1, make(0, 3))


def dimensions(make):
    yield S(make(2, 3), 1)
    yield S(make(2), 3)
    yield S(make(), 2)


def degrees(make):
    yield S(make(2, 3), 4)
    yield S(make(5, 1), make.of([0.0, 1.0, 2.0, 5.0]))
    yield S(make(), 1)
    yield S(make(0, 3), 2)


def polynomial(name, evaluated):
    """SciPy knows polynomials by integers alone, to the last place."""
    reference = np.vectorize(lambda x, n: evaluated(int(n), float(x)), otypes=[float])
    return plain(f"special.{name}", reference, samples=degrees)


def third_kind(n, x):
    return sp.eval_chebyu(n, x) - (sp.eval_chebyu(n - 1, x) if n else 0)


def fourth_kind(n, x):
    return sp.eval_chebyu(n, x) + (sp.eval_chebyu(n - 1, x) if n else 0)


def shifted(evaluated):
    return lambda n, x: evaluated(n, 2 * x - 1)


def mvlgamma(x, p):
    return sum(sp.gammaln(x - k / 2) for k in range(p)) + p * (p - 1) / 4 * np.log(np.pi)


def floating(x):
    """The type of a float that an integer becomes."""
    return x.dtype if kind_of(x.dtype) == "f" else np.dtype("float32")


CHEBYSHEV = {"t": sp.eval_chebyt, "u": sp.eval_chebyu, "v": third_kind, "w": fourth_kind}

ROWS = [
    unary("lgamma", sp.gammaln, domain=POSITIVE),
    unary("digamma", sp.psi, domain=POSITIVE),
    unary("erfinv", sp.erfinv, domain=WITHIN_ONE),
    unary("i0", sp.i0),
    unary("polygamma", sp.polygamma, samples=orders, domain=POSITIVE, method=False, result=lambda args: floating(args[1])),
    unary("mvlgamma", mvlgamma, samples=dimensions, domain=((2.0, 5.0),)),
    OpInfo("igamma", sp.gammainc, samples.broadcast, domain=POSITIVE, dtypes=FLOATS, forward=HALF, fixed=1),
    OpInfo("igammac", sp.gammaincc, samples.broadcast, domain=POSITIVE, dtypes=FLOATS, forward=HALF, fixed=1),
    named("special.i0e", sp.i0e, domain=POSITIVE),
    named("special.i1", sp.i1),
    named("special.i1e", sp.i1e, domain=POSITIVE),
    named("special.ndtr", sp.ndtr),
    named("special.ndtri", sp.ndtri, domain=BETWEEN),
    named("special.log_ndtr", sp.log_ndtr),
    named("special.entr", sp.entr, domain=POSITIVE),
    named("special.erfcx", sp.erfcx),
    named("special.xlog1py", sp.xlog1py, samples=samples.broadcast, domain=POSITIVE),
    named("special.zeta", sp.zeta, samples=samples.broadcast, domain=((1.2, 3.0),), fixed=1),
    plain("special.airy_ai", lambda x: sp.airy(x)[0], forward=BOOL + INTS + FLOATS),
    *[plain(f"special.bessel_{name}", getattr(sp, name), domain=POSITIVE) for name in ("j0", "j1", "y0", "y1")],
    *[plain(f"special.modified_bessel_{name}", getattr(sp, name), domain=POSITIVE) for name in ("i0", "i1", "k0", "k1")],
    plain("special.scaled_modified_bessel_k0", sp.k0e, domain=POSITIVE),
    plain("special.scaled_modified_bessel_k1", sp.k1e, domain=POSITIVE),
    plain("special.spherical_bessel_j0", lambda x: np.sinc(x / np.pi)),
    *[polynomial(f"chebyshev_polynomial_{kind}", evaluated) for kind, evaluated in CHEBYSHEV.items()],
    *[polynomial(f"shifted_chebyshev_polynomial_{kind}", shifted(evaluated)) for kind, evaluated in CHEBYSHEV.items()],
    polynomial("hermite_polynomial_h", sp.eval_hermite),
    polynomial("hermite_polynomial_he", sp.eval_hermitenorm),
    polynomial("laguerre_polynomial_l", sp.eval_laguerre),
    polynomial("legendre_polynomial_p", sp.eval_legendre),
]
