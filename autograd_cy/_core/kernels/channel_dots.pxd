"""Convolutions from many to few channels, which lie last in memory."""

from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef bint suits_dots(const Geometry *of) noexcept nogil
cdef int convolve_dots(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1
