"""Tensors of numbers at equal distances, or in equal ratios (facade).

The keywords ``dtype``, ``device``, ``requires_grad`` and ``out`` are explained in ``_creation``.
"""

import math
from typing import Any

import numpy as np

from .._core.arrays.dtypes import kind_of
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._types import dtype_of_number
from . import integer, number, resolve, to_integers, wrap


@public
def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    out: Tensor | None = None,
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
    dtype = resolve(dtype, device, requires_grad, default=dtype_of_number(int) if integral else None, out=out)
    if kind_of(dtype) in "bc":
        raise NotImplementedError(f"arange is not implemented for {dtype}")
    return wrap(_count(bounds, dtype), requires_grad, out, "arange")


@public
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``linspace(start, end, steps)`` is ``steps`` numbers at equal distances, from start to end inclusive.

    The result is of the default dtype, or of its complex type if start or end is complex.

    >>> import autograd_cy as ag
    >>> ag.linspace(0, 1, 5)
    tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000])
    """
    start, end, steps, dtype = _line("linspace", start, end, steps, dtype, device, requires_grad, out)
    return wrap(_spread(start, end, steps, dtype), requires_grad, out, "linspace")


@public
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``logspace(start, end, steps, base=10.0)`` is base to the power of ``linspace(start, end, steps)``.

    >>> import autograd_cy as ag
    >>> ag.logspace(0, 2, 3)
    tensor([  1.,  10., 100.])
    """
    start, end, steps, dtype = _line("logspace", start, end, steps, dtype, device, requires_grad, out)
    if kind_of(dtype) in "iu":
        start, end = (to_integers(np.array(x), dtype).item() for x in (start, end))
    with np.errstate(all="ignore"):
        powers = _spread(start, end, steps, np.dtype(np.complex128) if kind_of(dtype) == "c" else _wide(dtype))
        array = np.power(np.asarray(base, powers.dtype), powers).astype(dtype)
    return wrap(array, requires_grad, out, "logspace")


@public
def fftfreq(
    n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """fftfreq(n, d=1.0) -> Tensor: the frequencies of fft()'s results: 0, 1, ..., then the negative ones, over n * d.

    >>> import autograd_cy as ag
    >>> ag.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    wanted = resolve(dtype, device, requires_grad, out=out)
    n = integer("fft_fftfreq", "n", n)
    counted = np.arange(n)
    counted[(n + 1) // 2 :] -= n
    return wrap(_frequencies(counted, n, d, wanted), requires_grad, out, "fftfreq")


@public
def rfftfreq(
    n: int, d: float = 1.0, *, out: Tensor | None = None, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """rfftfreq(n, d=1.0) -> Tensor: the frequencies of rfft()'s results: 0, 1, ..., n // 2, over n * d.

    >>> import autograd_cy as ag
    >>> ag.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    wanted = resolve(dtype, device, requires_grad, out=out)
    n = integer("fft_rfftfreq", "n", n)
    return wrap(_frequencies(np.arange(n // 2 + 1), n, d, wanted), requires_grad, out, "rfftfreq")


# ------------------------------------------------------------------------------------------------------------


def _line(
    name: str, start: Any, end: Any, steps: Any, dtype: Any, device: Any, requires_grad: bool, out: Tensor | None
) -> tuple[Any, Any, int, np.dtype]:
    """The arguments of linspace and logspace, checked."""
    start, end = _bound(name, "start", start), _bound(name, "end", end)
    steps = integer(name, "steps", steps)
    is_complex = isinstance(start, complex) or isinstance(end, complex)
    dtype = resolve(dtype, device, requires_grad, dtype_of_number(complex) if is_complex else None, out)
    if kind_of(dtype) == "b":
        raise NotImplementedError(f"{name} is not implemented for bool")
    if is_complex and kind_of(dtype) != "c":
        raise RuntimeError(f"{name}(): a complex start or end can't be safely cast to {dtype}")
    if steps < 0:
        raise RuntimeError(f"{name}: number of steps must be non-negative, got {steps}")
    return start, end, steps, dtype


def _bound(function: str, argument: str, value: Any) -> complex:
    """The number that start or end is; tensors may require grad, but the result does not."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise RuntimeError(
                f"{function} only supports 0-dimensional start and end tensors, but got {argument} with {value.ndim} "
                "dimension(s)."
            )
        value = value.detach()
    return number(function, argument, value)


def _count(bounds: list[Any], dtype: np.dtype) -> np.ndarray:
    """The result of ``arange``."""
    length, (start, _, step) = length_of_arange(bounds, dtype), bounds
    if kind_of(dtype) in "iu":
        start, step = int(start), int(step)
    return (start + np.arange(length) * step).astype(dtype)


def length_of_arange(bounds: list[Any], dtype: np.dtype) -> int:
    """The length of ``arange(*bounds)``. Only for int64, it is computed from truncated arguments."""
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
    if length * dtype.itemsize >= 2**63:
        raise RuntimeError("invalid size, possible overflow?")
    return length


def _spread(start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    """What ``linspace`` returns: one half counted from start and one from end, so that both are exact."""
    if kind_of(dtype) in "iu":
        start, end = (to_integers(np.array(x), dtype).item() for x in (start, end))
    if dtype == np.longdouble:
        start, end = np.longdouble(start), np.longdouble(end)
    step = (end - start) / max(steps - 1, 1)
    i = np.arange(steps)
    with np.errstate(invalid="ignore"):
        values = np.where(i < (steps + 1) // 2, start + i * step, end - (steps - 1 - i) * step)
        return values.astype(dtype)


def _frequencies(counted: np.ndarray, n: int, d: float, dtype: np.dtype) -> np.ndarray:
    """What ``fftfreq`` and ``rfftfreq`` return."""
    if kind_of(dtype) not in "fc":
        raise RuntimeError("fftfreq requires a floating point or complex dtype")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    with np.errstate(all="ignore"):
        return (counted * (1 / _wide(dtype).type(n * d))).astype(dtype)


def _wide(dtype: np.dtype) -> np.dtype:
    """The type in which real numbers of that dtype are computed."""
    return dtype if dtype == np.longdouble else np.dtype(np.float64)
