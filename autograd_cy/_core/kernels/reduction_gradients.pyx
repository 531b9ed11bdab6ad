"""Kernels of the gradients of reductions, elementwise in the input x (knows no Tensor).

What they read of the output and of the incoming gradient (the operands c and s: of x's type, but s, which of complex numbers
is real) is broadcast: along a run it is one number, or as many as there are elements; in other layouts it is read as it lies.
"""

cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.arrays.buffers cimport dense_copy, is_flat, new_array
from autograd_cy._core.arrays.dtypes cimport COMPLEX128, COMPLEX64, FLOAT32, FLOAT64, code_of
from autograd_cy._core.kernels.borrowed cimport plane, real, run

cnp.import_array()

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_deviating_f32)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_deviating_f64)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_signed_f32)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_signed_f64)
    """

cdef inline real weighed(real x, real c, real s, bint sign) noexcept nogil:
    if not sign:
        return (x - c) * s
    return (<real> (x > 0) - <real> (x < 0)) * s        # sgn(nan) is 0


cdef inline void weigh(const real[:, :] x, const real[:, :] c, const real[:, :] s, real[:, :] out, bint sign) noexcept nogil:
    """out = (x - c) * s, or sgn(x) * s."""
    cdef npy_intp row, i
    for row in range(out.shape[0]):
        for i in range(out.shape[1]):
            out[row, i] = weighed(x[row, i], c[row, i], s[row, i], sign)


cdef inline void weigh_spaced(char **args, npy_intp n, npy_intp x, npy_intp c, npy_intp s, npy_intp out, real kind,
                              bint sign) noexcept nogil:
    """Of operands whose elements lie so many bytes apart."""
    weigh(plane(<real *> args[0], 1, 0, n, x), plane(<real *> args[1], 1, 0, n, c), plane(<real *> args[2], 1, 0, n, s),
          plane(<real *> args[3], 1, 0, n, out), sign)


cdef inline void weigh_any(char **args, npy_intp n, const npy_intp *strides, real kind, bint sign) noexcept nogil:
    """The loop is compiled for contiguous runs and numbers, and for any strides."""
    cdef npy_intp size = sizeof(real)
    cdef bint dense = strides[0] == size and strides[3] == size
    if dense and strides[1] == 0 and strides[2] == 0:
        weigh_spaced(args, n, size, 0, 0, size, kind, sign)
    elif dense and strides[1] == 0 and strides[2] == size:
        weigh_spaced(args, n, size, 0, size, size, kind, sign)
    elif dense and strides[1] == size and strides[2] == size:
        weigh_spaced(args, n, size, size, size, size, kind, sign)
    else:
        weigh_spaced(args, n, strides[0], strides[1], strides[2], strides[3], kind, sign)


cdef void deviating_f32 "autograd_cy_deviating_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                    void *data) noexcept nogil:
    weigh_any(args, dims[0], strides, <float> 0, False)


cdef void deviating_f64 "autograd_cy_deviating_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                    void *data) noexcept nogil:
    weigh_any(args, dims[0], strides, <double> 0, False)


cdef void signed_f32 "autograd_cy_signed_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                              void *data) noexcept nogil:
    weigh_any(args, dims[0], strides, <float> 0, True)


cdef void signed_f64 "autograd_cy_signed_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                              void *data) noexcept nogil:
    weigh_any(args, dims[0], strides, <double> 0, True)


cdef inline void weigh_parts(char **args, npy_intp n, const npy_intp *strides, real kind) noexcept nogil:
    """The deviations of both parts of complex numbers: one after the other, rows of two took a quarter more instructions."""
    cdef char *parts[4]
    cdef npy_intp k
    for k in range(2):
        parts[0], parts[1] = args[0] + k * <npy_intp> sizeof(real), args[1] + k * <npy_intp> sizeof(real)
        parts[2], parts[3] = args[2], args[3] + k * <npy_intp> sizeof(real)
        weigh_spaced(parts, n, strides[0], strides[1], strides[2], strides[3], kind, False)


cdef void deviating_c64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    weigh_parts(args, dims[0], strides, <float> 0)


cdef void deviating_c128(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    weigh_parts(args, dims[0], strides, <double> 0)


DEVIATING[FLOAT32].loop, DEVIATING[FLOAT64].loop = deviating_f32, deviating_f64
DEVIATING[COMPLEX64].loop, DEVIATING[COMPLEX128].loop = deviating_c64, deviating_c128
SIGNED[FLOAT32].loop, SIGNED[FLOAT64].loop = signed_f32, signed_f64


# what one output contributes

cdef inline void divide(const real[::1] g, const real[::1] y, real[::1] out, real divisor) noexcept nogil:
    cdef npy_intp i
    if y.shape[0] == 0:
        for i in range(out.shape[0]):
            out[i] = g[i] / divisor
    else:
        for i in range(out.shape[0]):
            out[i] = 0 if y[i] == 0 else g[i] / (y[i] * divisor)


cdef cnp.ndarray divided(cnp.ndarray g, cnp.ndarray y, double divisor):
    """g / (y * divisor), and 0 where y is 0; without y (None) g / divisor. For float32 and float64."""
    cdef cnp.ndarray gradient = g if is_flat(g) else dense_copy(g)
    cdef cnp.ndarray result = None if y is None or is_flat(y) else dense_copy(y)
    cdef cnp.ndarray out = new_array(code_of(g), cnp.PyArray_NDIM(g), cnp.PyArray_DIMS(g))
    cdef npy_intp n = cnp.PyArray_SIZE(g), m = 0 if y is None else n
    cdef void *p = cnp.PyArray_DATA(gradient)
    cdef void *q = NULL
    if y is not None:
        q = cnp.PyArray_DATA(y if result is None else result)
    if code_of(g) == FLOAT32:
        divide(run(<float *> p, n), run(<float *> q, m), run(<float *> cnp.PyArray_DATA(out), n), <float> divisor)
    else:
        divide(run(<double *> p, n), run(<double *> q, m), run(<double *> cnp.PyArray_DATA(out), n), divisor)
    return out
