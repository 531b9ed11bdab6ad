"""make_tensor: a tensor of random values in a range, as inputs of tests are made (facade)."""

import math
import warnings
from typing import Any

import numpy as np

from .. import random
from .._core.arrays.dtypes import dtype as Dtype
from .._core.arrays.dtypes import finfo_of, kind_of
from .._core.graph.tensor import Tensor, from_array
from .._core.runtime.entry import public
from .._creation import resolve, sizes
from .._settings.default_device import get_default

Number = int | float


@public
def make_tensor(
    *shape: Any,
    dtype: Dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """make_tensor(*shape, dtype, device): a tensor of random values that are at least `low` and less than `high`.

    The values are evenly distributed; `manual_seed` makes them reproducible (they are other ones than PyTorch's).

    * `shape`: ints, or one sequence of them.
    * `low`, `high`: without them -9 and 9 for float and complex types, -9 and 10 for integers, 0 and 2 for bool; limited to
      what the dtype can hold. Real and imaginary parts of complex numbers are drawn alike.
    * `requires_grad`: for float and complex types.
    * `noncontiguous`: the result has gaps between its elements; one of less than two elements has none.
    * `exclude_zero`: zeros become the smallest positive number of the dtype that has full precision, or 1.
    * `memory_format`: the order of the dimensions in memory.

    Raises ValueError if `low` and `high` are no range, or none of the dtype; TypeError if `dtype` is no dtype.

    >>> import autograd_cy as ag
    >>> x = ag.testing.make_tensor(2, 3, dtype=ag.float64, device="cpu", low=0, high=1, requires_grad=True)
    >>> x.shape, bool((x >= 0).all()), bool((x < 1).all()), x.is_leaf
    (torch.Size([2, 3]), True, True, True)
    >>> ag.testing.make_tensor((4,), dtype=ag.int64, device="cpu", noncontiguous=True).stride()
    (2,)
    """
    if len(shape) == 1 and not isinstance(shape[0], str) and hasattr(shape[0], "__getitem__"):
        shape = tuple(shape[0])
    if not isinstance(dtype, Dtype):
        raise TypeError(f"The requested dtype '{dtype}' is not supported by autograd_cy.testing.make_tensor()")
    kind = resolve(dtype, device, False)
    if requires_grad and kind_of(kind) not in "fc":
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    if memory_format is not None:
        if noncontiguous:
            raise ValueError(
                f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, "
                f"but got {noncontiguous=} and {memory_format=}"
            )
    size = sizes("make_tensor", (shape,))
    first, end = _limits(dtype, kind, low, high)
    values = _draw_fractions(kind, size, first, end) if kind_of(kind) in "fc" else _draw_integers(kind, size, first, end)
    if exclude_zero:
        values[values == 0] = finfo_of(kind).tiny if kind_of(kind) in "fc" else 1
    result = from_array(_with_gaps(values) if noncontiguous and values.size > 1 else values)
    if memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if device is None:
        result = result.to(get_default())
    result.requires_grad = requires_grad
    return result


def _limits(dtype: Dtype, kind: np.dtype[Any], low: Any, high: Any) -> tuple[Number, Number]:
    """The least value, and the one that is not reached."""
    lowest: Number
    beyond: Number
    if kind_of(kind) == "b":
        lowest, beyond, usual = 0, 2, (0, 2)
    elif kind_of(kind) in "iu":
        lowest, beyond, usual = int(np.iinfo(kind).min), int(np.iinfo(kind).max) + 1, (-9, 10)
        beyond = min(beyond, 2**63 - 1)
    else:
        lowest, beyond, usual = float(finfo_of(kind).min), float(finfo_of(kind).max), (-9, 9)
    low, high = usual[0] if low is None else low, usual[1] if high is None else high
    if any(isinstance(limit, float) and math.isnan(limit) for limit in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and kind_of(kind) in "fc":
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 and "
            "will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=3,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < lowest or low >= beyond:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), "
            f"but {dtype} only supports [{lowest}, {beyond})"
        )
    return max(lowest, min(low, beyond)), min(beyond, max(high, lowest))


def _draw_integers(kind: np.dtype[Any], size: tuple[int, ...], low: Number, high: Number) -> np.ndarray:
    """An array of integers or bools that are at least `low` and less than `high`."""
    first, end = math.ceil(low), math.ceil(high)
    if first >= end:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={first} >= to={end}")
    return np.asarray(random.default_generator.numpy.integers(first, end, size)).astype(kind)


def _draw_fractions(kind: np.dtype[Any], size: tuple[int, ...], first: Number, end: Number) -> np.ndarray:
    """An array of values from `first` up to, but not including, `end`; `first` where they are equal."""
    part = np.empty(0, kind).real.dtype
    share = random.default_generator.numpy.random((*size, 2) if kind_of(kind) == "c" else size)
    values = np.asarray(first * (1 - share) + end * share).astype(part)  # end - first may be too large for a float
    below = np.nextafter(part.type(end), part.type(first))
    np.clip(values, part.type(first), below, out=values)  # rounding must not reach the end
    return values.view(kind)[..., 0] if kind_of(kind) == "c" else values


def _with_gaps(values: np.ndarray) -> np.ndarray:
    """The same values, each with another one before it in memory; the last dimension has steps of two."""
    room = np.zeros((*values.shape[:-1], 2 * values.shape[-1]), values.dtype)
    apart = room[..., 1::2]
    apart[...] = values
    return apart
