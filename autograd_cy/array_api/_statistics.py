"""The functions of the Array API standard that reduce, search and sort (facade)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from .._core.arrays import dtypes
from .._core.graph.tensor import Tensor
from .._creation.data import as_tensor
from .._functional import names as ops
from .._numpy import _mathematics, _picked, _reductions
from .._numpy._arguments import axis_of
from ._promotion import promoted

# ------------------------------------------------------------------------------------------------------------
# sums and their kin


def all(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """all(x, /, *, axis=None, keepdims=False): whether no element is zero."""
    return _reductions._all(x, axis, None, keepdims)


def any(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """any(x, /, *, axis=None, keepdims=False): whether an element is not zero."""
    return _reductions._any(x, axis, None, keepdims)


def sum(x: Tensor, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """sum(x, /, *, axis=None, dtype=None, keepdims=False): the sum, of integers in int64 unless a type is given."""
    return _reductions._sum(_wide(x, dtype), axis, None, None, keepdims)


def prod(x: Tensor, /, *, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Tensor:
    """prod(x, /, *, axis=None, dtype=None, keepdims=False): the product, of integers in int64 unless a type is given."""
    y = _reductions._prod(_wide(x, dtype), axis, None, None, keepdims)
    return y if dtype is None else y.to(dtypes.convert(dtype))


def _wide(x: Tensor, dtype: Any) -> Tensor:
    """In the type of the result: small integers become int64."""
    if dtype is not None:
        return x.to(dtypes.convert(dtype))
    return x if x.dtype.is_floating_point or x.dtype.is_complex else x.long()


def mean(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """mean(x, /, *, axis=None, keepdims=False): the mean."""
    return _reductions._mean(x, axis, None, None, keepdims)


def std(x: Tensor, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False) -> Tensor:
    """std(x, /, *, axis=None, correction=0.0, keepdims=False): the standard deviation."""
    return _reductions._std(x, axis, None, None, correction, keepdims)


def var(x: Tensor, /, *, axis: Any = None, correction: Any = 0.0, keepdims: Any = False) -> Tensor:
    """var(x, /, *, axis=None, correction=0.0, keepdims=False): the variance."""
    return _reductions._var(x, axis, None, None, correction, keepdims)


def max(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """max(x, /, *, axis=None, keepdims=False): the largest element."""
    return _reductions._whole(ops.amax, x, axis, keepdims)


def min(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """min(x, /, *, axis=None, keepdims=False): the smallest element."""
    return _reductions._whole(ops.amin, x, axis, keepdims)


def cumulative_sum(x: Tensor, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Tensor:
    """cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False): the sums up to each element."""
    return _cumulated(_reductions._cumulative_sum, x, axis, dtype, include_initial)


def cumulative_prod(x: Tensor, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Tensor:
    """cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False): the products up to each element."""
    return _cumulated(_reductions._cumulative_prod, x, axis, dtype, include_initial)


def _cumulated(function: Callable[..., Tensor], x: Tensor, axis: Any, dtype: Any, include_initial: Any) -> Tensor:
    if axis is None and x.ndim > 1:
        raise ValueError("axis must be given for an array of several dimensions")
    return function(_wide(x, dtype), axis=axis, include_initial=include_initial)


def diff(x: Tensor, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    """diff(x, /, *, axis=-1, n=1, prepend=None, append=None): the differences of neighbours, n times."""
    return _mathematics._diff(x, n, axis, prepend, append)


# ------------------------------------------------------------------------------------------------------------
# search


def argmax(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """argmax(x, /, *, axis=None, keepdims=False): where the largest element is."""
    return _of_one_axis(ops.argmax, x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """argmin(x, /, *, axis=None, keepdims=False): where the smallest element is."""
    return _of_one_axis(ops.argmin, x, axis, keepdims)


def _of_one_axis(operation: Callable[..., Tensor], x: Tensor, axis: Any, keepdims: Any) -> Tensor:
    if axis is not None:
        return operation(x, axis_of(axis, x.ndim), keepdims)
    y = operation(x.reshape(-1), 0)
    return y.reshape((1,) * x.ndim) if keepdims else y


def count_nonzero(x: Tensor, /, *, axis: Any = None, keepdims: Any = False) -> Tensor:
    """count_nonzero(x, /, *, axis=None, keepdims=False): how many elements are not zero."""
    return _reductions._sum(x.bool(), axis, None, None, keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """nonzero(x, /): the indices of the elements that are not zero, an array for each axis."""
    if not x.ndim:
        raise ValueError("nonzero() is not for arrays without dimensions")
    found: Any = x.nonzero(as_tuple=True)
    return tuple(found)


def searchsorted(x1: Tensor, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Tensor:
    """searchsorted(x1, x2, /, *, side="left", sorter=None): where numbers would stand in a sorted vector."""
    first, second = promoted(x1, x2)
    return ops.searchsorted(first, second, side=side, sorter=sorter)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """where(condition, x1, x2, /): the elements of x1 where the condition is true, else those of x2."""
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        return ops.where(condition, x1, x2)
    return ops.where(condition, *promoted(x1, x2))


# ------------------------------------------------------------------------------------------------------------
# order and sets


def sort(x: Tensor, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Tensor:
    """sort(x, /, *, axis=-1, descending=False, stable=True): in order along an axis."""
    return ops.sort(x, axis_of(axis, x.ndim), descending, stable=stable)[0]


def argsort(x: Tensor, /, *, axis: int = -1, descending: Any = False, stable: Any = True) -> Tensor:
    """argsort(x, /, *, axis=-1, descending=False, stable=True): the indices that sort along an axis."""
    return ops.argsort(x, axis_of(axis, x.ndim), descending, stable=stable)


class UniqueAll(NamedTuple):
    """What unique_all() returns."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """What unique_counts() returns."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """What unique_inverse() returns."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """unique_all(x, /): the different elements, where each is first, which one each element is, and how often each occurs."""
    return _unique(x)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """unique_counts(x, /): the different elements, and how often each occurs."""
    found = _unique(x)
    return UniqueCounts(found.values, found.counts)


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """unique_inverse(x, /): the different elements, and which one each element is."""
    found = _unique(x)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Tensor, /) -> Tensor:
    """unique_values(x, /): the different elements."""
    return _unique(x).values


def _unique(x: Tensor) -> UniqueAll:
    values, *others = _picked._unique(x, True, True, True, equal_nan=False)
    indices, inverse, counts = (as_tensor(x) for x in others)
    return UniqueAll(values, indices, inverse.reshape(x.shape), counts)
