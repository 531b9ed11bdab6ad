"""Convolutions in place, of arrays whose channels lie last in memory."""

from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef int convolve_places(const Geometry *of, cnp.ndarray x, cnp.ndarray panels, cnp.ndarray bias, cnp.ndarray y) except -1
