"""Loops that reduce float32 and float64 over the last two dimensions of a walk."""

from autograd_cy._core.kernels.loops cimport Kernel, Loop
from autograd_cy._core.runtime.numpy_api cimport npy_intp

ctypedef fused real:
    float
    double

cdef enum How:
    ADD
    ADD_SIZES                       # |x|
    ADD_SQUARES
    MULTIPLY
    TAKE_LARGEST
    TAKE_SMALLEST

cdef struct Run:                    # the last dimension of a walk
    npy_intp size
    npy_intp[3] strides
    Kernel *borrowed                # for reductions neither along nor across contiguous runs

cdef Loop plane_loop(How how, int dtype_code) noexcept
cdef Loop wide_loop(How how) noexcept
cdef double row_total "autograd_cy_row_total"(const real *x, npy_intp n) noexcept nogil
cdef double row_dot "autograd_cy_row_dot"(const real *x, const real *y, npy_intp n) noexcept nogil
