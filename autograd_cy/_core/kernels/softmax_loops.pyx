"""Loops of softmax, log_softmax and logsumexp over dense arrays (knows no Tensor).

An array is seen as (outer, n, inner) and normalized along n. Where inner is 1 that is row by row; else columns are taken
WIDTH at a time, so that all passes run over contiguous elements in the cache. Threads share the rows, or those blocks of
columns. exp is that of elementary.h, which becomes part of the loops. Rows are shifted by their largest element: nothing
overflows. A gradient may be written over `g`.
"""

from libc.math cimport INFINITY, isfinite
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64
from autograd_cy._core.kernels.borrowed cimport matrix, real, rows_apart, run
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.plane_loops cimport row_dot, row_total
from autograd_cy._core.kernels.reduction_loops cimport LARGEST
from autograd_cy._core.runtime.threads cimport Task, parallel_for
from autograd_cy._core.runtime.thresholds cimport thresholds

cnp.import_array()

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_normalize_f32)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_normalize_f64)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_softmax_gradient_f32)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_softmax_gradient_f64)
    AUTOGRAD_CY_FLAT static void __pyx_fuse_0autograd_cy_log_sum_exp(float const *, float *, npy_intp, npy_intp);
    AUTOGRAD_CY_FLAT static void __pyx_fuse_1autograd_cy_log_sum_exp(double const *, double *, npy_intp, npy_intp);
    """

cdef enum:
    BLOCK = 1024            # elements that are worked on in the L1 cache


cdef real largest(const real *row, npy_intp n) noexcept nogil:
    """The largest element; where there is a nan, any number."""
    cdef Kernel *kernel = &LARGEST.kernels[FLOAT32 if real is float else FLOAT64]
    cdef npy_intp[3] strides
    cdef char *args[3]
    cdef real top = row[0]
    cdef npy_intp j
    if n < thresholds.short_choice:
        for j in range(1, n):
            top = row[j] if row[j] > top else top
        return top
    args[0] = args[2] = <char *> &top
    args[1] = <char *> row
    strides[0] = strides[2] = 0
    strides[1] = sizeof(real)
    kernel.loop(args, &n, strides, kernel.data)
    return top


cdef struct Arrays:         # of a loop that is shared
    const void *x           # or g
    const void *y           # of the gradient
    void *out
    npy_intp n, inner
    bint logarithmic


cdef inline real[:, ::1] block(const void *data, real kind, const Arrays *p, npy_intp number, npy_intp rows) noexcept nogil:
    """Some rows, the first of that number; or, of n elements each, the columns of a block of that number."""
    cdef npy_intp blocks = blocks_of(p.inner), start = number % blocks * WIDTH
    if p.inner == 1:
        return matrix(<const real *> data + number * p.n, rows, p.n)
    return rows_apart(<const real *> data + number // blocks * p.n * p.inner + start, p.n,
                      p.inner * <npy_intp> sizeof(real), min(p.inner - start, <npy_intp> WIDTH))


cdef inline npy_intp count_of(const Arrays *p, npy_intp first, npy_intp end) noexcept nogil:
    """How many rows are worked on together from the first on; or 1 block of columns."""
    return min(end - first, max(BLOCK // p.n, 1)) if p.inner == 1 else 1


cdef void share_arrays(Task part, Arrays *p, npy_intp outer) noexcept nogil:
    if p.n > 0 and p.inner > 0:
        parallel_for(part, p, outer * blocks_of(p.inner), p.n * min(p.inner, <npy_intp> WIDTH))


# softmax and log_softmax

cdef void normalize(int dtype_code, const void *x, void *y, npy_intp outer, npy_intp n, npy_intp inner,
                    bint logarithmic) noexcept nogil:
    """y = exp(x) / sum(exp(x)) along n, or its logarithm."""
    cdef Arrays arrays = Arrays(x, NULL, y, n, inner, logarithmic)
    share_arrays(normalize_f32 if dtype_code == FLOAT32 else normalize_f64, &arrays, outer)


cdef void normalize_f32 "autograd_cy_normalize_f32"(void *arrays, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    normalize_part(<const Arrays *> arrays, first, end, <float> 0)


cdef void normalize_f64 "autograd_cy_normalize_f64"(void *arrays, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    normalize_part(<const Arrays *> arrays, first, end, <double> 0)


cdef inline void normalize_part(const Arrays *p, npy_intp first, npy_intp end, real kind) noexcept nogil:
    """Some rows, or some blocks of columns."""
    cdef npy_intp count
    while first < end:
        count = count_of(p, first, end)
        if p.inner == 1:
            normalize_rows(block(p.x, kind, p, first, count), block(p.out, kind, p, first, count), p.logarithmic)
        else:
            normalize_columns(block(p.x, kind, p, first, 1), block(p.out, kind, p, first, 1), p.logarithmic)
        first += count


cdef inline void normalize_rows(const real[:, ::1] x, real[:, ::1] y, bint logarithmic) noexcept nogil:
    """A few dense rows."""
    cdef real[BLOCK] tops
    cdef real total
    cdef npy_intp row, j, rows = x.shape[0], n = x.shape[1]
    for row in range(rows):
        tops[row] = largest(&x[row, 0], n)
        for j in range(n):
            y[row, j] = x[row, j] - tops[row]
    exponentials(run(&y[0, 0], rows * n))
    for row in range(rows):
        total = <real> row_total(&y[row, 0], n)
        if logarithmic:
            total = logarithm(total)
            for j in range(n):
                y[row, j] = x[row, j] - tops[row] - total
        else:
            total = 1 / total
            for j in range(n):
                y[row, j] = y[row, j] * total


cdef inline void exponentials(real[::1] y) noexcept nogil:
    cdef npy_intp j
    for j in range(y.shape[0]):
        y[j] = exponential(y[j])


cdef inline void normalize_columns(const real[:, ::1] x, real[:, ::1] y, bint logarithmic) noexcept nogil:
    """At most WIDTH columns."""
    cdef real[WIDTH] tops
    cdef real[WIDTH] totals
    cdef npy_intp i, j, n = x.shape[0], width = x.shape[1]
    for j in range(width):
        tops[j] = x[0, j]
        totals[j] = 0
    for i in range(1, n):
        for j in range(width):
            tops[j] = x[i, j] if x[i, j] > tops[j] else tops[j]
    for i in range(n):
        for j in range(width):
            y[i, j] = exponential(x[i, j] - tops[j])
        for j in range(width):
            totals[j] = totals[j] + y[i, j]
    for j in range(width):
        totals[j] = logarithm(totals[j]) if logarithmic else 1 / totals[j]
    for i in range(n):
        if logarithmic:
            for j in range(width):
                y[i, j] = x[i, j] - tops[j] - totals[j]
        else:
            for j in range(width):
                y[i, j] = y[i, j] * totals[j]


# their gradients: y * (g - sum(g * y)) and g - exp(y) * sum(g)

cdef void normalize_gradient(int dtype_code, const void *g, const void *y, void *out, npy_intp outer, npy_intp n,
                             npy_intp inner, bint logarithmic) noexcept nogil:
    cdef Arrays arrays = Arrays(g, y, out, n, inner, logarithmic)
    share_arrays(gradient_f32 if dtype_code == FLOAT32 else gradient_f64, &arrays, outer)


cdef void gradient_f32 "autograd_cy_softmax_gradient_f32"(void *arrays, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    gradient_part(<const Arrays *> arrays, first, end, <float> 0)


cdef void gradient_f64 "autograd_cy_softmax_gradient_f64"(void *arrays, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    gradient_part(<const Arrays *> arrays, first, end, <double> 0)


cdef inline void gradient_part(const Arrays *p, npy_intp first, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp count
    while first < end:
        count = count_of(p, first, end)
        if p.inner == 1:
            gradient_of_rows(block(p.x, kind, p, first, count), block(p.y, kind, p, first, count),
                             block(p.out, kind, p, first, count), p.logarithmic)
        else:
            gradient_of_columns(block(p.x, kind, p, first, 1), block(p.y, kind, p, first, 1),
                                block(p.out, kind, p, first, 1), p.logarithmic)
        first += count


cdef inline void gradient_of_rows(
        const real[:, ::1] g, const real[:, ::1] y, real[:, ::1] out, bint logarithmic) noexcept nogil:
    cdef real common
    cdef npy_intp row, j, n = g.shape[1]
    for row in range(g.shape[0]):
        common = <real> (row_total(&g[row, 0], n) if logarithmic else row_dot(&g[row, 0], &y[row, 0], n))
        if logarithmic:
            for j in range(n):
                out[row, j] = g[row, j] - exponential(y[row, j]) * common
        else:
            for j in range(n):
                out[row, j] = y[row, j] * (g[row, j] - common)


cdef inline void gradient_of_columns(
        const real[:, ::1] g, const real[:, ::1] y, real[:, ::1] out, bint logarithmic) noexcept nogil:
    cdef real[WIDTH] common
    cdef npy_intp i, j, n = g.shape[0], width = g.shape[1]
    for j in range(width):
        common[j] = 0
    for i in range(n):
        if logarithmic:
            for j in range(width):
                common[j] = common[j] + g[i, j]
        else:
            for j in range(width):
                common[j] = common[j] + g[i, j] * y[i, j]
    for i in range(n):
        if logarithmic:
            for j in range(width):
                out[i, j] = g[i, j] - exponential(y[i, j]) * common[j]
        else:
            for j in range(width):
                out[i, j] = y[i, j] * (g[i, j] - common[j])


# logsumexp

cdef void log_sum_exp "autograd_cy_log_sum_exp"(const real *x, real *out, npy_intp rows, npy_intp n) noexcept nogil:
    """out = log(sum(exp(x))) of each row of n contiguous elements; -inf of an empty one."""
    log_sum_exps(matrix(x, rows, n), run(out, rows))


cdef inline void log_sum_exps(const real[:, ::1] x, real[::1] out) noexcept nogil:
    cdef real[BLOCK] terms
    cdef real top, total
    cdef npy_intp row, start, size, j, n = x.shape[1]
    for row in range(x.shape[0]):
        top = largest(&x[row, 0], n) if n else -<real> INFINITY
        top = top if isfinite(top) else 0
        total = 0
        start = 0
        while start < n:
            size = min(n - start, <npy_intp> BLOCK)
            for j in range(size):
                terms[j] = exponential(x[row, start + j] - top)
            total += <real> row_total(<const real *> terms, size)
            start += size
        out[row] = logarithm(total) + top
