"""Limits and promotion of dtypes (facade). Imported when asked for."""

from typing import Any

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from . import dtype_of_number

# Types that NumPy has not: eps, the largest number, the smallest normal one, the resolution.
_FORMATS = {
    "bfloat16": (2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 0.01),
    "float8_e4m3fn": (2.0**-3, 448.0, 2.0**-6, 1.0),
    "float8_e4m3fnuz": (2.0**-3, 240.0, 2.0**-7, 1.0),
    "float8_e5m2": (2.0**-2, 57344.0, 2.0**-14, 1.0),
    "float8_e5m2fnuz": (2.0**-3, 57344.0, 2.0**-15, 1.0),
    "float8_e8m0fnu": (1.0, 2.0**127, 2.0**-127, 1.0),
}


def _named(type: Any) -> dtypes.dtype:
    """The dtype that an argument names; also one that no tensor has here."""
    return type if isinstance(type, dtypes.dtype) else dtypes.convert(type)


def _shown(limit: Any) -> str:
    """A limit to six digits."""
    return np.format_float_scientific(limit, 5, trim="-") if type(limit) is np.longdouble else f"{limit:.6g}"


class _Limits:
    """What finfo and iinfo have in common: `_fields` in their repr; they are equal if they are of one dtype."""

    _fields: tuple[str, ...]
    dtype: str
    bits: int

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_shown(getattr(self, name))}" for name in self._fields)
        return f"{type(self).__name__}({shown}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))


class finfo(_Limits):
    """``finfo(float32)`` has the limits of a floating point type: bits, eps, max, min, tiny, smallest_normal, resolution.

    By default for the default dtype; for a complex dtype, the limits of its parts. TypeError for integers.

    >>> import autograd_cy as ag
    >>> ag.finfo(ag.float16).max
    65504.0
    """

    _fields = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    @public
    def __init__(self, type: Any = None):
        dtype = dtypes.get_default() if type is None else _named(type)
        if not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        parts = dtype.to_real()
        self.dtype, self.bits = parts.name, 8 * parts.itemsize
        if parts.name in _FORMATS:
            self.eps, self.max, self.tiny, self.resolution = _FORMATS[parts.name]
            self.min = -self.max if parts.is_signed else self.tiny
        elif parts.numpy_dtype is None:
            raise RuntimeError(f'"finfo" not implemented for {parts}')
        else:
            limits = np.finfo(parts.numpy_dtype)
            number: Any = np.longdouble if parts.name == "longdouble" else float  # float has not the range of longdouble
            self.eps, self.max, self.min = number(limits.eps), number(limits.max), number(limits.min)
            self.tiny, self.resolution = number(limits.smallest_normal), 10.0**-limits.precision
        self.smallest_normal = self.tiny


class iinfo(_Limits):
    """``iinfo(int8)`` has the limits of an integer type: bits, max, min. TypeError for other types.

    >>> import autograd_cy as ag
    >>> ag.iinfo(ag.uint8).max
    255
    """

    _fields = ("min", "max")

    @public
    def __init__(self, type: Any):
        dtype = _named(type)
        if dtype.is_floating_point or dtype.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if dtype.numpy_dtype is None:
            raise TypeError(f"iinfo(): {dtype} is not supported")
        if dtype.name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        limits = np.iinfo(dtype.numpy_dtype)
        self.dtype, self.bits, self.max, self.min = dtype.name, int(limits.bits), int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


@public
def promote_types(type1: Any, type2: Any) -> dtypes.dtype:
    """``promote_types(a, b)`` is the dtype of an operation on two tensors with dimensions, of dtypes a and b.

    >>> import autograd_cy as ag
    >>> ag.promote_types(ag.int32, ag.float16)
    torch.float16
    """
    for position, value in enumerate((type1, type2), 1):
        if not isinstance(value, dtypes.dtype):
            raise TypeError(
                f"promote_types(): argument 'type{position}' (position {position}) must be torch.dtype, "
                f"not {type(value).__name__}"
            )
    if type1 is not type2 and any(value.name.startswith("float8") for value in (type1, type2)):
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {type1} and {type2}")
    return type1 if type1 is type2 else dtypes.promote_types(type1, type2)


@public
def result_type(tensor1: Any, tensor2: Any) -> dtypes.dtype:
    """``result_type(a, b)`` is the dtype of an operation on two tensors or numbers.

    >>> import autograd_cy as ag
    >>> ag.result_type(ag.tensor([1, 2]), 1.0), ag.result_type(ag.tensor([1.0]), ag.tensor(1, dtype=ag.int64))
    (torch.float32, torch.float32)
    """
    operands: list[Any] = []
    for position, value in enumerate((tensor1, tensor2), 1):
        if isinstance(value, Tensor):
            operands += [value.dtype, 2 if value.ndim else 1]
        elif dtype := dtype_of_number(type(value)):
            operands += [dtype, 0]
        else:
            raise TypeError(
                f"result_type(): argument 'tensor{position}' (position {position}) must be Tensor or Number, "
                f"not {type(value).__name__}"
            )
    return dtypes.result_type(*operands)


@public
def can_cast(from_: Any, to: Any) -> bool:
    """``can_cast(a, b)`` is whether results of dtype a may be written into memory of dtype b.

    >>> import autograd_cy as ag
    >>> ag.can_cast(ag.float64, ag.float16), ag.can_cast(ag.float32, ag.int64)
    (True, False)
    """
    return _category(_dtype_given("can_cast", "from_", 1, from_)) <= _category(_dtype_given("can_cast", "to", 2, to))


def _dtype_given(function: str, name: str, position: int, value: Any) -> dtypes.dtype:
    try:
        return dtypes.convert(value)
    except TypeError:
        message = f"{function}(): argument '{name}' (position {position}) must be torch.dtype, not {type(value).__name__}"
        raise TypeError(message) from None


def _category(dtype: dtypes.dtype) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype.name == "bool" else 1
