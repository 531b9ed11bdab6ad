"""Tensor.set_(): a tensor on the memory of another, or on a storage (facade)."""

import math
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of
from .._core.ops.indexing.slicing import take_memory
from ._names import STORAGES
from ._typed import TypedStorage
from ._untyped import UntypedStorage, storage_of

_CALLS = (
    "(), (torch.Storage source), (torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None), "
    "(Tensor source), (Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None)"
)


def put_on(tensor: Tensor, source: Any, offset: int | None, size: Any, stride: Any) -> Tensor:
    """put_on(tensor, source, offset, size, stride) -> the tensor, on that memory from now on."""
    if source is None:
        return take_memory(tensor, np.empty(0, array_of(tensor).dtype))
    if not isinstance(source, Tensor | TypedStorage | UntypedStorage) or (size is None and (stride or offset) is not None):
        raise TypeError(
            f"set_() received an invalid combination of arguments - got ({type(source).__name__}, ...), but expected one of: "
            f"{_CALLS}"
        )
    _check_dtype(tensor, source)
    if source.device != tensor.device:
        raise RuntimeError(
            f"Attempted to set the storage of a tensor on device \"{tensor.device}\" to a storage on different device "
            f"\"{source.device}\". This is no longer allowed; the devices must match."
        )
    if isinstance(source, Tensor):
        if size is None:
            return take_memory(tensor, array_of(source), source)
        return take_memory(tensor, part_of(tensor, storage_of(source), offset or 0, size, stride), source)
    storage = source.untyped()
    if size is None:
        size = (storage.nbytes() // tensor.dtype.itemsize,)
    return take_memory(tensor, part_of(tensor, storage, offset or 0, size, stride))


def _check_dtype(tensor: Tensor, source: Any) -> None:
    """Refuse elements of another dtype; bytes fit any dtype."""
    if isinstance(source, UntypedStorage) or source.dtype is tensor.dtype:
        return
    own, other = (STORAGES.get(x.dtype.name, x.dtype.name).removesuffix("Storage") for x in (tensor, source))
    if isinstance(source, Tensor):
        raise RuntimeError(f"Could not set tensor of type {other.lower()} to a tensor of type {own.lower()}")
    raise RuntimeError(f"Expected a Storage of type {own} or an UntypedStorage, but got type {other} for argument 1 'storage'")


def part_of(tensor: Tensor, storage: UntypedStorage, offset: int, size: Any, stride: Any) -> Any:
    """An array on a part of a storage, in the tensor's dtype; the storage becomes larger if it has to."""
    sizes = (size,) if isinstance(size, int) else tuple(size)
    if stride is None:
        stride = [math.prod(max(n, 1) for n in sizes[axis + 1 :]) for axis in range(len(sizes))]
    steps = (stride,) if isinstance(stride, int) else tuple(stride)
    if len(sizes) != len(steps):
        raise RuntimeError(f"unequal size length ({len(sizes)}) and stride length ({len(steps)})")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if min(sizes, default=0) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
    if min(steps, default=0) < 0:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(steps)}")
    item = tensor.dtype.itemsize
    needed = 0 if 0 in sizes else (offset + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True)) + 1) * item
    if needed > storage.nbytes():
        storage.resize_(needed)
    if 0 in sizes:
        return np.empty(sizes, array_of(tensor).dtype)
    dtype, strides = array_of(tensor).dtype, tuple(step * item for step in steps)
    return np.ndarray(sizes, dtype, storage._bytes, offset * item, strides)
