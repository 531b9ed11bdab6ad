"""Formulas that several distributions, or their divergences, use (facade)."""

from .. import linalg
from .._core.batching.batched import all_samples, levels_of
from .._core.graph.tensor import Tensor
from .._functional import names

EULER = 0.57721566490153286060  # Euler's constant


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)), without overflow."""
    return names.logaddexp(x, x.new_zeros(()))


def sum_rightmost(value: Tensor, n: int) -> Tensor:
    """The sum over the last n dimensions."""
    return value.sum(tuple(range(-n, 0))) if n else value


def standardized(scale_tril: Tensor, vectors: Tensor) -> Tensor:
    """The vectors by the inverse of the factor."""
    return linalg.solve_triangular(scale_tril, vectors.unsqueeze(-1), upper=False).squeeze(-1)


def half_log_det(scale_tril: Tensor) -> Tensor:
    """Half the logarithm of the determinant of the covariance."""
    return scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def holds(condition: Tensor) -> bool:
    """``holds(condition)``: whether it is true everywhere, within vmap in all samples. Checks may branch on the result."""
    return bool(all_samples(condition, levels_of(condition)).all())


def expm1_over(x: Tensor) -> Tensor:
    """expm1(x) / x, next to 0 by its series."""
    return _over(x, x.expm1(), 1 + x / 2 + x * x / 6 + x**3 / 24)


def log1p_over(x: Tensor) -> Tensor:
    """log1p(x) / x, next to 0 by its series."""
    return _over(x, x.log1p(), 1 - x / 2 + x * x / 3 - x**3 / 4)


def _over(x: Tensor, y: Tensor, series: Tensor) -> Tensor:
    small = x.abs() < 1e-4
    return series.where(small, y / x.masked_fill(small, 1.0))
