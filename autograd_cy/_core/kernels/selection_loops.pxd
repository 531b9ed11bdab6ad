"""Loops that take and add elements and rows by index."""

from libc.stdint cimport int64_t

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in take.pyx
cdef cnp.ndarray selected(cnp.ndarray array, int axis, Py_ssize_t i)
cdef cnp.ndarray sliced(cnp.ndarray array, int axis, Py_ssize_t start, Py_ssize_t length, Py_ssize_t step)
cdef cnp.ndarray numbers_of(cnp.ndarray rows)
cdef cnp.ndarray zeros(tuple sizes, int dtype_code)
cdef cnp.ndarray take_rows(cnp.ndarray array, int axis, cnp.ndarray rows)
cdef cnp.ndarray add_rows(cnp.ndarray values, tuple sizes, Py_ssize_t outer, Py_ssize_t n, cnp.ndarray rows)
cdef cnp.ndarray combined(list rows, list sizes)
cdef cnp.ndarray positions(cnp.ndarray rows, int axis, Py_ssize_t size)
cdef bint all_inside(cnp.ndarray rows, Py_ssize_t size)
cdef int add_at(cnp.ndarray array, tuple places, object values) except -1

# in along.pyx

cdef enum How:      # how an old and a new element are combined
    PUT
    ADD
    MULTIPLY
    LARGER
    SMALLER

cdef cnp.ndarray take_along(cnp.ndarray array, int dim, cnp.ndarray index)
cdef bint put_along(cnp.ndarray target, int dim, cnp.ndarray index, object source, How how) except -1

# in embedding_loops.pyx
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
