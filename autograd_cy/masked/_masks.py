"""What functions of masked tensors share: the mask of an input, what stands for what is masked out, dimensions (facade)."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.arrays.dtypes import dtype as DType
from .._core.graph.tensor import Tensor, from_array
from .._functional import names

Dims = int | Sequence[int] | None


def checked_mask(input: Tensor, mask: Tensor) -> Tensor:
    """The mask as bools in the input's shape."""
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input): "
                f"{list(mask.shape)} for {list(input.shape)}"
            )
        mask = names.broadcast_to(mask, input.shape)
    return mask.to(names.bool)


def filled(function: str, input: Tensor, mask: Tensor | None, ord: float | str | None = None) -> Tensor:
    """The input with an identity of the function in the place of what is masked out."""
    if not isinstance(input, Tensor):
        raise TypeError(f"masked.{function}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if mask is None:
        return input
    if not isinstance(mask, Tensor):
        raise TypeError(f"masked.{function}(): argument 'mask' must be Tensor, not {type(mask).__name__}")
    identity = from_array(np.array(_identity(function, input.dtype, ord), input.dtype.numpy_dtype))
    return names.where(checked_mask(input, mask), input, identity)


def _identity(function: str, dtype: DType, ord: float | str | None) -> float:
    """The number that changes no result of a function."""
    if function in ("sum", "prod", "norm", "median"):
        lowest = function == "norm" and ord == -math.inf
        return math.inf if lowest else {"sum": 0.0, "prod": 1.0, "norm": 0.0, "median": math.nan}[function]
    if dtype.is_floating_point or (dtype.is_complex and function == "logsumexp"):
        return math.inf if function in ("amin", "argmin") else -math.inf
    if dtype.is_complex or dtype.name == "bool":
        raise NotImplementedError(f"identity of {function} on {dtype} input")
    limits = np.iinfo(dtype.numpy_dtype)
    return limits.max if function in ("amin", "argmin") else limits.min


def dimensions(dim: Dims, ndim: int) -> tuple[int, ...]:
    """The dimensions counted from the front, in order; all for None and ()."""
    if dim is None or dim == ():
        return tuple(range(ndim))
    found: list[int] = []
    n = max(ndim, 1)
    for d in (dim,) if isinstance(dim, int) else dim:
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        if d % n in found:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        found.append(d % n)
    return tuple(sorted(found))


def integers_as_int64(input: Tensor, dtype: Any) -> Any:
    """The dtype of a sum or product."""
    if dtype is not None or input.dtype.is_floating_point or input.dtype.is_complex:
        return dtype or input.dtype
    return names.int64
