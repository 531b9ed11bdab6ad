"""Differences of neighbours, areas by the trapezoid rule, and slopes."""

from autograd_cy._core.arrays.dtypes cimport BOOL, UINT8, code_of
from autograd_cy._core.graph.record cimport as_tensor, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.reductions.sums cimport one_dim
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat


cdef tuple neighbours(object x, int dim):
    """(all but the first, all but the last) along a dimension."""
    cdef tuple before = (slice(None),) * dim
    return x[(*before, slice(1, None))], x[(*before, slice(None, -1))]


@op(methods=("diff",), batch=COMPOSITE)
def diff(input, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None):
    """diff(input, n=1, dim=-1, prepend=None, append=None) -> Tensor: the differences of neighbours along `dim`, n times.

    `prepend` and `append` are joined to the ends first. For bools it tells where neighbours differ.

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
        if part is not None and any([part.shape[k] != x.shape[k] for k in range(x.ndim) if k != d]):
            raise RuntimeError("diff expects the shape of tensor to prepend or append to match that of input except along the "
                               f"differencing dimension; input.size() = {list(x.shape)}, but got tensor.size() = "
                               f"{list(part.shape)}")
    if prepend is not None or append is not None:
        x = cat([part for part in (prepend, x, append) if part is not None], d)
    for _ in range(min(n, x.shape[d])):
        after, before = neighbours(x, d)
        x = after.logical_xor(before) if code_of((<Tensor> x).array) == BOOL else after - before
    return x


# areas

cdef object spacing(object y, object x, int dim):
    """The differences of `x`, shaped to broadcast to neighbours of y along `dim`."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        after, before = neighbours(x, 0)
        return (after - before).reshape((-1,) + (1,) * (y.ndim - 1 - dim))
    x = x.reshape((1,) * max(y.ndim - x.ndim, 0) + tuple(x.shape))
    after, before = neighbours(x, x.ndim - y.ndim + dim)
    return after - before


cdef object areas(object y, object x, object dx, int dim):
    """Twice the areas between neighbours along a dimension; the callers halve them or their sum."""
    after, before = neighbours(y, dim)
    return (after + before) * (dx if x is None else spacing(y, x, dim))


cdef tuple sampled(object y, object x, object dx, object dim, str operation):
    """The checked arguments (y, x, dx, dim) of the two functions below."""
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
    """Batched points are expanded to full rank, which tells them from points shared by all samples."""
    cdef int rank = rank_of(y), d = one_dim(dim, rank, "trapezoid")
    if x is None or (x.ndim <= 1 and not call.is_batched(x)):
        return call(call.value(y), x, dx=dx, dim=d + 1)
    if not call.is_batched(x):
        points = x.reshape((1,) * (1 + max(rank - x.ndim, 0)) + tuple(x.shape))
    elif x.ndim == 1 and rank:
        if x.shape[0] != y.shape[d]:
            call.on_sample(y, x)
        points = call.value(x).reshape((call.size,) + (1,) * d + tuple(x.shape) + (1,) * (rank - 1 - d))
    else:
        points = call.aligned(x, rank)
    rank = points.ndim - 1 - rank
    values = call.front(y)
    values = values.reshape((call.size,) + (1,) * rank + tuple(values.shape[1:]))
    return call(values, points, dx=dx, dim=d + 1 + rank)


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
    return areas(values, x, dx, d).sum(d - values.ndim) / 2


@op(methods=(), batch=batched_areas)
def trapz(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim=-1):
    """trapz(y, x=None, *, dx=None, dim=-1) -> Tensor: trapezoid(), under NumPy's old name.

    >>> import autograd_cy as ag
    >>> ag.trapz(ag.tensor([1.0, 2.0, 3.0]), dx=2)
    tensor(8.)
    """
    return trapezoid(as_tensor(y, "trapz"), x, dx=dx, dim=dim)


@op(methods=(), batch=batched_areas)
def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim=-1):
    """cumulative_trapezoid(y, x=None, *, dx=None, dim=-1) -> Tensor: the areas under a curve up to each point but the first.

    Like trapezoid(), whose result is the last element along `dim`.

    >>> import autograd_cy as ag
    >>> ag.cumulative_trapezoid(ag.tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    values, x, dx, d = sampled(y, x, dx, dim, "cumulative_trapezoid")
    return areas(values, x, dx, d).cumsum(d - values.ndim) / 2


# slopes

@op(batch=COMPOSITE)
def gradient(input, *, spacing: Any = 1, dim: _Dims | None = None, edge_order: int = 1):
    """gradient(input, *, spacing=1, dim=None, edge_order=1) -> tuple of Tensors: the slopes of sampled values along each
    dimension, by central differences; at the edges by differences of order 1 or 2.

    `spacing` is the distance between points, one for each dimension, or vectors of their coordinates.

    >>> import autograd_cy as ag
    >>> ag.gradient(ag.tensor([1.0, 4.0, 9.0]))
    (tensor([3., 4., 5.]),)
    """
    cdef object x = as_tensor(input, "gradient")
    if code_of((<Tensor> x).array) in (BOOL, UINT8):
        raise RuntimeError(f"torch.gradient does not support {x.dtype} input.")
    dims = range(x.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    axes = [wrap_dim(d, x.ndim) for d in dims]
    if spacing is None or not isinstance(spacing, (tuple, list)):
        spacing = [1 if spacing is None else spacing] * len(axes)
    if len(spacing) != len(axes):
        raise RuntimeError(f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length {len(axes)}, "
                           f"but got a list of length {len(spacing)}")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any([x.shape[d] <= edge_order for d in axes]):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple([slopes(x, points, d, edge_order == 2) for points, d in zip(spacing, axes)])


cdef object slopes(object x, object points, int dim, bint squared):
    """Slopes along one dimension; `squared`: at the edges by a parabola through three points."""
    cdef tuple all_before = (slice(None),) * dim
    n = x.shape[dim]

    def part(start, stop):
        return x[(*all_before, slice(start, stop))]

    if isinstance(points, Tensor):
        steps = diff(points).reshape((-1,) + (1,) * (x.ndim - 1 - dim))
    else:
        steps = None
    first, last = (points, points) if steps is None else (steps[:1], steps[-1:])
    parts = []
    if n > 2 and steps is None:                 # skips the middle value, even if it is nan
        parts.append((part(2, n) - part(0, n - 2)) / (2 * points))
    elif n > 2:
        parts.append(through_three(part(0, n - 2), part(1, n - 1), part(2, n), steps[:-1], steps[1:], 1))
    if squared:
        h1, h2 = (points, points) if steps is None else (steps[:2][:1], steps[1:2])
        parts.insert(0, through_three(part(0, 1), part(1, 2), part(2, 3), h1, h2, 0))
        h1, h2 = (points, points) if steps is None else (steps[n - 3:n - 2], steps[n - 2:])
        parts.append(through_three(part(n - 3, n - 2), part(n - 2, n - 1), part(n - 1, n), h1, h2, 2))
    else:
        parts.insert(0, (part(1, 2) - part(0, 1)) / first)
        parts.append((part(n - 1, n) - part(n - 2, n - 1)) / last)
    return cat(parts, dim)


cdef object through_three(object a, object b, object c, object h1, object h2, int place):
    """The slope of the parabola through three values, h1 and h2 apart, at the first, second or third."""
    left, right = (b - a) / h1, (c - b) / h2
    bend = (right - left) / (h1 + h2)           # half of the second derivative
    return left - bend * h1 if place == 0 else left + bend * h1 if place == 1 else right + bend * h2
