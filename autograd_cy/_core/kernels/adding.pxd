"""Sums of two arrays."""

from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef int add_into(cnp.ndarray total, cnp.ndarray array) except -1
cdef Kernel *adding_kernel(int dtype_code) noexcept
cdef int add_row(cnp.ndarray y, cnp.ndarray row) except -1
