"""Loops of softmax, log_softmax and logsumexp over dense arrays (knows no Tensor).

An array is seen as (outer, n, inner) and normalized along n. Where inner is 1 that is row by row; else columns are taken
WIDTH at a time, so that all passes run over contiguous elements in the cache. Threads share the rows, or those blocks of
columns. exp is that of elementary.h, which becomes part of the loops. Rows are shifted by their largest element: nothing
overflows. A gradient may be written over `g`. Values and gradients are exact where a probability is near 1:
NOTE [Probabilities near 1].

NOTE [Probabilities near 1]
Where one probability p is near 1, the others are what is left of it, and 1 - p computed from p is rounding errors alone.
  1. The logarithm of a sum of exponentials is log1p of the sum without its largest term, which is 1 (rest_of).
  2. softmax's gradient y * (g - sum(g * y)) does not change when a number is added to g. The g of the largest element is
    subtracted if its y is above 1/2, so that the sum runs over the other elements alone.
  3. log_softmax's gradient g - p * sum(g) is, where p is above 1/2, g * (1 - p) - p * (the sum of the other g); expm1 of the
    logarithm of p gives 1 - p.
Where no probability is above 1/2 nothing is lost: the forward tells whether one is (`peaked`); else the gradient does
not look for it.
"""

from libc.math cimport INFINITY, M_LN2, expm1, isfinite

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
        AUTOGRAD_CY_CLONED static int fuse##autograd_cy_softmax_rows( \\
            real const *, real *, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static int fuse##autograd_cy_softmax_columns( \\
            real const *, real *, npy_intp, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_log_sum_exp( \\
            real const *, real *, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED static double fuse##autograd_cy_sum_below_one(real const *, npy_intp); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_rest_of_columns( \\
            real const *, real *, npy_intp, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_softmax_gradient_rows( \\
            real const *, real const *, real *, npy_intp, npy_intp, int, int); \\
        AUTOGRAD_CY_CLONED static npy_intp fuse##autograd_cy_peak_of(real const *, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_leave_peaks_out( \\
            real const *, real const *, npy_intp, npy_intp, npy_intp, int, real *, real *, real *); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_softmax_gradient_columns( \\
            real const *, real const *, real *, npy_intp, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_log_softmax_gradient_columns( \\
            real const *, real const *, real *, npy_intp, npy_intp, npy_intp, int);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef enum:
    BLOCK = 1024            # elements that are worked on in the L1 cache
    LANES = 32


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
    bint peaked             # whether a probability is above 1/2: found by the forward, read by the gradient


cdef inline npy_intp block_at(npy_intp number, npy_intp n, npy_intp inner, npy_intp *width) noexcept nogil:
    """Where the block of that number begins, and its width."""
    cdef npy_intp blocks = blocks_of(inner)
    cdef npy_intp start = number % blocks * WIDTH
    width[0] = min(inner - start, <npy_intp> WIDTH)
    return number // blocks * n * inner + start


cdef double sum_below_one "autograd_cy_sum_below_one"(const real *terms, npy_intp n) noexcept nogil:
    """The sum of the terms that are not 1."""
    cdef real[LANES] lanes
    cdef npy_intp i = 0, k
    for k in range(LANES):
        lanes[k] = 0
    while i + LANES <= n:
        for k in range(LANES):
            lanes[k] = lanes[k] + (0 if terms[i + k] == 1 else terms[i + k])
        i += LANES
    for k in range(n - i):
        lanes[k] = lanes[k] + (0 if terms[i + k] == 1 else terms[i + k])
    return row_total(<const real *> &lanes[0], LANES)


# softmax and log_softmax

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
    cdef real[BLOCK] tops
    cdef real total
    cdef npy_intp row, j
    cdef bint peaked = False
    for row in range(rows):
        tops[row] = largest(x + row * n, n)
        for j in range(n):
            y[row * n + j] = x[row * n + j] - tops[row]
    for j in range(rows * n):
        y[j] = exponential(y[j])
    for row in range(rows):
        if logarithmic:
            total = <real> rest_of(<const real *> y, n)
            peaked |= total < 1
            total = log_of_sum(total)
            for j in range(n):
                y[j] = x[j] - tops[row] - total
        else:
            total = <real> row_total(y, n)
            peaked |= total < 2
            total = 1 / total
            for j in range(n):
                y[j] = y[j] * total
        x += n
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
        rest_of_columns(y, &totals[0], n, stride, width, peaked)
    for j in range(width):
        totals[j] = log_of_sum(totals[j]) if logarithmic else 1 / totals[j]
    for i in range(n):
        if logarithmic:
            for j in range(width):
                y[i * stride + j] = x[i * stride + j] - tops[j] - totals[j]
        else:
            for j in range(width):
                y[i * stride + j] = y[i * stride + j] * totals[j]
    return peaked != 0


cdef void rest_of_columns "autograd_cy_rest_of_columns"(
        const real *terms, real *totals, npy_intp n, npy_intp stride, npy_intp width, bint peaked) noexcept nogil:
    """rest_of for a few columns, given the sums with the largest terms."""
    cdef real[WIDTH] rests
    cdef npy_intp i, j
    for j in range(width):
        rests[j] = 0
    for i in range(n if peaked else 0):
        for j in range(width):
            rests[j] = rests[j] + (0 if terms[i * stride + j] == 1 else terms[i * stride + j])
    for j in range(width):
        totals[j] = rests[j] if totals[j] < 2 else totals[j] - 1


# their gradients: y * (g - sum(g * y)) and g - exp(y) * sum(g)

cdef void normalize_gradient(const real *g, const real *y, real *out, npy_intp outer, npy_intp n, npy_intp inner,
                             bint logarithmic, bint peaked) noexcept nogil:
    cdef Arrays arrays = Arrays(g, y, out, n, inner, logarithmic, peaked)
    parallel_for(gradient_f32 if real is float else gradient_f64, &arrays, outer * blocks_of(inner),
                 n * min(inner, <npy_intp> WIDTH))


cdef void gradient_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Arrays *a = <Arrays *> data
    gradient_part(<const float *> a.first, <const float *> a.second, <float *> a.out, first, end, a.n, a.inner, a.logarithmic,
                  a.peaked)


cdef void gradient_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Arrays *a = <Arrays *> data
    gradient_part(<const double *> a.first, <const double *> a.second, <double *> a.out, first, end, a.n, a.inner,
                  a.logarithmic, a.peaked)


cdef void gradient_part(const real *g, const real *y, real *out, npy_intp first, npy_intp end, npy_intp n, npy_intp inner,
                        bint logarithmic, bint peaked) noexcept nogil:
    cdef npy_intp count, place, width
    if n == 0 or inner == 0:
        return
    while first < end:
        count = 1
        if inner == 1:
            count = min(end - first, max(BLOCK // n, 1))
            gradient_of_rows(g + first * n, y + first * n, out + first * n, count, n, logarithmic, peaked)
        else:
            place = block_at(first, n, inner, &width)
            gradient_of_columns(g + place, y + place, out + place, n, inner, width, logarithmic, peaked)
        first += count


cdef void gradient_of_rows "autograd_cy_softmax_gradient_rows"(
        const real *g, const real *y, real *out, npy_intp rows, npy_intp n, bint logarithmic, bint peaked) noexcept nogil:
    cdef real common, shift, own
    cdef npy_intp j, peak
    for _ in range(rows):
        peak = peak_of(y, n, logarithmic) if peaked else -1
        shift = own = 0
        if logarithmic:
            common = <real> row_total(g, n)
            if peak >= 0:
                own = peak_gradient(g[peak], y[peak], sum_of_others(g, peak, n))
        elif peak < 0:
            common = <real> row_dot(g, y, n)
        else:
            shift = g[peak]
            common = <real> (dot_of_others(g, y, peak, n) - shift * sum_of_others(y, peak, n))
        if logarithmic:
            for j in range(n):
                out[j] = g[j] - exponential(y[j]) * common
            if peak >= 0:
                out[peak] = own
        else:
            for j in range(n):
                out[j] = y[j] * (g[j] - shift - common)
        g += n
        y += n
        out += n


cdef inline real peak_limit(bint logarithmic, real kind) noexcept nogil:
    """A probability of 1/2, or its logarithm: at most one is above it."""
    return <real> -M_LN2 if logarithmic else <real> 0.5


cdef inline real peak_gradient(real g, real y, double rest) noexcept nogil:
    """log_softmax's gradient where the probability exp(y) is above 1/2; `rest` is the sum of the other elements of `g`."""
    return <real> (0 - expm1(y) * g - (1 + expm1(y)) * rest)


cdef npy_intp peak_of "autograd_cy_peak_of"(const real *y, npy_intp n, bint logarithmic) noexcept nogil:
    """The place of a probability above 1/2, or -1."""
    cdef real limit = peak_limit(logarithmic, <real> 0)
    cdef npy_intp start = 0, size, j
    cdef int found
    while start < n:
        size = min(n - start, <npy_intp> LANES)
        found = 0
        for j in range(size):
            found |= y[start + j] > limit
        if found:
            while not y[start] > limit:
                start += 1
            return start
        start += size
    return -1


cdef inline double sum_of_others(const real *x, npy_intp place, npy_intp n) noexcept nogil:
    return row_total(x, place) + row_total(x + place + 1, n - place - 1)


cdef inline double dot_of_others(const real *x, const real *y, npy_intp place, npy_intp n) noexcept nogil:
    return row_dot(x, y, place) + row_dot(x + place + 1, y + place + 1, n - place - 1)


cdef inline void gradient_of_columns(
        const real *g, const real *y, real *out, npy_intp n, npy_intp stride, npy_intp width, bint logarithmic,
        bint peaked) noexcept nogil:
    if logarithmic:
        log_gradient_of_columns(g, y, out, n, stride, width, peaked)
    else:
        plain_gradient_of_columns(g, y, out, n, stride, width, peaked)


cdef void plain_gradient_of_columns "autograd_cy_softmax_gradient_columns"(
        const real *g, const real *y, real *out, npy_intp n, npy_intp stride, npy_intp width, bint peaked) noexcept nogil:
    cdef real[WIDTH] common, own, rests
    cdef npy_intp i, j
    for j in range(width):
        common[j] = own[j] = 0
    for i in range(n):
        for j in range(width):
            common[j] = common[j] + g[i * stride + j] * y[i * stride + j]
    if peaked:
        leave_peaks_out(g, y, n, stride, width, False, common, own, rests)
        for j in range(width):
            common[j] = common[j] - own[j] * rests[j]
    for i in range(n):
        for j in range(width):
            out[i * stride + j] = y[i * stride + j] * (g[i * stride + j] - own[j] - common[j])


cdef void leave_peaks_out "autograd_cy_leave_peaks_out"(
        const real *g, const real *y, npy_intp n, npy_intp stride, npy_intp width, bint logarithmic, real *common, real *own,
        real *rests) noexcept nogil:
    """Of each column with a y above the limit: the g there (else 0), the sum of the others or of their g * y, and the sum of
    their y; of logarithms that y itself."""
    cdef real limit = peak_limit(logarithmic, <real> 0)
    cdef npy_intp i, j
    for j in range(width):
        common[j] = own[j] = rests[j] = 0
    for i in range(n):
        for j in range(width):
            own[j] = g[i * stride + j] if y[i * stride + j] > limit else own[j]
        for j in range(width):
            if logarithmic:
                rests[j] = y[i * stride + j] if y[i * stride + j] > limit else rests[j]
            else:
                rests[j] = rests[j] + (0 if y[i * stride + j] > limit else y[i * stride + j])
        for j in range(width):
            common[j] = common[j] + (0 if y[i * stride + j] > limit else
                                     g[i * stride + j] if logarithmic else g[i * stride + j] * y[i * stride + j])


cdef void log_gradient_of_columns "autograd_cy_log_softmax_gradient_columns"(
        const real *g, const real *y, real *out, npy_intp n, npy_intp stride, npy_intp width, bint peaked) noexcept nogil:
    cdef real[WIDTH] common, own
    cdef real limit = peak_limit(True, <real> 0)
    cdef npy_intp i, j
    for j in range(width):
        common[j] = own[j] = 0
    for i in range(n):
        for j in range(width):
            common[j] = common[j] + g[i * stride + j]
    if peaked:
        find_peak_gradients(g, y, own, n, stride, width)
    for i in range(n):
        for j in range(width):
            out[i * stride + j] = g[i * stride + j] - exponential(y[i * stride + j]) * common[j]
    for i in range(n if peaked else 0):
        for j in range(width):
            out[i * stride + j] = own[j] if y[i * stride + j] > limit else out[i * stride + j]


cdef inline void find_peak_gradients(
        const real *g, const real *y, real *out, npy_intp n, npy_intp stride, npy_intp width) noexcept nogil:
    """Of each column with a y above the limit: log_softmax's gradient there."""
    cdef real[WIDTH] sums, own, peaks
    cdef npy_intp j
    leave_peaks_out(g, y, n, stride, width, True, sums, own, peaks)
    for j in range(width):
        if peaks[j] != 0 or own[j] != 0:
            out[j] = peak_gradient(own[j], peaks[j], sums[j])


# logsumexp

cdef void log_sum_exp "autograd_cy_log_sum_exp"(const real *x, real *out, npy_intp rows, npy_intp n) noexcept nogil:
    """out = log(sum(exp(x))) of each row of n contiguous elements; -inf of an empty one."""
    cdef real[BLOCK] terms
    cdef real top
    cdef double total
    cdef int left_out
    cdef npy_intp row, start, size, j
    for row in range(rows):
        top = largest(x, n) if n else -<real> INFINITY
        top = top if isfinite(top) else 0
        total = 0
        start = left_out = 0
        while start < n:
            size = min(n - start, <npy_intp> BLOCK)
            for j in range(size):
                terms[j] = exponential(x[start + j] - top)
            total += rest_of_block(<const real *> &terms[0], size, &left_out)
            start += size
        out[row] = top + log_of_sum(<real> (total + (left_out - 1)))
        x += n
