"""UntypedStorage: the bytes that tensors share (facade).

A storage represents all memory of the array that owns it, at the end of a chain of views. Each such array has one storage, as
long as the storage is referenced; it keeps the array alive, so that the memory is not reused.
"""

import os
import sys
import weakref
from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.indexing.slicing import bytes_of, owner_of_memory
from .._core.runtime.entry import public
from .._memory import moves as _moves
from .._memory.placeholders import Placeholder, placeholder
from .._types import device as Device
from .._types import on_cpu
from . import _sources
from ._resizing import resize

_weak: dict[int, Any] = {}  # the objects behind the numbers of _weak_ref()


class UntypedStorage:
    """``UntypedStorage(8)`` has 8 bytes, ``UntypedStorage([1, 2])`` these two; ``tensor.untyped_storage()`` a tensor's memory.

    Bytes are read and written by index. Writes are visible in all tensors on the memory.

    >>> import autograd_cy as ag
    >>> a = ag.tensor([1, 2], dtype=ag.int16)
    >>> a.untyped_storage().tolist(), a[1:].untyped_storage() is a.untyped_storage()
    ([1, 0, 2, 0], True)
    """

    _owner: Any
    _bytes: Any
    _is_meta: bool
    _typed: Any  # a method that `_typed` gives it: the bytes as a TypedStorage of uint8
    filename: str | None = None

    is_cuda = is_hpu = is_sparse = is_sparse_csr = False

    @public
    def __init__(self, *args: Any, device: Any = None, allocator: Any = None):
        if device is not None and Device(device).type == "meta":
            args = (placeholder((_sources.size_given(*args, made=_sources.bytes_from),), np.uint8),)
        elif device is not None:
            on_cpu(device)
        if len(args) > 1:
            kinds = ", ".join(type(value).__name__ for value in args)
            raise TypeError(f"torch.UntypedStorage() received an invalid combination of arguments - got ({kinds})")
        is_memory = args and isinstance(args[0], np.ndarray) and args[0].dtype == np.uint8
        self._stand_for(args[0] if is_memory else _sources.bytes_from(*args))

    def _stand_for(self, owner: Any) -> None:
        """Represent the memory of its owner, an array."""
        self._owner, self._bytes, self._is_meta = owner, bytes_of(owner), isinstance(owner.base, Placeholder)
        _moves.storages[id(owner)] = self

    # the bytes

    def __len__(self) -> int:
        return len(self._bytes)

    def nbytes(self) -> int:
        """``nbytes()`` is the number of bytes."""
        return len(self._bytes)

    def size(self) -> int:
        """``size()`` is the number of bytes."""
        return len(self._bytes)

    def element_size(self) -> int:
        """``element_size()`` is 1."""
        return 1

    def _place(self, index: int) -> int:
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        return index

    @public
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int):
            bytes = self._readable()
            return int(bytes[self._place(index)])
        if not isinstance(index, slice):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        if index.step not in (None, 1):
            raise RuntimeError(f"Trying to slice with a step of {index.step}, but only a step of 1 is supported")
        part = object.__new__(UntypedStorage)
        part._owner, part._bytes, part._is_meta = self._owner, self._bytes[index], self._is_meta
        return part

    @public
    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, int):
            raise RuntimeError(f"can only set storage content with a int types, but got {type(value).__name__} instead")
        if isinstance(index, int):
            if not 0 <= index < len(self):
                raise RuntimeError("out of bounds")
        elif not isinstance(index, slice):
            raise TypeError(f"can't index a torch.UntypedStorage with {type(index).__name__}")
        self._as_tensor()[index] = value % 256

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def tolist(self) -> list[int]:
        """``tolist()`` is a list of the bytes, as ints."""
        found: list[int] = self._readable().tolist()
        return found

    def _readable(self) -> Any:
        """The bytes, if there are any."""
        if self._is_meta:
            raise NotImplementedError("Not available for 'meta' device type")
        return self._bytes

    def _copied_out(self) -> Any:
        """The bytes, to be copied to other memory, if there are any."""
        if self._is_meta:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        return self._bytes

    def _as_tensor(self) -> Tensor:
        return from_array(self._readable())

    def _elements_for(self, dtype: Any) -> Any:
        """What tensor() takes of the storage: the bytes as elements of a NumPy dtype, int64 without one."""
        return self._elements(dtypes.convert(np.int64 if dtype is None else dtype))

    def _elements(self, dtype: dtypes.dtype) -> Any:
        """The bytes as an array of elements of a dtype; an incomplete last element is dropped."""
        n = len(self._bytes) // dtype.itemsize
        return self._readable()[: n * dtype.itemsize].view(dtype.numpy_dtype)

    @public
    def fill_(self, value: int) -> "UntypedStorage":
        """``fill_(value)`` writes one value to all bytes."""
        if not isinstance(value, int):
            raise RuntimeError(f"fill_ expects int, but got {type(value).__name__}")
        self._as_tensor().fill_(value % 256)
        return self

    @public
    def copy_(self, source: Any, non_blocking: bool = False) -> "UntypedStorage":
        """``copy_(source)`` copies the bytes of another storage; RuntimeError if they are not as many."""
        bytes = source.untyped()
        if len(bytes) != len(self):
            raise RuntimeError(f"size does not match, self was {len(self)} bytes but src was {len(bytes)} bytes")
        self._as_tensor().copy_(from_array(bytes._copied_out()))
        return self

    def clone(self) -> "UntypedStorage":
        """``clone()`` is a copy."""
        return storage_on(placeholder(self._bytes.shape, np.uint8) if self._is_meta else self._bytes.copy())

    @public
    def byteswap(self, dtype: dtypes.dtype) -> None:
        """``byteswap(dtype)`` reverses the bytes of each element of a dtype."""
        width = dtype.itemsize // (2 if dtype.is_complex else 1)
        pairs = self._as_tensor()[: len(self) // width * width].view(-1, width)
        pairs.copy_(pairs.flip(1))

    # where it is

    def data_ptr(self) -> int:
        """``data_ptr()`` is the address of the first byte; 0 if there is none."""
        return int(self._bytes.ctypes.data) if len(self) and not self._is_meta else 0

    @property
    def _cdata(self) -> int:
        """A number that storages of the same memory have, and no other living one."""
        return id(self._owner)

    def __eq__(self, other: object) -> bool:
        return self._cdata == other._cdata if isinstance(other, UntypedStorage) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._cdata)

    @property
    def device(self) -> Device:
        """Where the bytes are: on the CPU; on "meta" if there are none."""
        return Device("meta" if self._is_meta else "cpu")

    def get_device(self) -> int:
        """``get_device()`` is -1: the CPU has no number."""
        return -1

    def is_pinned(self, device: Any = "cuda") -> bool:
        """``is_pinned()`` is False: no memory is pinned."""
        return False

    @public
    def pin_memory(self, device: Any = "cuda") -> "UntypedStorage":
        """``pin_memory()`` is an error, as there is no accelerator."""
        raise RuntimeError("Cannot access accelerator device when none is available.")

    def is_shared(self) -> bool:
        """``is_shared()`` is whether other processes may see the bytes: after share_memory_(), or in a file."""
        from .._memory.shared import place_of

        if self._is_meta:
            return False
        if isinstance(self._owner, np.memmap):
            return self._owner.mode == "r+"
        return place_of(self._as_tensor()) is not None

    def share_memory_(self) -> "UntypedStorage":
        """``share_memory_()`` moves the bytes, and the tensors on them, to shared memory."""
        if self._is_meta:
            raise RuntimeError("_share_fd_: only available on CPU")
        if not self.is_shared() and len(self):
            self._as_tensor().share_memory_()
        return self

    def _share_fd_cpu_(self) -> None:
        """An error: use share_memory_(), and `multiprocessing` to send tensors."""
        self._refuse_handles("_share_fd_")

    def _share_filename_cpu_(self) -> None:
        """An error, as _share_fd_cpu_()."""
        self._refuse_handles("_share_filename_")

    def _refuse_handles(self, name: str) -> None:
        if self._is_meta:
            raise RuntimeError(f"{name}: only available on CPU")
        raise NotImplementedError(f"{name}: handles of shared memory are not given out; pickle tensors or storages instead")

    # its size

    def resizable(self) -> bool:
        """``resizable()`` is whether resize_() may work: a mapped file and shared memory keep their size."""
        return not self.is_shared() and self.filename is None and self._bytes.flags.writeable

    @public
    def resize_(self, nbytes: int) -> "UntypedStorage":
        """``resize_(nbytes)`` gives the storage another size; new bytes are 0. Tensors on the memory move along.

        RuntimeError if a tensor would not fit any more, or if a NumPy array, or a value that a graph saved, is on the memory.
        """
        if isinstance(nbytes, bool) or not isinstance(nbytes, int):
            raise RuntimeError(f"resize_ expects an int, but got {type(nbytes).__name__}")
        if nbytes < 0:
            raise RuntimeError(f"UntypedStorage.resize_: got a negative number of bytes: {nbytes}")
        if nbytes == len(self):
            return self
        if not self.resizable():
            raise RuntimeError("Trying to resize storage that is not resizable")
        resize(self, nbytes)
        return self

    # copies, pickles, weak references

    def __copy__(self) -> "UntypedStorage":
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> "UntypedStorage":
        if self._is_meta:
            return cast("UntypedStorage", memo.setdefault(id(self), self.clone()))
        return storage_on(owner_of_memory(_moves.copied(self._owner, memo)))

    def __reduce__(self) -> Any:
        return _from_bytes, (self._copied_out().tobytes(),)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + len(self)

    def _weak_ref(self) -> int:
        _weak[self._cdata] = weakref.ref(self._owner)
        return self._cdata

    @classmethod
    def _expired(cls, number: int) -> bool:
        return number not in _weak or _weak[number]() is None

    @classmethod
    def _free_weak_ref(cls, number: int) -> None:
        _weak.pop(number, None)

    @classmethod
    def _new_with_weak_ptr(cls, number: int) -> "UntypedStorage | None":
        owner = None if number not in _weak else _weak[number]()
        return None if owner is None else storage_on(owner)

    def _shared_incref(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: references are Python's."""

    _shared_decref = _shared_incref

    # others of the kind

    def untyped(self) -> "UntypedStorage":
        """``untyped()`` is the storage itself."""
        return self

    def new(self) -> "UntypedStorage":
        """``new()`` is a storage without bytes."""
        return UntypedStorage()

    @public
    def cpu(self) -> "UntypedStorage":
        """``cpu()`` is the storage itself."""
        self._copied_out()
        return self

    def _write_file(self, file: Any, is_real_file: bool, save_size: bool, element_size: int) -> None:
        """Write the bytes to a file, after the number of elements of that size where save_size asks for it."""
        data = self._copied_out()
        if save_size:
            file.write((len(self) // element_size).to_bytes(8, sys.byteorder))
        file.write(data.tobytes())

    @public
    def to(self, *, device: Any, non_blocking: bool = False) -> "UntypedStorage":
        """``to(device="cpu")`` is the storage itself."""
        on_cpu(device)
        return self

    @public
    def cuda(self, device: Any = None, non_blocking: bool = False) -> "UntypedStorage":
        """``cuda()`` is an AssertionError, for this package is for the CPU only."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    def _converted(self, dtype: dtypes.dtype) -> Any:
        return self._typed()._converted(dtype)

    @public
    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """``type()`` is the name of the type; with a type, the bytes as numbers of that type, each on its own."""
        if dtype is None:
            return "torch.storage.UntypedStorage"
        return self._typed().type(dtype)

    @classmethod
    @public
    def from_buffer(cls, *args: Any, **kwargs: Any) -> "UntypedStorage":
        """``from_buffer(buffer, byte_order="native", count=-1, offset=0, dtype=uint8)`` copies the elements in a buffer.

        byte_order: of the buffer: "native", "little" or "big". count, offset: of elements, in bytes.
        """
        return storage_on(_sources.from_buffer(*args, **kwargs))

    @classmethod
    @public
    def from_file(cls, filename: Any, shared: bool = False, nbytes: int = 0) -> "UntypedStorage":
        """``from_file(filename, shared=False, nbytes=0)`` maps the first nbytes of a file.

        shared: writes go to the file, which is created or extended if needed. Else they stay in memory; RuntimeError for a
        file that is too short.
        """
        made = storage_on(_sources.from_file(filename, shared, nbytes))
        made.filename = os.fspath(filename)
        return made

    def __repr__(self) -> str:
        what = f"[torch.storage.UntypedStorage(device={self.device}) of size {len(self)}]"
        return shown(None if self._is_meta else self._bytes, what)


def shown(values: Any, description: str) -> str:
    """The repr() of a storage: one line per element, and a description."""
    if values is None:
        return f"...\n{description}"
    return "\n".join([*(f" {value}" for value in values.tolist()), *([] if values.size else [" "]), description])


def storage_on(owner: Any) -> UntypedStorage:
    """storage_on(owner) -> the storage of the memory that an array owns."""
    found = _moves.storages.get(id(owner))
    if found is None:
        found = object.__new__(UntypedStorage)
        found._stand_for(owner)
    return found


def storage_of(tensor: Tensor) -> UntypedStorage:
    """storage_of(tensor) -> the storage of a tensor's memory."""
    return storage_on(owner_of_memory(array_of(tensor)))


def _from_bytes(data: bytes) -> UntypedStorage:
    return storage_on(np.frombuffer(data, np.uint8).copy())
