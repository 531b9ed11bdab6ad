"""Docstrings of the public rows of elementary_table.py, in the form of pointwise_docs.py."""

DOCS = {
    "sign": (
        "1 where input is positive, -1 where it is negative, 0 at 0 and NaN; its gradient is 0.",
        "ag.sign(ag.tensor([-3.0, 0.0, 2.0]))", "tensor([-1.,  0.,  1.])"),
    "ceil": (
        "The smallest integer that is at least input; its gradient is 0.",
        "ag.ceil(ag.tensor([-1.5, 1.5]))", "tensor([-1.,  2.])"),
    "floor": (
        "The largest integer that is at most input; its gradient is 0.",
        "ag.floor(ag.tensor([-1.5, 1.5]))", "tensor([-2.,  1.])"),
    "trunc": (
        "input without its fraction; its gradient is 0.",
        "ag.trunc(ag.tensor([-1.5, 1.5]))", "tensor([-1.,  1.])"),
    "frac": (
        "The fraction of input, with its sign: input - trunc(input).",
        "ag.frac(ag.tensor([-1.5, 1.25]))", "tensor([-0.5000,  0.2500])"),
    "copysign": (
        "abs(input) with the sign of other; the gradient at 0 and for other is 0.",
        "ag.copysign(ag.tensor([1.0, -2.0]), -0.0)", "tensor([-1., -2.])"),
    "tan": (
        "The tangent of an angle in radians.",
        "ag.tan(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 1.5574])"),
    "asin": (
        "The angle in radians whose sine is input; NaN outside of -1 and 1.",
        "ag.asin(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 1.5708])"),
    "acos": (
        "The angle in radians whose cosine is input; NaN outside of -1 and 1.",
        "ag.acos(ag.tensor([0.0, 1.0]))", "tensor([1.5708, 0.0000])"),
    "atan": (
        "The angle in radians whose tangent is input.",
        "ag.atan(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.7854])"),
    "atan2": (
        "The angle in radians, from -pi to pi, of the point with ordinate input and abscissa other.",
        "ag.atan2(ag.tensor([1.0, 1.0]), ag.tensor([1.0, -1.0]))", "tensor([0.7854, 2.3562])"),
    "sinh": (
        "The hyperbolic sine.",
        "ag.sinh(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 1.1752])"),
    "cosh": (
        "The hyperbolic cosine.",
        "ag.cosh(ag.tensor([0.0, 1.0]))", "tensor([1.0000, 1.5431])"),
    "asinh": (
        "The inverse of the hyperbolic sine.",
        "ag.asinh(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.8814])"),
    "acosh": (
        "The inverse of the hyperbolic cosine; NaN below 1.",
        "ag.acosh(ag.tensor([1.0, 2.0]))", "tensor([0.0000, 1.3170])"),
    "atanh": (
        "The inverse of the hyperbolic tangent; NaN outside of -1 and 1.",
        "ag.atanh(ag.tensor([0.0, 0.5]))", "tensor([0.0000, 0.5493])"),
    "sinc": (
        "sin(pi * input) / (pi * input), and 1 at 0.",
        "ag.sinc(ag.tensor([0.0, 0.5]))", "tensor([1.0000, 0.6366])"),
    "hypot": (
        "sqrt(input**2 + other**2), without intermediate overflow.",
        "ag.hypot(ag.tensor([3.0]), ag.tensor([4.0]))", "tensor([5.])"),
    "deg2rad": (
        "Degrees as radians.",
        "ag.deg2rad(ag.tensor([180.0, 90.0]))", "tensor([3.1416, 1.5708])"),
    "rad2deg": (
        "Radians as degrees.",
        "ag.rad2deg(ag.tensor([0.0, 1.0]))", "tensor([ 0.0000, 57.2958])"),
    "expm1": (
        "exp(input) - 1, exact near 0.",
        "ag.expm1(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 1.7183])"),
    "exp2": (
        "2 to the power of input.",
        "ag.exp2(ag.tensor([0.0, 3.0]))", "tensor([1., 8.])"),
    "log1p": (
        "log(1 + input), exact near 0.",
        "ag.log1p(ag.tensor([0.0, 1.0]))", "tensor([0.0000, 0.6931])"),
    "log2": (
        "The logarithm to base 2.",
        "ag.log2(ag.tensor([1.0, 3.0]))", "tensor([0.0000, 1.5850])"),
    "log10": (
        "The logarithm to base 10.",
        "ag.log10(ag.tensor([1.0, 2.0]))", "tensor([0.0000, 0.3010])"),
    "ldexp": (
        "input * 2**other.",
        "ag.ldexp(ag.tensor([1.0, 3.0]), ag.tensor([2, -1]))", "tensor([4.0000, 1.5000])"),
    "logaddexp2": (
        "log2(2**input + 2**other), without intermediate overflow.",
        "ag.logaddexp2(ag.tensor([1.0]), ag.tensor([1.0]))", "tensor([2.])"),
    "xlogy": (
        "input * log(other), and 0 where input is 0, unless other is NaN.",
        "ag.xlogy(ag.tensor([0.0, 2.0]), ag.tensor([0.0, 1.0]))", "tensor([0., 0.])"),
    "erfc": (
        "1 - erf(input), exact where the result is small.",
        "ag.erfc(ag.tensor([0.0, 1.0]))", "tensor([1.0000, 0.1573])"),
    "fmax": (
        "The larger of input and other, ignoring NaN; where they are equal, input gets the gradient.",
        "ag.fmax(ag.tensor([1.0, float('nan')]), ag.tensor([3.0, 2.0]))", "tensor([3., 2.])"),
    "fmin": (
        "The smaller of input and other, ignoring NaN; where they are equal, input gets the gradient.",
        "ag.fmin(ag.tensor([1.0, float('nan')]), ag.tensor([3.0, 2.0]))", "tensor([1., 2.])"),
    "gcd": (
        "The greatest common divisor of integers.",
        "ag.gcd(ag.tensor([12, 0]), 8)", "tensor([4, 8])"),
    "lcm": (
        "The least common multiple of integers.",
        "ag.lcm(ag.tensor([4, 0]), 6)", "tensor([12,  0])"),
}
