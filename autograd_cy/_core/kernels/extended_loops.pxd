"""Reductions and scans of longdouble by NumPy's functions; other types have their own loops."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray extended_softmax(cnp.ndarray array, int dim, bint logarithmic)
cdef cnp.ndarray extended_softmax_gradient(cnp.ndarray g, cnp.ndarray y, int dim, bint logarithmic)
cdef cnp.ndarray extended_log_of_sum(cnp.ndarray array, tuple axes)
cdef cnp.ndarray extended_variance(cnp.ndarray array, tuple axes, double freedom, bint root)
cdef tuple extended_extremes(cnp.ndarray array, int dim, bint largest)
cdef cnp.ndarray extended_logcumsumexp(cnp.ndarray array, int dim)
cdef bint extended_between(const long double *x, cnp.npy_intp n, long double least, long double most) noexcept nogil
