"""Numbers at equal distances with both ends, and the powers of numbers (facade). Imported when asked for."""

import math
from typing import Any

import numpy as np

from .._core.arrays.dtypes import kind_of
from .._core.graph.tensor import Tensor
from .._core.ops.basics import OPS
from .._core.runtime.entry import public
from .._core.runtime.once import warn_user
from . import integer, number, resolve, wrap

_DEPRECATED = (
    "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's "
    "range builtin. Instead, use torch.arange, which produces values in [start, end)."
)


@public
def range(
    start: Any,
    end: Any,
    step: Any = 1,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``range(start, end, step=1)`` counts from start up to end, which is part of it. Deprecated, as PyTorch's is.

    The result is of the default dtype if ``dtype`` names no other. An integer one truncates the three numbers first.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ag.range(1, 2, 0.25)
    tensor([1.0000, 1.2500, 1.5000, 1.7500, 2.0000])
    """
    warn_user(_DEPRECATED)
    bounds = [number("range", name, x) for name, x in (("start", start), ("end", end), ("step", step))]
    wanted = resolve(dtype, device, requires_grad, out=out)
    if kind_of(wanted) in "bc":
        raise NotImplementedError(f"range is not implemented for {wanted}")
    if any(isinstance(x, complex) for x in bounds):
        raise RuntimeError("range(): start, end and step can't be complex")
    return wrap(_closed(bounds, wanted), requires_grad, out, "range")


def _closed(bounds: list[Any], dtype: np.dtype) -> np.ndarray:
    """The numbers that ``range`` returns."""
    length, (start, _, step) = length_of_range(bounds, dtype), _truncated(bounds, dtype)
    return (start + np.arange(length) * step).astype(dtype)


def length_of_range(bounds: list[Any], dtype: np.dtype) -> int:
    """The length of ``range(*bounds)``."""
    if not (math.isfinite(bounds[0]) and math.isfinite(bounds[1])):
        raise RuntimeError(f"unsupported range: {bounds[0]} -> {bounds[1]}")
    start, end, step = _truncated(bounds, dtype)
    if not step or math.isnan(step):
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    length = int((end - start) / step) + 1
    if length * dtype.itemsize >= 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    return length


def _truncated(bounds: list[Any], dtype: np.dtype) -> list[Any]:
    return [int(x) for x in bounds] if kind_of(dtype) in "iu" and math.isfinite(bounds[2]) else bounds


@public
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """``vander(x, N=None, increasing=False)`` has a row for each number of ``x``: its powers from N - 1 down to 0.

    ``increasing=True`` begins with the power 0. Without ``N`` the result is square.

    >>> import autograd_cy as ag
    >>> ag.vander(ag.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [4, 2, 1],
            [9, 3, 1]])
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"vander(): argument 'x' (position 1) must be Tensor, not {type(x).__name__}")
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    columns = len(x) if N is None else integer("vander", "N", N)
    if columns < 0:
        raise RuntimeError("N must be non-negative.")
    x = x if x.is_floating_point() or x.is_complex() else x.long()
    if columns < 2:
        return x.new_ones(len(x), columns)
    powers = OPS["linalg.vander"].function(x, N=columns)
    return powers if increasing else powers.flip(1)
