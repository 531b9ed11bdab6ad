"""Memory that processes share (facade). Imported when asked for.

NOTE [Shared memory]
  1. A block is a file without a name, mapped into memory: forked processes inherit it, others are given its descriptor. It
     lives as long as a tensor of any process lies in it.
  2. What moves is all the memory that a tensor is a part of. Every Tensor on it moves along and keeps its history, version
     and attributes, and so does its storage; NumPy arrays on it, and values that a graph saved, stay where they are.
  3. Small memories are put into one block, one behind the other, for each block takes two descriptors. A place is used once,
     since other processes may have it when no tensor here does.
"""

import mmap
import os
import tempfile
import threading
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of
from .._core.ops.indexing.slicing import owner_of_memory
from .._core.ops.shapes.reshaping import is_held_alone
from .moves import extent, move, tensors_on

CAN_SHARE = os.name == "posix"
ALIGNMENT = 64
SMALL = 1 << 16  # bytes up to which memory is put into a block with others
COMMON = 1 << 20  # the size of such a block


class SharedBlock(mmap.mmap):
    """A block: by its number in the system a process has it only once."""

    descriptor: int
    _parts: "weakref.WeakValueDictionary[tuple[int, int], Any]"

    def __new__(cls, descriptor: int, size: int) -> "SharedBlock":
        made = super().__new__(cls, descriptor, size)
        made.descriptor, made._parts = descriptor, weakref.WeakValueDictionary()
        weakref.finalize(made, os.close, descriptor).atexit = False
        _blocks[_number(descriptor)] = made
        return made

    def part(self, start: int, size: int) -> Any:
        """part(start, size) -> its bytes from there on: the same array as long as that lives."""
        found = self._parts.get((start, size))
        if found is None:
            found = self._parts[start, size] = np.ndarray((size,), np.uint8, self, start)
        return found


_blocks: "weakref.WeakValueDictionary[tuple[int, int], SharedBlock]" = weakref.WeakValueDictionary()
_lock = threading.Lock()
_common: SharedBlock | None = None  # the block for small memories, and how much of it is used
_used = 0


def _forget_common() -> None:
    global _common, _lock
    _common, _lock = None, threading.Lock()


if CAN_SHARE:
    os.register_at_fork(after_in_child=_forget_common)  # the rest of the block is the parent's


def _number(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _new_block(size: int) -> SharedBlock:
    if not CAN_SHARE:
        raise NotImplementedError("share_memory_(): processes share memory on POSIX systems only; send copies instead")
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("autograd_cy")
    else:
        descriptor, path = tempfile.mkstemp()
        os.unlink(path)
    try:
        if hasattr(os, "posix_fallocate"):  # else a write would be the one to find that there is no room
            os.posix_fallocate(descriptor, 0, size)
        else:
            os.ftruncate(descriptor, size)
        return SharedBlock(descriptor, size)
    except (OSError, OverflowError, ValueError) as error:
        os.close(descriptor)
        raise RuntimeError(f"unable to allocate shared memory(shm) of {size} bytes: {error}") from error


def block_at(descriptor: int) -> SharedBlock:
    """block_at(descriptor) -> the block with that file; the descriptor becomes the block's."""
    known = _blocks.get(_number(descriptor))
    if known is None:
        return SharedBlock(descriptor, os.fstat(descriptor).st_size)
    os.close(descriptor)
    return known


def _place(size: int) -> tuple[SharedBlock, int]:
    """Room for that many bytes: a block, and where in it."""
    global _common, _used
    if size > SMALL:
        return _new_block(size), 0
    with _lock:
        if _common is None or _used + size > COMMON:
            _common, _used = _new_block(COMMON), 0
        start, _used = _used, _used + size
        return _common, start


def place_of(tensor: Tensor) -> tuple[SharedBlock, int, int] | None:
    """place_of(tensor) -> the block in which its memory lies, where that begins, and its size; None if it is not shared."""
    owner = owner_of_memory(array_of(tensor))
    if not isinstance(owner.base, SharedBlock):
        return None
    return owner.base, owner.ctypes.data - np.ndarray((1,), np.uint8, owner.base).ctypes.data, owner.nbytes


def share(tensors: Iterable[Tensor]) -> None:
    """share(tensors): move their memory to where other processes may have it, too: (2) of the note."""
    tensors = list(tensors)
    alone = all(map(is_held_alone, tensors))  # before anything here refers to their arrays
    owners = {id(owner): owner for owner in (owner_of_memory(array_of(tensor)) for tensor in tensors)}
    owners = {key: owner for key, owner in owners.items() if not isinstance(owner.base, SharedBlock)}
    if not owners:
        return
    extents = {key: extent(owner) for key, owner in owners.items()}
    rooms = [-(-size // ALIGNMENT) * ALIGNMENT for _, size in extents.values()]
    block, start = _place(sum(rooms))
    parts = {}
    for key, room in zip(owners, rooms, strict=True):
        first, size = extents[key]
        owner, parts[key] = owners[key], block.part(start, size)
        np.ndarray(owner.shape, owner.dtype, parts[key], owner.ctypes.data - first, owner.strides)[...] = owner
        start += room
    move(owners, parts, tensors if alone else tensors_on(owners))
