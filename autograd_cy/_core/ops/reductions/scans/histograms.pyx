"""Histograms and counts. Nothing here has a derivative, as in PyTorch."""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, FLOAT32, FLOAT64, check_has_kernel, code_of, is_half, type_word
from autograd_cy._core.graph.record cimport as_tensor, shape_of, shown, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import sample_by_sample
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op


@op(methods=("bincount",), batch=sample_by_sample)
def bincount(input, weights: Tensor | None = None, minlength: int = 0):
    """bincount(input, weights=None, minlength=0) -> Tensor: the number of occurrences of each integer from 0 on in a vector.

    With `weights` their sums, as float64 (float32 weights: float32). The result has at least `minlength` elements.

    >>> import autograd_cy as ag
    >>> ag.bincount(ag.tensor([1, 2, 2]))
    tensor([0, 1, 2])
    """
    cdef Tensor x = as_tensor(input, "bincount")
    if code_of(x.array) >= FLOAT16 or code_of(x.array) == BOOL:
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{type_word(code_of(x.array))}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if cnp.PyArray_NDIM(x.array) != 1 or (cnp.PyArray_SIZE(x.array) and x.array.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return shown("bincount", new_tensor(np.bincount(x.array, minlength=minlength).astype(np.int64)), (x,))
    cdef Tensor w = tensor_argument(weights, "bincount", "weights", 2)
    if shape_of(w) != shape_of(x):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    check_has_kernel(code_of(w.array), "bincount_cpu")
    kind = np.float32 if code_of(w.array) == FLOAT32 else np.float64
    sums = np.bincount(x.array, w.array, minlength).astype(kind)
    return shown("bincount", new_tensor(sums), (x, weights))


cdef Tensor checked(object input, str operation, str kernel):
    cdef Tensor x = as_tensor(input, operation)
    if not FLOAT16 <= code_of(x.array) <= FLOAT64:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(code_of(x.array))}'")
    return x


@op(methods=("histc",), batch=sample_by_sample)
def histc(input, bins: int = 100, min: float = 0, max: float = 0):
    """histc(input, bins=100, min=0, max=0) -> Tensor: the number of elements in each of `bins` intervals of equal width.

    They range from min to max, or, if these are equal, from the smallest element to the largest. Others aren't counted.

    >>> import autograd_cy as ag
    >>> ag.histc(ag.tensor([1.0, 2.0, 1.0]), bins=2)
    tensor([2., 1.])
    """
    if float(min) > float(max):
        raise RuntimeError("torch.histc: max must be larger than min")
    cdef Tensor x = checked(input, "histc", "histogram_cpu")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    values = x.array.reshape(-1)
    low, high = float(min), float(max)
    if low == high and values.size:
        low, high = float(values.min()), float(values.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    counts = counted(values, edges_of(low, high, bins, values.dtype), None).astype(values.dtype)
    return shown("histc", new_tensor(counts), (x,))


cdef object edges_of(double low, double high, Py_ssize_t bins, object kind):
    """Edges as in linspace(): one half counted from the lower end, the other from the upper."""
    wide = np.float64 if kind == np.float64 else np.float32
    i, step = np.arange(bins + 1).astype(wide), wide((high - low) / bins)
    return np.where(i < (bins + 1) // 2, wide(low) + step * i, wide(high) - step * (bins - i)).astype(kind)


cdef object counted(object values, object edges, object weights):
    """The number of values, or the sum of their weights, between neighbouring edges."""
    return counted_in_boxes([values], [edges], weights)


cdef object counted_in_boxes(list columns, list edges, object weights):
    """The number of points, or the sum of their weights, in each box. The last boxes include their upper ends."""
    inside = np.logical_and.reduce([(x >= e[0]) & (x <= e[-1]) for x, e in zip(columns, edges)])
    cdef list sizes = [len(e) - 1 for e in edges]
    flat = np.int64(0)
    for x, e in zip(columns, edges):
        flat = flat * (len(e) - 1) + places_between(x[inside], e)
    return np.bincount(flat, None if weights is None else weights[inside], np.prod(sizes)).reshape(sizes)


cdef object places_between(object values, object edges):
    """The interval of each value: guessed for equal widths and corrected, which takes a quarter of a search's time."""
    cdef Py_ssize_t last = len(edges) - 2
    with np.errstate(all="ignore"):
        guess = ((values - edges[0]) * ((last + 1) / (edges[-1] - edges[0]))).astype(np.int64)
    np.clip(guess, 0, last, out=guess)
    guess -= values < edges[guess]
    np.maximum(guess, 0, out=guess)
    guess += (values >= edges[guess + 1]) & (guess < last)
    if ((values >= edges[guess]) & ((values < edges[guess + 1]) | (guess == last))).all():
        return guess
    return np.minimum(np.searchsorted(edges, values, "right") - 1, last)


cdef object weights_of(object weight, Tensor x, tuple sizes):
    """The checked weights of the points of x, flattened; None if there are none."""
    if weight is None:
        return None
    cdef Tensor w = tensor_argument(weight, "histogram", "weight", 4)
    if code_of(w.array) != code_of(x.array) or shape_of(w) != sizes:
        raise RuntimeError("torch.histogramdd: if weight tensor is provided it should have the input's dtype and a weight for "
                           f"each point: expected {type_word(code_of(x.array))} of {list(sizes)}, but got "
                           f"{type_word(code_of(w.array))} of {list(shape_of(w))}")
    return w.array.reshape(-1)


cdef object edges_between(object values, object bounds, Py_ssize_t bins, Py_ssize_t dimension=0):
    """The edges of intervals between two bounds, by default the smallest and largest value. Equal bounds move apart."""
    low, high = bounds or ((values.min(), values.max()) if values.size else (0, 1))
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {dimension}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension "
                           f"{dimension}")
    if low == high:
        low, high = low - .5, high + .5
    return edges_of(low, high, bins, values.dtype)


@op(methods=("histogram",), batch=sample_by_sample)
def histogram(input, bins: int | Tensor, *, range: tuple[float, float] | None = None, weight: Tensor | None = None,
              density: bool = False):
    """histogram(input, bins, *, range=None, weight=None, density=False) -> histogram: the number of elements, or the sum of
    their weights, in each interval.

    A named tuple of the counts and the edges. `bins` is the number of intervals of equal width, in `range` or from the
    smallest element to the largest, or their edges. With density=True counts are divided by their sum and by the widths.

    >>> import autograd_cy as ag
    >>> ag.histogram(ag.tensor([1.0, 2.0, 1.0]), bins=2).hist
    tensor([2., 1.])
    """
    cdef Tensor x = checked(input, "histogram", "histogramdd")
    if is_half(code_of(x.array)):
        raise NotImplementedError("\"histogramdd\" not implemented for 'Half'")
    values = x.array.reshape(-1)
    edges = (<Tensor> bins).array if isinstance(bins, Tensor) else edges_between(values, range, bins)
    weights = weights_of(weight, x, shape_of(x))
    counts = counted(values, edges, weights).astype(values.dtype)
    if density:
        counts = counts / counts.sum() / np.diff(edges)
    return shown("histogram", return_types.histogram(new_tensor(counts), new_tensor(np.array(edges))), (x,))


cdef list all_edges(list columns, object bins, object range):
    """The edges along each dimension, in the columns' type."""
    cdef int n = len(columns)
    if isinstance(bins, int):
        bins = [bins] * n
    if len(bins) != n:
        raise RuntimeError(f"torch.histogramdd: expected {n} sequences of bin edges for a {n}-dimensional histogram but got "
                           f"{len(bins)}")
    if range is not None and len(range) != 2 * n:
        raise RuntimeError(f"torch.histogramdd: for a {n}-dimensional histogram range should have {2 * n} elements, but got "
                           f"{len(range)}")
    edges = []
    for d, (x, b) in enumerate(zip(columns, bins)):
        if isinstance(b, Tensor):
            if (<Tensor> b).array.dtype != x.dtype or cnp.PyArray_NDIM((<Tensor> b).array) != 1:
                raise RuntimeError("torch.histogramdd: input tensor and bins tensors should have the same dtype, and bins one "
                                   f"dimension; those for dimension {d} have dtype {b.dtype} and shape {list(b.shape)}")
            edges.append((<Tensor> b).array)
        elif b <= 0:
            raise RuntimeError(f"torch.histogramdd(): bins must be > 0, but got {b} for dimension {d}")
        else:
            edges.append(edges_between(x, None if range is None else tuple(range[2 * d:2 * d + 2]), b, d))
    return edges


@op(batch=sample_by_sample)
def histogramdd(input, bins: int | Sequence[int] | Sequence[Tensor], range: Sequence[float] | None = None,
                weight: Tensor | None = None, density: bool = False):
    """histogramdd(input, bins, range=None, weight=None, density=False) -> histogramdd: the number of points, or the sum of
    their weights, in each box.

    A named tuple of the counts and the edges along each dimension. The coordinates of a point are the input's last
    dimension. `bins` is the number of intervals along each dimension or along all, in `range` (lower and upper bounds in
    turn) or from the smallest element to the largest, or their edges. With density=True counts are divided by their sum and
    by the sizes of the boxes.

    >>> import autograd_cy as ag
    >>> ag.histogramdd(ag.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [2., 0.]])
    """
    cdef Tensor x = checked(input, "histogramdd", "histogramdd")
    if is_half(code_of(x.array)):
        raise NotImplementedError("\"histogramdd\" not implemented for 'Half'")
    if cnp.PyArray_NDIM(x.array) < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions, but got "
                           f"{cnp.PyArray_NDIM(x.array)}")
    columns = [x.array[..., d].reshape(-1) for d in np.arange(x.array.shape[x.array.ndim - 1])]
    edges = all_edges(columns, bins, range)
    weights = weights_of(weight, x, shape_of(x)[:-1])
    counts = counted_in_boxes(columns, edges, weights).astype(x.array.dtype)
    if density:
        counts = counts / counts.sum()
        for d, e in enumerate(edges):
            counts = counts / np.diff(e).reshape([-1] + [1] * (len(edges) - 1 - d))
    found = return_types.histogramdd(new_tensor(counts), tuple([new_tensor(np.array(e)) for e in edges]))
    return shown("histogramdd", found, (x,))
