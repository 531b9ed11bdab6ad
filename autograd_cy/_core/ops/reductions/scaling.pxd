"""Scales for roots of sums of squares."""

from autograd_cy._core.kernels.reduction_loops cimport Dims
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef bint in_range(cnp.ndarray totals) noexcept
cdef bint roots_in_range(cnp.ndarray roots) noexcept
cdef bint zeros_are_exact(cnp.ndarray results, cnp.ndarray array, Dims dims, bint of_roots) noexcept
cdef bint fourth_powers_fit(cnp.ndarray totals) noexcept
cdef bint values_fit(cnp.ndarray array) except -1
cdef bint quotients_fit(cnp.ndarray quotients, cnp.ndarray g, cnp.ndarray y)
cdef object scales_of(object ends)
