"""a * 2**b of floats and doubles, for contiguous operands.

Powers come from NumPy's exp2, in blocks. If a power is not a normal number, arithmetic.h's ldexp scales the element in several
steps, which takes twice the time; blocks without such elements skip it.
"""

import numpy as np

from libc.float cimport DBL_MAX, DBL_MIN, FLT_MAX, FLT_MIN

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, NCODES
from autograd_cy._core.kernels.borrowed cimport run
from autograd_cy._core.kernels.loops cimport Kernel, borrow
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    #include "clones.h"
    #include "arithmetic.h"
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_scale_block_f32)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_scale_block_f64)
    """

cdef extern from "arithmetic.h" nogil:
    float one_ldexp_f32 "autograd_cy_ldexp_f32"(float a, float b) noexcept
    double one_ldexp_f64 "autograd_cy_ldexp_f64"(double a, double b) noexcept

cdef Kernel[NCODES] EXP2

borrow(EXP2, np.exp2, lambda dtype_code: dtype_code)


cdef inline bint is_normal(Real x) noexcept nogil:
    """Whether a power is a normal number."""
    if Real is float:
        return FLT_MIN <= x <= FLT_MAX
    return DBL_MIN <= x <= DBL_MAX


cdef inline void scale(const Real[::1] a, const Real[::1] b, const Real[::1] powers, Real[::1] out) noexcept nogil:
    cdef Py_ssize_t i, others = 0
    for i in range(out.shape[0]):
        others |= not is_normal(powers[i])
    if others == 0:
        for i in range(out.shape[0]):
            out[i] = a[i] * powers[i]
    else:
        for i in range(out.shape[0]):
            if Real is float:
                out[i] = a[i] * powers[i] if is_normal(powers[i]) else one_ldexp_f32(a[i], b[i])
            else:
                out[i] = a[i] * powers[i] if is_normal(powers[i]) else one_ldexp_f64(a[i], b[i])


cdef void scale_block_f32 "autograd_cy_scale_block_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *powers) noexcept nogil:
    cdef npy_intp n = dims[0]
    scale(run(<const float *> args[0], n), run(<const float *> args[1], n), run(<const float *> powers, n),
          run(<float *> args[2], n))


cdef void scale_block_f64 "autograd_cy_scale_block_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *powers) noexcept nogil:
    cdef npy_intp n = dims[0]
    scale(run(<const double *> args[0], n), run(<const double *> args[1], n), run(<const double *> powers, n),
          run(<double *> args[2], n))


cdef void ldexp_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    cdef float[BLOCK] powers
    cdef char *parts[3]
    cdef npy_intp start = 0, size
    while start < dims[0]:
        size = begin(args, parts, powers, start, dims[0], &EXP2[FLOAT32])
        scale_block_f32(parts, &size, strides, powers)
        start += size


cdef void ldexp_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    cdef double[BLOCK] powers
    cdef char *parts[3]
    cdef npy_intp start = 0, size
    while start < dims[0]:
        size = begin(args, parts, powers, start, dims[0], &EXP2[FLOAT64])
        scale_block_f64(parts, &size, strides, powers)
        start += size


cdef inline npy_intp begin(char **args, char **parts, Real *powers, npy_intp start, npy_intp n, Kernel *exp2) noexcept nogil:
    """Set the operands of a block, compute its powers, and return its size."""
    cdef npy_intp[2] strides
    cdef char *operands[2]
    cdef npy_intp k, size = min(n - start, <npy_intp> BLOCK)
    for k in range(3):
        parts[k] = args[k] + start * sizeof(Real)
    operands[0], operands[1] = parts[1], <char *> powers
    strides[0] = strides[1] = sizeof(Real)
    exp2.loop(operands, &size, strides, exp2.data)
    return size
