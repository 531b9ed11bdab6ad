"""Loops of softmax, log_softmax and logsumexp over dense arrays (knows no Tensor).

An array is viewed as (outer, n, inner) and normalized along n: row by row if inner is 1, else WIDTH columns at a time, so
that all passes run over contiguous elements in the cache. Threads share rows, or blocks of columns. exp is inlined from
elementary.h. Rows are shifted by their largest element, so nothing overflows. Values and gradients (softmax_gradients.pyx)
are exact even if a probability is near 1: NOTE [Probabilities near 1].

NOTE [Probabilities near 1]
If one probability p is near 1, the others sum to 1 - p, and computing 1 - p from p leaves only rounding errors.
  1. The logarithm of a sum of exponentials is log1p of the sum without its largest term, which is 1 (rests_of_rows).
  2. softmax's gradient y * (g - sum(g * y)) does not change if a constant is added to g. If the largest y is above 1/2, its
    g is subtracted, so that the sum runs over the other elements only.
  3. log_softmax's gradient g - p * sum(g) is computed as g * (1 - p) - p * (the sum of the other g) if p is above 1/2. 1 - p
    is computed from the logarithm of p (exp_and_rest).
If no probability is above 1/2, nothing is lost. The forward tells whether one is (`peaked`), so that the gradient needs no
search otherwise.
"""

from libc.math cimport INFINITY, isfinite

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.reduction_loops cimport LARGEST, real, row_total
from autograd_cy._core.parallel.threads cimport parallel_for, thresholds
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static int fuse##autograd_cy_softmax_rows( \\
            real const *, real *, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static int fuse##autograd_cy_softmax_columns( \\
            real const *, real *, npy_intp, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_logs_of_sums(real const *, real *, npy_intp); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_rests_of_rows( \\
            real const *, real *, real *, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_rests_of_short_rows( \\
            real const *, real const *, real *, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static double fuse##autograd_cy_rest_of_row(real const *, npy_intp, real); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_rests_of_columns( \\
            real const *, real *, npy_intp, npy_intp, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef extern from "special.h" nogil:
    float log_f32 "autograd_cy_log_f32"(float) noexcept
    double log_f64 "autograd_cy_log_f64"(double) noexcept

cdef enum:
    BLOCK = 1024            # elements processed while in the L1 cache
    LANES = 32


cdef real largest(const real *row, npy_intp n) noexcept nogil:
    """The largest element; any number if there is a nan."""
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


# sums of exponentials: NOTE [Probabilities near 1], case 1

cdef inline real log_of_sum(real rest) noexcept nogil:
    """log(1 + rest)"""
    cdef real total = 1 + rest, lost = (rest - (total - 1)) / total
    return (log_f32(total) if real is float else log_f64(total)) + (lost if 0 < total < 2 else 0)


cdef void logs_of_sums "autograd_cy_logs_of_sums"(const real *rests, real *logs, npy_intp n) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        logs[i] = log_of_sum(rests[i])


cdef void rests_of_rows "autograd_cy_rests_of_rows"(
        const real *x, real *tops, real *rests, npy_intp rows, npy_intp n, bint finite) noexcept nogil:
    """For each row, the largest element `top`, and the sum of exp(x - top) over the others.

    If `finite`, 0 replaces a largest element that is not finite.
    """
    cdef npy_intp row, count
    cdef bint all_finite = True
    for row in range(rows):
        tops[row] = largest(x + row * n, n)
        if not isfinite(tops[row]):
            all_finite = False
            tops[row] = 0 if finite else tops[row]
    while rows > 0:
        if n > BLOCK // 2:
            count = 1
            rests[0] = <real> rest_of_row(x, n, tops[0])
        else:
            count = min(rows, BLOCK // n)
            rests_of_short_rows(x, tops, rests, count, n, all_finite)
        x += count * n
        tops += count
        rests += count
        rows -= count


cdef void rests_of_short_rows "autograd_cy_rests_of_short_rows"(
        const real *x, const real *tops, real *rests, npy_intp rows, npy_intp n, bint all_finite) noexcept nogil:
    """Sum all terms that are not 1. Each row has one 1, which doesn't count; only ties and infinities need a second pass."""
    cdef real[BLOCK] terms
    cdef real term
    cdef int ones = 0
    cdef npy_intp row, j
    for row in range(rows):
        for j in range(n):
            terms[row * n + j] = x[row * n + j] - tops[row]
    for j in range(rows * n):
        term = exponential(terms[j])
        ones += term == 1
        terms[j] = 0 if term == 1 else term
    for row in range(rows):
        rests[row] = <real> row_total(<const real *> &terms[row * n], n)
    if ones == rows and all_finite:
        return
    for row in range(rows):
        ones = 0
        for j in range(row * n, row * n + n):
            ones += exponential(x[j] - tops[row]) == 1
        rests[row] = rests[row] + (ones - 1)


cdef double rest_of_row "autograd_cy_rest_of_row"(const real *x, npy_intp n, real top) noexcept nogil:
    """The same for one row: lane by lane, and from block to block in double."""
    cdef real[LANES] lanes, ones
    cdef double rest = 0, counted = -1      # the largest element's term doesn't count
    cdef npy_intp i, k, size
    while n > 0:
        size = min(n, <npy_intp> BLOCK)
        i = 0
        for k in range(LANES):
            lanes[k] = ones[k] = 0
        while i + LANES <= size:
            for k in range(LANES):
                add_term(x[i + k] - top, &lanes[k], &ones[k])
            i += LANES
        for k in range(size - i):
            add_term(x[i + k] - top, &lanes[k], &ones[k])
        counted += row_total(<const real *> &ones[0], LANES)
        rest += row_total(<const real *> &lanes[0], LANES)
        x += size
        n -= size
    return rest + counted


cdef inline void add_term(real x, real *sum, real *ones) noexcept nogil:
    """Add exp(x), or count it if it is 1."""
    cdef real term = exponential(x)
    sum[0] = sum[0] + (0 if term == 1 else term)
    ones[0] = ones[0] + (1 if term == 1 else 0)


# softmax and log_softmax: their gradients are in softmax_gradients.pyx

cdef bint normalize(const real *x, real *y, npy_intp outer, npy_intp n, npy_intp inner, bint logarithmic) noexcept nogil:
    """y = exp(x) / sum(exp(x)) along n, or its logarithm. Returns whether a probability is above 1/2."""
    cdef Arrays arrays = Arrays(x, NULL, y, n, inner, logarithmic, False)
    parallel_for(normalize_f32 if real is float else normalize_f64, &arrays, outer * blocks_of(inner),
                 n * min(inner, <npy_intp> WIDTH))
    return arrays.peaked


cdef void normalize_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Arrays *a = <Arrays *> data
    if normalize_part(<const float *> a.first, <float *> a.out, first, end, a.n, a.inner, a.logarithmic):
        a.peaked = True


cdef void normalize_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Arrays *a = <Arrays *> data
    if normalize_part(<const double *> a.first, <double *> a.out, first, end, a.n, a.inner, a.logarithmic):
        a.peaked = True


cdef bint normalize_part(const real *x, real *y, npy_intp first, npy_intp end, npy_intp n, npy_intp inner,
                         bint logarithmic) noexcept nogil:
    """Some rows, or some blocks of columns."""
    cdef npy_intp count, place, width
    cdef bint peaked = False
    if n == 0 or inner == 0:
        return False
    while first < end:
        count = 1
        if inner == 1:
            count = min(end - first, max(BLOCK // n, 1))
            peaked |= normalize_rows(x + first * n, y + first * n, count, n, logarithmic)
        else:
            place = block_at(first, n, inner, &width)
            peaked |= normalize_columns(x + place, y + place, n, inner, width, logarithmic)
        first += count
    return peaked


cdef bint normalize_rows "autograd_cy_softmax_rows"(
        const real *x, real *y, npy_intp rows, npy_intp n, bint logarithmic) noexcept nogil:
    """A few rows of n contiguous elements."""
    cdef real[BLOCK] tops, totals
    cdef real total
    cdef npy_intp row, _row, j
    cdef bint peaked = False
    if logarithmic:
        rests_of_rows(x, &tops[0], &totals[0], rows, n, False)
        for row in range(rows):
            peaked |= totals[row] < 1
        logs_of_sums(<const real *> &totals[0], &totals[0], rows)
        for row in range(rows):
            for j in range(n):
                y[row * n + j] = x[row * n + j] - tops[row] - totals[row]
        return peaked
    for row in range(rows):
        tops[row] = largest(x + row * n, n)
        for j in range(n):
            y[row * n + j] = x[row * n + j] - tops[row]
    for j in range(rows * n):
        y[j] = exponential(y[j])
    for _row in range(rows):
        total = <real> row_total(y, n)
        peaked |= total < 2
        total = 1 / total
        for j in range(n):
            y[j] = y[j] * total
        y += n
    return peaked


cdef bint normalize_columns "autograd_cy_softmax_columns"(
        const real *x, real *y, npy_intp n, npy_intp stride, npy_intp width, bint logarithmic) noexcept nogil:
    """A few columns of n elements each, `stride` elements apart."""
    cdef real[WIDTH] tops
    cdef real[WIDTH] totals
    cdef npy_intp i, j
    cdef int peaked = 0
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
        peaked |= totals[j] < 2
    if logarithmic:
        if peaked:
            rests_of_columns(y, &totals[0], n, stride, width)
        for j in range(width):
            totals[j] = log_of_sum(totals[j] if peaked else totals[j] - 1)
    else:
        for j in range(width):
            totals[j] = 1 / totals[j]
    for i in range(n):
        if logarithmic:
            for j in range(width):
                y[i * stride + j] = x[i * stride + j] - tops[j] - totals[j]
        else:
            for j in range(width):
                y[i * stride + j] = y[i * stride + j] * totals[j]
    return peaked != 0


cdef void rests_of_columns "autograd_cy_rests_of_columns"(
        const real *terms, real *totals, npy_intp n, npy_intp stride, npy_intp width) noexcept nogil:
    """Subtract the largest term, which is 1, from the sum of each column, without loss."""
    cdef real[WIDTH] rests
    cdef npy_intp i, j
    for j in range(width):
        rests[j] = 0
    for i in range(n):
        for j in range(width):
            rests[j] = rests[j] + (0 if terms[i * stride + j] == 1 else terms[i * stride + j])
    for j in range(width):
        totals[j] = rests[j] if totals[j] < 2 else totals[j] - 1


# logsumexp

cdef void log_sum_exp(const real *x, real *out, npy_intp rows, npy_intp n) noexcept nogil:
    """out = log(sum(exp(x))) of each row of n contiguous elements; -inf for an empty row."""
    cdef real[BLOCK] rests
    cdef npy_intp row, count
    while rows > 0:
        count = min(rows, <npy_intp> BLOCK)
        if n == 0:
            for row in range(count):
                out[row] = -<real> INFINITY
        else:
            rests_of_rows(x, out, &rests[0], count, n, True)
            logs_of_sums(<const real *> &rests[0], &rests[0], count)
            for row in range(count):
                out[row] = out[row] + rests[row]
        x += count * n
        out += count
        rows -= count
