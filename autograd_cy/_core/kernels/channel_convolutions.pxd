"""Convolutions of arrays whose channels lie last in memory."""

from autograd_cy._core.kernels.convolutions cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef int convolve_channels(const Geometry *of, cnp.ndarray x, cnp.ndarray matrices, cnp.ndarray bias, cnp.ndarray y,
                           bint turned) except -1
cdef int correlate_channels(const Geometry *of, cnp.ndarray x, cnp.ndarray g, cnp.ndarray weight) except -1
cdef int sum_channels(cnp.ndarray g, cnp.ndarray bias) except -1
cdef int convolve_channels_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, cnp.ndarray x) except -1
