"""Methods of Tensor that hand its elements to Python, NumPy and other libraries (facade)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays.dtypes import kind_of
from .._core.batching.batched import is_batched
from .._core.graph.record import get_tangent
from .._core.graph.tensor import Tensor, array_of, extend, from_array, numpy
from .._core.ops.basics import OPS
from .._core.ops.overrides import extend_overridable
from .._core.runtime.entry import public, show_one_frame
from .._core.runtime.once import warn_once
from .._functional.names import bfloat16
from .attaching import method

_isclose, _eq = (OPS[name].function for name in ("isclose", "eq"))
_CONVERTERS: dict[str, Callable[[Any], Any]] = {"b": bool, "c": complex}

extend_overridable("numpy", numpy)


def check_without_tangent(tensor):
    """Refuse to share memory where a tangent would be lost in silence."""
    if get_tangent(tensor) is not None:
        raise RuntimeError(
            "Can't share the memory of a Tensor that has a tangent, which would be lost. Use tensor.detach().numpy() instead."
        )


@method
def __array__(self, dtype=None, copy=None):
    try:
        check_without_tangent(self)
        array = self.numpy()
    except BaseException as error:
        show_one_frame(error)
        raise
    if dtype is not None and array.dtype != dtype:
        if copy is False:
            raise ValueError(f"a tensor of {self.dtype} can't be an array of {dtype} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


@method
def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
    from .. import _numpy  # only needed here

    return _numpy.call_ufunc(ufunc, method, inputs, kwargs)


@method
def __array_function__(self, func, types, args, kwargs):
    from .. import _numpy

    return _numpy.call_function(func, args, kwargs)


@method
def __array_namespace__(self, /, *, api_version=None):
    from .. import array_api  # only needed here

    known = ("2021.12", "2022.12", "2023.12", array_api.__array_api_version__)
    if api_version is not None and api_version not in known:
        raise ValueError(f"unknown version {api_version!r} of the Array API standard: there are {', '.join(known)}")
    return array_api


def _check_exported(self):
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if get_tangent(self) is not None:
        raise BufferError("Can't export tensors that have a tangent, use tensor.detach()")


@method
def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    _check_exported(self)
    options = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    if self.dtype is bfloat16:
        from .._creation import dlpack  # few need it

        return dlpack.exported(self.numpy(), **options)
    return self.numpy().__dlpack__(**options)


@method
def __dlpack_device__(self):
    return self.numpy(force=True).__dlpack_device__()


def _check_readable(self):
    """Refuse to read a number from a tensor that holds all samples of a batch."""
    if is_batched(self):
        raise RuntimeError(
            "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, "
            "please try to rewrite what you're doing with other operations."
        )


@method
def item(self):
    """item() -> number: the only element; RuntimeError if there is not exactly one."""
    _check_readable(self)
    if self.numel() != 1:
        raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    return array_of(self).item()


@method
def tolist(self):
    """tolist() -> list or number: the elements as nested lists of numbers; of a 0-d tensor, its number."""
    return array_of(self).tolist()


def _scalar(self, kind):
    _check_readable(self)
    if self.numel() != 1:
        raise ValueError(f"only one element tensors can be converted to Python scalars: this one has {self.numel()}")
    if self.requires_grad or get_tangent(self) is not None:
        warn_once(
            "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior. Consider using "
            "tensor.detach() first.",
        )
    number = array_of(self).item()
    if self.is_complex() and kind is not complex:
        if number.imag:
            raise RuntimeError(f"value cannot be converted to type {kind.__name__} without overflow: it is {number}")
        number = number.real
    return kind(number)


@method
def __float__(self):
    return _scalar(self, float)


@method
def __int__(self):
    return _scalar(self, int)


@method
def __complex__(self):
    return _scalar(self, complex)


@method
def __index__(self):
    if is_batched(self):
        return self.item()
    if self.dtype.is_floating_point or self.dtype.is_complex or self.numel() != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(array_of(self).item())


@method
def __bool__(self):
    if is_batched(self):
        raise RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
            "that: torch.where() chooses between two values for each sample."
        )
    if self.numel() == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    if self.numel() > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(array_of(self).item())


@method
def __iter__(self):
    if self.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


@method
def __reversed__(self):
    return self.flip(0) if self.ndim else self


@method
def __contains__(self, element):
    if not isinstance(element, (Tensor, int, float, complex)):
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {element.__class__}.")
    return bool((self == element).any())


@method
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) -> bool: whether isclose() holds for all elements.

    >>> import autograd_cy as ag
    >>> ag.allclose(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 2.1]))
    False
    """
    return bool(_isclose(input, other, rtol, atol, equal_nan).all().item())


@method
def equal(input: Tensor, other: Tensor) -> bool:
    """equal(input, other) -> bool: whether two tensors have the same shape and the same elements.

    >>> import autograd_cy as ag
    >>> ag.equal(ag.tensor([1, 2]), ag.tensor([1, 2])), ag.equal(ag.tensor([1, 2]), ag.tensor([1]))
    (True, False)
    """
    return input.shape == other.shape and bool(_eq(input, other).all().item())


@method
def __pos__(self):
    return self


@method
def __format__(self, spec):
    if self.ndim == 0:
        return format(self.item(), spec)
    return object.__format__(self, spec)


@method
def __repr__(self):
    from .text import tensor_repr  # only needed here

    return tensor_repr(self)


extend("check_without_tangent", check_without_tangent)


@public
def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """apply_(callable) -> Tensor: write callable(x) in the place of each element x. Slow; RuntimeError if it requires grad."""
    return _mapped("apply_", self, (), callable)


@public
def map_(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """map_(tensor, callable) -> Tensor: write callable(x, y), y from a tensor of the same type. Slow, without gradients."""
    return _mapped("map_", self, (("other", tensor),), callable)


@public
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """map2_(x, y, callable) -> Tensor: write callable(element, x, y), of two tensors of the same type. Slow, no gradients."""
    return _mapped("map2_", self, (("x", x), ("y", y)), callable)


for _method in (apply_, map_, map2_):
    extend_overridable(_method.__name__, _method)


def _mapped(name: str, self: Tensor, others: tuple[tuple[str, Any], ...], callable: Callable[..., Any]) -> Tensor:
    """Write what the function returns for the elements of all tensors, which are broadcast to the first."""
    for argument, other in others:
        if not isinstance(other, Tensor):
            raise TypeError(f"{name}(): argument '{argument}' must be Tensor, not {type(other).__name__}")
        if other.dtype is not self.dtype:
            raise TypeError(f"{name}: expected {self.type()} for '{argument}' (got {other.type()})")
        if other.ndim > self.ndim:
            raise RuntimeError(
                f"expand({other.type()}{{{list(other.shape)}}}, size={list(self.shape)}): the number of sizes provided "
                f"({self.ndim}) must be greater or equal to the number of dimensions in the tensor ({other.ndim})"
            )
    tensors = (self, *(other for _, other in others))
    if any(t.requires_grad for t in tensors):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    if any(map(is_batched, tensors)):
        raise RuntimeError(f"vmap: {name}() is not possible within vmap: a tensor stands for all samples of a batch there")
    columns = [np.broadcast_to(array_of(t), self.shape).reshape(-1).tolist() for t in tensors]
    values = [_number(callable(*row), kind_of(self.dtype.numpy_dtype)) for row in zip(*columns, strict=True)]
    return self.copy_(from_array(np.array(values, self.dtype.numpy_dtype).reshape(self.shape)))


def _number(value: Any, kind: str) -> Any:
    """What a function returned, as a number of a kind."""
    if kind in _CONVERTERS:
        return _CONVERTERS[kind](value)
    if isinstance(value, str):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    if kind == "f":
        return float(value)
    return int(value) if isinstance(value, float) else operator.index(value)
