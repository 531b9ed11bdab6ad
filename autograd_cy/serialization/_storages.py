"""The memory of tensors as records of a file, and tensors on such memory (facade)."""

import math
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor
from .._core.ops.indexing.slicing import owner_of_memory
from .._creation.data import from_numpy
from .._creation.strided import empty_strided
from ..storage import TypedStorage
from ..storage._names import STORAGES
from ..storage._untyped import storage_on
from ._archive import ArchiveReader

MAX_DIMENSIONS = 64
TYPES = {name: dtypes.dtype_named(dtype) for dtype, name in STORAGES.items()}


def storage_of(elements: np.ndarray) -> TypedStorage:
    """storage_of(elements) -> the storage of a record, from an array of all its elements."""
    untyped = storage_on(owner_of_memory(elements))
    return TypedStorage(wrap_storage=untyped, dtype=dtypes.convert(elements.dtype), _internal=True)


class Part(NamedTuple):
    """A tensor's place in memory that it may share with others, in elements."""

    memory: np.ndarray  # all of it, as bytes
    offset: int
    size: tuple[int, ...]
    stride: tuple[int, ...]


def part_of(array: np.ndarray) -> Part:
    """part_of(array) -> the memory that it is a view of, and where in it; a copy's, if that is not a row of its elements."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    low, high = np.lib.array_utils.byte_bounds(owner)
    itemsize, offset = array.itemsize, array.ctypes.data - low
    steps = [*array.strides, offset, high - low]
    if owner.nbytes != high - low or not array.size or min(steps) < 0 or any(step % itemsize for step in steps):
        owner = array = np.ascontiguousarray(array).reshape(array.shape)
        offset = 0
    memory = owner.ravel(order="K").view(np.uint8)
    return Part(memory, offset // itemsize, array.shape, tuple(stride // itemsize for stride in array.strides))


class StorageReader:
    """The memory in a file; each record is read once."""

    def __init__(self, archive: ArchiveReader, mapped_from: Any, locate: Any):
        self._archive, self._path, self._locate = archive, mapped_from, locate
        self._read: dict[str, TypedStorage] = {}
        self._is_swapped = archive.is_swapped()
        self.pickle = archive.read("data.pkl").tobytes()

    def storage(self, reference: Any) -> TypedStorage:
        """storage(("storage", type, key, location, numel)) -> the storage that a file's reference names."""
        if not (isinstance(reference, tuple) and len(reference) == 5 and reference[0] == "storage"):
            raise self._archive.damaged(f"expected a reference to a storage, got {reference!r:.200}")
        _, dtype, key, location, numel = reference
        if type(dtype) is not dtypes.dtype or type(key) is not str or type(location) is not str or type(numel) is not int:
            raise self._archive.damaged(f"expected a reference to a storage, got {reference!r:.200}")
        if key in self._read:
            found = self._read[key]
            if found.dtype is not dtype:
                raise self._archive.damaged(f"storage {key} is of {found.dtype} and of {dtype}")
        else:
            self._locate(location)
            found = self._read[key] = storage_of(self._elements(f"data/{key}", dtype))
        if numel != len(found):
            raise self._archive.damaged(f"storage {key} has {len(found)} elements instead of {numel}")
        return found

    def fill(self) -> None:
        """fill() does nothing: each storage is read on request."""

    def _elements(self, name: str, dtype: Any) -> np.ndarray:
        data = self._archive.read(name) if self._path is None else self._archive.mapped(name, self._path)
        if data.size % dtype.itemsize:
            raise self._archive.damaged(f"record {name!r} has {data.size} bytes, no number of elements of {dtype}")
        elements = data.view(dtype.numpy_dtype)
        return elements.byteswap() if self._is_swapped else elements


def _is_sizes(sizes: Any) -> bool:
    return isinstance(sizes, tuple | list) and all(type(n) is int and 0 <= n < 1 << 62 for n in sizes)


def rebuild_tensor(
    storage: Any, storage_offset: Any, size: Any, stride: Any, requires_grad: Any = False, hooks: Any = None,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    """A tensor on elements of a storage. ValueError if the storage is too small."""
    if (
        not isinstance(storage, TypedStorage)
        or type(storage_offset) is not int
        or not _is_sizes(size)
        or not _is_sizes(stride)
    ):
        raise ValueError("expected a storage, an offset, sizes and strides")
    if len(size) != len(stride) or len(size) > MAX_DIMENSIONS:
        raise ValueError(f"expected as many strides as sizes, {MAX_DIMENSIONS} at most, got {len(stride)} and {len(size)}")
    if type(requires_grad) is not bool or hooks or metadata:
        raise ValueError("expected requires_grad, and no hooks or metadata")
    elements = storage._elements
    last = storage_offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if storage_offset < 0 or (math.prod(size) and last >= elements.size):
        raise ValueError(
            f"sizes {tuple(size)}, strides {tuple(stride)} and offset {storage_offset} are beyond the {elements.size} "
            "elements of the storage"
        )
    if not math.prod(size):
        return from_numpy(np.empty(tuple(size), elements.dtype)).requires_grad_(requires_grad)
    if math.prod(size) * elements.itemsize >= 1 << 63:
        raise ValueError(f"sizes {tuple(size)} overflow")
    strides = tuple(step * elements.itemsize for step in stride)
    array = np.ndarray(tuple(size), elements.dtype, elements, storage_offset * elements.itemsize, strides)
    return from_numpy(array).requires_grad_(requires_grad)


def rebuild_tensor_of_type(
    storage: Any, storage_offset: Any, size: Any, stride: Any, requires_grad: Any, hooks: Any, dtype: Any, metadata: Any = None
) -> Tensor:
    """A tensor of a dtype without a storage name, on bytes: uint16, uint32, uint64."""
    if not isinstance(storage, TypedStorage) or type(dtype) is not dtypes.dtype or storage.nbytes() % dtype.itemsize:
        raise ValueError("expected a storage with elements of a dtype")
    typed = TypedStorage(wrap_storage=storage.untyped(), dtype=dtype, _internal=True)
    return rebuild_tensor(typed, storage_offset, size, stride, requires_grad, hooks, metadata)


def rebuild_tensor_without_grad(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    """A tensor in the form of old versions' files."""
    return rebuild_tensor(storage, storage_offset, size, stride)


def rebuild_without_elements(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    """A tensor on the device "meta"."""
    if not isinstance(dtype, dtypes.dtype) or not _is_sizes(size) or not _is_sizes(stride) or len(size) != len(stride):
        raise ValueError("expected a dtype, sizes and strides")
    if type(requires_grad) is not bool or len(size) > MAX_DIMENSIONS:
        raise ValueError(f"expected requires_grad, and {MAX_DIMENSIONS} sizes at most")
    return empty_strided(tuple(size), tuple(stride), dtype=dtype, device="meta", requires_grad=requires_grad)


def rebuild_parameter(data: Any, requires_grad: Any, hooks: Any = None, state: Any = None) -> Tensor:
    """A Parameter with its attributes."""
    from ..nn.parameter import Parameter

    if not isinstance(data, Tensor) or type(requires_grad) is not bool or hooks:
        raise ValueError("expected a tensor, requires_grad, and no hooks")
    parameter = Parameter(data, requires_grad)
    if state:
        set_attributes(parameter, state)
    return parameter


def set_attributes(value: Any, state: Any) -> None:
    """Set an object's attributes from a dict; ValueError for anything else."""
    if not isinstance(state, dict) or not all(type(name) is str for name in state):
        raise ValueError(f"expected the attributes of a {type(value).__name__} by name, got {type(state).__name__}")
    vars(value).update(state)


def no_hooks() -> "OrderedDict[Any, Any]":
    """Placeholder for a tensor's hooks, which are not saved."""
    return OrderedDict()
