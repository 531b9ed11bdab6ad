"""What a call of Tensor takes, PyTorch's oldest way to make one: sizes, or data, or another tensor (facade)."""

import operator
import sys
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from .._compat import PACKAGE
from .._core.arrays import dtypes, unset
from .._core.graph.tensor import Tensor, from_array
from .._types import Size
from .._types import device as Device
from .data import array_from

_SIGNATURES = "(*, device=None), (Tensor other), (int size, ...), (tuple of ints size), (object data)"


def construct(args: tuple[Any, ...], kwargs: dict[str, Any], dtype: dtypes.dtype | None = None) -> Tensor:
    """The tensor that ``Tensor(*args, **kwargs)`` asks for; of `dtype`, or else of the default one.

    Ints are sizes, and the memory is as it comes. Another tensor is seen again, whatever its dtype. Anything else is data.
    """
    wanted = dtypes.get_default() if dtype is None else dtype
    given = dict(kwargs)
    where = given.pop("device", None)
    if where is not None:
        kind = Device(where).type
        if isinstance(args[0] if args else given.get("other"), Tensor):
            raise RuntimeError(
                "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use "
                "torch.tensor(...) or torch.as_tensor(...) instead."
            )
        if kind != "cpu":
            raise RuntimeError(f"legacy constructor expects device type: cpu but device type: {kind} was passed")
    if not args and not given:
        return _empty((0,), wanted)
    if not args and len(given) == 1:
        ((name, value),) = given.items()
        if name == "size" and isinstance(value, (tuple, list)):
            return _empty(_sizes(value), wanted)
        if name == "other" and isinstance(value, Tensor):
            return _seen_again(value, dtype)
        if name == "data":
            return _from_data(value, wanted)
    if given:
        raise _no_such_call(args, kwargs)
    if len(args) > 1:
        if not _is_size(args[0]):
            raise _no_such_call(args, kwargs)
        return _empty(_sizes(args), wanted)
    value = args[0]
    if isinstance(value, Tensor):
        return _seen_again(value, dtype)
    if isinstance(value, Size):
        return _empty(tuple(value), wanted)
    if is_storage(value):
        return _empty((0,), wanted).set_(value)
    return _empty(_sizes(args), wanted) if _is_size(value) else _from_data(value, wanted)


def is_storage(value: Any) -> bool:
    """is_storage(value) -> whether it is a storage, without the import of what they are."""
    storage = sys.modules.get(f"{PACKAGE}.storage")
    return storage is not None and isinstance(value, (storage.TypedStorage, storage.UntypedStorage))


def _empty(sizes: tuple[int, ...], dtype: dtypes.dtype) -> Tensor:
    try:
        return from_array(unset.empty(sizes, dtype.numpy_dtype))
    except ValueError as error:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)}: {error}") from None


def _seen_again(other: Tensor, dtype: dtypes.dtype | None) -> Tensor:
    if dtype is not None and other.dtype is not dtype:
        raise TypeError(f"expected a tensor of {dtype}, got one of {other.dtype}; to({dtype}) converts it")
    return other.as_subclass(Tensor)


def _from_data(data: Any, dtype: dtypes.dtype) -> Tensor:
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    is_sequence = hasattr(data, "__len__") and hasattr(data, "__getitem__")
    if not is_sequence or isinstance(data, (Mapping, Set, Tensor, np.generic)):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return from_array(array_from(data, dtype.numpy_dtype))


def _is_size(value: Any) -> bool:
    """Whether the value is an int, or counts as one; as the first size a bool doesn't."""
    if isinstance(value, bool):
        return False
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _sizes(values: Any) -> tuple[int, ...]:
    sizes = []
    for position, value in enumerate(values, 1):
        try:
            sizes.append(operator.index(value))
        except TypeError:
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {position} with error \"type must be tuple of "
                f'ints,but got {type(value).__name__}"'
            ) from None
        if sizes[-1] < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {sizes[-1]}: {list(values)}")
    return tuple(sizes)


def _no_such_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    got = [type(value).__name__ for value in args] + [f"{name}={type(value).__name__}" for name, value in kwargs.items()]
    return TypeError(
        f"new() received an invalid combination of arguments - got ({', '.join(got)}), but expected one of: {_SIGNATURES}"
    )
