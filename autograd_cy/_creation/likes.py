"""Tensors with the shape and dtype of another, filled with one number (facade).

The keywords ``dtype``, ``device`` and ``requires_grad`` are explained in ``_arguments``; ``memory_format`` is the order of the
dimensions in memory, that of ``input`` unless given.
"""

from typing import Any

import numpy as np

from .._core.arrays import dtypes, unset
from .._core.arrays.conversions import fitting_array
from .._core.batching.rules import declare_rule, on_values
from .._core.graph.tensor import Tensor
from .._core.ops.overrides import handle_torch_function, is_taken_over
from .._core.runtime.entry import public
from .arguments import array_argument, laid_out_like, number, resolve, wrap


@public
def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``zeros_like(t)`` is a tensor of zeros with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.zeros_like(ag.tensor([1, 2]))
    tensor([0, 0])
    """
    if type(input) is not Tensor and is_taken_over((input,)):
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad, "memory_format": memory_format}
        return handle_torch_function(zeros_like, (input,), input, **options)
    array = array_argument("zeros_like", input)
    dtype = resolve(dtype, device, requires_grad, default=input.dtype)
    return wrap(laid_out_like(array, np.zeros, dtype, memory_format=memory_format), requires_grad)


@public
def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``ones_like(t)`` is a tensor of ones with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.ones_like(ag.tensor([1, 2]))
    tensor([1, 1])
    """
    if type(input) is not Tensor and is_taken_over((input,)):
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad, "memory_format": memory_format}
        return handle_torch_function(ones_like, (input,), input, **options)
    array = array_argument("ones_like", input)
    dtype = resolve(dtype, device, requires_grad, default=input.dtype)
    return wrap(laid_out_like(array, np.ones, dtype, memory_format=memory_format), requires_grad)


@public
def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``empty_like(t)`` has the shape and dtype of ``t``, and whatever numbers were in its memory.

    >>> import autograd_cy as ag
    >>> ag.empty_like(ag.tensor([1, 2])).shape
    torch.Size([2])
    """
    if type(input) is not Tensor and is_taken_over((input,)):
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad, "memory_format": memory_format}
        return handle_torch_function(empty_like, (input,), input, **options)
    array = array_argument("empty_like", input)
    dtype = resolve(dtype, device, requires_grad, default=input.dtype)
    return wrap(laid_out_like(array, unset.empty, dtype, memory_format=memory_format), requires_grad)


@public
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``full_like(t, 7)`` is a tensor of sevens with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.full_like(ag.tensor([1, 2]), 7)
    tensor([7, 7])
    """
    if type(input) is not Tensor and is_taken_over((input,)):
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad, "memory_format": memory_format}
        return handle_torch_function(full_like, (input,), input, fill_value, **options)
    array = array_argument("full_like", input)
    fill_value = number("full_like", "fill_value", fill_value)
    dtype = resolve(dtype, device, requires_grad, default=input.dtype)
    unbroadcast = fitting_array(fill_value, dtypes.convert(dtype))
    return wrap(laid_out_like(array, np.full, unbroadcast, dtype, memory_format=memory_format), requires_grad)


for _function in (zeros_like, ones_like, empty_like, full_like):
    declare_rule(_function, on_values)
