"""FloatTensor and its kin: constructors for one dtype each, and types for isinstance (facade). Imported when asked for."""

from typing import Any

from .._compat import PACKAGE
from .._core.arrays.dtypes import all_dtypes
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .constructor import construct

__all__ = [
    "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor",
    "LongTensor", "ShortTensor",
]  # fmt: skip


class tensortype(type):
    """The type of FloatTensor and the like: what they make, and what is an instance of them, are Tensors of their dtype.

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
