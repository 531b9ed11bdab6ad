"""Differences of neighbours, and areas under a curve by the trapezoid rule."""

from autograd_cy._core.arrays.dtypes cimport BOOL, code_of
from autograd_cy._core.graph.record cimport as_tensor, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.reductions.reduction_node cimport one_dim
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE, rank_of
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.shape import cat

cnp.import_array()


cdef tuple neighbours(object x, int dim):
    """(all but the first, all but the last) along a dimension."""
    cdef tuple before = (slice(None),) * dim
    return x[(*before, slice(1, None))], x[(*before, slice(None, -1))]


@op(methods=("diff",), batch=COMPOSITE)
def diff(input, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None):
    """diff(input, n=1, dim=-1, prepend=None, append=None) -> Tensor: the differences of neighbours along `dim`, n times.

    `prepend` and `append` are tensors that are put before and behind first. Of bools it tells where neighbours differ.

    >>> import autograd_cy as ag
    >>> ag.diff(ag.tensor([1.0, 3.0, 2.0]))
    tensor([ 2., -1.])
    """
    cdef object x = as_tensor(input, "diff")
    cdef int d
    if cnp.PyArray_NDIM((<Tensor> x).array) == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    d = wrap_dim(dim, x.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return x.clone()
    for part in (prepend, append):
        if part is not None and part.ndim != x.ndim:
            raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    if prepend is not None or append is not None:
        x = cat([part for part in (prepend, x, append) if part is not None], d)
    for _ in range(min(n, x.shape[d])):
        after, before = neighbours(x, d)
        x = after.logical_xor(before) if code_of((<Tensor> x).array) == BOOL else after - before
    return x


# areas

cdef object spacing(object y, object x, int dim):
    """The differences of `x`, so that they broadcast to neighbours of y along `dim`."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        after, before = neighbours(x, 0)
        return (after - before).reshape((-1,) + (1,) * (y.ndim - 1 - dim))
    x = x.reshape((1,) * max(y.ndim - x.ndim, 0) + tuple(x.shape))
    after, before = neighbours(x, x.ndim - y.ndim + dim)
    return after - before


cdef object areas(object y, object x, object dx, int dim):
    """The areas between neighbours along a dimension, twice; then they are halved, or their sum is."""
    after, before = neighbours(y, dim)
    return (after + before) * (dx if x is None else spacing(y, x, dim))


cdef tuple sampled(object y, object x, object dx, object dim, str operation):
    """(y, x, dx, dim) as the two functions below take them."""
    cdef object values = as_tensor(y, operation)
    if code_of((<Tensor> values).array) == BOOL:
        raise RuntimeError(f"{operation}: received a bool input for `y`, but bool is not supported")
    if not values.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if x is not None and dx is not None:
        raise TypeError(f"{operation}() received an invalid combination of arguments: both x and dx")
    if dx is not None and isinstance(dx, (bool, Tensor)):
        raise RuntimeError(f"{operation}: Currently, we only support dx as a real number.")
    return values, x, 1 if dx is None else dx, one_dim(dim, values.ndim, operation)


def batched_areas(call, y, x=None, *, dx=None, dim=-1):
    """Points that are batched get all dimensions of a sample: by them they are told from those that are the same for all."""
    cdef int rank = rank_of(y), d = one_dim(dim, rank, "trapezoid")
    if not call.is_batched(x):
        if x is not None and x.ndim > 1:
            x = x.reshape((1,) * max(rank + 1 - x.ndim, 0) + tuple(x.shape))
        return call(call.value(y), x, dx=dx, dim=d + 1)
    if x.ndim == 1 and rank:
        if x.shape[0] != y.shape[d]:
            call.on_sample(y, x)
        points = call.value(x).reshape((call.size,) + (1,) * d + (-1,) + (1,) * (rank - 1 - d))
    else:
        points = call.aligned(x, rank)
    rank = points.ndim - 1 - rank
    values = call.front(y)
    values = values.reshape((call.size,) + (1,) * rank + tuple(values.shape[1:]))
    return call(values, points, dim=d + 1 + rank)


@op(methods=(), batch=batched_areas)
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim=-1):
    """trapezoid(y, x=None, *, dx=None, dim=-1) -> Tensor: the area under a curve along `dim`, by the trapezoid rule.

    The values y belong to the points x, or to points that are dx apart (1 without both).

    >>> import autograd_cy as ag
    >>> ag.trapezoid(ag.tensor([1.0, 2.0, 3.0]), ag.tensor([0.0, 1.0, 3.0]))
    tensor(6.5000)
    """
    values, x, dx, d = sampled(y, x, dx, dim, "trapezoid")
    if values.shape[d] == 0:
        return values.new_zeros(shape_of(<Tensor> values)[:d] + shape_of(<Tensor> values)[d + 1:])
    return areas(values, x, dx, d).sum(d) / 2


@op(methods=(), batch=batched_areas)
def trapz(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim=-1):
    """trapz(y, x=None, *, dx=None, dim=-1) -> Tensor: trapezoid(), under NumPy's old name.

    >>> import autograd_cy as ag
    >>> ag.trapz(ag.tensor([1.0, 2.0, 3.0]), dx=2)
    tensor(8.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


@op(methods=(), batch=batched_areas)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim=-1):
    """cumulative_trapezoid(y, x=None, *, dx=None, dim=-1) -> Tensor: the areas under a curve up to each point but the first.

    As trapezoid(), of which the result is the last element along `dim`.

    >>> import autograd_cy as ag
    >>> ag.cumulative_trapezoid(ag.tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    values, x, dx, d = sampled(y, x, dx, dim, "cumulative_trapezoid")
    return areas(values, x, dx, d).cumsum(d) / 2
