"""TypedStorage: an UntypedStorage viewed as elements of a dtype (facade). Deprecated in PyTorch."""

import functools
import warnings
from collections.abc import Iterator
from typing import Any

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.indexing.slicing import owner_of_memory
from .._core.runtime.entry import public
from .._memory.placeholders import placeholder
from .._types import device as Device
from .._types import on_cpu
from ._names import CONVERSIONS, STORAGES
from ._sources import elements_from, size_given
from ._untyped import UntypedStorage, shown, storage_of, storage_on

_REMOVAL = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This "
    "should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of tensor.storage()"
)
_CALLS = (
    "(*, torch.device device, torch.dtype dtype), (int size, *, torch.device device, torch.dtype dtype), (Sequence data, *, "
    "torch.device device, torch.dtype dtype), (*, UntypedStorage wrap_storage, torch.dtype dtype)"
)
DTYPES = {dtype.name: dtype for dtype in dtypes.all_dtypes()}
_state = {"warned": False}


def _warn_typed_storage_removal(stacklevel: int = 2) -> None:
    """Warn once that typed storages are deprecated."""
    if not _state["warned"]:
        _state["warned"] = True
        warnings.warn(_REMOVAL, UserWarning, stacklevel=stacklevel + 1)


def _reset_warn_typed_storage_removal() -> None:
    _state["warned"] = False


def _invalid(reason: str) -> RuntimeError:
    return RuntimeError(
        f"TypedStorage.__init__ received an invalid combination of arguments. Expected one of: {_CALLS}. {reason}"
    )


class TypedStorage:
    """``TypedStorage([1, 2], dtype=int16)`` has these elements, ``tensor.storage()`` all elements in a tensor's memory.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> a = ag.tensor([1.0, 2.0])
    >>> with warnings.catch_warnings(action="ignore"):
    ...     a[1:].storage().tolist()
    [1.0, 2.0]
    """

    _untyped_storage: UntypedStorage
    dtype: dtypes.dtype
    is_sparse = False

    @public
    def __init__(self, *args: Any, device: Any = None, dtype: Any = None, wrap_storage: Any = None, _internal: bool = False):
        if not _internal:
            _warn_typed_storage_removal(3)
        on_meta = device is not None and Device(device).type == "meta"
        if device is not None and not on_meta:
            on_cpu(device)
        if wrap_storage is not None:
            if args or dtype is None:
                raise _invalid("wrap_storage goes with a dtype, and with nothing else")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"Argument type not recognized: wrap_storage is a {type(wrap_storage).__name__}")
        elif len(args) > 1:
            raise _invalid("Too many positional arguments")
        self.dtype = dtypes.get_default() if dtype is None else dtypes.convert(dtype)
        if wrap_storage is None:
            made: Any = functools.partial(elements_from, self.dtype)
            memory = placeholder((size_given(*args, made=made),), self.dtype.numpy_dtype) if on_meta else made(*args)
            wrap_storage = storage_on(owner_of_memory(memory) if on_meta else memory)
        self._untyped_storage = wrap_storage

    # elements

    @property
    def _elements(self) -> Any:
        return self._untyped_storage._elements(self.dtype)

    def _elements_for(self, dtype: Any) -> Any:
        """What tensor() takes of the storage: the elements, of their own dtype."""
        wanted = self.dtype if dtype is None else dtypes.convert(dtype)
        if wanted is not self.dtype:
            own, other = (STORAGES[d.name].removesuffix("Storage") if d.name in STORAGES else d for d in (self.dtype, wanted))
            raise RuntimeError(f"Expected a Storage of type {other} or an UntypedStorage, but got {own}")
        return self._elements

    def _as_tensor(self) -> Tensor:
        return from_array(self._elements)

    def __len__(self) -> int:
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def size(self) -> int:
        """``size()`` is the number of elements."""
        return len(self)

    def nbytes(self) -> int:
        """``nbytes()`` is the number of bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """``element_size()`` is the number of bytes of an element."""
        return int(self.dtype.itemsize)

    def _index(self, index: Any) -> int:
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        return index

    @public
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        elements = self._elements
        return elements[self._index(index)].item()

    @public
    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(index, slice):
            index = self._index(index)
        self._as_tensor()[index] = value

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        """``tolist()`` is a list of the elements."""
        found: list[Any] = self._elements.tolist()
        return found

    @public
    def fill_(self, value: Any) -> "TypedStorage":
        """``fill_(value)`` writes one value to all elements."""
        self._as_tensor().fill_(value)
        return self

    @public
    def copy_(self, source: Any, non_blocking: bool | None = None) -> "TypedStorage":
        """``copy_(source)`` copies the bytes of another storage; RuntimeError if they are not as many."""
        self._untyped_storage.copy_(source.untyped())
        return self

    def clone(self) -> "TypedStorage":
        """``clone()`` is a copy."""
        return self._new_wrapped_storage(self._untyped_storage.clone())

    @public
    def resize_(self, size: int) -> "TypedStorage":
        """``resize_(size)`` gives the storage so many elements: see UntypedStorage.resize_()."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)
        return self

    # the untyped storage, and methods of it

    def untyped(self) -> UntypedStorage:
        """``untyped()`` is the storage of the bytes."""
        return self._untyped_storage

    def _new_wrapped_storage(self, untyped: UntypedStorage) -> "TypedStorage":
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype, _internal=True)

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    @property
    def device(self) -> Device:
        """Where the elements are."""
        return self._untyped_storage.device

    @property
    def filename(self) -> str | None:
        """The file that the memory is mapped from, or None."""
        return self._untyped_storage.filename

    @property
    def is_cuda(self) -> bool:
        """Whether the memory is on a GPU: no."""
        return False

    is_hpu = is_cuda

    def share_memory_(self) -> "TypedStorage":
        """``share_memory_()`` moves the elements to shared memory."""
        self._untyped_storage.share_memory_()
        return self

    @public
    def cpu(self) -> "TypedStorage":
        """``cpu()`` is a storage on the same memory."""
        return self._new_wrapped_storage(self._untyped_storage.cpu())

    @public
    def to(self, *, device: Any, non_blocking: bool = False) -> "TypedStorage":
        """``to(device="cpu")`` is a storage on the same memory."""
        return self._new_wrapped_storage(self._untyped_storage.to(device=device))

    # other types

    def _converted(self, dtype: dtypes.dtype) -> "TypedStorage":
        """The elements converted to another dtype, in new memory."""
        elements = array_of(self._as_tensor().clone().to(dtype))
        return TypedStorage(wrap_storage=storage_on(owner_of_memory(elements)), dtype=dtype, _internal=True)

    @public
    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """``type()`` is the name of the type, ``type(FloatStorage)`` a storage with the elements in that type."""
        if dtype is None:
            return f"torch.{STORAGES.get(self.dtype.name, 'storage.TypedStorage')}"
        return self._converted(_dtype_of(dtype))

    def pickle_storage_type(self) -> str:
        """``pickle_storage_type()`` is the name of the type in files: ``"FloatStorage"``; KeyError for uint16 and its kin."""
        if self.dtype.name not in STORAGES:
            raise KeyError(f"dtype {self.dtype} is not recognized")
        return STORAGES[self.dtype.name]

    _pickle_storage_type = pickle_storage_type

    @classmethod
    @public
    def from_buffer(cls, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> "TypedStorage":
        """``from_buffer(buffer, byte_order, count=-1, offset=0, dtype=...)``: see UntypedStorage.from_buffer()."""
        wanted = dtypes.get_default() if dtype is None else dtypes.convert(dtype)
        untyped = UntypedStorage.from_buffer(*args, dtype=wanted, **kwargs)
        return TypedStorage(wrap_storage=untyped, dtype=wanted, _internal=True)

    _from_buffer = from_buffer

    @classmethod
    @public
    def from_file(cls, filename: Any, shared: bool = False, size: int = 0) -> "TypedStorage":
        """``FloatStorage.from_file(filename, shared=False, size=0)`` maps so many elements: see UntypedStorage.from_file()."""
        dtype = getattr(cls, "dtype", None)
        if dtype is None:
            raise RuntimeError("from_file can only be called on derived classes")
        untyped = UntypedStorage.from_file(filename, shared, size * dtype.itemsize)
        return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)

    # copies and pickles

    def __copy__(self) -> "TypedStorage":
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> "TypedStorage":
        return self._new_wrapped_storage(self._untyped_storage.__deepcopy__(memo))

    def __reduce__(self) -> Any:
        return _rebuilt, (self._untyped_storage, self.dtype)

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __repr__(self) -> str:
        what = f"[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"
        return shown(None if self._untyped_storage._is_meta else self._elements, what)


def _rebuilt(untyped: UntypedStorage, dtype: dtypes.dtype) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)


def _dtype_of(kind: Any) -> dtypes.dtype:
    """The dtype of FloatStorage, 'torch.FloatStorage' or a dtype."""
    if isinstance(kind, str):
        name = kind.removeprefix("torch.")
        kind = next((DTYPES[dtype] for dtype, storage in STORAGES.items() if storage == name), None)
    found = kind if isinstance(kind, dtypes.dtype) else getattr(kind, "dtype", None)
    if not isinstance(found, dtypes.dtype):
        raise TypeError(f"expected a dtype, or the type of a storage, got {kind!r}")
    return found


def typed_storage_of(tensor: Tensor) -> TypedStorage:
    """typed_storage_of(tensor) -> the storage of a tensor's memory as elements of its dtype."""
    return TypedStorage(wrap_storage=storage_of(tensor), dtype=tensor.dtype, _internal=True)


def _of_bytes(untyped: UntypedStorage) -> TypedStorage:
    return TypedStorage(wrap_storage=untyped, dtype=DTYPES["uint8"], _internal=True)


UntypedStorage._typed = _of_bytes


def _delegate(name: str) -> None:
    """A method that the untyped storage answers."""

    def method(self: TypedStorage, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._untyped_storage, name)(*args, **kwargs)

    method.__name__, method.__qualname__ = name, f"TypedStorage.{name}"
    method.__doc__ = f"``{name}()`` is what the untyped storage answers: see UntypedStorage.{name}()."
    setattr(TypedStorage, name, method)


def _conversion(cls: Any, name: str, dtype: dtypes.dtype) -> None:
    def convert(self: Any) -> TypedStorage:
        found: TypedStorage = self._converted(dtype)
        return found

    convert.__name__, convert.__qualname__ = name, f"{cls.__name__}.{name}"
    convert.__doc__ = f"``{name}()`` is a TypedStorage with the elements as {dtype}."
    setattr(cls, name, public(convert))


for _name in (
    "data_ptr", "get_device", "is_pinned", "pin_memory", "is_shared", "resizable", "cuda", "_weak_ref", "_expired",
    "_free_weak_ref", "_shared_incref", "_shared_decref", "_write_file", "_share_fd_cpu_",
    "_share_filename_cpu_",
):  # fmt: skip
    _delegate(_name)
for _name, _dtype in CONVERSIONS.items():
    for _class in (UntypedStorage, TypedStorage):
        _conversion(_class, _name, DTYPES[_dtype])
for _name in ("data_ptr", "nbytes", "size", "element_size", "resize_", "is_shared", "share_memory_"):
    setattr(TypedStorage, "_" + _name.rstrip("_") + ("_" if _name.endswith("_") else ""), getattr(TypedStorage, _name))
