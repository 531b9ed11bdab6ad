"""The memory of new storages: from a size, a sequence, a buffer or a file (facade)."""

import os
import sys
from typing import Any

import numpy as np

from .._core.arrays import dtypes
from .._core.ops.indexing.slicing import owner_of_memory
from .._creation.data import array_from


def size_given(data: Any = 0, *, made: Any) -> int:
    """size_given(data=0, made=made) -> the number of elements of a new storage.

    `data` is that number, or the elements, which ``made(data)`` checks.
    """
    return data if isinstance(data, int) and data >= 0 else len(made(data))


def bytes_from(size: Any = 0) -> Any:
    """bytes_from(size=0) -> an array of so many bytes, or of these."""
    if isinstance(size, int):
        if size < 0:
            raise RuntimeError(f"torch.UntypedStorage(): the number of bytes must not be negative, got {size}")
        return np.empty(size, np.uint8)
    if not (hasattr(size, "__len__") and hasattr(size, "__getitem__")):
        raise RuntimeError(f"torch.UntypedStorage(): Expected a sequence type, but got {type(size).__name__}")
    for item in size:
        if not isinstance(item, int):
            raise RuntimeError(
                f"torch.UntypedStorage(): tried to construct a storage from a sequence ({type(size).__name__}), but one of "
                f"the items was of type {type(item).__name__} instead of int"
            )
    return np.array([item % 256 for item in size], np.uint8)


def elements_from(dtype: dtypes.dtype, data: Any = 0) -> Any:
    """elements_from(dtype, data=0) -> an array of so many elements of a dtype, or of these."""
    if isinstance(data, int):
        if data < 0:
            raise RuntimeError(f"TypedStorage(): the number of elements must not be negative, got {data}")
        return np.empty(data, dtype.numpy_dtype)
    if isinstance(data, str) or not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    return owner_of_memory(np.array(array_from(data, dtype.numpy_dtype)))


def from_buffer(
    buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, dtype: Any = None
) -> Any:  # fmt: skip
    """from_buffer(buffer, byte_order, count=-1, offset=0, dtype=uint8) -> a copy of the elements in a buffer."""
    wanted = dtypes.convert(np.dtype(np.uint8) if dtype is None else dtype)
    if byte_order is None and wanted.itemsize > 1:
        raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
    if byte_order not in (None, "native", "little", "big"):
        raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
    data, step = memoryview(buffer).cast("B"), wanted.itemsize
    if not 0 <= offset <= len(data):
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({len(data)}) , but got {offset}")
    if count < 0 and (len(data) - offset) % step:
        raise ValueError(f"buffer size ({len(data)}) must be a multiple of element size ({step})")
    n = (len(data) - offset) // step
    if count > n:
        raise ValueError(f"buffer has only {n} elements after offset {offset}, but specified a size of {count}")
    elements = np.frombuffer(data, wanted.numpy_dtype, n if count < 0 else count, offset)
    swapped = byte_order not in (None, "native", sys.byteorder)
    return elements.byteswap() if swapped else elements.copy()


def from_file(filename: Any, shared: bool, nbytes: int) -> Any:
    """from_file(filename, shared, nbytes) -> the first nbytes of a file, all for 0, mapped into memory."""
    name, length = os.fspath(filename), os.path.getsize(filename) if os.path.exists(filename) else 0
    if shared and length < nbytes:
        with open(filename, "ab") as file:
            file.truncate(nbytes)
    elif length < nbytes:
        raise RuntimeError(f"file <{name}> size <{length}> is smaller than the required mapping size <{nbytes}>")
    n = nbytes or length
    return np.memmap(filename, np.uint8, "r+" if shared else "c", 0, (n,)) if n else np.empty(0, np.uint8)
