"""UntypedStorage.resize_(): the memory of a storage with another size, and the tensors on it (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import array_of
from .._core.ops.indexing.slicing import owner_of_memory, references_besides
from .._memory import moves
from .._memory.placeholders import placeholder

_HELD = 2  # references that a storage has to the array that owns its memory


def resize(storage: Any, nbytes: int) -> None:
    """resize(storage, nbytes): move an UntypedStorage, and the tensors on it, to memory of another size."""
    tensors = moves.tensors_on({id(storage._owner): None})
    if references_besides([storage._owner], tensors) > _HELD:
        raise RuntimeError(
            "Trying to resize storage that is not resizable: besides tensors, NumPy arrays or values that a graph saved "
            "are on its memory"
        )
    start = storage._bytes.ctypes.data
    for tensor in tensors:
        low, size = moves.extent(array_of(tensor))
        if tensor.numel() and low - start + size > nbytes:
            raise RuntimeError(
                f"UntypedStorage.resize_: a tensor of size {list(tensor.shape)} needs the first {low - start + size} "
                f"bytes, but {nbytes} are asked for. Drop it, or set_() it to other memory first"
            )
    if storage._is_meta:
        place = owner_of_memory(placeholder((nbytes,), np.uint8))
    else:
        place = np.zeros(nbytes, np.uint8)
        kept = min(nbytes, len(storage))
        place[:kept] = storage._bytes[:kept]
    moves.move({id(storage._owner): storage._owner}, {id(storage._owner): place}, tensors)
