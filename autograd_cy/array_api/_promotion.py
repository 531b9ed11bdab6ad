"""What the functions of the standard do with their arguments: types, devices, numbers (facade).

NOTE [Array API]
  1. Operands have one type before an operation: the promotion of their types, whatever their dimensions. PyTorch's 0-d
     tensors don't change the type of others; the standard's arrays do. Numbers take the type of the array beside them.
  2. Only signatures and types differ from this package's operations, which do the work: gradients and tangents pass.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor, sharing
from .._creation.data import as_tensor
from .._types import on_cpu
from .._types.limits import result_type

Scalar = bool | int | float | complex


def checked(device: Any) -> None:
    """Refuse other devices than the CPU."""
    if device is not None:
        on_cpu(device)


def promoted(*operands: Any) -> list[Tensor]:
    """Tensors and numbers as tensors of one type; TypeError without a tensor."""
    found = [x.dtype for x in operands if isinstance(x, Tensor)]
    if not found:
        raise TypeError("at least one argument must be an array")
    common = functools.reduce(dtypes.promote_types, found)
    return [x.to(common) if isinstance(x, Tensor) else _beside(x, common) for x in operands]


def _beside(number: Any, dtype: Any) -> Tensor:
    """A number as a tensor of the type that it has beside arrays of `dtype`."""
    if not isinstance(number, Scalar):
        raise TypeError(f"expected an array or a number, not {type(number).__name__}")
    beside = sharing(np.empty(0, dtype.numpy_dtype))
    return as_tensor(number, dtype=result_type(beside, number))


def unary(operation: Callable[[Tensor], Tensor], name: str) -> Callable[[Tensor], Tensor]:
    """A function of one array."""

    def function(x: Tensor, /) -> Tensor:
        return operation(x)

    return named(function, name, "x, /")


def binary(operation: Callable[[Any, Any], Tensor], name: str) -> Callable[[Any, Any], Tensor]:
    """A function of two arrays, or of an array and a number, of one type."""

    def function(x1: Any, x2: Any, /) -> Tensor:
        return operation(*promoted(x1, x2))

    return named(function, name, "x1, x2, /")


def named(function: Callable[..., Any], name: str, parameters: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "autograd_cy.array_api"
    function.__doc__ = f"{name}({parameters}): as the Array API standard has it, element by element."
    return function
