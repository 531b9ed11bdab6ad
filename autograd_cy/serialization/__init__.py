"""Objects with tensors in files: save() and load(), in PyTorch's format (facade). Imported on first use.

* ``_archive``: the zip file, its records, and checks of untrusted files
* ``_storages``: the memory of tensors as records, and tensors on such memory
* ``_writer``: objects as a pickle with PyTorch's names
* ``_reader``: the objects of a pickle, without executing anything
* ``_unpickler``: the objects of a trusted pickle, by Python's unpickler
* ``_stream``: files from before the zip format
* ``_safe_globals``: the closed list of names that a file may use
* ``_atomic``: a file that is written whole or not at all
"""

import os as _os
from collections.abc import Callable
from typing import IO, Any, TypeAlias

from .._types import device as _device
from ._files import get_unsafe_globals_in_checkpoint, load, save
from ._safe_globals import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)

MAP_LOCATION: TypeAlias = Callable[[Any, str], Any] | _device | str | dict[str, str] | None
FILE_LIKE: TypeAlias = str | _os.PathLike[str] | IO[bytes]

__all__ = [
    "add_safe_globals", "clear_safe_globals", "get_safe_globals", "get_unsafe_globals_in_checkpoint", "load",
    "safe_globals", "save",
]  # fmt: skip
