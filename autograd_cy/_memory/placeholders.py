"""Memory that is never used, for tensors on the device "meta" (facade).

It has addresses, so that strides, offsets and views work as for any tensor, but no pages: the system gives a page to an
address that is written, and those are given back at once. What is read are zeros.
"""

import math
import mmap
from typing import Any

import numpy as np

from .._core.ops.indexing.slicing import owner_of_memory

_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)


class Placeholder(mmap.mmap):
    """So many addresses."""

    def __new__(cls, size: int) -> "Placeholder":
        try:
            if not hasattr(mmap, "MAP_PRIVATE"):
                return super().__new__(cls, -1, max(size, 1))
            return super().__new__(cls, -1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
        except (OSError, OverflowError, ValueError) as error:
            raise RuntimeError(f"device 'meta': no addresses for {size} bytes: {error}") from None


def placeholder(shape: tuple[int, ...], dtype: Any, strides: Any = None) -> Any:
    """placeholder(shape, dtype, strides=None) -> an array of that shape; strides are in bytes, by default in C order."""
    wanted = np.dtype(dtype)
    if strides is None or 0 in shape:
        size, strides = math.prod(shape) * wanted.itemsize, None
    else:
        size = sum((n - 1) * step for n, step in zip(shape, strides, strict=True)) + wanted.itemsize
    return np.ndarray(shape, wanted, Placeholder(size), 0, strides)


def memory_of(array: Any) -> Placeholder | None:
    """memory_of(array) -> the addresses that an array is on; None if it has elements."""
    base = owner_of_memory(array).base
    return base if isinstance(base, Placeholder) else None


def give_pages_back(array: Any) -> None:
    """give_pages_back(array): reset a placeholder to zeros without pages, after writes."""
    memory = memory_of(array)
    if memory is not None and hasattr(mmap, "MADV_DONTNEED"):
        memory.madvise(mmap.MADV_DONTNEED)
