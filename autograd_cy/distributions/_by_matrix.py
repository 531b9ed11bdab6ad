"""The base of distributions with one of three matrices as parameter (facade)."""

from typing import Any

from .. import linalg
from .._core.graph.tensor import Tensor
from .._creation.filled import eye
from .._functional import names as _ops
from ._lazy_attribute import lazy_attribute
from .distribution import Distribution
from .utils import lazy_property


class ByMatrix(Distribution):
    """One of a covariance, its inverse, and its lower Cholesky factor is given: the others are computed when first read."""

    _unbroadcasted: Tensor  # the given matrix

    def _take(self, given: dict[str, Tensor], batch: Any) -> None:
        """Keep the matrix, as it is and expanded to the batch."""
        ((name, self._unbroadcasted),) = given.items()
        vars(self)[name] = self._unbroadcasted.expand(batch + self._unbroadcasted.shape[-2:])
        if type(self)._unbroadcasted_scale_tril is not ByMatrix._unbroadcasted_scale_tril:
            self._unbroadcasted_scale_tril = self._factor()  # into the property of a subclass

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        factor = vars(self).get("_computed", {}).get("_unbroadcasted_scale_tril")
        if factor is not None:
            new._computed["_unbroadcasted_scale_tril"] = factor
        return new

    @lazy_attribute
    def _unbroadcasted_scale_tril(self) -> Tensor:
        """The factor of the matrix with its own batch dimensions."""
        return self._factor()

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The lower triangular factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand(self._matrix_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand(self._matrix_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return _ops.cholesky_inverse(self._unbroadcasted_scale_tril).expand(self._matrix_shape)

    @property
    def _matrix_shape(self) -> Any:
        return self._batch_shape + self._event_shape[-1:] * 2

    def _factor(self) -> Tensor:
        given = vars(self)
        if "scale_tril" in given:
            return self._unbroadcasted
        if "covariance_matrix" in given:
            return linalg.cholesky(self._unbroadcasted)
        # The factor of the matrix with both axes reversed, reversed, is the transposed inverse of ours.
        factor = linalg.cholesky(self._unbroadcasted.flip(-2, -1)).flip(-2, -1).mT
        return linalg.solve_triangular(factor, eye(factor.shape[-1], dtype=factor.dtype), upper=False)


def given_of(**matrices: Tensor | None) -> dict[str, Tensor]:
    """The one of the matrices that is given, by its name."""
    given = {name: matrix for name, matrix in matrices.items() if matrix is not None}
    if len(given) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return given
