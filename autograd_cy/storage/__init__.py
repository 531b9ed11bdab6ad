"""Storages: the memory of tensors as objects (facade). Imported when asked for.

* ``_untyped``: the bytes that tensors share
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
from ._typed import TypedStorage
from ._typed import _warn_typed_storage_removal as _warn_typed_storage_removal
from ._untyped import UntypedStorage

__all__ = [
    "BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage", "ComplexFloatStorage",
    "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage", "LongStorage", "ShortStorage", "Storage", "TypedStorage",
    "UntypedStorage",
]  # fmt: skip
TypedStorage.__module__ = UntypedStorage.__module__ = __name__
