"""Loops of the gradients of softmax, y * (g - sum(g * y)), and log_softmax, g - exp(y) * sum(g), over dense arrays.

Rows and columns are read as in softmax_loops.pyx, and NOTE [Probabilities near 1] holds. The result may overwrite `g`.
"""

from libc.math cimport M_LN2

from autograd_cy._core.kernels.reduction_loops cimport real, row_total
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_gradient_of_short_rows( \\
            real const *, real const *, real *, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_gradient_of_row( \\
            real const *, real const *, real *, npy_intp, real); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_log_gradient_of_short_rows( \\
            real const *, real const *, real *, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_log_gradient_of_row( \\
            real const *, real const *, real *, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED static double fuse##autograd_cy_shifted_dot(real const *, real const *, npy_intp, real); \\
        AUTOGRAD_CY_CLONED static npy_intp fuse##autograd_cy_peak_of(real const *, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_softmax_gradient_columns( \\
            real const *, real const *, real *, npy_intp, npy_intp, npy_intp, int); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_log_softmax_gradient_columns( \\
            real const *, real const *, real *, npy_intp, npy_intp, npy_intp, int);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef extern from "elementary.h" nogil:
    float exp_and_rest_f32 "autograd_cy_exp_and_rest_f32"(float, float *) noexcept
    double exp_and_rest_f64 "autograd_cy_exp_and_rest_f64"(double, double *) noexcept

cdef enum:
    SHORT = 64              # elements of a row, up to which several rows are processed together


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
            if logarithmic:
                log_gradient_of_columns(g + place, y + place, out + place, n, inner, width, peaked)
            else:
                gradient_of_columns(g + place, y + place, out + place, n, inner, width, peaked)
        first += count


cdef inline void gradient_of_rows(const real *g, const real *y, real *out, npy_intp rows, npy_intp n, bint logarithmic,
                                  bint peaked) noexcept nogil:
    """A few rows of n contiguous elements; short rows have at most BLOCK elements together."""
    cdef npy_intp peak
    if n <= SHORT:
        if logarithmic:
            log_gradient_of_short_rows(g, y, out, rows, n, peaked)
        else:
            gradient_of_short_rows(g, y, out, rows, n, peaked)
        return
    for _ in range(rows):
        peak = peak_of(y, n, logarithmic) if peaked else -1
        if logarithmic:
            log_gradient_of_row(g, y, out, n, peak)
        else:
            gradient_of_row(g, y, out, n, 0 if peak < 0 else g[peak])
        g += n
        y += n
        out += n


cdef void gradient_of_short_rows "autograd_cy_gradient_of_short_rows"(
        const real *g, const real *y, real *out, npy_intp rows, npy_intp n, bint peaked) noexcept nogil:
    cdef real[BLOCK] terms
    cdef real limit = peak_limit(False, <real> 0), shift, common
    cdef npy_intp row, j
    for j in range(rows * n if peaked else 0):
        terms[j] = g[j] if y[j] > limit else 0
    for row in range(rows):
        shift = <real> row_total(<const real *> &terms[row * n], n) if peaked else 0
        for j in range(n):
            terms[row * n + j] = (g[j] - shift) * y[j]
        common = <real> row_total(<const real *> &terms[row * n], n)
        for j in range(n):
            out[j] = y[j] * (g[j] - shift - common)
        g += n
        y += n
        out += n


cdef void gradient_of_row "autograd_cy_gradient_of_row"(
        const real *g, const real *y, real *out, npy_intp n, real shift) noexcept nogil:
    cdef real common = <real> shifted_dot(g, y, n, shift)
    cdef npy_intp j
    for j in range(n):
        out[j] = y[j] * (g[j] - shift - common)


cdef double shifted_dot "autograd_cy_shifted_dot"(const real *x, const real *y, npy_intp n, real shift) noexcept nogil:
    """The sum of (x - shift) * y: lane by lane, and from block to block in double."""
    cdef real[LANES] lanes
    cdef double total = 0
    cdef npy_intp i, k, size
    while n > 0:
        size = min(n, <npy_intp> BLOCK)
        i = 0
        for k in range(LANES):
            lanes[k] = 0
        while i + LANES <= size:
            for k in range(LANES):
                lanes[k] = lanes[k] + (x[i + k] - shift) * y[i + k]
            i += LANES
        for k in range(size - i):
            lanes[k] = lanes[k] + (x[i + k] - shift) * y[i + k]
        total += row_total(<const real *> &lanes[0], LANES)
        x += size
        y += size
        n -= size
    return total


cdef void log_gradient_of_short_rows "autograd_cy_log_gradient_of_short_rows"(
        const real *g, const real *y, real *out, npy_intp rows, npy_intp n, bint peaked) noexcept nogil:
    cdef real[BLOCK] common, others         # the row's number for each element, as exp runs over all rows
    cdef real limit = peak_limit(True, <real> 0), total
    cdef npy_intp row, j
    for row in range(rows):
        total = <real> row_total(g + row * n, n)
        for j in range(row * n, row * n + n):
            common[j] = total
    if not peaked:
        for j in range(rows * n):
            out[j] = g[j] - exponential(y[j]) * common[j]
        return
    for j in range(rows * n):
        others[j] = 0 if y[j] > limit else g[j]
    for row in range(rows):
        total = <real> row_total(<const real *> &others[row * n], n)
        for j in range(row * n, row * n + n):
            others[j] = total
    for j in range(rows * n):
        out[j] = log_gradient(g[j], y[j], common[j], others[j], limit)


cdef inline real log_gradient(real g, real y, real common, real others, real limit) noexcept nogil:
    """NOTE [Probabilities near 1], case 3."""
    cdef real rest, e
    if real is float:
        e = exp_and_rest_f32(y, <float *> &rest)
    else:
        e = exp_and_rest_f64(y, <double *> &rest)
    return rest * g - e * others if y > limit else g - e * common


cdef void log_gradient_of_row "autograd_cy_log_gradient_of_row"(
        const real *g, const real *y, real *out, npy_intp n, npy_intp peak) noexcept nogil:
    cdef double others = 0
    cdef real common, own = 0
    cdef npy_intp j
    if peak < 0:
        common = <real> row_total(g, n)
    else:
        others = row_total(g, peak) + row_total(g + peak + 1, n - peak - 1)
        common = <real> (others + g[peak])
        own = log_gradient(g[peak], y[peak], common, <real> others, peak_limit(True, <real> 0))
    for j in range(n):
        out[j] = g[j] - exponential(y[j]) * common
    if peak >= 0:
        out[peak] = own


cdef inline real peak_limit(bint logarithmic, real kind) noexcept nogil:
    """A probability of 1/2, or its logarithm: at most one in a row is above it."""
    return <real> -M_LN2 if logarithmic else <real> 0.5


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


cdef void gradient_of_columns "autograd_cy_softmax_gradient_columns"(
        const real *g, const real *y, real *out, npy_intp n, npy_intp stride, npy_intp width, bint peaked) noexcept nogil:
    cdef real[WIDTH] common, shift
    cdef npy_intp i, j
    for j in range(width):
        common[j] = shift[j] = 0
    if peaked:
        shifted_dots_of_columns(g, y, n, stride, width, common, shift)
    else:
        for i in range(n):
            for j in range(width):
                common[j] = common[j] + g[i * stride + j] * y[i * stride + j]
    for i in range(n):
        for j in range(width):
            out[i * stride + j] = y[i * stride + j] * (g[i * stride + j] - shift[j] - common[j])


cdef inline void shifted_dots_of_columns(const real *g, const real *y, npy_intp n, npy_intp stride, npy_intp width,
                                         real *common, real *shift) noexcept nogil:
    """For each column, the g of a probability above 1/2 (else 0) as `shift`, and the sum of (g - shift) * y."""
    cdef real[WIDTH] rests
    cdef real limit = peak_limit(False, <real> 0), rest
    cdef npy_intp i, j
    for j in range(width):
        rests[j] = 0
    for i in range(n):
        for j in range(width):
            rest = 0 if y[i * stride + j] > limit else y[i * stride + j]
            shift[j] = g[i * stride + j] if y[i * stride + j] > limit else shift[j]
            rests[j] = rests[j] + rest
            common[j] = common[j] + (0 if y[i * stride + j] > limit else g[i * stride + j] * rest)
    for j in range(width):
        common[j] = common[j] - shift[j] * rests[j]


cdef void log_gradient_of_columns "autograd_cy_log_softmax_gradient_columns"(
        const real *g, const real *y, real *out, npy_intp n, npy_intp stride, npy_intp width, bint peaked) noexcept nogil:
    cdef real[WIDTH] common, peaks
    cdef real limit = peak_limit(True, <real> 0), term
    cdef npy_intp i, j
    for j in range(width):
        common[j] = 0
    if peaked:
        log_gradients_of_peaks(g, y, n, stride, width, common, peaks)
        for i in range(n):
            for j in range(width):
                term = g[i * stride + j] - exponential(y[i * stride + j]) * common[j]
                out[i * stride + j] = peaks[j] if y[i * stride + j] > limit else term
        return
    for i in range(n):
        for j in range(width):
            common[j] = common[j] + g[i * stride + j]
    for i in range(n):
        for j in range(width):
            out[i * stride + j] = g[i * stride + j] - exponential(y[i * stride + j]) * common[j]


cdef inline void log_gradients_of_peaks(const real *g, const real *y, npy_intp n, npy_intp stride, npy_intp width,
                                        real *common, real *peaks) noexcept nogil:
    """For each column, the sum of g, and the gradient of a probability above 1/2."""
    cdef real[WIDTH] logs, own
    cdef real limit = peak_limit(True, <real> 0)
    cdef npy_intp i, j
    for j in range(width):
        logs[j] = own[j] = 0
    for i in range(n):
        for j in range(width):
            own[j] = g[i * stride + j] if y[i * stride + j] > limit else own[j]
            logs[j] = y[i * stride + j] if y[i * stride + j] > limit else logs[j]
            common[j] = common[j] + (0 if y[i * stride + j] > limit else g[i * stride + j])
    for j in range(width):
        peaks[j] = log_gradient(own[j], logs[j], <real> 0, common[j], limit)
        common[j] = common[j] + own[j]
