"""Typed memoryviews of memory that the caller holds, made at no cost. Loops read their operands through them.

The debug build checks indices. An index out of bounds raises an exception that no caller sees; pytest turns it into a failed
test. A worker takes the GIL to report it, so in that build, after such an error, it may deadlock with its caller.
"""

cimport cython

from autograd_cy._core.runtime.numpy_api cimport npy_intp

ctypedef fused Element:
    signed char
    unsigned char
    short
    int
    long long
    float
    double
    float complex
    double complex

cdef extern from "borrowed.h" nogil:
    signed char[::1] run_i8 "AUTOGRAD_CY_RUN"(const signed char *pointer, npy_intp n) noexcept
    unsigned char[::1] run_u8 "AUTOGRAD_CY_RUN"(const unsigned char *pointer, npy_intp n) noexcept
    short[::1] run_i16 "AUTOGRAD_CY_RUN"(const short *pointer, npy_intp n) noexcept
    int[::1] run_i32 "AUTOGRAD_CY_RUN"(const int *pointer, npy_intp n) noexcept
    long long[::1] run_i64 "AUTOGRAD_CY_RUN"(const long long *pointer, npy_intp n) noexcept
    float[::1] run_f32 "AUTOGRAD_CY_RUN"(const float *pointer, npy_intp n) noexcept
    double[::1] run_f64 "AUTOGRAD_CY_RUN"(const double *pointer, npy_intp n) noexcept
    long double[::1] run_g "AUTOGRAD_CY_RUN"(const long double *pointer, npy_intp n) noexcept
    float complex[::1] run_c64 "AUTOGRAD_CY_RUN"(const float complex *pointer, npy_intp n) noexcept
    double complex[::1] run_c128 "AUTOGRAD_CY_RUN"(const double complex *pointer, npy_intp n) noexcept
    signed char[:] spaced_i8 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    unsigned char[:] spaced_u8 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    short[:] spaced_i16 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    int[:] spaced_i32 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    long long[:] spaced_i64 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    float[:] spaced_f32 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    double[:] spaced_f64 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    long double[:] spaced_g "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    float complex[:] spaced_c64 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept
    double complex[:] spaced_c128 "AUTOGRAD_CY_SPACED"(const void *pointer, npy_intp n, npy_intp step) noexcept


cdef inline Element[::1] run(const Element *pointer, npy_intp n) noexcept nogil:
    """n contiguous elements."""
    if Element is cython.schar:
        return run_i8(pointer, n)
    elif Element is cython.uchar:
        return run_u8(pointer, n)
    elif Element is short:
        return run_i16(pointer, n)
    elif Element is int:
        return run_i32(pointer, n)
    elif Element is cython.longlong:
        return run_i64(pointer, n)
    elif Element is float:
        return run_f32(pointer, n)
    elif Element is double:
        return run_f64(pointer, n)
    elif Element is cython.floatcomplex:
        return run_c64(pointer, n)
    else:
        return run_c128(pointer, n)


cdef inline Element[:] spaced(const Element *pointer, npy_intp n, npy_intp step) noexcept nogil:
    """n elements, `step` bytes apart."""
    if Element is cython.schar:
        return spaced_i8(pointer, n, step)
    elif Element is cython.uchar:
        return spaced_u8(pointer, n, step)
    elif Element is short:
        return spaced_i16(pointer, n, step)
    elif Element is int:
        return spaced_i32(pointer, n, step)
    elif Element is cython.longlong:
        return spaced_i64(pointer, n, step)
    elif Element is float:
        return spaced_f32(pointer, n, step)
    elif Element is double:
        return spaced_f64(pointer, n, step)
    elif Element is cython.floatcomplex:
        return spaced_c64(pointer, n, step)
    else:
        return spaced_c128(pointer, n, step)
