"""Kernels of the gradients of reductions, elementwise in the input x (knows no Tensor).

The operands c and s, from the output and the incoming gradient, are broadcast. They have x's type, but s is real for complex
x. Fast loops take them as scalars or contiguous along a run; a slow one takes any layout.
"""

from autograd_cy._core.arrays.buffers cimport dense_copy, is_flat, new_array
from autograd_cy._core.arrays.dtypes cimport COMPLEX128, COMPLEX64, FLOAT32, FLOAT64, code_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_deviating_f32)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_deviating_f64)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_signed_f32)
    AUTOGRAD_CY_CLONED_KERNEL(autograd_cy_signed_f64)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_exponential_f32)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_exponential_f64)
    """

cdef extern from "elementary.h" nogil:
    float exp_f32 "autograd_cy_exp_f32"(float) noexcept
    double exp_f64 "autograd_cy_exp_f64"(double) noexcept

cdef enum Weighing:
    DEVIATION
    SIGN
    EXPONENTIAL_OF


cdef inline real weighed(real x, real c, real s, Weighing how) noexcept nogil:
    if how == DEVIATION:
        return (x - c) * s
    if how == SIGN:
        return (<real> (x > 0) - <real> (x < 0)) * s        # sgn(nan) is 0
    return (exp_f32(x - c) if real is float else exp_f64(x - c)) * s


cdef inline void weigh(char **args, npy_intp n, const npy_intp *strides, real kind, Weighing how) noexcept nogil:
    """out = (x - c) * s, sgn(x) * s, or exp(x - c) * s."""
    cdef const real *x = <const real *> args[0]
    cdef const real *c = <const real *> args[1]
    cdef const real *s = <const real *> args[2]
    cdef real *out = <real *> args[3]
    cdef real center = c[0], scale = s[0]
    cdef npy_intp i
    if strides[0] == sizeof(real) and strides[3] == sizeof(real):
        if strides[1] == 0 and strides[2] == 0:
            for i in range(n):
                out[i] = weighed(x[i], center, scale, how)
            return
        if strides[1] == 0 and strides[2] == sizeof(real):
            for i in range(n):
                out[i] = weighed(x[i], center, s[i], how)
            return
        if strides[1] == sizeof(real) and strides[2] == sizeof(real):
            for i in range(n):
                out[i] = weighed(x[i], c[i], s[i], how)
            return
    for i in range(n):
        (<real *> (args[3] + i * strides[3]))[0] = weighed(
            (<real *> (args[0] + i * strides[0]))[0], (<real *> (args[1] + i * strides[1]))[0],
            (<real *> (args[2] + i * strides[2]))[0], how)


cdef inline void weigh_parts(char **args, npy_intp n, const npy_intp *strides, real kind) noexcept nogil:
    """(x - c) * s for both parts of complex numbers."""
    cdef const real *x
    cdef const real *c
    cdef real *out
    cdef real scale
    cdef npy_intp i
    for i in range(n):
        x = <const real *> (args[0] + i * strides[0])
        c = <const real *> (args[1] + i * strides[1])
        scale = (<const real *> (args[2] + i * strides[2]))[0]
        out = <real *> (args[3] + i * strides[3])
        out[0], out[1] = (x[0] - c[0]) * scale, (x[1] - c[1]) * scale


cdef void deviating_f32 "autograd_cy_deviating_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                    void *data) noexcept nogil:
    weigh(args, dims[0], strides, <float> 0, DEVIATION)


cdef void deviating_f64 "autograd_cy_deviating_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                    void *data) noexcept nogil:
    weigh(args, dims[0], strides, <double> 0, DEVIATION)


cdef void signed_f32 "autograd_cy_signed_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                              void *data) noexcept nogil:
    weigh(args, dims[0], strides, <float> 0, SIGN)


cdef void signed_f64 "autograd_cy_signed_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                              void *data) noexcept nogil:
    weigh(args, dims[0], strides, <double> 0, SIGN)


cdef void exponential_f32 "autograd_cy_exponential_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil:
    weigh(args, dims[0], strides, <float> 0, EXPONENTIAL_OF)


cdef void exponential_f64 "autograd_cy_exponential_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil:
    weigh(args, dims[0], strides, <double> 0, EXPONENTIAL_OF)


cdef void deviating_c64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    weigh_parts(args, dims[0], strides, <float> 0)


cdef void deviating_c128(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    weigh_parts(args, dims[0], strides, <double> 0)


DEVIATING[FLOAT32].loop, DEVIATING[FLOAT64].loop = deviating_f32, deviating_f64
DEVIATING[COMPLEX64].loop, DEVIATING[COMPLEX128].loop = deviating_c64, deviating_c128
SIGNED[FLOAT32].loop, SIGNED[FLOAT64].loop = signed_f32, signed_f64
EXPONENTIAL[FLOAT32].loop, EXPONENTIAL[FLOAT64].loop = exponential_f32, exponential_f64


# the share of one output

cdef inline void divide(const real *g, const real *y, real *out, npy_intp n, real divisor) noexcept nogil:
    cdef npy_intp i
    if y == NULL:
        for i in range(n):
            out[i] = g[i] / divisor
    else:
        for i in range(n):
            out[i] = 0 if y[i] == 0 else g[i] / (y[i] * divisor)


cdef cnp.ndarray divided(cnp.ndarray g, cnp.ndarray y, double divisor):
    """g / (y * divisor), 0 where y is 0; g / divisor if y is None. For float32 and float64."""
    cdef cnp.ndarray gradient = g if is_flat(g) else dense_copy(g)
    cdef cnp.ndarray result = None if y is None or is_flat(y) else dense_copy(y)
    cdef cnp.ndarray out = new_array(code_of(g), cnp.PyArray_NDIM(g), cnp.PyArray_DIMS(g))
    cdef void *q = NULL
    cdef void *p = cnp.PyArray_DATA(gradient)
    if y is not None:
        q = cnp.PyArray_DATA(y if result is None else result)
    if code_of(g) == FLOAT32:
        divide(<float *> p, <float *> q, <float *> cnp.PyArray_DATA(out), cnp.PyArray_SIZE(g), <float> divisor)
    else:
        divide(<double *> p, <double *> q, <double *> cnp.PyArray_DATA(out), cnp.PyArray_SIZE(g), divisor)
    return out
