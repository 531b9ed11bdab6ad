"""Tensors that a module owns: parameters and buffers (facade)."""

from collections import OrderedDict
from typing import Any

from .._compat import names_later as _names_later
from .._compat.missing import getattr_of as _getattr_of
from .._core.graph.tensor import Tensor
from .._core.ops.overrides import disabled_torch_function as _disabled_torch_function
from .._core.ops.overrides import take_for_tensors as _take_for_tensors
from .._core.ops.shapes.reshaping import replace_array as _replace_array
from .._core.runtime.entry import public as _public
from .._creation.filled import empty

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy",  # noqa: F822
]  # fmt: skip


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    """Makes isinstance() accept parameters of other tensor subclasses as Parameters."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False):
            return True
        return super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """``Parameter(data, requires_grad=True)``: a leaf on a tensor's memory, to be trained.

    As attribute of a Module it is one of the module's ``parameters()``. Results of operations on it are plain Tensors. For a
    tensor of a subclass it is an instance of that subclass, and ``isinstance(p, Parameter)`` still holds.

    >>> import autograd_cy as ag
    >>> ag.nn.Parameter(ag.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    @_public
    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is None:
            data = empty(0)
        if type(data) in (Tensor, Parameter) or not isinstance(data, Tensor):
            return Tensor._make_subclass(cls, data, requires_grad)
        if data.is_meta:
            return data._as_parameter(requires_grad)  # type: ignore[attr-defined]
        made = data.detach().requires_grad_(requires_grad)
        if type(made) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
                f"instance of the same type, but return type {type(made).__name__} was found instead."
            )
        vars(made)["_is_param"] = True
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> "Parameter":
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        shown = Tensor._make_subclass(Tensor, self.data, self.requires_grad) if type(self) is Parameter else self
        return "Parameter containing:\n" + Tensor.__repr__(shown)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild_parameter, (self.data, self.requires_grad, OrderedDict(), vars(self) or None, type(self))

    __torch_function__ = _disabled_torch_function


_take_for_tensors(Parameter)


def _rebuild_parameter(
    data: Tensor, requires_grad: bool, backward_hooks: Any, attributes: Any = None, kind: type[Parameter] = Parameter
) -> Parameter:
    """A Parameter from pickled state, which has no hooks."""
    parameter = Tensor._make_subclass(kind, data, requires_grad)
    if attributes:
        vars(parameter).update(attributes)
    return parameter


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    """Recognizes buffers by a mark: their class is the class of their data."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if cls is Buffer and isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False):
            return True
        return super().__instancecheck__(instance)


class Buffer(Tensor, metaclass=_BufferMeta):
    """``Buffer(data, persistent=True)``: a tensor that becomes a buffer when it is assigned to a module.

    It is part of the module's state, but not trained. ``state_dict()`` skips it unless it is persistent.

    >>> import autograd_cy as ag
    >>> module = ag.nn.Module()
    >>> module.count = ag.nn.Buffer(ag.zeros(1))
    >>> module.state_dict()["count"]
    tensor([0.])
    """

    persistent: bool

    @_public
    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is None:
            data = empty(0)
        made = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made

    __torch_function__ = _disabled_torch_function


class UninitializedTensorMixin:
    """A tensor without a shape yet: it can only be converted and materialized."""

    cls_to_become: type[Tensor] = Tensor
    data: Tensor

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """``materialize(shape)`` makes it an uninitialized tensor of that shape."""
        size = (shape,) if isinstance(shape, int) else tuple(shape)
        where = vars(self).pop("_device", None) if device is None else device
        made = empty(size, device=where, dtype=self.data.dtype if dtype is None else dtype)
        if made.is_meta:
            _replace_array(self, made)  # type: ignore[arg-type]
            made = Parameter(made) if self.cls_to_become is Parameter else made
            self.__class__ = type(made)  # type: ignore[assignment]
            return
        self.data = made
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    @property
    def shape(self) -> Any:
        """No shape yet: RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` "
            "when trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the "
            "parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        """No memory yet: RuntimeError."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
            "calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad,)  # type: ignore[attr-defined]


def is_lazy(param: Any) -> bool:
    """``is_lazy(param)``: whether a parameter or buffer has no shape yet.

    >>> import autograd_cy as ag
    >>> ag.nn.parameter.is_lazy(ag.nn.UninitializedParameter()), ag.nn.parameter.is_lazy(ag.nn.Parameter())
    (True, False)
    """
    return isinstance(param, UninitializedTensorMixin)


# The two classes override functions, which slows all calls with subclasses: so they are made on first use.
__getattr__, __dir__ = _names_later(
    __name__,
    {"_uninitialized": ["UninitializedBuffer", "UninitializedParameter"]},
    _getattr_of(__name__, "torch.nn.parameter"),
)
