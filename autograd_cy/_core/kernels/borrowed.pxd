"""Typed memoryviews of memory that somebody else holds, made for nothing: how the loops see their operands."""

from numpy cimport npy_intp

cdef extern from "borrowed.h" nogil:
    float[::1] run_f32 "AUTOGRAD_CY_RUN"(float *pointer, npy_intp n) noexcept
    double[::1] run_f64 "AUTOGRAD_CY_RUN"(double *pointer, npy_intp n) noexcept
