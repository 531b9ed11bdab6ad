"""Rows of pointwise_table.py: special functions. SciPy's loops are borrowed when one of them is first called.

A derivative that reads such a function has no kernel and uses the formula on Tensors (kinds is empty).
"""

from codegen.rows import Row

INEXACT = {"kinds": "", "inexact": True}
OWN = {"kinds": "r", "forward_kinds": "r", "inexact": True}     # functions of special.h
SPECIAL = {"namespace": "special"}
PLAIN = SPECIAL | INEXACT           # not differentiable, as in PyTorch

X = "ag.tensor([0.0, 1.0])"
SCIPY = " Needs SciPy: pip install 'autograd_cy[scipy]'."


def special(name, words, values, scipy=True, arguments="ag.tensor([0.5, 1.0])"):
    """The `doc` of a function of autograd_cy.special."""
    return words + (SCIPY if scipy else ""), f"ag.special.{name}({arguments})", f"tensor([{values}])"


table = [
    Row("lgamma", y="v", let="v = lgamma(a); d = digamma(a)", da="g * d", **OWN,
        doc=("The logarithm of the absolute value of the gamma function.",
             "ag.lgamma(ag.tensor([1.0, 5.0]))", "tensor([0.0000, 3.1781])")),
    Row("digamma", y="v", let="v = digamma(a); t = trigamma(a)", da="g * t", **OWN,
        doc=("The derivative of lgamma(input).", "ag.digamma(ag.tensor([1.0, 5.0]))", "tensor([-0.5772,  1.5061])")),
    Row("trigamma", y="v", let="v = trigamma(a)", forward_kinds="r", inexact=True, public=False),
    Row("erfinv", y="v", let="v = erfinv(a); e = erfinv_slope(a)", da="0.8862269254527579 * g * e", **OWN,
        doc=("The number whose erf() is input; NaN outside of -1 and 1.",
             "ag.erfinv(ag.tensor([0.0, 0.5]))", "tensor([0.0000, 0.4769])")),
    Row("i0", y="v", let="v = i0(a); w = i1(a)", da="g * w", **OWN,
        doc=("The modified Bessel function of the first kind of order 0.", f"ag.i0({X})", "tensor([1.0000, 1.2661])")),
    Row("igamma", y="scipy.gammainc(a, b)", da="lacking(g, 'igamma: input')",
        db="g * exp((a - 1) * log(b) - b - lgamma(a))", kinds="",
        doc=("The regularized lower incomplete gamma function of input, up to other; it has no gradient for input." + SCIPY,
             "ag.igamma(ag.tensor([1.0]), ag.tensor([2.0]))", "tensor([0.8647])")),
    Row("igammac", y="scipy.gammaincc(a, b)", da="lacking(g, 'igammac: input')",
        db="-g * exp((a - 1) * log(b) - b - lgamma(a))", kinds="",
        doc=("1 - igamma(input, other), exact where the result is small; it has no gradient for input." + SCIPY,
             "ag.igammac(ag.tensor([1.0]), ag.tensor([2.0]))", "tensor([0.1353])")),
    Row("i0e", y="v", let="v = i0e(a); w = i1e(a)", da="g * (w - sgn(a) * y)", node="SpecialI0EBackward0", **SPECIAL, **OWN,
        doc=special("i0e", "exp(-|input|) * i0(input).", "1.0000, 0.4658", False, X)),
    Row("i1", y="v", let="v = i1(a); w = i0(a); q = i1_quotient(a, y)", da="g * (w - q)", node="SpecialI1Backward0", **SPECIAL,
        **OWN,
        doc=special("i1", "The modified Bessel function of the first kind of order 1.", "0.0000, 0.5652", False, X)),
    Row("i1e", y="v", let="v = i1e(a); w = i0e(a); q = i1e_quotient(a, y)", da="g * (w - q - y * sgn(a))",
        node="SpecialI1EBackward0", **SPECIAL, **OWN,
        doc=special("i1e", "exp(-|input|) * i1(input).", "0.0000, 0.2079", False, X)),
    Row("ndtr", y="p", let="p = normal_cdf(a); d = normal_pdf(a)", da="g * d", kinds="r", inexact=True, **SPECIAL,
        doc=special("ndtr", "The distribution function of the standard normal distribution.",
                    "0.5000, 0.8413", False, X)),
    Row("ndtri", y="scipy.ndtri(a)", da="2.5066282746310002 * g * exp(0.5 * y * y)", node="SpecialNdtriBackward0", **PLAIN,
        doc=special("ndtri", "The number whose ndtr() is input.", "0.0000, 1.2816", arguments="ag.tensor([0.5, 0.9])")),
    Row("log_ndtr", y="v", let="v = log_ndtr(a); s = log_ndtr_slope(a)", da="g * s", node="SpecialLogNdtrBackward0", **SPECIAL,
        **OWN,
        doc=special("log_ndtr", "log(ndtr(input)), exact far below 0.", "-0.6931, -0.1728", False, X)),
    Row("log_ndtr_slope", y="s", let="s = log_ndtr_slope(a); t = log_ndtr_excess(a)", da="-g * s * t", public=False,
        for_rules=True, **OWN),
    Row("erfcx_derivative", y="d", let="d = erfcx_derivative(a); r = erfcx_curvature(a)", da="g * r", public=False,
        for_rules=True, **OWN),
    Row("log_ndtr_excess", y="t", let="s = log_ndtr_slope(a); t = log_ndtr_excess(a)", da="g * (1 - s * t)", public=False,
        for_rules=True, **OWN),
    Row("erfcx_curvature", y="r", let="d = erfcx_derivative(a); r = erfcx_curvature(a)", da="2 * g * (2 * d + a * r)",
        public=False, for_rules=True, **OWN),
    Row("entr", y="v", let="v = entr(a); l = log(a)", da="-g * (1 + l)", node="SpecialEntrBackward0", **SPECIAL, **OWN,
        doc=special("entr", "-input * log(input), 0 at 0 and -inf for negative numbers.", "0.3466, -0.0000", False)),
    Row("erfcx", y="v", let="v = erfcx(a); d = erfcx_slope(a, y)", da="g * d", node="SpecialErfcxBackward0", **SPECIAL,
        **OWN,
        doc=special("erfcx", "exp(input**2) * erfc(input).", "1.0000, 0.4276", False, X)),
    Row("xlog1py", y="where(isnan(b), b, where(a == 0, 0, a * l))", let="l = log1p(b)",
        da="where(a == 0, where(b <= -1, 0, g * l), g * l)", db="g * a / (b + 1)", node="SpecialXlog1PyBackward0", kinds="r",
        inexact=True, **SPECIAL,
        doc=special("xlog1py", "input * log1p(other), and 0 where input is 0, unless other is NaN.",
                    "0.0000, 0.6931", False, f"{X}, ag.tensor([-1.0, 1.0])")),
    Row("zeta", y="scipy.zeta(a, b)", da="lacking(g, 'zeta')", db="-g * a * zeta(a + 1, b)", node="SpecialZetaBackward0",
        **PLAIN,
        doc=special("zeta", "The Hurwitz zeta function, the sum of (k + other)**-input; it has no gradient for input.",
                    "1.6449, 1.2021", arguments="ag.tensor([2.0, 3.0]), 1.0")),
    Row("bessel_j0", y="scipy.j0(a)", **PLAIN,
        doc=special("bessel_j0", "The Bessel function of the first kind of order 0. Not differentiable.",
                    "0.9385, 0.7652")),
    Row("bessel_j1", y="scipy.j1(a)", **PLAIN,
        doc=special("bessel_j1", "The Bessel function of the first kind of order 1. Not differentiable.",
                    "0.2423, 0.4401")),
    Row("bessel_y0", y="scipy.y0(a)", **PLAIN,
        doc=special("bessel_y0", "The Bessel function of the second kind of order 0. Not differentiable.",
                    "-0.4445,  0.0883")),
    Row("bessel_y1", y="scipy.y1(a)", **PLAIN,
        doc=special("bessel_y1", "The Bessel function of the second kind of order 1. Not differentiable.",
                    "-1.4715, -0.7812")),
    Row("modified_bessel_i0", y="v", let="v = i0(a)", **SPECIAL, **OWN,
        doc=special("modified_bessel_i0", "i0(input). Not differentiable.", "1.0635, 1.2661", False)),
    Row("modified_bessel_i1", y="v", let="v = i1(a)", **SPECIAL, **OWN,
        doc=special("modified_bessel_i1", "i1(input). Not differentiable.", "0.2579, 0.5652", False)),
    Row("modified_bessel_k0", y="scipy.k0(a)", **PLAIN,
        doc=special("modified_bessel_k0", "The modified Bessel function of the second kind of order 0. Not " "differentiable.",
                    "0.9244, 0.4210")),
    Row("modified_bessel_k1", y="scipy.k1(a)", **PLAIN,
        doc=special("modified_bessel_k1", "The modified Bessel function of the second kind of order 1. Not " "differentiable.",
                    "1.6564, 0.6019")),
    Row("scaled_modified_bessel_k0", y="scipy.k0e(a)", **PLAIN,
        doc=special("scaled_modified_bessel_k0", "exp(input) * modified_bessel_k0(input). Not " "differentiable.",
                    "1.5241, 1.1445")),
    Row("scaled_modified_bessel_k1", y="scipy.k1e(a)", **PLAIN,
        doc=special("scaled_modified_bessel_k1", "exp(input) * modified_bessel_k1(input). Not " "differentiable.",
                    "2.7310, 1.6362")),
    Row("spherical_bessel_j0", y="where(a == 0, 1, where(s == s, s / a, 1 / a))", let="s = sin(a)", forward_kinds="r",
        **PLAIN,
        doc=special("spherical_bessel_j0", "sin(input) / input, and 1 at 0. Not differentiable.",
                    "1.0000, 0.8415", False, X)),
]
# the orthogonal polynomials, functions of kernels/polynomials.pxd
ORDER = {"t": "first", "u": "second", "v": "third", "w": "fourth"}
AT_HALF = {"t": "-0.5000", "u": "0.", "v": "-1.", "w": "1."}       # of degree 2, at 0.5


def polynomial(name, y, words, value, at=0.5):
    """The row of an orthogonal polynomial."""
    doc = special(name, f"{words} of degree n. Not differentiable.", value, False, f"ag.tensor([{at}]), 2")
    return Row(name, "input, n", y=y, forward_kinds="r", doc=doc, **PLAIN)


table += [
    polynomial(f"{shifted}chebyshev_polynomial_{kind}", f"chebyshev({x}, b, {first})",
               f"The{' shifted' if shifted else ''} Chebyshev polynomial of the {ORDER[kind]} kind", AT_HALF[kind], at)
    for shifted, x, at in (("", "a", 0.5), ("shifted_", "2 * a - 1", 0.75))
    for kind, first in (("t", x), ("u", f"2 * ({x})"), ("v", f"2 * ({x}) - 1"), ("w", f"2 * ({x}) + 1"))
]
table += [
    polynomial("hermite_polynomial_h", "hermite(2 * a, b, 2)", "The physicists' Hermite polynomial", "-1."),
    polynomial("hermite_polynomial_he", "hermite(a, b, 1)", "The probabilists' Hermite polynomial", "-0.7500"),
    polynomial("laguerre_polynomial_l", "laguerre(a, b)", "The Laguerre polynomial", "0.1250"),
    polynomial("legendre_polynomial_p", "legendre(a, b)", "The Legendre polynomial", "-0.1250"),
]
