"""Rows of pointwise_table.py: special functions. SciPy's loops are borrowed when one of them is first called.

A derivative that reads such a function has no kernel and uses the formula on Tensors (kinds is empty). special_docs.py has the
docstrings.
"""

from codegen.rows import Row

INEXACT = {"kinds": "", "inexact": True}
OWN = {"kinds": "r", "forward_kinds": "r", "inexact": True}     # functions of special.h
SPECIAL = {"namespace": "special"}
PLAIN = SPECIAL | INEXACT           # not differentiable, as in PyTorch

table = [
    Row("lgamma", y="v", let="v = lgamma(a); d = digamma(a)", da="g * d", **OWN),
    Row("digamma", y="v", let="v = digamma(a); t = trigamma(a)", da="g * t", **OWN),
    Row("trigamma", y="v", let="v = trigamma(a)", forward_kinds="r", inexact=True, public=False),
    Row("erfinv", y="v", let="v = erfinv(a); e = erfinv_slope(a)", da="0.8862269254527579 * g * e", **OWN),
    Row("i0", y="v", let="v = i0(a); w = i1(a)", da="g * w", **OWN),
    Row("igamma", y="scipy.gammainc(a, b)", da="lacking(g, 'igamma: input')",
        db="g * exp((a - 1) * log(b) - b - lgamma(a))", kinds=""),
    Row("igammac", y="scipy.gammaincc(a, b)", da="lacking(g, 'igammac: input')",
        db="-g * exp((a - 1) * log(b) - b - lgamma(a))", kinds=""),
    Row("i0e", y="v", let="v = i0e(a); w = i1e(a)", da="g * (w - sgn(a) * y)", node="SpecialI0EBackward0", **SPECIAL, **OWN),
    Row("i1", y="v", let="v = i1(a); w = i0(a); q = i1_quotient(a, y)", da="g * (w - q)", node="SpecialI1Backward0", **SPECIAL,
        **OWN),
    Row("i1e", y="v", let="v = i1e(a); w = i0e(a); q = i1e_quotient(a, y)", da="g * (w - q - y * sgn(a))",
        node="SpecialI1EBackward0", **SPECIAL, **OWN),
    Row("ndtr", y="p", let="p = normal_cdf(a); d = normal_pdf(a)", da="g * d", kinds="r", inexact=True, **SPECIAL),
    Row("ndtri", y="scipy.ndtri(a)", da="2.5066282746310002 * g * exp(0.5 * y * y)", node="SpecialNdtriBackward0", **PLAIN),
    Row("log_ndtr", y="v", let="v = log_ndtr(a); s = log_ndtr_slope(a)", da="g * s", node="SpecialLogNdtrBackward0", **SPECIAL,
        **OWN),
    Row("log_ndtr_slope", y="s", let="s = log_ndtr_slope(a); t = log_ndtr_excess(a)", da="-g * s * t", public=False,
        for_rules=True, **OWN),
    Row("erfcx_derivative", y="d", let="d = erfcx_derivative(a); r = erfcx_curvature(a)", da="g * r", public=False,
        for_rules=True, **OWN),
    Row("log_ndtr_excess", y="t", let="s = log_ndtr_slope(a); t = log_ndtr_excess(a)", da="g * (1 - s * t)", public=False,
        for_rules=True, **OWN),
    Row("erfcx_curvature", y="r", let="d = erfcx_derivative(a); r = erfcx_curvature(a)", da="2 * g * (2 * d + a * r)",
        public=False, for_rules=True, **OWN),
    Row("entr", y="v", let="v = entr(a); l = log(a)", da="-g * (1 + l)", node="SpecialEntrBackward0", **SPECIAL, **OWN),
    Row("erfcx", y="v", let="v = erfcx(a); d = erfcx_slope(a, y)", da="g * d", node="SpecialErfcxBackward0", **SPECIAL,
        **OWN),
    Row("xlog1py", y="where(isnan(b), b, where(a == 0, 0, a * l))", let="l = log1p(b)",
        da="where(a == 0, where(b <= -1, 0, g * l), g * l)", db="g * a / (b + 1)", node="SpecialXlog1PyBackward0", kinds="r",
        inexact=True, **SPECIAL),
    Row("zeta", y="scipy.zeta(a, b)", da="lacking(g, 'zeta')", db="-g * a * zeta(a + 1, b)", node="SpecialZetaBackward0",
        **PLAIN),
    Row("bessel_j0", y="scipy.j0(a)", **PLAIN),
    Row("bessel_j1", y="scipy.j1(a)", **PLAIN),
    Row("bessel_y0", y="scipy.y0(a)", **PLAIN),
    Row("bessel_y1", y="scipy.y1(a)", **PLAIN),
    Row("modified_bessel_i0", y="v", let="v = i0(a)", **SPECIAL, **OWN),
    Row("modified_bessel_i1", y="v", let="v = i1(a)", **SPECIAL, **OWN),
    Row("modified_bessel_k0", y="scipy.k0(a)", **PLAIN),
    Row("modified_bessel_k1", y="scipy.k1(a)", **PLAIN),
    Row("scaled_modified_bessel_k0", y="scipy.k0e(a)", **PLAIN),
    Row("scaled_modified_bessel_k1", y="scipy.k1e(a)", **PLAIN),
    Row("spherical_bessel_j0", y="where(a == 0, 1, where(s == s, s / a, 1 / a))", let="s = sin(a)", forward_kinds="r",
        **PLAIN),
]
# the orthogonal polynomials, functions of kernels/polynomials.pxd
table += [
    Row(f"{shifted}chebyshev_polynomial_{kind}", "input, n", y=f"chebyshev({x}, b, {first})", forward_kinds="r", **PLAIN)
    for shifted, x in (("", "a"), ("shifted_", "2 * a - 1"))
    for kind, first in (("t", x), ("u", f"2 * ({x})"), ("v", f"2 * ({x}) - 1"), ("w", f"2 * ({x}) + 1"))
]
table += [
    Row("hermite_polynomial_h", "input, n", y="hermite(2 * a, b, 2)", forward_kinds="r", **PLAIN),
    Row("hermite_polynomial_he", "input, n", y="hermite(a, b, 1)", forward_kinds="r", **PLAIN),
    Row("laguerre_polynomial_l", "input, n", y="laguerre(a, b)", forward_kinds="r", **PLAIN),
    Row("legendre_polynomial_p", "input, n", y="legendre(a, b)", forward_kinds="r", **PLAIN),
]
