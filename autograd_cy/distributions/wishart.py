"""Wishart distributions (facade)."""

import math
import warnings
from typing import Any

from .. import linalg
from .._core.graph.tensor import Tensor
from .._creation.sequences import arange
from .._functional import names as _ops
from .._functional.queries import broadcast_shapes
from .._types import Size
from .._types.limits import finfo
from . import constraints
from ._by_matrix import ByMatrix as _ByMatrix
from ._by_matrix import given_of as _given_of
from ._formulas import half_log_det as _half_log_det
from ._formulas import holds as _holds
from ._noise import noise as _noise
from .chi2 import Chi2
from .exp_family import ExponentialFamily

__all__ = ["Wishart"]


class Wishart(_ByMatrix, ExponentialFamily):
    """``Wishart(df, covariance_matrix)``, or ``precision_matrix=``, or ``scale_tril=``: of X^T X, with `df` normal rows in X.

    df is a number or (...), the matrix (..., n, n). rsample draws a factor (Bartlett, "On the theory of statistical
    regression", 1933), anew up to `max_try_correction` times where the product is singular by rounding. ValueError unless
    df > n - 1.

    >>> import autograd_cy as ag
    >>> d = ag.distributions.Wishart(4.0, ag.eye(2))
    >>> d.mean, d.log_prob(ag.eye(2))
    (tensor([[4., 0.],
            [0., 4.]]), tensor(-4.2242))
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df: Any,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ):
        given = _given_of(covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril)
        (matrix,) = given.values()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        n, df = matrix.shape[-1], df if isinstance(df, Tensor) else matrix.new_tensor(df, dtype=matrix.dtype)
        batch = Size(broadcast_shapes(matrix.shape[:-2], df.shape))
        self.df = df.expand(batch)
        if not _holds(self.df > n - 1):
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        if not _holds(self.df >= n):
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.", stacklevel=2
            )
        self._event_shape = matrix.shape[-2:]  # which the constraint of df asks for
        self._take(given, batch)
        super().__init__(batch, matrix.shape[-2:], validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """df is above n - 1."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -0.5 * self.precision_matrix, 0.5 * (self.df - self._event_shape[-1] - 1)

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        n = self._event_shape[-1]
        power = y + 0.5 * (n + 1)
        return power * (n * math.log(2) - linalg.slogdet(-2 * x).logabsdet) + power.mvlgamma(n)

    @property
    def mean(self) -> Tensor:
        return self._by_df(self.df) * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return self._by_df(factor.masked_fill(factor <= 0, math.nan)) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._by_df(self.df) * (v.square() + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def rsample(self, sample_shape: Any = Size(), max_try_correction: int | None = None) -> Tensor:
        shape = Size(sample_shape)
        drawn = self._bartlett_sampling(shape)
        for _ in range(10 if max_try_correction is None else max_try_correction):
            regular = self.support.check(drawn)
            if _holds(regular):
                break
            warnings.warn("Singular sample detected.", stacklevel=2)
            drawn = drawn.where(regular[..., None, None], self._bartlett_sampling(shape))
        return drawn

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        n, factor = self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = _ops.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (
            0.5 * (self.df - n - 1) * linalg.slogdet(value).logabsdet
            - self.df * (0.5 * n * math.log(2) + _half_log_det(factor)) - (0.5 * self.df).mvlgamma(n) - 0.5 * trace
        )  # fmt: skip

    def entropy(self) -> Tensor:
        n, df = self._event_shape[-1], self.df
        slopes = (0.5 * (df.unsqueeze(-1) - arange(n, dtype=df.dtype))).digamma().sum(-1)
        size = (n + 1) * (_half_log_det(self._unbroadcasted_scale_tril) + 0.5 * n * math.log(2))
        return size + (0.5 * df).mvlgamma(n) - 0.5 * (df - n - 1) * slopes + 0.5 * df * n

    def _bartlett_sampling(self, sample_shape: Size) -> Tensor:
        """The factor times a lower triangle with roots of chi-squared numbers on its diagonal, normal ones below."""
        degrees = self.df.unsqueeze(-1) - arange(self._event_shape[-1], dtype=self.df.dtype)
        squares = Chi2(degrees, validate_args=False).rsample(sample_shape)
        squares = squares.clamp(min=finfo(squares.dtype).tiny)
        below = _noise(squares, self._extended_shape(sample_shape), Tensor.normal_).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (below + squares.sqrt().diag_embed())
        return factor @ factor.mT

    def _by_df(self, df: Tensor) -> Tensor:
        return df[..., None, None]
