"""log(1 + z) of complex numbers. NumPy's loop computes 1 + z first, and loses a small real part of z in that sum."""

from libc.math cimport atan2, fabs, fma, hypot, log, log1p

from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef inline double log_of_length(double x, double y) noexcept nogil:
    """log |1 + x + iy|; near 1, from the square's excess over 1, including the rounding errors of its products."""
    cdef double product = x * (2 + x)
    cdef double excess = fma(y, y, product) + fma(x, 2 + x, -product)
    if fabs(x) < 2 and fabs(y) < 2 and excess > -0.5:
        return 0.5 * log1p(excess)
    return log(hypot(1 + x, y))


cdef inline void log1p_of(const Real *z, Real *out) noexcept nogil:
    cdef double x = z[0], y = z[1]
    out[0] = <Real> log_of_length(x, y)
    out[1] = <Real> atan2(y, 1 + x)


cdef inline void log1p_each(const char *z, npy_intp step, char *out, npy_intp out_step, npy_intp n, Real _) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        log1p_of(<const Real *> (z + i * step), <Real *> (out + i * out_step))


cdef void log1p_c64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    log1p_each(args[0], strides[0], args[1], strides[1], dims[0], <float> 0)


cdef void log1p_c128(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    log1p_each(args[0], strides[0], args[1], strides[1], dims[0], <double> 0)
