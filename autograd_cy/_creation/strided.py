"""Tensors without given numbers, by strides or order in memory; of one number; on other libraries' memory (facade)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.arrays import dtypes, unset
from .._core.arrays.buffers import fitting_array
from .._core.graph.tensor import Tensor, sharing
from .._core.runtime.entry import public
from .._core.runtime.once import warn_once
from .._types import on_cpu
from . import number, resolve, sizes, wrap


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
    return wrap(strided_array("empty_strided", size, stride, wanted), requires_grad)


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
    array = unset.empty(tuple(shape[axis] for axis in order), wanted).transpose(np.argsort(order))
    return wrap(array, requires_grad)


@public
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """``frombuffer(buffer, dtype=float32)`` is a 1-d tensor on the memory of an object with Python's buffer protocol.

    `count` elements, all if it is negative, from byte `offset` on. A read-only buffer gives a read-only tensor, of which a
    warning tells once.

    >>> import autograd_cy as ag
    >>> ag.frombuffer(bytearray(b"abc"), dtype=ag.uint8)
    tensor([97, 98, 99], dtype=torch.uint8)
    """
    wanted = resolve(dtype, None, requires_grad)
    try:
        length = memoryview(buffer).nbytes
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    size = wanted.itemsize
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({size})"
        )
    if count * size > length - offset:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than actual "
            f"buffer length ({length} bytes)"
        )
    array = np.frombuffer(buffer, wanted, count, offset)
    if not array.flags.writeable:
        warn_once(
            "The given buffer is not writable, and neither is the tensor: to write to it is an error. Copy the buffer, or "
            "make it writable, before converting it to a tensor. This warning is given once."
        )
    result = sharing(array)
    return result.requires_grad_() if requires_grad else result


@public
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """``from_dlpack(x)`` is a Tensor on the memory of an array or tensor of another library, by the DLPack protocol.

    A capsule, as `to_dlpack()` of other libraries gives, does as well. With ``copy=True`` it has memory of its own.

    >>> import numpy as np
    >>> import autograd_cy as ag
    >>> array = np.zeros(2)
    >>> t = ag.from_dlpack(array)
    >>> array[0] = 5
    >>> t
    tensor([5., 0.], dtype=torch.float64)
    """
    if device is not None:
        on_cpu(device)
    is_capsule = type(ext_tensor).__name__ == "PyCapsule"
    if not is_capsule and not hasattr(ext_tensor, "__dlpack__"):
        raise TypeError(f"from_dlpack(): expected an object with __dlpack__(), not {type(ext_tensor).__name__}")
    if is_capsule or str(getattr(ext_tensor, "dtype", "")).endswith("bfloat16"):
        from . import dlpack  # few need it

        array = dlpack.imported(ext_tensor)
    else:
        array = np.from_dlpack(ext_tensor)
    return sharing(array.copy() if copy else array)


def strided_array(name: str, size: Any, stride: Any, dtype: np.dtype) -> np.ndarray:
    """An array without given elements, of these sizes and strides."""
    shape, strides = sizes(name, (), size), sizes("stride", (), stride)
    if len(shape) != len(strides):
        raise RuntimeError(f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})")
    length = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) if all(shape) else 0
    memory = unset.empty(length, dtype)
    return np.ndarray(shape, dtype, memory, 0, tuple(step * dtype.itemsize for step in strides))
