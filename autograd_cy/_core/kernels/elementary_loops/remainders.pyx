"""Exact remainders and floored quotients of floats and doubles, vectorized: 1 ns per element. NumPy's loops call the C
library's fmod for each, which takes 40 to 70 ns.

If a quotient is very large, a divisor 0 or a number infinite, the whole block goes to NumPy.
"""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, NCODES
from autograd_cy._core.kernels.borrowed cimport run
from autograd_cy._core.kernels.loops cimport Kernel, Loop, borrow, call_flattened
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    #include "clones.h"
    #include "arithmetic.h"
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_fmod_block_f32)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_fmod_block_f64)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_floor_block_f32)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_floor_block_f64)
    """

cdef extern from "arithmetic.h" nogil:
    bint is_plain_f32 "autograd_cy_is_plain_f32"(float a, float b) noexcept
    bint is_plain_f64 "autograd_cy_is_plain_f64"(double a, double b) noexcept
    float one_fmod_f32 "autograd_cy_fmod_f32"(float a, float b) noexcept
    double one_fmod_f64 "autograd_cy_fmod_f64"(double a, double b) noexcept
    float one_floor_f32 "autograd_cy_floor_quotient_f32"(float a, float b) noexcept
    double one_floor_f64 "autograd_cy_floor_quotient_f64"(double a, double b) noexcept

cdef enum:
    BLOCK = 512             # elements that go to NumPy together or not at all

ctypedef fused Real:
    float
    double

cdef Kernel[NCODES] NUMPYS_FMOD, NUMPYS_FLOOR


cdef inline bint are_plain(const Real[::1] a, const Real[::1] b) noexcept nogil:
    """Whether these loops can compute all quotients."""
    cdef Py_ssize_t i, others = 0
    for i in range(a.shape[0]):
        if Real is float:
            others |= not is_plain_f32(a[i], b[i])
        else:
            others |= not is_plain_f64(a[i], b[i])
    return others == 0


cdef inline void divide(const Real[::1] a, const Real[::1] b, Real[::1] out, bint floored) noexcept nogil:
    cdef Py_ssize_t i
    if floored:
        for i in range(out.shape[0]):
            out[i] = one_floor_f32(a[i], b[i]) if Real is float else one_floor_f64(a[i], b[i])
    else:
        for i in range(out.shape[0]):
            out[i] = one_fmod_f32(a[i], b[i]) if Real is float else one_fmod_f64(a[i], b[i])


cdef inline void divide_or_borrow(char **args, npy_intp n, const npy_intp *strides, void *data, Real *out,
                                  bint floored) noexcept nogil:
    """A block of contiguous elements."""
    cdef Kernel *numpys = <Kernel *> data
    if are_plain(run(<const Real *> args[0], n), run(<const Real *> args[1], n)):
        divide(run(<const Real *> args[0], n), run(<const Real *> args[1], n), run(out, n), floored)
    else:
        numpys.loop(args, &n, strides, numpys.data)


cdef void fmod_block_f32 "autograd_cy_fmod_block_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                      void *data) noexcept nogil:
    divide_or_borrow(args, dims[0], strides, data, <float *> args[2], False)


cdef void fmod_block_f64 "autograd_cy_fmod_block_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                      void *data) noexcept nogil:
    divide_or_borrow(args, dims[0], strides, data, <double *> args[2], False)


cdef void floor_block_f32 "autograd_cy_floor_block_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil:
    divide_or_borrow(args, dims[0], strides, data, <float *> args[2], True)


cdef void floor_block_f64 "autograd_cy_floor_block_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil:
    divide_or_borrow(args, dims[0], strides, data, <double *> args[2], True)


cdef inline void by_blocks(char **args, npy_intp n, const npy_intp *strides, npy_intp itemsize, Loop itself, Loop block,
                           Kernel *numpys) noexcept nogil:
    """A loop over any elements; a long strided run is copied and passed to `itself` block by block."""
    cdef char *parts[3]
    cdef npy_intp start = 0, size
    cdef int k
    if strides[0] == itemsize and strides[1] == itemsize and strides[2] == itemsize:
        while start < n:
            size = min(n - start, <npy_intp> BLOCK)
            for k in range(3):
                parts[k] = args[k] + start * itemsize
            block(parts, &size, strides, numpys)
            start += size
    elif n >= thresholds.strided_run:
        call_flattened(itself, args, n, strides, 3, itemsize)
    else:
        numpys.loop(args, &n, strides, numpys.data)


cdef void fmod_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    by_blocks(args, dims[0], strides, sizeof(float), fmod_f32, fmod_block_f32, &NUMPYS_FMOD[FLOAT32])


cdef void fmod_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    by_blocks(args, dims[0], strides, sizeof(double), fmod_f64, fmod_block_f64, &NUMPYS_FMOD[FLOAT64])


cdef void floor_quotient_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    by_blocks(args, dims[0], strides, sizeof(float), floor_quotient_f32, floor_block_f32, &NUMPYS_FLOOR[FLOAT32])


cdef void floor_quotient_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    by_blocks(args, dims[0], strides, sizeof(double), floor_quotient_f64, floor_block_f64, &NUMPYS_FLOOR[FLOAT64])


borrow(NUMPYS_FMOD, np.fmod, lambda dtype_code: dtype_code)
borrow(NUMPYS_FLOOR, np.floor_divide, lambda dtype_code: dtype_code)
