"""FloatStorage and its kin: constructors of TypedStorage for one dtype each, and types for isinstance (facade)."""

from typing import Any

from .._core.arrays import dtypes
from .._core.runtime.entry import public
from .._types import on_cpu
from ._names import STORAGES
from ._sources import elements_from
from ._typed import DTYPES, TypedStorage, _warn_typed_storage_removal
from ._untyped import UntypedStorage, storage_on


class _LegacyStorageMeta(type):
    dtype: dtypes.dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        wanted = vars(cls).get("dtype")
        return type(instance) is TypedStorage and (wanted is None or instance.dtype is wanted)


class _LegacyStorage(TypedStorage, metaclass=_LegacyStorageMeta):
    """The base of FloatStorage and similar classes."""

    @public
    def __new__(cls, *args: Any, wrap_storage: Any = None, device: Any = None) -> Any:
        _warn_typed_storage_removal(3)
        if device is not None:
            on_cpu(device)
        if len(args) > 1 or (args and wrap_storage is not None):
            raise TypeError(
                f"{cls.__name__} received an invalid combination of arguments. Expected one of: no arguments, (int size), "
                "(Sequence data), (*, UntypedStorage wrap_storage)"
            )
        if wrap_storage is not None and not isinstance(wrap_storage, UntypedStorage):
            raise TypeError(f"wrap_storage must be UntypedStorage, got {type(wrap_storage).__name__}")
        untyped = storage_on(elements_from(cls.dtype, *args)) if wrap_storage is None else wrap_storage
        return TypedStorage(wrap_storage=untyped, dtype=cls.dtype, _internal=True)

    @classmethod
    @public
    def from_buffer(cls, *args: Any, **kwargs: Any) -> TypedStorage:
        """``FloatStorage.from_buffer(buffer, byte_order, count=-1, offset=0)``: see UntypedStorage.from_buffer()."""
        return TypedStorage.from_buffer(*args, dtype=cls.dtype, **kwargs)


def _legacy(name: str, dtype: str) -> Any:
    text = f"""``{name}(3)`` or ``{name}([1, 2])`` is a TypedStorage of {dtype}.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ag.{name}([1, 0]).tolist() == [1, 0]
    True
    """
    return _LegacyStorageMeta(
        name,
        (_LegacyStorage,),
        {"dtype": DTYPES[dtype], "_dtype": DTYPES[dtype], "__doc__": text, "__module__": "autograd_cy"},
    )


_NAMES = {storage: dtype for dtype, storage in STORAGES.items()}
BFloat16Storage = _legacy("BFloat16Storage", _NAMES["BFloat16Storage"])
BoolStorage = _legacy("BoolStorage", _NAMES["BoolStorage"])
ByteStorage = _legacy("ByteStorage", _NAMES["ByteStorage"])
CharStorage = _legacy("CharStorage", _NAMES["CharStorage"])
ComplexDoubleStorage = _legacy("ComplexDoubleStorage", _NAMES["ComplexDoubleStorage"])
ComplexFloatStorage = _legacy("ComplexFloatStorage", _NAMES["ComplexFloatStorage"])
DoubleStorage = _legacy("DoubleStorage", _NAMES["DoubleStorage"])
FloatStorage = _legacy("FloatStorage", _NAMES["FloatStorage"])
HalfStorage = _legacy("HalfStorage", _NAMES["HalfStorage"])
IntStorage = _legacy("IntStorage", _NAMES["IntStorage"])
LongStorage = _legacy("LongStorage", _NAMES["LongStorage"])
ShortStorage = _legacy("ShortStorage", _NAMES["ShortStorage"])
Storage = FloatStorage
