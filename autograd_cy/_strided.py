"""Tensors without given numbers, by the place of their elements in memory; and those of one number (facade)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arguments import number, resolve, sizes, wrap
from ._core.arrays import dtypes
from ._core.arrays.conversions import fitting_array
from ._core.graph.tensor import Tensor
from ._core.ops.overrides import extend_overridable
from ._core.runtime.entry import public

__all__ = ["empty_permuted", "empty_strided", "scalar_tensor"]


@public
def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """``scalar_tensor(3)`` is a 0-d tensor of the default dtype, or of ``dtype``.

    >>> import autograd_cy as ag
    >>> ag.scalar_tensor(3)
    tensor(3.)
    """
    value = number("scalar_tensor", "s", s)
    wanted = dtypes.convert(resolve(dtype, device, requires_grad))
    return wrap(np.array(fitting_array(value, wanted)), requires_grad)


@public
def empty_strided(
    size: Sequence[int], stride: Sequence[int], *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``empty_strided((2, 3), (1, 2))`` has those sizes and strides (counted in elements), and whatever was in its memory.

    >>> import autograd_cy as ag
    >>> ag.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    wanted = resolve(dtype, device, requires_grad)
    return wrap(_strided("empty_strided", size, stride, wanted), requires_grad)


@public
def empty_permuted(
    size: Sequence[int],
    physical_layout: Sequence[int],
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``empty_permuted((2, 3, 5), (1, 2, 0))`` has its dimensions in memory in that order, the outermost first.

    >>> import autograd_cy as ag
    >>> ag.empty_permuted((2, 3, 5), (1, 2, 0)).stride()
    (1, 10, 2)
    """
    shape, order = sizes("empty_permuted", (), size), tuple(physical_layout)
    if len(shape) != len(order):
        raise RuntimeError(
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            f"len(size) = {len(shape)} is not equal to len(physical_layout) = {len(order)}"
        )
    for dim in order:
        if not 0 <= dim < len(shape):
            raise IndexError(f"Dimension out of range (expected to be between 0 and {len(shape) - 1}, but got {dim})")
    if len(set(order)) < len(order):
        raise RuntimeError("Duplicate dim not allowed")
    wanted = resolve(dtype, device, requires_grad)
    array = np.empty(tuple(shape[axis] for axis in order), wanted).transpose(np.argsort(order))
    return wrap(array, requires_grad)


@public
def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """new_empty_strided(size, stride) -> Tensor: empty_strided of this tensor's dtype."""
    wanted = resolve(dtype, device, requires_grad, default=self.dtype)
    return wrap(_strided("new_empty_strided", size, stride, wanted), requires_grad)


extend_overridable("new_empty_strided", new_empty_strided)


def _strided(name: str, size: Any, stride: Any, dtype: np.dtype) -> np.ndarray:
    shape, strides = sizes(name, (), size), sizes("stride", (), stride)
    if len(shape) != len(strides):
        raise RuntimeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    length = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) if all(shape) else 0
    memory = np.empty(length, dtype)
    return np.ndarray(shape, dtype, memory, 0, tuple(step * dtype.itemsize for step in strides))
