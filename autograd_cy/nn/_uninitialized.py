"""Parameters and buffers without a shape yet (facade). Imported when a lazy module is made."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._creation.filled import empty
from .parameter import Parameter, UninitializedTensorMixin

_ALLOWED = {
    "__hash__", "bfloat16", "char", "copy_", "cpu", "cuda", "double", "float", "get_device", "half", "int", "is_complex",
    "is_floating_point", "long", "requires_grad_", "short", "size", "to", "type",
}  # fmt: skip


class _Refusing(UninitializedTensorMixin):
    """Refuse functions that need elements."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _ALLOWED or _reads_attribute(func):
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` or "
            f"explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` with "
            "a dummy batch to initialize the parameters before calling torch functions"
        )


def _reads_attribute(func: Any) -> bool:
    return any(isinstance(value, property) and value.fget is func for value in vars(Tensor).values())


def _waiting(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Any:
    """A tensor without a shape, which will be materialized on that device."""
    made: Any = Tensor._make_subclass(cls, empty(0, dtype=dtype), requires_grad)
    if device is not None and not empty(0, device=device).is_cpu:
        vars(made)["_device"] = device
    return made


class UninitializedParameter(_Refusing, Parameter):  # type: ignore[misc]
    """``UninitializedParameter(requires_grad=True, dtype=None)``: a Parameter whose shape is not known yet.

    It can be converted, and become a Parameter by ``materialize(shape)``; whatever else is tried is a ValueError.

    >>> import autograd_cy as ag
    >>> weight = ag.nn.UninitializedParameter()
    >>> weight.materialize((2, 3))
    >>> type(weight).__name__, weight.shape
    ('Parameter', torch.Size([2, 3]))
    """

    cls_to_become = Parameter

    @public
    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _waiting(cls, requires_grad, device, dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> "UninitializedParameter":
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(_Refusing, Tensor):
    """``UninitializedBuffer(requires_grad=False, dtype=None, persistent=True)``: a Buffer whose shape is not known yet.

    It can be converted, and become a Tensor by ``materialize(shape)``; whatever else is tried is a ValueError.

    >>> import autograd_cy as ag
    >>> mean = ag.nn.UninitializedBuffer()
    >>> mean.materialize((3,))
    >>> type(mean).__name__, mean.shape
    ('Tensor', torch.Size([3]))
    """

    @public
    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        made = _waiting(cls, requires_grad, device, dtype)
        made.persistent = persistent
        made._is_buffer = True
        return made
