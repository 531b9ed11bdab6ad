"""FloatTensor and its kin: constructors for one dtype each, and types for isinstance (facade). Imported when asked for."""

from typing import Any

from .._compat import PACKAGE
from .._core.arrays.dtypes import all_dtypes, set_default
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._core.runtime.once import warn_once
from .constructor import construct


class tensortype(type):
    """The type of FloatTensor and the like: their results, and their instances, are Tensors of their dtype.

    >>> import autograd_cy as ag
    >>> ag.LongTensor([1.5, 2.0]), isinstance(ag.ones(2), ag.FloatTensor)
    (tensor([1, 2]), True)
    """

    dtype: Any

    @public
    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return construct(args, kwargs, cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype


_DTYPES = {dtype.name: dtype for dtype in all_dtypes()}


def _typed(name: str, dtype: str) -> Any:
    text = f"""``{name}(2, 3)``, ``{name}([1, 2])`` or ``{name}(array)`` is what Tensor(...) makes, of {dtype}.

    >>> import autograd_cy as ag
    >>> ag.{name}([1, 0]).dtype
    torch.{dtype}
    """
    return tensortype(name, (), {"dtype": _DTYPES[dtype], "__doc__": text, "__module__": PACKAGE})


BFloat16Tensor = _typed("BFloat16Tensor", "bfloat16")
BoolTensor = _typed("BoolTensor", "bool")
ByteTensor = _typed("ByteTensor", "uint8")
CharTensor = _typed("CharTensor", "int8")
DoubleTensor = _typed("DoubleTensor", "float64")
FloatTensor = _typed("FloatTensor", "float32")
HalfTensor = _typed("HalfTensor", "float16")
IntTensor = _typed("IntTensor", "int32")
LongTensor = _typed("LongTensor", "int64")
ShortTensor = _typed("ShortTensor", "int16")

TYPES = {name: value for name, value in globals().items() if type(value) is tensortype}


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
    name = t.removeprefix("torch.") if isinstance(t, str) else getattr(t, "__name__", "")
    if name not in TYPES or not (isinstance(t, str) or t is TYPES[name]):
        raise TypeError(f"invalid type object: only floating-point types are supported as the default type, not {t!r}")
    set_default(TYPES[name].dtype)
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
