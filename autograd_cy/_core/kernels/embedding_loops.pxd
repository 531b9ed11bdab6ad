"""Gather of a table's rows by number, and scatter of their gradients."""

from libc.stdint cimport int64_t

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef void copy_rows(const char *table, npy_intp size, const int64_t *rows, npy_intp n, char *out) noexcept nogil
cdef void add_to_rows(const real *g, const int64_t *rows, npy_intp n, npy_intp inner, int64_t skipped, const int64_t *counts,
                      real *out, npy_intp height) noexcept nogil
cdef void add_bags(const real *table, const int64_t *rows, const int64_t *starts, npy_intp bags, npy_intp inner,
                   const real *factors, bint mean, real *out) noexcept nogil
cdef void find_largest(const real *table, const int64_t *rows, const int64_t *starts, npy_intp bags, npy_intp inner,
                       int64_t *numbers, real *out) noexcept nogil
cdef void add_from_bags(const real *g, const int64_t *rows, const int64_t *starts, npy_intp bags, npy_intp inner,
                        const real *factors, real *out, npy_intp height) noexcept nogil
cdef void add_to_largest(const real *g, int64_t *numbers, const int64_t *starts, npy_intp bags, npy_intp inner, real *out,
                         npy_intp height) noexcept nogil
