"""Convolutions of arrays, and their gradients."""

from autograd_cy._core.kernels.patches cimport Geometry
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef Geometry geometry(tuple images, tuple weight, tuple result, tuple stride, tuple padding, tuple dilation,
                       object groups) except *
cdef cnp.ndarray convolved(const Geometry *of, cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, tuple sizes,
                           bint channels_last)
cdef cnp.ndarray convolved_back(const Geometry *of, cnp.ndarray g, cnp.ndarray weight, tuple sizes, bint channels_last)
cdef cnp.ndarray correlated(const Geometry *of, cnp.ndarray x, cnp.ndarray g, tuple sizes, bint channels_last)
cdef cnp.ndarray empty(int dtype_code, tuple sizes)
cdef cnp.ndarray summed(cnp.ndarray g, tuple sizes)
cdef cnp.ndarray computed(cnp.ndarray x, cnp.ndarray weight, cnp.ndarray bias, tuple stride, tuple padding, tuple dilation,
                          bint transposed, object groups, tuple sizes, bint channels_last)
cdef bint goes_by_channels(const Geometry *of, bint channels_last) noexcept
