"""What misses the targets of precision.py, by how much, and why: for tests/ops/test_precision.py and tools/precision.py.

Limits are for value (units of the last place), first and second derivative (relative); None: the target holds. A test fails
where an error exceeds its limit, and where it does not need one any more.
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


MENDING = "being mended"
EXPONENT = "the difference of two scores is rounded: exp of it is off by half a unit in the last place of the exponent"

EXCEPTIONS = {
    "pow": Allowed(MENDING, (None, None, 1e11), (None, None, 3e38)),
    "float_power": Allowed(MENDING, FINE, (None, None, 3e38)),
    "polar (real part)": Allowed(MENDING, (None, None, 5e55), (None, None, ANY)),
    "polar (imaginary part)": Allowed(MENDING, (None, 1.5, 3e55), (None, 1.5, ANY)),
    "lerp (weight 0.375)": Allowed(MENDING, (12, None, None), (18, None, None)),
    "lerp (towards 2.5)": Allowed(MENDING, (16, None, None), (9, None, None)),
    "addcmul": Allowed(MENDING, (18, None, None), (20, None, None)),
    "addcdiv": Allowed(MENDING, (45, 7e10, None), (9.2, 5e98, 4e68)),
    "expm1": Allowed(MENDING, (None, 1.5, 1.5), (None, 1.5, 1.5)),
    "sinc": Allowed(MENDING, (1e38, ANY, ANY), (5e307, ANY, ANY)),
    "asin": Allowed(MENDING, (None, 3.8e-5, 0.00011), (None, 4.1e-10, 1.2e-9)),
    "acos": Allowed(MENDING, (None, 3.8e-5, 0.00011), (None, 4.1e-10, 1.2e-9)),
    "atan": Allowed(MENDING, (None, None, 0.27), (None, None, 1.5)),
    "atan2": Allowed(MENDING, (None, 1.5, ANY), (None, 1.5, ANY)),
    "tanh": Allowed(MENDING, (None, 1.6, 1.6), (None, 1.5, 1.5)),
    "asinh": Allowed(MENDING, (None, 1.5, 1.5), (None, 1.5, 1.5)),
    "acosh": Allowed(MENDING, (None, 1.5, 1.5), (None, 1.5, 1.5)),
    "atanh": Allowed(MENDING, (None, 7.5e-5, 0.00015), (None, 8.3e-10, 1.7e-9)),
    "hypot": Allowed(MENDING, (None, None, 1.5), (None, None, 1.5)),
    "logaddexp": Allowed(MENDING, (None, 0.26, ANY), (None, None, ANY)),
    "logaddexp2": Allowed(MENDING, (8.2, None, ANY), (2.3e2, None, ANY)),
    "logit": Allowed(MENDING, (None, None, ANY), (None, None, ANY)),
    "erfc": Allowed(MENDING, (1e2, None, None), (1.3e3, None, None)),
    "sigmoid": Allowed(MENDING, (5.9e3, 1.5, 1.5), (8e10, 1.5, 1.5)),
    "nn.functional.softsign": Allowed(MENDING, (None, 1.5, 1.5), (None, 1.5, 1.5)),
    "nn.functional.tanhshrink": Allowed(MENDING, (3e07, 1.5, 1.6), (1e16, 1.5, 1.5)),
    "nn.functional.silu": Allowed(MENDING, (5.6e5, 0.066, 1.5), (6e13, 0.0099, 1.5)),
    "nn.functional.mish": Allowed(MENDING, (50, None, 1.5), (5e2, None, 1.5)),
    "nn.functional.gelu": Allowed(MENDING, (41, 0.037, None), (1e2, 0.0058, None)),
    "nn.functional.gelu (tanh)": Allowed(MENDING, (2e07, ANY, ANY), (2e16, ANY, ANY)),
    "nn.functional.elu": Allowed(MENDING, (None, None, ANY), (None, None, ANY)),
    "nn.functional.selu": Allowed(MENDING, (None, None, ANY), (None, None, ANY)),
    "nn.functional.celu": Allowed(MENDING, (None, None, ANY), (None, None, ANY)),
    "nn.functional.celu (alpha=2.5)": Allowed(MENDING, (None, None, ANY), (None, None, ANY)),
    "nn.functional.softplus": Allowed(MENDING, (None, 0.0007, 1.5), (None, 1.4e-5, 1.4e-5)),
    "nn.functional.softplus (beta=2.5)": Allowed(MENDING, (47, 0.0007, 0.005), (5.9e2, None, 4.4e-10)),
    "nn.functional.logsigmoid": Allowed(MENDING, (None, 0.0007, 1.5), (None, 1.4e-5, 1.5)),
    "nn.functional.glu": Allowed(MENDING, (None, 1.5, 1.5), (None, 1.5, 1.5)),
    "nn.functional.softmin": Allowed(MENDING, (40, 1.5, 1.5), (5.6e2, 1.5, 1.5)),
    "softmax": Allowed(EXPONENT + "; the second derivative is 0 for equal scores", (24, None, 1.5), (2.5e2, None, 1.5)),
    "log_softmax": Allowed(EXPONENT, (28, None, None), (3.8e2, None, None)),
    "logsumexp": Allowed(MENDING, (1.1e2, None, 1.5), (2e16, None, 1.5)),
    "digamma": Allowed(MENDING, FINE, (28, None, 7.6e-10)),
    "igamma": Allowed(MENDING, FINE, (39, None, None)),
    "igammac": Allowed(MENDING, FINE, (4.2e2, None, None)),
    "i0": Allowed(MENDING, (None, None, ANY), (None, None, ANY)),
    "special.i0e": Allowed(MENDING, (None, 9.4e-5, 0.056), (None, 3.8e-12, 5.4e-8)),
    "special.i1": Allowed(MENDING, (None, ANY, ANY), (7.7, ANY, ANY)),
    "special.i1e": Allowed(MENDING, (None, 0.0001, 1e39), (None, 6.9e-12, 5.4e-8)),
    "special.ndtr": Allowed(MENDING, (37, None, None), (1e2, None, None)),
    "special.ndtri": Allowed(MENDING, FINE, (None, None, 2.2e-13)),
    "special.log_ndtr": Allowed(MENDING, (None, None, ANY), (1e2, 7.4e-7, ANY)),
    "special.erfcx": Allowed(MENDING, (None, 2e31, 4e68), (1.8e2, 1.5, 7e187)),
    "special.airy_ai": Allowed(MENDING, FINE, (2.4e3, None, None)),
    "special.bessel_j0": Allowed(MENDING, FINE, (4.4e3, None, None)),
    "special.bessel_j1": Allowed(MENDING, FINE, (2.2e3, None, None)),
    "special.bessel_y0": Allowed(MENDING, FINE, (3.9e3, None, None)),
    "special.bessel_y1": Allowed(MENDING, FINE, (1.4e4, None, None)),
    "special.modified_bessel_i1": Allowed(MENDING, FINE, (7.7, None, None)),
    "special.chebyshev_polynomial_t (degree 5)": Allowed(MENDING, FINE, (1.6e2, None, None)),
    "special.chebyshev_polynomial_u (degree 5)": Allowed(MENDING, FINE, (14, None, None)),
    "special.chebyshev_polynomial_v (degree 5)": Allowed(MENDING, (6.7, None, None), (30, None, None)),
    "special.chebyshev_polynomial_w (degree 5)": Allowed(MENDING, (6.7, None, None), (30, None, None)),
    "special.shifted_chebyshev_polynomial_t (degree 5)": Allowed(MENDING, (90, None, None), (52, None, None)),
    "special.shifted_chebyshev_polynomial_u (degree 5)": Allowed(MENDING, (11, None, None), (42, None, None)),
    "special.shifted_chebyshev_polynomial_v (degree 5)": Allowed(MENDING, (11, None, None), (21, None, None)),
    "special.shifted_chebyshev_polynomial_w (degree 5)": Allowed(MENDING, (67, None, None), (1.4e2, None, None)),
    "special.hermite_polynomial_h (degree 5)": Allowed(MENDING, (11, None, None), (14, None, None)),
    "special.laguerre_polynomial_l (degree 5)": Allowed(MENDING, (48, None, None), (17, None, None)),
    "special.legendre_polynomial_p (degree 5)": Allowed(MENDING, (1e4, None, None), (16, None, None)),
    "nn.functional.binary_cross_entropy_with_logits": Allowed(MENDING, (2e07, 1.5, 1.5), (9.9e2, 0.0019, 1.5)),
    "nn.functional.soft_margin_loss": Allowed(MENDING, (48, 0.0012, 1.5), (3e2, None, 1.5)),
    "nn.functional.kl_div": Allowed(MENDING, (7.7, None, None), (None, 0.0017, None)),
    "nn.functional.kl_div (log_target)": Allowed(MENDING, (49, ANY, ANY), (None, None, 0.00041)),
    "nn.functional.poisson_nll_loss": Allowed(MENDING, (9.8, None, None), (11, None, None)),
    "nn.functional.poisson_nll_loss (of rates)": Allowed(MENDING, (2.2e5, 0.016, None), (1.2e2, 1.5, None)),
    "nn.functional.gaussian_nll_loss": Allowed(MENDING, (5e18, 1e46, 6e76), (13, None, None)),
    "nn.functional.multilabel_soft_margin_loss": Allowed(MENDING, (None, None, ANY), (None, 6.8e-6, ANY)),
    "nn.functional.cosine_embedding_loss": Allowed(MENDING, (1e08, 6e17, 3e10), (6e16, 6e141, 6e104)),
    "nn.functional.triplet_margin_loss": Allowed(MENDING, (None, 0.0098, 0.0027), (None, 4.3e-12, 3.7e-12)),
    "nn.functional.triplet_margin_with_distance_loss": Allowed(MENDING, (None, 0.0098, 0.0027), (None, 4.3e-12, 3.7e-12)),
    "nn.functional.cross_entropy": Allowed(EXPONENT, (28, None, None), (3.8e2, None, None)),
    "nn.functional.cross_entropy (probabilities)": Allowed(MENDING, (None, 7.8e-5, 1.5), (None, None, 1.5)),
    "nn.functional.linear_cross_entropy": Allowed(EXPONENT, (28, None, None), (3.8e2, None, None)),
    "nn.functional.ctc_loss": Allowed(
        "where two paths have nearly all probability the loss is the square of the rest, a difference of terms of its size",
        (ANY, 3, None), (ANY, 1.5, None)),
}
