"""Sums over the dimensions along which an operand was broadcast."""

from cpython.object cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.kernels.loops cimport Kernel

cdef cnp.ndarray sum_to(cnp.ndarray array, int ndim, const npy_intp *dims)
cdef bint overlaps_shifted(cnp.ndarray array, cnp.ndarray out) noexcept
cdef bint is_worth_fusing(cnp.ndarray g) noexcept
cdef cnp.ndarray evaluate_added(Kernel *kernel, PyObject **arrays, int n, int dtype_code, cnp.ndarray addend, cnp.ndarray out)
cdef cnp.ndarray evaluate_sum(Kernel *kernel, PyObject **arrays, int n, int ndim, const npy_intp *dims)
