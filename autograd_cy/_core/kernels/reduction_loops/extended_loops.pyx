"""Reductions and scans of longdouble by NumPy's functions: NOTE [longdouble]. They keep the reduced dimensions."""

import numpy as np

from autograd_cy._core.runtime cimport numpy_api as cnp


cdef object shifted(object array, object axes):
    """(array - its maxima along the axes, the maxima); infinite maxima are not subtracted."""
    top = np.asarray(array.max(axes, keepdims=True, initial=-np.inf))
    return array - np.where(np.isfinite(top), top, 0), top


cdef cnp.ndarray extended_softmax(cnp.ndarray array, int dim, bint logarithmic):
    cdef object axis = dim if cnp.PyArray_NDIM(array) else ()
    with np.errstate(all="ignore"):
        x, top = shifted(array, axis)
        x = x + np.where(np.isinf(top), np.nan, 0)           # an infinite maximum has no softmax
        powers = np.exp(x)
        total = powers.sum(axis, keepdims=True)
        return np.ascontiguousarray(x - np.log(total) if logarithmic else powers / total).reshape(np.shape(array))


cdef cnp.ndarray extended_softmax_gradient(cnp.ndarray g, cnp.ndarray y, int dim, bint logarithmic):
    cdef object axis = dim if cnp.PyArray_NDIM(y) else ()
    if logarithmic:
        return np.asarray(g - np.exp(y) * g.sum(axis, keepdims=True))
    return np.asarray(y * (g - (g * y).sum(axis, keepdims=True)))


cdef cnp.ndarray extended_log_of_sum(cnp.ndarray array, tuple axes):
    with np.errstate(all="ignore"):
        x, top = shifted(array, axes)
        return np.asarray(np.log(np.exp(x).sum(axes, keepdims=True)) + np.where(np.isfinite(top), top, 0))


cdef cnp.ndarray extended_variance(cnp.ndarray array, tuple axes, double freedom, bint root):
    with np.errstate(all="ignore"):
        mean = array.mean(axes, keepdims=True)
        result = np.asarray(np.square(array - mean).sum(axes, keepdims=True) / np.longdouble(freedom))
        return np.asarray(np.sqrt(result)) if root else result


cdef tuple extended_extremes(cnp.ndarray array, int dim, bint largest):
    """(values, indices) of running maxima or minima; the last of equal elements, and the last NaN."""
    cdef object numbers
    if cnp.PyArray_NDIM(array) == 0:
        return array.copy(), np.zeros((), np.int64)
    values = (np.maximum if largest else np.minimum).accumulate(array, dim)
    numbers = np.arange(cnp.PyArray_DIM(array, dim)).reshape([-1 if k == dim else 1 for k in range(cnp.PyArray_NDIM(array))])
    places = np.where((array == values) | np.isnan(array), numbers, 0)
    return values, np.maximum.accumulate(places, dim)


cdef cnp.ndarray extended_logcumsumexp(cnp.ndarray array, int dim):
    return np.logaddexp.accumulate(array, dim) if cnp.PyArray_NDIM(array) else array


cdef bint extended_between(const long double *x, cnp.npy_intp n, long double least, long double most) noexcept nogil:
    cdef cnp.npy_intp i
    for i in range(n):
        if not least <= x[i] <= most:
            return False
    return True
