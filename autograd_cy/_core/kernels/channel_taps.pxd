"""Convolutions line by line, of arrays whose channels lie last in memory."""

from autograd_cy._core.kernels.patches cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef int convolve_taps(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, cnp.ndarray y) except -1
cdef int convolve_taps_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1
cdef int correlate_taps(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1
cdef int convolve_lines_back(const Geometry *of, cnp.ndarray g, cnp.ndarray panels, cnp.ndarray x) except -1
cdef int correlate_lines(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1
