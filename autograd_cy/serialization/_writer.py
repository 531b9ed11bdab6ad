"""Objects as a pickle with PyTorch's names, without the memory of tensors (facade)."""

import functools
import io
import pickle
import sys
from types import FunctionType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._core.arrays.dtypes import convert, dtype
from .._core.graph.memory import is_sparse_tensor
from .._core.graph.tensor import Tensor
from .._creation.data import array_of
from .._types import Size, device
from ..storage import TypedStorage, UntypedStorage
from ..storage._names import STORAGES
from ..utils.hooks import warn_if_has_hooks
from ._safe_globals import OURS, TORCH, name_in_torch
from ._storages import no_hooks, part_of

_BYTES = convert(np.dtype(np.uint8))
_Pickler: Any = vars(pickle)["_Pickler"]  # incomplete in the stubs


class _Global(NamedTuple):
    """Written as a global name. It is never called, but the pickler requires a callable."""

    module: str
    name: str

    def __call__(self) -> None: ...


class _Reference(NamedTuple):
    """Written as a reference to a record."""

    storage: tuple[Any, ...]


@functools.cache
def _global(name: str) -> _Global:
    """The same object for the same name, so that the pickler writes it once."""
    return _Global(*name.rsplit(".", 1))


class _Layout(NamedTuple):
    """Written as a call of PyTorch's function that looks up a layout by name."""

    name: str

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _global("torch.serialization._get_layout"), (self.name,)


def _sparse(tensor: Any) -> tuple[Any, tuple[Any, ...]]:
    """The construction of a sparse tensor from its parts; as in PyTorch, requires_grad is not written."""
    from ..sparse._attributes import parts_of  # already loaded if there is a sparse tensor

    layout, parts = parts_of(tensor)
    return _global("torch._utils._rebuild_sparse_tensor"), (_Layout(str(layout)), parts)


def _check_is_portable(of: dtype) -> None:
    """Refuse longdouble: its format depends on the machine."""
    if of.name == "longdouble":
        raise NotImplementedError(
            "save(): the bits of a longdouble differ between platforms: save it as float64, or pickle it"
        )


class Writer(_Pickler):
    """Pickles an object; `storages` are the memories of its tensors, in the order of their numbers.

    It derives from the pickler in Python: only there can the writing of names be changed.
    """

    dispatch: ClassVar[dict[Any, Any]] = dict(_Pickler.dispatch)

    def __init__(self, file: io.BytesIO, protocol: int):
        super().__init__(file, protocol)
        self.storages: list[np.ndarray] = []
        self._known: dict[tuple[int, int], tuple[str, dtype]] = {}

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, TypedStorage | UntypedStorage):
            return self._storage(obj)
        return obj.storage if type(obj) is _Reference else None

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Tensor):
            return self._tensor(obj)
        if isinstance(obj, dtype):
            return obj.name
        if type(obj) is Size:
            return _global("torch.Size"), (tuple(obj),)
        if type(obj) is device:
            return _global("torch.device"), (obj.type, *([] if obj.index is None else [obj.index]))
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a class or function by name: for our objects, PyTorch's."""
        if isinstance(obj, dtype):
            self._write_name(TORCH, obj.name)
        elif isinstance(obj, type) and issubclass(Tensor, obj):
            self._write_name(TORCH, "Tensor")
        elif obj.__module__.partition(".")[0] == OURS:
            self._write_name(*name_in_torch(obj))
        else:
            super().save_global(obj, name)
            return
        self.memoize(obj)

    def save_name(self, obj: _Global) -> None:
        """Write a _Global."""
        self._write_name(*obj)
        self.memoize(obj)

    dispatch[_Global] = save_name
    dispatch[FunctionType] = save_global

    def _write_name(self, module: str, name: str) -> None:
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())

    def _tensor(self, tensor: Tensor) -> tuple[Any, tuple[Any, ...]]:
        """The construction of a tensor from its memory."""
        warn_if_has_hooks(tensor)
        if is_sparse_tensor(tensor):
            return _sparse(tensor)
        if tensor.is_meta:
            what = tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.requires_grad
            return _global("torch._utils._rebuild_meta_tensor_no_storage"), what
        attributes = vars(tensor)
        parameters = sys.modules.get(f"{OURS}.nn.parameter")
        if parameters is not None and type(tensor) is parameters.Parameter:
            arguments = tensor.data, tensor.requires_grad, no_hooks()
            if not attributes:
                return _global("torch._utils._rebuild_parameter"), arguments
            return _global("torch._utils._rebuild_parameter_with_state"), (*arguments, attributes)
        rebuild, place = _global("torch._utils._rebuild_tensor_v2"), self._place_of(tensor)
        if tensor.dtype.name not in STORAGES:
            rebuild, place = _global("torch._utils._rebuild_tensor_v3"), (*place, tensor.dtype)
        if type(tensor) is Tensor and not attributes:
            return rebuild, place
        return _global("torch._tensor._rebuild_from_type_v2"), (rebuild, type(tensor), place, attributes)

    def _place_of(self, tensor: Tensor) -> tuple[Any, ...]:
        """The record with the tensor's memory, and its place there."""
        part, of = part_of(array_of(tensor)), tensor.dtype
        _check_is_portable(of)
        kind, itemsize = STORAGES.get(of.name, "storage.UntypedStorage"), of.itemsize if of.name in STORAGES else 1
        numel = part.memory.size // itemsize
        reference = _Reference(("storage", _global(f"torch.{kind}"), self._key(part.memory, of), "cpu", numel))
        return reference, part.offset, part.size, part.stride, tensor.requires_grad, no_hooks()

    def _storage(self, storage: Any) -> tuple[Any, ...]:
        """A reference to the record with a storage's bytes."""
        of = storage.dtype if isinstance(storage, TypedStorage) else _BYTES
        _check_is_portable(of)
        kind = "storage.UntypedStorage" if isinstance(storage, UntypedStorage) else storage.pickle_storage_type()
        return "storage", _global(f"torch.{kind}"), self._key(storage.untyped()._bytes, of), "cpu", len(storage)

    def _key(self, memory: np.ndarray, of: dtype) -> str:
        """The number of the record with that memory, new at its first occurrence."""
        place = memory.ctypes.data, memory.size
        key, known = self._known.setdefault(place if place[1] else (id(memory), 0), (str(len(self.storages)), of))
        if known is not of:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types: "
                f"{known} and {of}. Save copies of them (clone())."
            )
        if key == str(len(self.storages)):
            self.storages.append(memory)
        return key
