"""Loops of softmax, log_softmax and logsumexp over dense arrays (knows no Tensor).

An array is seen as (outer, n, inner) and normalized along n. Where inner is 1 that is row by row; else columns are taken
WIDTH at a time, so that all passes run over contiguous elements in the cache. Threads share the rows, or those blocks of
columns. exp is that of elementary.h, which becomes part of the loops. Rows are shifted by their largest element: nothing
overflows. A gradient may be written over `g`.
"""

from libc.math cimport INFINITY, isfinite

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.plane_loops cimport real, row_dot, row_total
from autograd_cy._core.kernels.reduction_loops cimport LARGEST
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.threads cimport parallel_for
from autograd_cy._core.runtime.thresholds cimport thresholds

cnp.import_array()

# The functions that Cython makes of those of `real` numbers: of float and of double.
cdef extern from *:
    """
    #include "clones.h"
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_softmax_rows( \\
            real const *, real *, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_softmax_columns( \\
            real const *, real *, npy_intp, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_log_sum_exp( \\
            real const *, real *, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_softmax_gradient_rows( \\
            real const *, real const *, real *, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_softmax_gradient_columns( \\
            real const *, real const *, real *, npy_intp, npy_intp, npy_intp, int);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
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


cdef struct Arrays:         # of a loop that is shared, in the order of its parameters
    const void *first
    const void *second
    void *out
    npy_intp n, inner
    bint logarithmic


cdef inline npy_intp block_at(npy_intp number, npy_intp n, npy_intp inner, npy_intp *width) noexcept nogil:
    """Where the block of that number begins, and its width."""
    cdef npy_intp blocks = blocks_of(inner)
    cdef npy_intp start = number % blocks * WIDTH
    width[0] = min(inner - start, <npy_intp> WIDTH)
    return number // blocks * n * inner + start


# softmax and log_softmax

cdef void normalize(const real *x, real *y, npy_intp outer, npy_intp n, npy_intp inner, bint logarithmic) noexcept nogil:
    """y = exp(x) / sum(exp(x)) along n, or its logarithm."""
    cdef Arrays arrays = Arrays(x, NULL, y, n, inner, logarithmic)
    parallel_for(normalize_f32 if real is float else normalize_f64, &arrays, outer * blocks_of(inner),
                 n * min(inner, <npy_intp> WIDTH))


cdef void normalize_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Arrays *a = <Arrays *> data
    normalize_part(<const float *> a.first, <float *> a.out, first, end, a.n, a.inner, a.logarithmic)


cdef void normalize_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Arrays *a = <Arrays *> data
    normalize_part(<const double *> a.first, <double *> a.out, first, end, a.n, a.inner, a.logarithmic)


cdef void normalize_part(const real *x, real *y, npy_intp first, npy_intp end, npy_intp n, npy_intp inner,
                         bint logarithmic) noexcept nogil:
    """Some rows, or some blocks of columns."""
    cdef npy_intp count, place, width
    if n == 0 or inner == 0:
        return
    while first < end:
        count = 1
        if inner == 1:
            count = min(end - first, max(BLOCK // n, 1))
            normalize_rows(x + first * n, y + first * n, count, n, logarithmic)
        else:
            place = block_at(first, n, inner, &width)
            normalize_columns(x + place, y + place, n, inner, width, logarithmic)
        first += count


cdef void normalize_rows "autograd_cy_softmax_rows"(
        const real *x, real *y, npy_intp rows, npy_intp n, bint logarithmic) noexcept nogil:
    """A few rows of n contiguous elements."""
    cdef real[BLOCK] tops
    cdef real total
    cdef npy_intp row, j
    for row in range(rows):
        tops[row] = largest(x + row * n, n)
        for j in range(n):
            y[row * n + j] = x[row * n + j] - tops[row]
    for j in range(rows * n):
        y[j] = exponential(y[j])
    for row in range(rows):
        total = <real> row_total(y, n)
        if logarithmic:
            total = logarithm(total)
            for j in range(n):
                y[j] = x[j] - tops[row] - total
        else:
            total = 1 / total
            for j in range(n):
                y[j] = y[j] * total
        x += n
        y += n


cdef void normalize_columns "autograd_cy_softmax_columns"(
        const real *x, real *y, npy_intp n, npy_intp stride, npy_intp width, bint logarithmic) noexcept nogil:
    """A few columns of n elements each, `stride` elements apart."""
    cdef real[WIDTH] tops
    cdef real[WIDTH] totals
    cdef npy_intp i, j
    for j in range(width):
        tops[j] = x[j]
        totals[j] = 0
    for i in range(1, n):
        for j in range(width):
            tops[j] = x[i * stride + j] if x[i * stride + j] > tops[j] else tops[j]
    for i in range(n):
        for j in range(width):
            y[i * stride + j] = exponential(x[i * stride + j] - tops[j])
        for j in range(width):
            totals[j] = totals[j] + y[i * stride + j]
    for j in range(width):
        totals[j] = logarithm(totals[j]) if logarithmic else 1 / totals[j]
    for i in range(n):
        if logarithmic:
            for j in range(width):
                y[i * stride + j] = x[i * stride + j] - tops[j] - totals[j]
        else:
            for j in range(width):
                y[i * stride + j] = y[i * stride + j] * totals[j]


# their gradients: y * (g - sum(g * y)) and g - exp(y) * sum(g)

cdef void normalize_gradient(const real *g, const real *y, real *out, npy_intp outer, npy_intp n, npy_intp inner,
                             bint logarithmic) noexcept nogil:
    cdef Arrays arrays = Arrays(g, y, out, n, inner, logarithmic)
    parallel_for(gradient_f32 if real is float else gradient_f64, &arrays, outer * blocks_of(inner),
                 n * min(inner, <npy_intp> WIDTH))


cdef void gradient_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Arrays *a = <Arrays *> data
    gradient_part(<const float *> a.first, <const float *> a.second, <float *> a.out, first, end, a.n, a.inner, a.logarithmic)


cdef void gradient_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Arrays *a = <Arrays *> data
    gradient_part(<const double *> a.first, <const double *> a.second, <double *> a.out, first, end, a.n, a.inner,
                  a.logarithmic)


cdef void gradient_part(const real *g, const real *y, real *out, npy_intp first, npy_intp end, npy_intp n, npy_intp inner,
                        bint logarithmic) noexcept nogil:
    cdef npy_intp count, place, width
    if n == 0 or inner == 0:
        return
    while first < end:
        count = 1
        if inner == 1:
            count = min(end - first, max(BLOCK // n, 1))
            gradient_of_rows(g + first * n, y + first * n, out + first * n, count, n, logarithmic)
        else:
            place = block_at(first, n, inner, &width)
            gradient_of_columns(g + place, y + place, out + place, n, inner, width, logarithmic)
        first += count


cdef void gradient_of_rows "autograd_cy_softmax_gradient_rows"(
        const real *g, const real *y, real *out, npy_intp rows, npy_intp n, bint logarithmic) noexcept nogil:
    cdef real common
    cdef npy_intp j
    for _ in range(rows):
        common = <real> (row_total(g, n) if logarithmic else row_dot(g, y, n))
        if logarithmic:
            for j in range(n):
                out[j] = g[j] - exponential(y[j]) * common
        else:
            for j in range(n):
                out[j] = y[j] * (g[j] - common)
        g += n
        y += n
        out += n


cdef void gradient_of_columns "autograd_cy_softmax_gradient_columns"(
        const real *g, const real *y, real *out, npy_intp n, npy_intp stride, npy_intp width, bint logarithmic) noexcept nogil:
    cdef real[WIDTH] common
    cdef npy_intp i, j
    for j in range(width):
        common[j] = 0
    for i in range(n):
        if logarithmic:
            for j in range(width):
                common[j] = common[j] + g[i * stride + j]
        else:
            for j in range(width):
                common[j] = common[j] + g[i * stride + j] * y[i * stride + j]
    for i in range(n):
        if logarithmic:
            for j in range(width):
                out[i * stride + j] = g[i * stride + j] - exponential(y[i * stride + j]) * common[j]
        else:
            for j in range(width):
                out[i * stride + j] = y[i * stride + j] * (g[i * stride + j] - common[j])


# logsumexp

cdef void log_sum_exp "autograd_cy_log_sum_exp"(const real *x, real *out, npy_intp rows, npy_intp n) noexcept nogil:
    """out = log(sum(exp(x))) of each row of n contiguous elements; -inf of an empty one."""
    cdef real[BLOCK] terms
    cdef real top, total
    cdef npy_intp row, start, size, j
    for row in range(rows):
        top = largest(x, n) if n else -<real> INFINITY
        top = top if isfinite(top) else 0
        total = 0
        start = 0
        while start < n:
            size = min(n - start, <npy_intp> BLOCK)
            for j in range(size):
                terms[j] = exponential(x[start + j] - top)
            total += <real> row_total(<const real *> terms, size)
            start += size
        out[row] = logarithm(total) + top
        x += n
