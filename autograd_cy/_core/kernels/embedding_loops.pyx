"""Rows of a table, taken by number, and gradients added to the rows that they belong to (knows no Tensor).

The numbers of rows were checked. Threads share what is taken, and of a gradient the rows of the table: each looks through all
numbers and adds what belongs to its own rows, in the order in which they come.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.threads cimport UNIT, parallel_for

cdef struct Rows:               # the arrays of a loop that is shared
    const void *source
    const int64_t *rows
    const int64_t *counts
    void *out
    npy_intp n, inner
    int64_t skipped


cdef void copy_rows(const char *table, npy_intp size, const int64_t *rows, npy_intp n, char *out) noexcept nogil:
    """out[i] = table[rows[i]]; a row has `size` bytes."""
    cdef Rows taken = Rows(table, rows, NULL, out, n, size, -1)
    parallel_for(copy_part, &taken, n, size // UNIT + 1)


cdef void copy_part(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Rows *p = <Rows *> data
    cdef npy_intp size = p.inner, i
    for i in range(first, end):
        memcpy(<char *> p.out + i * size, <const char *> p.source + p.rows[i] * size, size)


cdef void add_to_rows(const real *g, const int64_t *rows, npy_intp n, npy_intp inner, int64_t skipped, const int64_t *counts,
                      real *out, npy_intp height) noexcept nogil:
    """out[rows[i]] += g[i], but for the row `skipped`; divided by the row's count where there are `counts` (or NULL)."""
    cdef Rows added = Rows(g, rows, counts, out, n, inner, skipped)
    cdef npy_intp weight = n * inner // max(height, 1) + 1
    parallel_for(add_f32 if real is float else add_f64, &added, height, weight, max(height // 4, 1))


cdef void add_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    add_part(<Rows *> data, first, end, <float> 0)


cdef void add_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    add_part(<Rows *> data, first, end, <double> 0)


cdef inline void add_part(Rows *p, int64_t first, int64_t end, real kind) noexcept nogil:
    """What belongs to the rows from `first` to `end`."""
    cdef const real *g
    cdef real *out
    cdef real scale
    cdef npy_intp i, k
    cdef int64_t row
    for i in range(p.n):
        row = p.rows[i]
        if row < first or row >= end or row == p.skipped:
            continue
        g = <const real *> p.source + i * p.inner
        out = <real *> p.out + row * p.inner
        if p.counts == NULL:
            for k in range(p.inner):
                out[k] += g[k]
        else:
            scale = <real> (1 / <real> p.counts[row])
            for k in range(p.inner):
                out[k] += g[k] * scale
