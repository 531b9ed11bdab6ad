"""Data types of the Array API standard, and what it has to tell of this library (facade)."""

import functools
from typing import Any, NamedTuple

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor, sharing
from .._functional.names import (
    bool,
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from .._types import device as Device
from .._types.limits import result_type as _result_type_of_two
from ._promotion import Scalar, checked

_KINDS: dict[str, tuple[dtypes.dtype, ...]] = {
    "bool": (bool,), "signed integer": (int8, int16, int32, int64), "unsigned integer": (uint8,),
    "real floating": (float32, float64), "complex floating": (complex64, complex128),
}  # fmt: skip
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
_FLOAT16 = dtypes.convert(np.float16)


def astype(x: Tensor, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Tensor:
    """astype(x, dtype, /, *, copy=True, device=None): in another type; a new array unless copy is False."""
    checked(device)
    return x.to(dtypes.convert(dtype), copy=copy)


def can_cast(from_: Any, to: Any, /) -> Any:
    """can_cast(from_, to, /): whether the type of promotion of both is the second; False between kinds."""
    source, target = _dtype_of(from_), dtypes.convert(to)
    return _is_inexact(source) == _is_inexact(target) and (
        source is target or (bool not in (source, target) and dtypes.promote_types(source, target) is target)
    )


def _is_inexact(dtype: dtypes.dtype) -> Any:
    return dtype.is_floating_point or dtype.is_complex


def isdtype(dtype: Any, kind: Any) -> Any:
    """isdtype(dtype, kind): whether the type is of a kind ("real floating", ...), is another type, or one of a tuple."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"unrecognized data type kind: {kind!r}; there are {', '.join(_KINDS)}")
        floats = (_FLOAT16,) if kind in ("real floating", "numeric") else ()
        return dtypes.convert(dtype) in _KINDS[kind] + floats
    return dtypes.convert(dtype) is dtypes.convert(kind)


def result_type(*arrays_and_dtypes: Any) -> Any:
    """result_type(*arrays_and_dtypes): the type of promotion; numbers count where their kind is a higher one."""
    found = [_dtype_of(x) for x in arrays_and_dtypes if not isinstance(x, Scalar)]
    if not found:
        raise ValueError("at least one array or dtype is required")
    common = functools.reduce(dtypes.promote_types, found)
    for number in arrays_and_dtypes:
        if isinstance(number, Scalar):
            common = _result_type_of_two(sharing(np.empty(0, common.numpy_dtype)), number)
    return common


def _dtype_of(x: Any) -> dtypes.dtype:
    return x.dtype if isinstance(x, Tensor) else dtypes.convert(x)


class FloatLimits(NamedTuple):
    """What finfo() returns."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class IntegerLimits(NamedTuple):
    """What iinfo() returns."""

    bits: int
    max: int
    min: int
    dtype: Any


def finfo(type: Any, /) -> FloatLimits:
    """finfo(type, /): the limits of a type of floating point numbers, or of the parts of complex ones; of an array's."""
    dtype = _dtype_of(type)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise TypeError(f"finfo() needs a floating-point type, not {dtype}")
    limits = dtypes.finfo_of(dtype.to_real().numpy_dtype)
    eps, largest, least, smallest = map(float, (limits.eps, limits.max, limits.min, limits.smallest_normal))
    return FloatLimits(int(limits.bits), eps, largest, least, smallest, dtype.to_real())


def iinfo(type: Any, /) -> IntegerLimits:
    """iinfo(type, /): the limits of a type of integers, or of an array's."""
    dtype = _dtype_of(type)
    if dtype not in _KINDS["integral"]:
        raise TypeError(f"iinfo() needs a type of integers, not {dtype}")
    limits = np.iinfo(dtype.numpy_dtype)
    return IntegerLimits(int(limits.bits), int(limits.max), int(limits.min), dtype)


class Info:
    """What __array_namespace_info__() returns."""

    def capabilities(self) -> dict[str, Any]:
        """capabilities(): which optional parts of the standard there are."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """default_device(): the CPU."""
        return Device("cpu")

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """default_dtypes(*, device=None): what numbers become; set_default_dtype() changes it."""
        checked(device)
        default = dtypes.get_default()
        return {
            "real floating": default, "complex floating": default.to_complex(), "integral": int64, "indexing": int64,
        }  # fmt: skip

    def devices(self) -> list[Device]:
        """devices(): the CPU alone."""
        return [Device("cpu")]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """dtypes(*, device=None, kind=None): the types of the standard that there are, by their names."""
        checked(device)
        kinds = ("bool", "numeric") if kind is None else kind if isinstance(kind, tuple) else (kind,)
        unknown = set(kinds) - set(_KINDS)
        if unknown:
            raise ValueError(f"unrecognized data type kind: {unknown.pop()!r}; there are {', '.join(_KINDS)}")
        return {dtype.name: dtype for one in kinds for dtype in _KINDS[one]}


def __array_namespace_info__() -> Info:
    """__array_namespace_info__(): devices, types and capabilities."""
    return Info()
