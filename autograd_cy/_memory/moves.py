"""Memory that moves while tensors are on it (share_memory_, resize_), and its copies (facade).

Every Tensor on the memory moves along, and so do its storages. NumPy arrays stay where they are.
"""

import gc
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, from_array, metadata_of
from .._core.ops.indexing.slicing import owner_of_memory
from .._core.ops.shapes.reshaping import replace_array
from .._core.runtime.state import on_collection

# The living storages, by the id of the array that owns their memory, which they keep alive.
storages: "weakref.WeakValueDictionary[int, Any]" = weakref.WeakValueDictionary()


def extent(array: Any) -> tuple[int, int]:
    """extent(array) -> where the memory of an array begins, and how many bytes there are to its end."""
    reaches = [step * (n - 1) for step, n in zip(array.strides, array.shape, strict=True) if array.size]
    below = sum(reach for reach in reaches if reach < 0)
    above = sum(reach for reach in reaches if reach > 0)
    return array.ctypes.data + below, above - below + array.itemsize


def tensors_on(owners: dict[int, Any]) -> list[Tensor]:
    """tensors_on({id(owner): owner}) -> all Tensors on the memory of these arrays."""
    on_collection("start", {"generation": 2})  # the collector sees them from now on
    tensors = [x for x in gc.get_objects() if issubclass(type(x), Tensor)]
    arrays: list[Any] = [metadata_of(x) for x in tensors]
    return [x for x, array in zip(tensors, arrays, strict=True) if array is not None and id(owner_of_memory(array)) in owners]


def move(owners: dict[int, Any], places: dict[int, Any], tensors: Iterable[Tensor]) -> None:
    """move(owners, places, tensors): let tensors on these arrays be on others, which have the bytes of each by its id."""
    starts = {key: extent(owner)[0] for key, owner in owners.items()}
    moved: dict[int, Any] = {}
    for tensor in tensors:
        array = metadata_of(tensor)
        key = id(owner_of_memory(array))
        if key in places and id(array) not in moved:
            offset = array.ctypes.data - starts[key] if array.size else 0
            there = np.ndarray(array.shape, array.dtype, places[key], offset, array.strides)
            moved[id(array)] = array, from_array(there)  # the old one, too, so that nothing else gets its id
        if id(array) in moved:
            replace_array(tensor, moved[id(array)][1])
    for key, place in places.items():
        storage = storages.pop(key, None)
        if storage is not None:
            storage._stand_for(place)


def copied(array: Any, memo: dict[Any, Any]) -> Any:
    """copied(array, memo) -> a copy of an array in a copy of all the memory that it is in: views of one memory stay so."""
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    key = ("memory of tensors", id(owner))
    if key not in memo:
        memo[key] = owner, owner.copy(order="K")  # the owner, too, so that nothing else gets its id
    twin = memo[key][1]
    if array is owner or array.size == 0 or twin.strides != owner.strides:  # an owner that is not dense
        return twin if array is owner else array.copy()
    offset = array.ctypes.data - owner.ctypes.data
    return np.ndarray(array.shape, array.dtype, twin.ravel(order="K").view(np.uint8), offset, array.strides)
