"""What dtypes and values are: limits, promotion, questions (facade). Imported when asked for."""

from typing import Any

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor
from .._core.ops.overrides import handle_torch_function, has_torch_function
from .._core.runtime.entry import public
from .._core.runtime.once import warn_once
from .._creation.arguments import dtype_of_number
from .._functional.queries import asked

__all__ = [
    "can_cast", "finfo", "iinfo", "is_complex", "is_floating_point", "is_nonzero", "is_tensor", "numel", "promote_types",
    "result_type", "set_default_tensor_type", "typename",
]  # fmt: skip


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

    Without an argument those of the default dtype, for a complex one those of its parts. TypeError for integers.

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
    return _category(dtypes.convert(from_)) <= _category(dtypes.convert(to))


def _category(dtype: dtypes.dtype) -> int:
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 0 if dtype.name == "bool" else 1


def is_tensor(obj: object) -> bool:
    """``is_tensor(x)`` is whether x is a Tensor.

    >>> import autograd_cy as ag
    >>> ag.is_tensor(ag.ones(2)), ag.is_tensor([1.0])
    (True, False)
    """
    return isinstance(obj, Tensor)


@public
def is_floating_point(input: Tensor) -> bool:
    """``is_floating_point(t)`` is whether the tensor has a real floating point type.

    >>> import autograd_cy as ag
    >>> ag.is_floating_point(ag.ones(2))
    True
    """
    return asked("is_floating_point", input).is_floating_point()


@public
def is_complex(input: Tensor) -> bool:
    """``is_complex(t)`` is whether the tensor has a complex type.

    >>> import autograd_cy as ag
    >>> ag.is_complex(ag.ones(2))
    False
    """
    return asked("is_complex", input).is_complex()


@public
def is_nonzero(input: Tensor) -> bool:
    """``is_nonzero(t)`` is whether the only element of a tensor is not 0; RuntimeError for other numbers of elements.

    >>> import autograd_cy as ag
    >>> ag.is_nonzero(ag.tensor([0.5]))
    True
    """
    return bool(asked("is_nonzero", input))


@public
def numel(input: Tensor) -> int:
    """``numel(t)`` is the number of elements.

    >>> import autograd_cy as ag
    >>> ag.numel(ag.ones(2, 3))
    6
    """
    if type(input) is not Tensor and has_torch_function((input,)):
        return int(handle_torch_function(numel, (input,), input))
    return asked("numel", input).numel()


def typename(obj: Any) -> str:
    """``typename(x)`` is the name of a tensor's type, of a class or function, or of the class of anything else.

    >>> import autograd_cy as ag
    >>> ag.typename(ag.ones(2)), ag.typename(ag.finfo), ag.typename(3)
    ('torch.FloatTensor', 'autograd_cy._types.limits.finfo', 'int')
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    name = getattr(named, "__qualname__", "") or named.__name__
    module = getattr(named, "__module__", "") or ""
    return name if module in ("", "builtins") else f"{module}.{name}"


@public
def set_default_tensor_type(t: Any) -> None:
    """``set_default_tensor_type(DoubleTensor)`` is ``set_default_dtype(float64)``; the type may be given by name, too.

    PyTorch calls it deprecated: a UserWarning says so once.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     ag.set_default_tensor_type("torch.DoubleTensor")
    >>> ag.ones(1).dtype
    torch.float64
    >>> ag.set_default_dtype(ag.float32)
    """
    from .._creation import typed  # few need it

    name = t.removeprefix("torch.") if isinstance(t, str) else getattr(t, "__name__", "")
    if name not in typed.__all__ or not (isinstance(t, str) or t is getattr(typed, name)):
        raise TypeError(f"invalid type object: only floating-point types are supported as the default type, not {t!r}")
    dtypes.set_default(getattr(typed, name).dtype)
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
