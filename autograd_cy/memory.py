"""The memory of large results: statistics, and what is kept for the next ones."""

from ._core.arrays.buffers import (
    drop_shelves as _drop_shelves,
)
from ._core.arrays.buffers import (
    give_all_back as _give_all_back,
)
from ._core.arrays.buffers import (
    memory_stats,
    set_cache_limit,
)
from ._core.arrays.buffers import (
    trim as _trim,
)
from ._core.graph import node as _node
from ._core.graph import tensor as _tensor
from ._core.graph.memory import tidy_notes as _tidy_notes

__all__ = ["empty_cache", "memory_stats", "set_cache_limit"]


def empty_cache() -> None:
    """empty_cache(): give all memory that waits to be used again back to the system: of dead arrays, tensors and nodes.

    So does the C library, where it can be told to (glibc's malloc_trim): it keeps what was freed between living blocks.

    >>> import autograd_cy as ag
    >>> ag.memory.empty_cache()
    >>> ag.memory.memory_stats()["kept_bytes"]
    0
    """
    _node.drop_spares()
    _tensor.drop_spares()
    _drop_shelves()
    _tidy_notes()
    _give_all_back()  # now, for what died just now may be the pool's
    _trim()
