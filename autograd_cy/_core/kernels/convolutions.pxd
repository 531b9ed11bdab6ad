"""Convolutions of dense arrays and their gradients, by products of matrices."""

from autograd_cy._core.kernels.patches cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef int convolve(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1
cdef int convolve_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1
cdef int correlate(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1
cdef int sum_filters(cnp.ndarray g, cnp.ndarray bias) except -1
cdef int add_filters(cnp.ndarray bias, cnp.ndarray y) except -1
