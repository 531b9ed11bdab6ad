"""Statistics composed of other operations: extremes, sums and means without nan, quantiles."""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT32, FLOAT64, check_has_kernel, code_of
from autograd_cy._core.graph.record cimport as_tensor, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.reductions.sums cimport one_dim
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE, Along, sample_by_sample
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.reductions.sums import sum
from autograd_cy._core.ops.registry import op


# several at once

@op(methods=("aminmax",), batch=COMPOSITE)
def aminmax(input, *, dim: int | None = None, keepdim: bool = False):
    """aminmax(input, *, dim=None, keepdim=False) -> aminmax: the smallest and the largest of all elements, or along `dim`.

    A named tuple; equal elements share the gradient.

    >>> import autograd_cy as ag
    >>> ag.aminmax(ag.tensor([3.0, 1.0, 2.0])).max
    tensor(3.)
    """
    cdef tuple dims = () if dim is None else (dim,)
    input = as_tensor(input, "aminmax")
    return return_types.aminmax(amin(input, dims, keepdim), amax(input, dims, keepdim))


# without nan

cdef object without_nans(object x):
    return x.masked_fill(x.isnan(), 0)


@op(methods=("nansum",), batch=Along("dim", "all"))
def nansum(input, dim: _Dims | None = None, keepdim: bool = False, *, dtype=None):
    """nansum(input, dim=None, keepdim=False, *, dtype=None) -> Tensor: the sum of the elements that are not nan, of all
    or along `dim`.

    >>> import autograd_cy as ag
    >>> ag.nansum(ag.tensor([1.0, float("nan"), 2.0]))
    tensor(3.)
    """
    cdef Tensor x = as_tensor(input, "nansum")
    if code_of(x.array) >= COMPLEX64:
        raise RuntimeError("nansum on CPU does not support complex inputs")
    return sum(without_nans(x), dim, keepdim, dtype=dtype)


@op(methods=("nanmean",), batch=Along("dim", "all"))
def nanmean(input, dim: _Dims | None = None, keepdim: bool = False, *, dtype=None):
    """nanmean(input, dim=None, keepdim=False, *, dtype=None) -> Tensor: the mean of the elements that are not nan, of all or
    along `dim`.

    >>> import autograd_cy as ag
    >>> ag.nanmean(ag.tensor([1.0, float("nan"), 2.0]))
    tensor(1.5000)
    """
    cdef Tensor x = as_tensor(input, "nanmean")
    if not FLOAT16 <= code_of(x.array):
        raise RuntimeError(f"nanmean(): expected input to have floating point or complex dtype but got {(<object> x).dtype}")
    return nansum(x, dim, keepdim, dtype=dtype) / (<object> x).isnan().logical_not().sum(dim, keepdim)


# quantiles

ROUNDED = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}


along_or_flat = Along("dim", "flat")


def batched_quantile(call, input, q, *args, **kwargs):
    if isinstance(q, Tensor) and (q.ndim or call.is_batched(q)):
        return sample_by_sample(call, input, q, *args, **kwargs)
    return along_or_flat(call, input, q, *args, **kwargs)


@op(methods=("quantile",), batch=batched_quantile)
def quantile(input, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"):
    """quantile(input, q, dim=None, keepdim=False, *, interpolation='linear') -> Tensor: the value below which the fraction q
    of all elements lies, or along `dim`; `interpolation` between elements may be 'lower', 'higher', 'midpoint', 'nearest'.

    q is a number from 0 to 1, or a vector of them, which adds a first dimension to the result. If there is a nan, the result
    is nan.

    >>> import autograd_cy as ag
    >>> ag.quantile(ag.tensor([1.0, 2.0, 3.0, 4.0]), 0.5)
    tensor(2.5000)
    """
    return quantiles(input, q, dim, keepdim, interpolation, False)


@op(methods=("nanquantile",), batch=batched_quantile)
def nanquantile(input, q: float | Tensor, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"):
    """nanquantile(input, q, dim=None, keepdim=False, *, interpolation='linear') -> Tensor: quantile() without nan.

    >>> import autograd_cy as ag
    >>> ag.nanquantile(ag.tensor([1.0, float("nan"), 2.0]), 0.5)
    tensor(1.5000)
    """
    return quantiles(input, q, dim, keepdim, interpolation, True)


cdef object quantiles(object input, object q, object dim, bint keepdim, object interpolation, bint skips):
    cdef str name = "nanquantile" if skips else "quantile"
    cdef Tensor x = as_tensor(input, name)
    check_has_kernel(code_of(x.array), name)
    if code_of(x.array) not in (FLOAT32, FLOAT64):
        raise RuntimeError(f"{name}() input tensor must be either float or double dtype")
    parts = checked_parts(x, q, name)
    if interpolation not in ROUNDED and interpolation not in ("linear", "midpoint"):
        raise RuntimeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
                           f"{interpolation}")
    if cnp.PyArray_SIZE(x.array) == 0:
        raise RuntimeError(f"{name}() input tensor must be non-empty")
    cdef int d = 0 if dim is None else one_dim(dim, cnp.PyArray_NDIM(x.array), name)
    cdef tuple sizes = shape_of(x)
    rows = (<object> x).reshape(-1) if dim is None or not sizes else (<object> x).transpose(d, -1)
    ordered = sort(rows, -1)[0]
    ranks = ranks_of(q if isinstance(q, Tensor) else new_tensor(parts), (<Tensor> ordered).array, skips)
    places = ROUNDED.get(interpolation, np.floor)((<Tensor> ranks).array)
    below = ordered.gather(-1, new_tensor(places.astype(np.int64)))
    if interpolation not in ROUNDED:
        above = ordered.gather(-1, new_tensor(np.ceil((<Tensor> ranks).array).astype(np.int64)))
        below = below + (above - below) * (ranks - new_tensor(places) if interpolation == "linear" else 0.5)
    # the quantiles lie along the last dimension, as the elements did
    if dim is None or not sizes:
        result = below.reshape((-1,) + (1,) * len(sizes) if keepdim else (-1,))
    else:
        result = below.unsqueeze(0).transpose(0, -1).transpose(d + 1, -1)
        result = result if keepdim else result.squeeze(d + 1)
    return result if parts.ndim else result.squeeze(0)


cdef object checked_parts(Tensor x, object q, str name):
    """q as a checked array."""
    parts = (<Tensor> q).array if isinstance(q, Tensor) else np.asarray(q, x.array.dtype)
    if parts.ndim > 1:
        raise RuntimeError(f"{name}() q must be a scalar or 1D tensor")
    if parts.dtype != x.array.dtype:
        raise RuntimeError(f"{name}() q tensor must be same dtype as the input tensor")
    if not ((parts >= 0) & (parts <= 1)).all():
        raise RuntimeError(f"{name}() q values must be in the range [0, 1]" if isinstance(q, Tensor) else
                           f"{name}() q must be in the range [0, 1] but got {q:g}")
    return parts


cdef object ranks_of(object parts, object ordered, bint skips):
    """The (fractional) ranks of the quantiles among sorted elements: the last dimension has one rank for each part."""
    nans = np.isnan(ordered).sum(-1, keepdims=True)
    last = ordered.shape[-1] - 1 if ordered.ndim else 0
    counts = np.maximum(last - nans, 0) if skips else np.full_like(nans, last)
    ranks = parts.reshape(-1) * new_tensor(np.asarray(counts, ordered.dtype))
    return ranks if skips else ranks.masked_fill(new_tensor(nans > 0), last)
