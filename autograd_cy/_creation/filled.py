"""Tensors filled with one number, of a given size or like another tensor, and the default dtype (facade).

The keywords ``dtype``, ``device``, ``requires_grad`` and ``out`` are explained in ``_creation``; ``memory_format`` is the
order of the dimensions in memory, in functions ``_like`` that of ``input`` unless given.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.arrays import dtypes, unset
from .._core.arrays.buffers import fitting_array
from .._core.arrays.formats import checked, contiguous_format, made_in
from .._core.batching.rules import declare_rule, on_values
from .._core.graph.tensor import Tensor
from .._core.ops.overrides import handle_torch_function, is_taken_over
from .._core.runtime.entry import public
from .._types import dtype_of_number
from . import array_argument, integer, laid_out_like, number, resolve, sizes, wrap


@public
def set_default_dtype(d: Any) -> None:
    """``set_default_dtype(float64)`` chooses the dtype that Python's floats get.

    TypeError for anything but a floating point dtype.

    >>> import autograd_cy as ag
    >>> ag.set_default_dtype(ag.float64)
    >>> ag.tensor(1.5).dtype
    torch.float64
    >>> ag.set_default_dtype(ag.float32)
    """
    dtypes.set_default(d)


def get_default_dtype() -> dtypes.dtype:
    """``get_default_dtype()`` is the dtype that Python's floats get.

    >>> import autograd_cy as ag
    >>> ag.get_default_dtype()
    torch.float32
    """
    return dtypes.get_default()


@public
def zeros(
    *shape: int | Sequence[int],
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``zeros(2, 3)`` is a tensor of zeros.

    >>> import autograd_cy as ag
    >>> ag.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    dtype = resolve(dtype, device, requires_grad, out=out)
    return wrap(np.zeros(sizes("zeros", shape, size), dtype), requires_grad, out, "zeros")


@public
def ones(
    *shape: int | Sequence[int],
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``ones(3)`` is a tensor of ones.

    >>> import autograd_cy as ag
    >>> ag.ones(3)
    tensor([1., 1., 1.])
    """
    dtype = resolve(dtype, device, requires_grad, out=out)
    return wrap(np.ones(sizes("ones", shape, size), dtype), requires_grad, out, "ones")


@public
def empty(
    *shape: int | Sequence[int],
    size: Any = None,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """``empty(3)`` is a tensor whose numbers are whatever was in its memory.

    >>> import autograd_cy as ag
    >>> ag.empty(2, 3).shape
    torch.Size([2, 3])
    """
    dtype = resolve(dtype, device, requires_grad, out=out)
    wanted = contiguous_format if memory_format is None else checked(memory_format, "empty")
    if wanted is None:
        raise RuntimeError("unsupported memory format Preserve")
    return wrap(made_in(wanted, unset.empty, sizes("empty", shape, size), dtype), requires_grad, out, "empty")


@public
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``full((2,), 7)`` is a tensor of sevens; its dtype follows from the number, as for ``tensor(7)``.

    RuntimeError for a number that ``dtype`` can't hold.

    >>> import autograd_cy as ag
    >>> ag.full((2,), 7), ag.full((2,), 7.0)
    (tensor([7, 7]), tensor([7., 7.]))
    """
    shape = sizes("full", (), size)
    fill_value = number("full", "fill_value", fill_value)
    dtype = resolve(dtype, device, requires_grad, default=dtype_of_number(type(fill_value)), out=out)
    return wrap(np.full(shape, fitting_array(fill_value, dtypes.convert(dtype)), dtype), requires_grad, out, "full")


@public
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``eye(n, m=n)`` has ones on the diagonal of an n x m matrix and zeros elsewhere.

    >>> import autograd_cy as ag
    >>> ag.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    dtype = resolve(dtype, device, requires_grad, out=out)
    rows = integer("eye", "n", n)
    columns = rows if m is None else integer("eye", "m", m)
    for name, value in (("n", rows), ("m", columns)):
        if value < 0:
            raise RuntimeError(f"eye: {name} must be greater or equal to 0, got {value}")
    return wrap(np.eye(rows, columns, dtype=dtype), requires_grad, out, "eye")


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
