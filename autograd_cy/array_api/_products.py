"""The products of the Array API standard (facade)."""

from typing import Any

from .. import linalg as _linalg
from .._core.graph.tensor import Tensor
from .._functional import names as ops
from .._numpy import _linear
from ._promotion import promoted


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """matmul(x1, x2, /): the products of matrices."""
    return ops.matmul(*promoted(x1, x2))


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Any = 2) -> Tensor:
    """tensordot(x1, x2, /, *, axes=2): the sums of products along several axes."""
    return _linear._tensordot(*promoted(x1, x2), axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """vecdot(x1, x2, /, *, axis=-1): the sums of products along an axis, x1 conjugated."""
    first, second = promoted(x1, x2)
    if first.dtype.is_floating_point or first.dtype.is_complex:
        return _linalg.vecdot(first, second, dim=axis)
    return (first * second).sum(axis).to(first.dtype)
