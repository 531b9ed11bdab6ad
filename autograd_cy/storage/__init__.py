"""Storages: the memory of tensors as objects (facade). Imported when asked for.

* ``_untyped``: the bytes that tensors share; ``_sources``: where those of new storages come from, ``_resizing``: their size
* ``_typed``: the same as elements of a dtype, which PyTorch calls deprecated
* ``_legacy``: FloatStorage and its kin, which make those
"""

from ._legacy import (
    BFloat16Storage,
    BoolStorage,
    ByteStorage,
    CharStorage,
    ComplexDoubleStorage,
    ComplexFloatStorage,
    DoubleStorage,
    FloatStorage,
    HalfStorage,
    IntStorage,
    LongStorage,
    ShortStorage,
    Storage,
)
from ._legacy import (
    _LegacyStorage as _LegacyStorage,
)
from ._names import STORAGES as _STORAGES
from ._typed import DTYPES as _DTYPES
from ._typed import TypedStorage
from ._typed import _warn_typed_storage_removal as _warn_typed_storage_removal
from ._untyped import UntypedStorage

__all__ = [
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage", "ComplexFloatStorage",
    "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage", "LongStorage", "ShortStorage", "Storage", "TypedStorage",
    "UntypedStorage",
]  # fmt: skip


def _dtype_to_storage_type_map() -> dict[object, str]:
    """The name of the storage of each dtype that has one."""
    return {_DTYPES[name]: storage for name, storage in _STORAGES.items()}


def _storage_type_to_dtype_map() -> dict[str, object]:
    """The dtype of each storage, by its name."""
    return {storage: dtype for dtype, storage in _dtype_to_storage_type_map().items()}


TypedStorage.__module__ = UntypedStorage.__module__ = __name__
