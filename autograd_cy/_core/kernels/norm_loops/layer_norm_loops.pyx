"""Loops of layer_norm over dense arrays (knows no Tensor).

An array is viewed as rows of n elements, each normalized by its own mean and variance. A row stays in the cache between
passes. The variance is computed from deviations from the mean, so nothing cancels. Sums go LANES at a time, and from block
to block in double. Threads share rows or, for the weight's gradient (a sum over all rows), columns.
"""

from libc.math cimport sqrt

from autograd_cy._core.kernels.reduction_loops cimport LANES, folded, is_lost, lost_scale, real, row_total, sums_of_deviations
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_normalize_part( \\
            real const *, real const *, real const *, real *, real *, real *, npy_intp, npy_intp, npy_intp, double); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_gradient_part( \\
            real const *, real const *, real const *, real const *, real const *, real *, npy_intp, npy_intp, npy_intp); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_add_weighted_rows( \\
            real const *, real const *, real const *, real const *, npy_intp, npy_intp, npy_intp, double *); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_sums_of_products( \\
            real const *, real const *, npy_intp, real, double *);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef enum:
    BLOCK = 512             # elements summed lane by lane before the lanes are added
    COLUMNS = 256           # columns of the weight's gradient that are summed together ...
    ROWS = 64               # ... over so many rows, before they are added in double


cdef void sums_of_products "autograd_cy_sums_of_products"(
        const real *g, const real *x, npy_intp n, real center, double *sums) noexcept nogil:
    """The sum of g, and of g * (x - center)."""
    cdef real[LANES] first, second
    cdef npy_intp i, k, size
    sums[0] = sums[1] = 0
    while n > 0:
        size = min(n, <npy_intp> BLOCK)
        i = 0
        for k in range(LANES):
            first[k] = second[k] = 0
        while i + LANES <= size:
            for k in range(LANES):
                first[k] = first[k] + g[i + k]
                second[k] = second[k] + g[i + k] * (x[i + k] - center)
            i += LANES
        for k in range(size - i):
            first[k] = first[k] + g[i + k]
            second[k] = second[k] + g[i + k] * (x[i + k] - center)
        sums[0] += folded(&first[0])
        sums[1] += folded(&second[0])
        g += size
        x += size
        n -= size


cdef struct Layers:         # the arrays of a shared loop
    const void *g
    const void *x
    const void *weight
    const void *bias
    void *means
    void *scales
    void *out
    npy_intp rows, n
    double eps


# forward

cdef void normalize_layers(const real *x, const real *weight, const real *bias, real *y, real *means, real *scales,
                           npy_intp rows, npy_intp n, double eps) noexcept nogil:
    """y = (x - mean) / sqrt(variance + eps) * weight + bias; stores the factors in `scales`. Weight, bias: may be NULL."""
    cdef Layers layers = Layers(NULL, x, weight, bias, means, scales, y, rows, n, eps)
    parallel_for(normalize_f32 if real is float else normalize_f64, &layers, rows, n)


cdef void normalize_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Layers *p = <Layers *> data
    normalize_part(<float *> p.x, <float *> p.weight, <float *> p.bias, <float *> p.out, <float *> p.means,
                   <float *> p.scales, first, end, p.n, p.eps)
    normalize_lost(<float *> p.x, <float *> p.weight, <float *> p.bias, <float *> p.out, <float *> p.means,
                   <float *> p.scales, first, end, p.n, p.eps)


cdef void normalize_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Layers *p = <Layers *> data
    normalize_part(<double *> p.x, <double *> p.weight, <double *> p.bias, <double *> p.out, <double *> p.means,
                   <double *> p.scales, first, end, p.n, p.eps)
    normalize_lost(<double *> p.x, <double *> p.weight, <double *> p.bias, <double *> p.out, <double *> p.means,
                   <double *> p.scales, first, end, p.n, p.eps)


cdef void normalize_part "autograd_cy_normalize_part"(
        const real *x, const real *weight, const real *bias, real *y, real *means, real *scales, npy_intp row, npy_intp end,
        npy_intp n, double eps) noexcept nogil:
    cdef double[2] sums
    cdef double rest
    cdef real center
    while row < end:
        center = <real> (row_total(x + row * n, n) / n) if n else 0
        sums_of_deviations(x + row * n, n, center, &sums[0])
        rest = sums[0] / n if n else 0         # the rounding error of the center
        means[row] = <real> (center + rest)
        scales[row] = <real> (1 / sqrt(sums[1] / n - rest * rest + eps))
        scale_row(x + row * n, weight, bias, y + row * n, n, center, <real> rest, scales[row])
        row += 1


cdef void normalize_lost(const real *x, const real *weight, const real *bias, real *y, const real *means, real *scales,
                         npy_intp row, npy_intp end, npy_intp n, double eps) noexcept nogil:
    """Normalize again the rows whose squares left the range of the type."""
    cdef double variance
    while row < end:
        if is_lost(scales[row], scales[row]):
            scales[row] = <real> lost_scale(x + row * n, 1, n, n, means[row], eps, &variance)
            scale_row(x + row * n, weight, bias, y + row * n, n, means[row], 0, scales[row])
        row += 1


cdef inline void scale_row(const real *x, const real *weight, const real *bias, real *y, npy_intp n, real center, real rest,
                           real scale) noexcept nogil:
    cdef npy_intp j
    if weight != NULL and bias != NULL:
        for j in range(n):
            y[j] = (x[j] - center - rest) * scale * weight[j] + bias[j]
    elif weight != NULL:
        for j in range(n):
            y[j] = (x[j] - center - rest) * scale * weight[j]
    elif bias != NULL:
        for j in range(n):
            y[j] = (x[j] - center - rest) * scale + bias[j]
    else:
        for j in range(n):
            y[j] = (x[j] - center - rest) * scale


# backward

cdef void layer_gradient(const real *g, const real *x, const real *weight, const real *means, const real *scales,
                         real *out, npy_intp rows, npy_intp n) noexcept nogil:
    """The gradient of x: scale * (h - mean(h) - z * mean(h * z)) with h = g * weight, z = (x - mean) * scale.

    `out` may be `g`.
    """
    cdef Layers layers = Layers(g, x, weight, NULL, <void *> means, <void *> scales, out, rows, n, 0)
    parallel_for(gradient_f32 if real is float else gradient_f64, &layers, rows, n)


cdef void gradient_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Layers *p = <Layers *> data
    gradient_part(<float *> p.g, <float *> p.x, <float *> p.weight, <float *> p.means, <float *> p.scales, <float *> p.out,
                  first, end, p.n)


cdef void gradient_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Layers *p = <Layers *> data
    gradient_part(<double *> p.g, <double *> p.x, <double *> p.weight, <double *> p.means, <double *> p.scales,
                  <double *> p.out, first, end, p.n)


cdef void gradient_part "autograd_cy_gradient_part"(
        const real *g, const real *x, const real *weight, const real *means, const real *scales, real *out, npy_intp row,
        npy_intp end, npy_intp n) noexcept nogil:
    cdef double[2] sums
    cdef const real *h
    cdef const real *p
    cdef real *q
    cdef real mean, scale, constant, slope
    cdef npy_intp j
    while row < end:
        h, p, q = g + row * n, x + row * n, out + row * n
        mean, scale = means[row], scales[row]
        if weight != NULL:
            for j in range(n):
                q[j] = h[j] * weight[j]
            h = q
        sums_of_products(h, p, n, mean, &sums[0])
        constant = <real> (sums[0] / n)
        slope = <real> (sums[1] / n * scale * scale)
        for j in range(n):
            q[j] = scale * (h[j] - constant - (p[j] - mean) * slope)
        row += 1


cdef void layer_weight_gradient(const real *g, const real *x, const real *means, const real *scales, real *out,
                                npy_intp rows, npy_intp n) noexcept nogil:
    """The gradient of the weight: the sum over all rows of g * (x - mean) * scale."""
    cdef Layers layers = Layers(g, x, NULL, NULL, <void *> means, <void *> scales, out, rows, n, 0)
    parallel_for(weight_f32 if real is float else weight_f64, &layers, n, rows, max(n // 4 // LANES, 1) * LANES)


cdef void weight_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Layers *p = <Layers *> data
    weight_part(<float *> p.g, <float *> p.x, <float *> p.means, <float *> p.scales, <float *> p.out, p.rows, p.n, first, end)


cdef void weight_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Layers *p = <Layers *> data
    weight_part(<double *> p.g, <double *> p.x, <double *> p.means, <double *> p.scales, <double *> p.out, p.rows, p.n, first,
                end)


cdef void weight_part(const real *g, const real *x, const real *means, const real *scales, real *out, npy_intp rows,
                      npy_intp n, npy_intp start, npy_intp end) noexcept nogil:
    """Some of the columns."""
    cdef double[COLUMNS] totals
    cdef npy_intp width, row, j
    while start < end:
        width = min(end - start, <npy_intp> COLUMNS)
        row = 0
        for j in range(width):
            totals[j] = 0
        while row < rows:
            add_weighted_rows(g + row * n + start, x + row * n + start, means + row, scales + row,
                              min(rows - row, <npy_intp> ROWS), n, width, &totals[0])
            row += ROWS
        for j in range(width):
            out[start + j] = <real> totals[j]
        start += width


cdef void add_weighted_rows "autograd_cy_add_weighted_rows"(
        const real *g, const real *x, const real *means, const real *scales, npy_intp rows, npy_intp stride, npy_intp width,
        double *totals) noexcept nogil:
    cdef real[COLUMNS] sums
    cdef real mean, scale
    cdef npy_intp row, j
    for j in range(width):
        sums[j] = 0
    for row in range(rows):
        mean, scale = means[row], scales[row]
        for j in range(width):
            sums[j] = sums[j] + g[j] * ((x[j] - mean) * scale)
        g += stride
        x += stride
    for j in range(width):
        totals[j] += sums[j]
