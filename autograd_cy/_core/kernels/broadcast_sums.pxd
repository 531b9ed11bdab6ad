"""Sums over the dimensions along which an operand was broadcast."""

from cpython.object cimport PyObject

from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef cnp.ndarray sum_to(cnp.ndarray array, int ndim, const npy_intp *dims)
cdef bint overlaps_shifted(cnp.ndarray array, cnp.ndarray out) noexcept
cdef bint is_worth_fusing(cnp.ndarray g) noexcept
cdef cnp.ndarray evaluate_added(Kernel *kernel, PyObject **arrays, int n, int dtype_code, cnp.ndarray addend, cnp.ndarray out)
cdef cnp.ndarray evaluate_sum(Kernel *kernel, PyObject **arrays, int n, int ndim, const npy_intp *dims)
