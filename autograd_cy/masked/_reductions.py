"""Reductions to which elements that are masked out contribute nothing (facade).

All take ``mask``, bools that are true for what counts, which is broadcast to the input; ``dim``, one dimension or several
(None: all); ``keepdim``; and ``dtype``, that of the result.
"""

import math
from typing import Any

from .. import linalg
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._functional import names
from ._masks import Dims, checked_mask, dimensions, filled, integers_as_int64


@public
def sum(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.sum(t, mask=m)`` is the sum of the elements that m is true for, 0 if there are none.

    >>> import autograd_cy as ag
    >>> ag.masked.sum(ag.tensor([1.0, 2.0, 3.0]), mask=ag.tensor([True, False, True]))
    tensor(4.)
    """
    values = filled("sum", input, mask)
    return names.sum(values, dimensions(dim, input.ndim), bool(keepdim), dtype=integers_as_int64(input, dtype))


@public
def prod(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.prod(t, mask=m)`` is the product of the elements that m is true for, 1 if there are none.

    >>> import autograd_cy as ag
    >>> ag.masked.prod(ag.tensor([1.0, 2.0, 3.0]), mask=ag.tensor([True, False, True]))
    tensor(3.)
    """
    values = filled("prod", input, mask).to(integers_as_int64(input, dtype))
    for d in reversed(dimensions(dim, input.ndim)):
        values = values.prod(d, bool(keepdim))
    return values


@public
def amax(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.amax(t, mask=m)`` is the largest of the elements that m is true for, -inf (or the least integer) of none.

    >>> import autograd_cy as ag
    >>> ag.masked.amax(ag.tensor([1.0, 2.0, 3.0]), mask=ag.tensor([True, True, False]))
    tensor(2.)
    """
    values = filled("amax", input, mask)
    return names.amax(values, dimensions(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


@public
def amin(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.amin(t, mask=m)`` is the least of the elements that m is true for, inf (or the largest integer) of none.

    >>> import autograd_cy as ag
    >>> ag.masked.amin(ag.tensor([1.0, 2.0, 3.0]), mask=ag.tensor([False, True, True]))
    tensor(2.)
    """
    values = filled("amin", input, mask)
    return names.amin(values, dimensions(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


@public
def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """``masked.argmax(t, mask=m)`` is the index of the largest of the elements that m is true for, by default in t's dtype.

    >>> import autograd_cy as ag
    >>> ag.masked.argmax(ag.tensor([1.0, 2.0, 3.0]), mask=ag.tensor([True, True, False]), dtype=ag.int64)
    tensor(1)
    """
    return names.argmax(filled("argmax", input, mask), dim, bool(keepdim)).to(dtype or input.dtype)


@public
def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """``masked.argmin(t, mask=m)`` is the index of the least of the elements that m is true for, by default in t's dtype.

    >>> import autograd_cy as ag
    >>> ag.masked.argmin(ag.tensor([1.0, 2.0, 3.0]), mask=ag.tensor([False, True, True]), dtype=ag.int64)
    tensor(1)
    """
    return names.argmin(filled("argmin", input, mask), dim, bool(keepdim)).to(dtype or input.dtype)


@public
def mean(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.mean(t, mask=m)`` is the mean of the elements that m is true for, nan of none. ValueError for integers.

    >>> import autograd_cy as ag
    >>> ag.masked.mean(ag.tensor([1.0, 2.0, 3.0]), mask=ag.tensor([True, False, True]))
    tensor(2.)
    """
    total = filled("sum", input, mask)
    wanted = dtype or input.dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Input' if dtype is None else 'Optional'} dtype must be either "
            f"a floating point or complex dtype. Got: {wanted}"
        )
    dims = dimensions(dim, input.ndim)
    return names.sum(total, dims, bool(keepdim), dtype=wanted) / _count(input, dims, bool(keepdim), mask)


@public
def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """``masked.median(t, mask=m)`` is the lower median along ``dim`` of the elements that m is true for, nan of none.

    ValueError where there are none and the dtype has no nan.

    >>> import autograd_cy as ag
    >>> ag.masked.median(ag.tensor([1.0, 2.0, 3.0]), mask=ag.tensor([False, True, True]))
    tensor(2.)
    """
    d = dimensions(dim, input.ndim)[0]
    floats = input if input.dtype.is_floating_point else input.to(names.float32)
    found = names.nanmedian(filled("median", floats, mask), d, keepdim).values
    if input.dtype.is_floating_point:
        return found
    if names.isnan(found).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return found.to(dtype or input.dtype)


@public
def logsumexp(
    input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """``masked.logsumexp(t, mask=m)`` is the logarithm of the sum of exponentials of the elements that m is true for.

    >>> import autograd_cy as ag
    >>> ag.masked.logsumexp(ag.tensor([0.0, 2.0, 0.0]), mask=ag.tensor([True, False, True]))
    tensor(0.6931)
    """
    values = filled("logsumexp", input, mask)
    return names.logsumexp(values, dimensions(dim, input.ndim), bool(keepdim)).to(dtype or input.dtype)


@public
def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """``masked.norm(t, ord=2, mask=m)`` is the norm of the vector of elements that m is true for, 0 of none.

    >>> import autograd_cy as ag
    >>> ag.masked.norm(ag.tensor([3.0, 2.0, 4.0]), mask=ag.tensor([True, False, True]))
    tensor(5.)
    """
    values = filled("norm", input, mask, ord)
    dims = dimensions(dim, input.ndim)
    return linalg.vector_norm(values, 2.0 if ord is None else ord, dims, bool(keepdim), dtype=dtype or input.dtype)


@public
def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """``masked.var(t, mask=m)`` is the variance of the elements that m is true for, nan of none.

    The sum of squares is divided by their number less ``correction``, which is 1, or 0 for ``unbiased=False``.

    >>> import autograd_cy as ag
    >>> ag.masked.var(ag.tensor([1.0, 9.0, 3.0]), mask=ag.tensor([True, False, True]))
    tensor(2.)
    """
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    correction = float(unbiased is not False) if correction is None else correction
    values, dims = filled("sum", input, mask), dimensions(dim, input.ndim)
    wanted = dtype or (input.dtype if input.dtype.is_floating_point or input.dtype.is_complex else names.float32)
    inexact = wanted if wanted.is_floating_point or wanted.is_complex else names.float32
    mean = names.sum(values, dims, True, dtype=wanted) / _count(input, dims, True, mask)
    x = input - mean
    total = names.sum(filled("sum", x * x.conj(), mask), dims, bool(keepdim), dtype=inexact)
    count = _count(input, dims, bool(keepdim), mask)
    if isinstance(count, Tensor):
        less = (count - correction).clamp(min=0) if correction else count
        return (total / less).to(wanted)
    return (total / max(count - correction, 0)).to(wanted)


@public
def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """``masked.std(t, mask=m)`` is the root of ``masked.var``.

    >>> import autograd_cy as ag
    >>> ag.masked.std(ag.tensor([1.0, 9.0, 3.0]), mask=ag.tensor([True, False, True]), correction=0)
    tensor(1.)
    """
    found = var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask)
    return found.sqrt()


def _count(input: Tensor, dims: tuple[int, ...], keepdim: bool, mask: Tensor | None) -> Any:
    """How many elements there are: a number, or a tensor of how many are not masked out."""
    if mask is None:
        return math.prod(input.shape[d] for d in dims if input.ndim)
    return names.sum(checked_mask(input, mask), dims, keepdim)
