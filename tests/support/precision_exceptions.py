"""Functions that miss the targets of precision.py: limits and reasons for tests/ops/test_precision.py and tools/precision.py.

Limits are for the value (units in the last place), and the first and second derivative (relative); None means that the target
holds. A test fails if an error exceeds its limit, and if a limit is no longer needed.
"""

import math
from typing import NamedTuple

Limits = tuple[float | None, float | None, float | None]
FINE: Limits = (None, None, None)
ANY = math.inf


class Allowed(NamedTuple):
    reason: str
    float32: Limits = FINE
    float64: Limits = FINE


EXPONENT = "the difference of two scores is rounded, and exp amplifies that error"
FROM_RESULT = (
    "the node saves the result, as PyTorch's does, and near its limits the result does not determine the derivative: "
    "1 - tanh(x) is 0 from 9 on in float32. Saving the input would take memory and forbid writes to it; activations that save "
    "their input are exact"
)
SUMS = "terms of opposite sign cancel"
SCALED = "a product with a constant is rounded, and the function of it amplifies that error"
SQUARED = "the square of the input is rounded, and exp amplifies that error; an exact square would take a tenth more time"
DENORMAL = "exp(x) is below the smallest normal number, and its error is multiplied by x"
POWERS = "intermediate powers leave the range of the dtype"
LEG = "the derivative for the longer leg uses that leg and the result, which do not determine the shorter one"
BORROWED = "SciPy's function"
BESSEL = "Bessel functions of two orders cancel"
ALONG = (
    "the loss of nearly parallel vectors, and the component of a gradient along its own vector, are differences of nearly "
    "equal numbers"
)
EQUAL_SCORES = EXPONENT + "; the exact second derivative is 0 for equal scores"
POLYNOMIAL = "near a root of the polynomial"
CERTAIN = (
    "the loss of a nearly certain target is smaller than the rounding errors of its input. With two steps and a small "
    "probability p of the blank it is p**2, below the error of log(1 - p). The gradient is the difference of two "
    "probabilities of the blank, p and p / (1 + p)"
)

EXCEPTIONS = {
    "pow": Allowed(POWERS, (None, None, 1e11), (None, None, 3e38)),
    "float_power": Allowed(POWERS, FINE, (None, None, 3e38)),
    "lerp (weight 0.375)": Allowed(SUMS, (12, None, None), (18, None, None)),
    "lerp (towards 2.5)": Allowed(SUMS, (16, None, None), (9, None, None)),
    "addcmul": Allowed(SUMS, (18, None, None), (20, None, None)),
    "addcdiv": Allowed(SUMS, (45, None, None), (9.2, None, None)),
    "expm1": Allowed(FROM_RESULT, (None, 1.5, 1.5), (None, 1.5, 1.5)),
    "sinc": Allowed(SCALED, (1e38, 3, 1.3e19), (5e307, 3, 3.5e150)),
    "tanh": Allowed(FROM_RESULT, (None, 1.6, 1.6), (None, 1.5, 1.5)),
    "hypot": Allowed(LEG, (None, None, 1.5), (None, None, 1.5)),
    "logaddexp2": Allowed(SUMS, (8.2, None, None), (2.3e2, None, None)),
    "sigmoid": Allowed(FROM_RESULT, (None, 1.5, 1.5), (None, 1.5, 1.5)),
    "nn.functional.silu": Allowed(DENORMAL, (50, None, None), (5e2, None, None)),
    "nn.functional.mish": Allowed(DENORMAL, (50, None, None), (5e2, None, None)),
    "nn.functional.gelu": Allowed(SQUARED, (41, None, None), (1e2, None, None)),
    "nn.functional.gelu (tanh)": Allowed(SCALED, (1.1e2, None, None), (7.2e2, None, None)),
    "nn.functional.softplus (beta=2.5)": Allowed(SCALED, (47, None, None), (5.9e2, None, None)),
    "nn.functional.softmin": Allowed(EQUAL_SCORES, (40, None, 1.5), (5.6e2, None, 1.5)),
    "softmax": Allowed(EQUAL_SCORES, (24, None, 1.5), (2.5e2, None, 1.5)),
    "log_softmax": Allowed(EXPONENT, (28, None, None), (3.8e2, None, None)),
    "digamma": Allowed(SUMS, FINE, (28, None, 7.6e-10)),
    "igamma": Allowed(BORROWED, FINE, (39, None, None)),
    "igammac": Allowed(BORROWED, FINE, (4.2e2, None, None)),
    "special.i0e": Allowed(BESSEL, (None, 9.4e-5, 0.056), (None, 3.8e-12, 5.4e-8)),
    "special.i1": Allowed(BESSEL, (None, None, ANY), (7.7, None, ANY)),
    "special.i1e": Allowed(BESSEL, (None, 0.00013, 0.074), (None, 6.9e-12, 5.4e-8)),
    "special.ndtr": Allowed(SQUARED, (37, None, None), (1e2, None, None)),
    "special.ndtri": Allowed(BORROWED, FINE, (None, None, 2.2e-13)),
    "special.erfcx": Allowed(SUMS, FINE, (None, None, 1.3e-12)),
    "special.airy_ai": Allowed(BORROWED, FINE, (2.4e3, None, None)),
    "special.bessel_j0": Allowed(BORROWED, FINE, (4.4e3, None, None)),
    "special.bessel_j1": Allowed(BORROWED, FINE, (2.2e3, None, None)),
    "special.bessel_y0": Allowed(BORROWED, FINE, (3.9e3, None, None)),
    "special.bessel_y1": Allowed(BORROWED, FINE, (1.4e4, None, None)),
    "special.modified_bessel_i1": Allowed(BESSEL, FINE, (7.7, None, None)),
    "special.chebyshev_polynomial_t (degree 5)": Allowed(POLYNOMIAL, FINE, (1.6e2, None, None)),
    "special.chebyshev_polynomial_u (degree 5)": Allowed(POLYNOMIAL, FINE, (14, None, None)),
    "special.chebyshev_polynomial_v (degree 5)": Allowed(POLYNOMIAL, (6.7, None, None), (30, None, None)),
    "special.chebyshev_polynomial_w (degree 5)": Allowed(POLYNOMIAL, (6.7, None, None), (30, None, None)),
    "special.shifted_chebyshev_polynomial_t (degree 5)": Allowed(POLYNOMIAL, (90, None, None), (52, None, None)),
    "special.shifted_chebyshev_polynomial_u (degree 5)": Allowed(POLYNOMIAL, (11, None, None), (42, None, None)),
    "special.shifted_chebyshev_polynomial_v (degree 5)": Allowed(POLYNOMIAL, (11, None, None), (21, None, None)),
    "special.shifted_chebyshev_polynomial_w (degree 5)": Allowed(POLYNOMIAL, (67, None, None), (1.4e2, None, None)),
    "special.hermite_polynomial_h (degree 5)": Allowed(POLYNOMIAL, (11, None, None), (14, None, None)),
    "special.laguerre_polynomial_l (degree 5)": Allowed(POLYNOMIAL, (48, None, None), (17, None, None)),
    "special.legendre_polynomial_p (degree 5)": Allowed(POLYNOMIAL, (1e4, None, None), (16, None, None)),
    "nn.functional.binary_cross_entropy_with_logits": Allowed(SUMS, (None, 1.5, None)),
    "nn.functional.soft_margin_loss": Allowed(SCALED, (48, None, 0.00064), (3e2, None, 2.4e-13)),
    "nn.functional.kl_div": Allowed(SUMS, (7.7, None, None), (None, 0.0017, None)),
    "nn.functional.poisson_nll_loss": Allowed(SUMS, (9.8, None, None), (11, None, None)),
    "nn.functional.poisson_nll_loss (of rates)": Allowed(SUMS, (5.4, None, None), (12, 9.5e-9, None)),
    "nn.functional.gaussian_nll_loss": Allowed(SUMS, (52, None, 1.3), (13, None, None)),
    "nn.functional.cosine_embedding_loss": Allowed(ALONG, (2.4e4, 1.5, 4e10), (9e4, 1.3, 2e104)),
    "nn.functional.triplet_margin_loss": Allowed(SUMS, (None, 0.0098, 0.0027), (None, 4.3e-12, 3.7e-12)),
    "nn.functional.triplet_margin_with_distance_loss": Allowed(SUMS, (None, 0.0098, 0.0027), (None, 4.3e-12, 3.7e-12)),
    "nn.functional.cross_entropy": Allowed(EXPONENT, (28, None, None), (3.8e2, None, None)),
    "nn.functional.cross_entropy (probabilities)": Allowed(SUMS, (None, 2.9e-5, None)),
    "nn.functional.linear_cross_entropy": Allowed(EXPONENT, (28, None, None), (3.8e2, None, None)),
    "nn.functional.ctc_loss": Allowed(CERTAIN, (3.2e15, 1.3, None), (1.1e16, 1.3, None)),
}
