"""Tensors filled by a rule, and the default dtype (facade).

The keywords ``dtype``, ``device`` and ``requires_grad`` are explained in ``_arguments``.
"""

import math
from typing import Any

import numpy as np

from ._arguments import (
    array_argument,
    dtype_of_number,
    integer,
    laid_out_like,
    number,
    resolve,
    sizes,
    to_integers,
    wrap,
)
from ._core.arrays import dtypes
from ._core.arrays.conversions import fitting_array
from ._core.graph.tensor import Tensor
from ._core.ops.overrides import handle_torch_function, is_taken_over
from ._core.runtime.entry import public


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
    *shape: int, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``zeros(2, 3)`` is a tensor of zeros.

    >>> import autograd_cy as ag
    >>> ag.zeros(2, 3)
    tensor([[0., 0., 0.],
            [0., 0., 0.]])
    """
    dtype = resolve(dtype, device, requires_grad)
    return wrap(np.zeros(sizes("zeros", shape, size), dtype), requires_grad)


@public
def ones(
    *shape: int, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``ones(3)`` is a tensor of ones.

    >>> import autograd_cy as ag
    >>> ag.ones(3)
    tensor([1., 1., 1.])
    """
    dtype = resolve(dtype, device, requires_grad)
    return wrap(np.ones(sizes("ones", shape, size), dtype), requires_grad)


@public
def empty(
    *shape: int, size: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``empty(3)`` is a tensor whose numbers are whatever was in its memory.

    >>> import autograd_cy as ag
    >>> ag.empty(2, 3).shape
    torch.Size([2, 3])
    """
    dtype = resolve(dtype, device, requires_grad)
    return wrap(np.empty(sizes("empty", shape, size), dtype), requires_grad)


@public
def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``full((2,), 7)`` is a tensor of sevens; its dtype follows from the number, as for ``tensor(7)``.

    RuntimeError for a number that ``dtype`` can't hold.

    >>> import autograd_cy as ag
    >>> ag.full((2,), 7), ag.full((2,), 7.0)
    (tensor([7, 7]), tensor([7., 7.]))
    """
    shape = sizes("full", (), size)
    fill_value = number("full", "fill_value", fill_value)
    dtype = resolve(dtype, device, requires_grad, default=dtype_of_number(type(fill_value)))
    return wrap(np.full(shape, _fitted(fill_value, dtype), dtype), requires_grad)


@public
def eye(
    n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``eye(n, m=n)`` has ones on the diagonal of an n x m matrix and zeros elsewhere.

    >>> import autograd_cy as ag
    >>> ag.eye(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    dtype = resolve(dtype, device, requires_grad)
    rows = integer("eye", "n", n)
    columns = rows if m is None else integer("eye", "m", m)
    for name, value in (("n", rows), ("m", columns)):
        if value < 0:
            raise RuntimeError(f"eye: {name} must be greater or equal to 0, got {value}")
    return wrap(np.eye(rows, columns, dtype=dtype), requires_grad)


@public
def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``arange(end)`` or ``arange(start, end, step=1)`` counts from start (0) to just before end.

    The result is int64 if all arguments are integers, else of the default dtype. RuntimeError if step is zero
    or leads away from end.

    >>> import autograd_cy as ag
    >>> ag.arange(3), ag.arange(1, 2, 0.25)
    (tensor([0, 1, 2]), tensor([1.0000, 1.2500, 1.5000, 1.7500]))
    """
    if end is None:
        start, end = 0, start
    elif start is None:
        start = 0
    bounds = [number("arange", name, x) for name, x in (("start", start), ("end", end), ("step", step))]
    integral = all(isinstance(x, int) for x in bounds)
    dtype = resolve(dtype, device, requires_grad, default=dtype_of_number(int) if integral else None)
    if dtype.kind in "bc":
        raise NotImplementedError(f"arange is not implemented for {dtype}")
    return wrap(_count(bounds, dtype), requires_grad)


@public
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``linspace(start, end, steps)`` is ``steps`` numbers at equal distances, from start to end inclusive.

    The result is of the default dtype, or of its complex type if start or end is complex.

    >>> import autograd_cy as ag
    >>> ag.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    start, end = number("linspace", "start", start), number("linspace", "end", end)
    steps = integer("linspace", "steps", steps)
    is_complex = isinstance(start, complex) or isinstance(end, complex)
    dtype = resolve(dtype, device, requires_grad, default=dtype_of_number(complex) if is_complex else None)
    if dtype.kind == "b":
        raise NotImplementedError("linspace is not implemented for bool")
    if is_complex and dtype.kind != "c":
        raise RuntimeError(f"linspace(): a complex start or end can't be safely cast to {dtype}")
    if steps < 0:
        raise RuntimeError(f"linspace: number of steps must be non-negative, got {steps}")
    return wrap(_spread(start, end, steps, dtype), requires_grad)


@public
def zeros_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``zeros_like(t)`` is a tensor of zeros with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.zeros_like(ag.tensor([1, 2]))
    tensor([0, 0])
    """
    if type(input) is not Tensor and is_taken_over((input,)):
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return handle_torch_function(zeros_like, (input,), input, **options)
    array = array_argument("zeros_like", input)
    dtype = resolve(dtype, device, requires_grad, default=input.dtype)
    return wrap(laid_out_like(array, np.zeros, dtype), requires_grad)


@public
def ones_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """``ones_like(t)`` is a tensor of ones with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.ones_like(ag.tensor([1, 2]))
    tensor([1, 1])
    """
    if type(input) is not Tensor and is_taken_over((input,)):
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return handle_torch_function(ones_like, (input,), input, **options)
    array = array_argument("ones_like", input)
    dtype = resolve(dtype, device, requires_grad, default=input.dtype)
    return wrap(laid_out_like(array, np.ones, dtype), requires_grad)


@public
def empty_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``empty_like(t)`` has the shape and dtype of ``t``, and whatever numbers were in its memory.

    >>> import autograd_cy as ag
    >>> ag.empty_like(ag.tensor([1, 2])).shape
    torch.Size([2])
    """
    if type(input) is not Tensor and is_taken_over((input,)):
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return handle_torch_function(empty_like, (input,), input, **options)
    array = array_argument("empty_like", input)
    dtype = resolve(dtype, device, requires_grad, default=input.dtype)
    return wrap(laid_out_like(array, np.empty, dtype), requires_grad)


@public
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``full_like(t, 7)`` is a tensor of sevens with the shape and dtype of ``t``.

    >>> import autograd_cy as ag
    >>> ag.full_like(ag.tensor([1, 2]), 7)
    tensor([7, 7])
    """
    if type(input) is not Tensor and is_taken_over((input,)):
        options = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
        return handle_torch_function(full_like, (input,), input, fill_value, **options)
    array = array_argument("full_like", input)
    fill_value = number("full_like", "fill_value", fill_value)
    dtype = resolve(dtype, device, requires_grad, default=input.dtype)
    unbroadcast = _fitted(fill_value, dtype)
    return wrap(laid_out_like(array, np.full, unbroadcast, dtype), requires_grad)


# ------------------------------------------------------------------------------------------------------------


def _fitted(value: bool | int | float | complex, dtype: np.dtype) -> Any:
    """``value`` as a scalar of ``dtype``; RuntimeError if that can't hold it."""
    return fitting_array(value, dtypes.convert(dtype))


def _count(bounds: list[Any], dtype: np.dtype) -> np.ndarray:
    """What ``arange`` returns. For int64 alone, the length is that of truncated arguments."""
    start, end, step = bounds
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"arange: unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError(
            f"arange: upper bound and lower bound inconsistent with step sign: {start} -> {end} by {step}"
        )
    if dtype == np.int64 and math.isfinite(step):
        start, end, step = int(start), int(end), int(step)
    if not step or math.isnan(step):
        raise RuntimeError(f"arange: step must be nonzero, got {step}")
    length = -((start - end) // step) if dtype == np.int64 else math.ceil((end - start) / step)
    if dtype.kind in "iu":
        start, step = int(start), int(step)
    return (start + np.arange(length) * step).astype(dtype)


def _spread(start: complex, end: complex, steps: int, dtype: np.dtype) -> np.ndarray:
    """What ``linspace`` returns: one half counted from start and one from end, so that both are exact."""
    if dtype.kind in "iu":
        start, end = (to_integers(np.array(x), dtype).item() for x in (start, end))
    step = (end - start) / max(steps - 1, 1)
    i = np.arange(steps)
    with np.errstate(invalid="ignore"):
        values = np.where(i < (steps + 1) // 2, start + i * step, end - (steps - 1 - i) * step)
        return values.astype(dtype)
