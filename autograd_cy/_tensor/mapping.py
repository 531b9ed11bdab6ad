"""The methods of Tensor that write what a Python function returns for each element: slow, and without gradients (facade)."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays.dtypes import kind_of
from .._core.batching.batched import is_batched
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.overrides import extend_overridable
from .._core.runtime.entry import public

_CONVERTERS: dict[str, Callable[[Any], Any]] = {"b": bool, "c": complex}


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
