"""Typed memoryviews of memory that somebody else holds, made for nothing: how the loops see their operands."""

from numpy cimport npy_intp

cdef extern from "borrowed.h" nogil:
    float[::1] run_f32 "AUTOGRAD_CY_RUN"(float *pointer, npy_intp n) noexcept
    double[::1] run_f64 "AUTOGRAD_CY_RUN"(double *pointer, npy_intp n) noexcept


# of either type, for the functions that Cython makes of one of `real` numbers

ctypedef fused real:
    float
    double

cdef extern from "borrowed.h" nogil:
    float[::1] row_f32 "AUTOGRAD_CY_RUN"(const float *pointer, npy_intp n) noexcept
    double[::1] row_f64 "AUTOGRAD_CY_RUN"(const double *pointer, npy_intp n) noexcept
    float[:, ::1] rows_f32 "AUTOGRAD_CY_ROWS"(const float *pointer, npy_intp rows, npy_intp stride, npy_intp n) noexcept
    double[:, ::1] rows_f64 "AUTOGRAD_CY_ROWS"(const double *pointer, npy_intp rows, npy_intp stride, npy_intp n) noexcept
    float[:, :] plane_f32 "AUTOGRAD_CY_PLANE"(const void *, npy_intp rows, npy_intp, npy_intp n, npy_intp step) noexcept
    double[:, :] plane_f64 "AUTOGRAD_CY_PLANE"(const void *, npy_intp rows, npy_intp, npy_intp n, npy_intp step) noexcept
    float[:, :, ::1] cube_f32 "AUTOGRAD_CY_CUBE"(const float *pointer, npy_intp outer, npy_intp n, npy_intp inner) noexcept
    double[:, :, ::1] cube_f64 "AUTOGRAD_CY_CUBE"(const double *pointer, npy_intp outer, npy_intp n, npy_intp inner) noexcept
    long long[:, ::1] numbers "AUTOGRAD_CY_ROWS"(const long long *pointer, npy_intp rows, npy_intp stride, npy_intp n) noexcept


cdef inline real[::1] run(const real *pointer, npy_intp n) noexcept nogil:
    """n contiguous elements."""
    if real is float:
        return row_f32(pointer, n)
    else:
        return row_f64(pointer, n)


cdef inline real[:, ::1] rows_apart(const real *pointer, npy_intp rows, npy_intp stride, npy_intp n) noexcept nogil:
    """Rows of n contiguous elements, `stride` bytes apart."""
    if real is float:
        return rows_f32(pointer, rows, stride, n)
    else:
        return rows_f64(pointer, rows, stride, n)


cdef inline real[:, ::1] matrix(const real *pointer, npy_intp rows, npy_intp n) noexcept nogil:
    """Rows of n elements, one after the other."""
    return rows_apart(pointer, rows, n * <npy_intp> sizeof(real), n)


cdef inline real[:, :] plane(const real *pointer, npy_intp rows, npy_intp stride, npy_intp n, npy_intp step) noexcept nogil:
    """Rows of n elements, rows and elements any number of bytes apart."""
    if real is float:
        return plane_f32(pointer, rows, stride, n, step)
    else:
        return plane_f64(pointer, rows, stride, n, step)


cdef inline real[:, :, ::1] cube(const real *pointer, npy_intp outer, npy_intp n, npy_intp inner) noexcept nogil:
    """A dense array seen as (outer, n, inner)."""
    if real is float:
        return cube_f32(pointer, outer, n, inner)
    else:
        return cube_f64(pointer, outer, n, inner)
