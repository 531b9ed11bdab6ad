"""Loops that reduce float32 and float64 over the last two dimensions of a walk."""

from numpy cimport npy_intp

from autograd_cy._core.arrays.dtypes cimport NCODES
from autograd_cy._core.kernels.borrowed cimport real
from autograd_cy._core.kernels.loops cimport Kernel, Loop

cdef enum How:
    ADD
    ADD_SIZES                       # |x|
    ADD_SQUARES
    MULTIPLY
    TAKE_LARGEST
    TAKE_SMALLEST
    NOT_HERE                        # by NumPy's loop alone

cdef struct Run:                    # the last dimension of a walk
    npy_intp size
    npy_intp[3] strides
    How how
    Kernel *borrowed                # for what is neither along contiguous runs nor across them

cdef Loop[NCODES] PLANES            # the loops of float32 and float64, whose data is the Run
cdef Loop WIDE_PLANES               # that of float32 whose results, sums, are float64

cdef double row_total "autograd_cy_row_total"(const real *x, npy_intp n) noexcept nogil
cdef double row_dot "autograd_cy_row_dot"(const real *x, const real *y, npy_intp n) noexcept nogil
