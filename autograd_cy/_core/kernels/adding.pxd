"""Sums of two arrays."""

cimport numpy as cnp

from autograd_cy._core.kernels.loops cimport Kernel

cdef int add_into(cnp.ndarray total, cnp.ndarray array) except -1
cdef Kernel *adding_kernel(int dtype_code) noexcept
