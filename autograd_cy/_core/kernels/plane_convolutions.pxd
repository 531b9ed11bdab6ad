"""Convolutions of few channels, without products of matrices."""

from autograd_cy._core.kernels.patches cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef bint suits_planes(const Geometry *of) noexcept
cdef int convolve_planes(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray y) except -1
cdef int convolve_planes_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1
cdef int correlate_planes(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1
