"""Docstrings of the public rows of special_table.py, in the form of pointwise_docs.py."""

X = "ag.tensor([0.0, 1.0])"
SCIPY = " Needs SciPy: pip install 'autograd_cy[scipy]'."


def special(name, words, values, scipy=True, arguments="ag.tensor([0.5, 1.0])"):
    """An entry for a function of autograd_cy.special."""
    return words + (SCIPY if scipy else ""), f"ag.special.{name}({arguments})", f"tensor([{values}])"


DOCS = {
    "lgamma": (
        "The logarithm of the absolute value of the gamma function.",
        "ag.lgamma(ag.tensor([1.0, 5.0]))", "tensor([0.0000, 3.1781])"),
    "digamma": (
        "The derivative of lgamma(input).",
        "ag.digamma(ag.tensor([1.0, 5.0]))", "tensor([-0.5772,  1.5061])"),
    "erfinv": (
        "The number whose erf() is input; NaN outside of -1 and 1.",
        "ag.erfinv(ag.tensor([0.0, 0.5]))", "tensor([0.0000, 0.4769])"),
    "i0": (
        "The modified Bessel function of the first kind of order 0.",
        f"ag.i0({X})", "tensor([1.0000, 1.2661])"),
    "igamma": (
        "The regularized lower incomplete gamma function of input, up to other; it has no gradient for input." + SCIPY,
        "ag.igamma(ag.tensor([1.0]), ag.tensor([2.0]))", "tensor([0.8647])"),
    "igammac": (
        "1 - igamma(input, other), exact where the result is small; it has no gradient for input." + SCIPY,
        "ag.igammac(ag.tensor([1.0]), ag.tensor([2.0]))", "tensor([0.1353])"),
    "i0e": special("i0e", "exp(-|input|) * i0(input).", "1.0000, 0.4658", False, X),
    "i1": special("i1", "The modified Bessel function of the first kind of order 1.", "0.0000, 0.5652", False, X),
    "i1e": special("i1e", "exp(-|input|) * i1(input).", "0.0000, 0.2079", False, X),
    "ndtr": special("ndtr", "The distribution function of the standard normal distribution.", "0.5000, 0.8413", False, X),
    "ndtri": special("ndtri", "The number whose ndtr() is input.", "0.0000, 1.2816", arguments="ag.tensor([0.5, 0.9])"),
    "log_ndtr": special("log_ndtr", "log(ndtr(input)), exact far below 0.", "-0.6931, -0.1728", False, X),
    "entr": special("entr", "-input * log(input), 0 at 0 and -inf for negative numbers.", "0.3466, -0.0000", False),
    "erfcx": special("erfcx", "exp(input**2) * erfc(input).", "1.0000, 0.4276", False, X),
    "xlog1py": special("xlog1py", "input * log1p(other), and 0 where input is 0, unless other is NaN.", "0.0000, 0.6931",
                       False, f"{X}, ag.tensor([-1.0, 1.0])"),
    "zeta": special("zeta", "The Hurwitz zeta function, the sum of (k + other)**-input; it has no gradient for input.",
                    "1.6449, 1.2021", arguments="ag.tensor([2.0, 3.0]), 1.0"),
    "bessel_j0": special("bessel_j0", "The Bessel function of the first kind of order 0. Not differentiable.",
                         "0.9385, 0.7652"),
    "bessel_j1": special("bessel_j1", "The Bessel function of the first kind of order 1. Not differentiable.",
                         "0.2423, 0.4401"),
    "bessel_y0": special("bessel_y0", "The Bessel function of the second kind of order 0. Not differentiable.",
                         "-0.4445,  0.0883"),
    "bessel_y1": special("bessel_y1", "The Bessel function of the second kind of order 1. Not differentiable.",
                         "-1.4715, -0.7812"),
    "modified_bessel_i0": special("modified_bessel_i0", "i0(input). Not differentiable.", "1.0635, 1.2661", False),
    "modified_bessel_i1": special("modified_bessel_i1", "i1(input). Not differentiable.", "0.2579, 0.5652", False),
    "modified_bessel_k0": special("modified_bessel_k0", "The modified Bessel function of the second kind of order 0. Not "
                                  "differentiable.", "0.9244, 0.4210"),
    "modified_bessel_k1": special("modified_bessel_k1", "The modified Bessel function of the second kind of order 1. Not "
                                  "differentiable.", "1.6564, 0.6019"),
    "scaled_modified_bessel_k0": special("scaled_modified_bessel_k0", "exp(input) * modified_bessel_k0(input). Not "
                                         "differentiable.", "1.5241, 1.1445"),
    "scaled_modified_bessel_k1": special("scaled_modified_bessel_k1", "exp(input) * modified_bessel_k1(input). Not "
                                         "differentiable.", "2.7310, 1.6362"),
    "spherical_bessel_j0": special("spherical_bessel_j0", "sin(input) / input, and 1 at 0. Not differentiable.",
                                   "1.0000, 0.8415", False, X),
}
ORDER = {"t": "first", "u": "second", "v": "third", "w": "fourth"}
AT_HALF = {"t": "-0.5000", "u": "0.", "v": "-1.", "w": "1."}       # of degree 2, at 0.5
DOCS |= {
    f"{shifted}chebyshev_polynomial_{kind}": special(
        f"{shifted}chebyshev_polynomial_{kind}",
        f"The{' shifted' if shifted else ''} Chebyshev polynomial of the {ORDER[kind]} kind of degree n. Not differentiable.",
        AT_HALF[kind], False, f"ag.tensor([{0.75 if shifted else 0.5}]), 2")
    for shifted in ("", "shifted_")
    for kind in "tuvw"
} | {
    f"{family}_polynomial_{kind}": special(
        f"{family}_polynomial_{kind}", f"{words} of degree n. Not differentiable.", value, False, "ag.tensor([0.5]), 2")
    for family, kind, words, value in (
        ("hermite", "h", "The physicists' Hermite polynomial", "-1."),
        ("hermite", "he", "The probabilists' Hermite polynomial", "-0.7500"),
        ("laguerre", "l", "The Laguerre polynomial", "0.1250"),
        ("legendre", "p", "The Legendre polynomial", "-0.1250"))
}
