"""How many elements there are of each kind. Nothing here has a derivative, as in PyTorch."""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, FLOAT32, FLOAT64, code_of, type_word
from autograd_cy._core.graph.record cimport as_tensor, shown
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import sample_by_sample
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op

cnp.import_array()


@op(methods=("bincount",), batch=sample_by_sample)
def bincount(input, weights: Tensor | None = None, minlength: int = 0):
    """bincount(input, weights=None, minlength=0) -> Tensor: how often each number from 0 on occurs in a vector of integers.

    With `weights` the sums of those, as float64 (float32 weights: float32). The result has at least `minlength` elements.

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
    if weights.shape != (<object> x).shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    kind = np.float32 if code_of((<Tensor> weights).array) == FLOAT32 else np.float64
    sums = np.bincount(x.array, (<Tensor> weights).array, minlength).astype(kind)
    return shown("bincount", new_tensor(sums), (x, weights))


cdef Tensor checked(object input, str operation, str kernel):
    cdef Tensor x = as_tensor(input, operation)
    if not FLOAT16 <= code_of(x.array) <= FLOAT64:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(code_of(x.array))}'")
    return x


@op(methods=("histc",), batch=sample_by_sample)
def histc(input, bins: int = 100, min: float = 0, max: float = 0):
    """histc(input, bins=100, min=0, max=0) -> Tensor: how many elements lie in each of `bins` intervals of one width.

    They go from min to max; where those are equal, from the smallest element to the largest. Others aren't counted.

    >>> import autograd_cy as ag
    >>> ag.histc(ag.tensor([1.0, 2.0, 1.0]), bins=2)
    tensor([2., 1.])
    """
    cdef Tensor x = checked(input, "histc", "histogram_cpu")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    values = x.array.reshape(-1)
    low, high = float(min), float(max)
    if low == high and values.size:
        low, high = float(values.min()), float(values.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    if low == high:
        low, high = low - 1, high + 1
    counts = counted(values, edges_of(low, high, bins, values.dtype), None).astype(values.dtype)
    return shown("histc", new_tensor(counts), (x,))


cdef object edges_of(double low, double high, int bins, object kind):
    return np.linspace(low, high, bins + 1, dtype=np.float64).astype(kind)


cdef object counted(object values, object edges, object weights):
    """How many values, or what weights, lie between neighbouring edges; the last interval has its upper end."""
    inside = (values >= edges[0]) & (values <= edges[-1])
    values = values[inside]
    places = np.minimum(np.searchsorted(edges, values, "right") - 1, len(edges) - 2)
    return np.bincount(places, None if weights is None else weights[inside], len(edges) - 1)


@op(methods=("histogram",), batch=sample_by_sample)
def histogram(input, bins: int | Tensor, *, range: tuple[float, float] | None = None, weight: Tensor | None = None,
              density: bool = False):
    """histogram(input, bins, *, range=None, weight=None, density=False) -> histogram: how many elements, or what weights, lie
    in each of the intervals.

    A named tuple of the counts and of the edges. `bins` is the number of intervals of one width, in `range` or from the
    smallest element to the largest, or their edges. With density=True counts are divided by all and by the widths.

    >>> import autograd_cy as ag
    >>> ag.histogram(ag.tensor([1.0, 2.0, 1.0]), bins=2).hist
    tensor([2., 1.])
    """
    cdef Tensor x = checked(input, "histogram", "histogramdd")
    if code_of(x.array) == FLOAT16:
        raise NotImplementedError("\"histogramdd\" not implemented for 'Half'")
    values = x.array.reshape(-1)
    if isinstance(bins, Tensor):
        edges = (<Tensor> bins).array
    else:
        low, high = range or ((values.min(), values.max()) if values.size else (0, 1))
        if low == high and range is None:
            low, high = low - .5, high + .5
        edges = edges_of(low, high, bins, values.dtype)
    weights = None if weight is None else (<Tensor> weight).array.reshape(-1)
    counts = counted(values, edges, weights).astype(values.dtype)
    if density:
        counts = counts / counts.sum() / np.diff(edges)
    return shown("histogram", return_types.histogram(new_tensor(counts), new_tensor(np.array(edges))), (x,))
