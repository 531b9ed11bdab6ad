"""Loops of layer_norm over dense arrays (knows no Tensor).

An array is seen as rows of n elements, each normalized by its own mean and variance. A row stays in the cache while it is
passed over: the variance is that of deviations from the mean, so nothing cancels. Sums go LANES at a time, and from block
to block in double. Threads share rows, and for the gradient of the weight, which is a sum over all rows, columns.
"""

from libc.math cimport sqrt
from numpy cimport npy_intp

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.borrowed cimport matrix, real, rows_apart, run
from autograd_cy._core.kernels.plane_loops cimport row_total
from autograd_cy._core.kernels.variance_loops cimport BLOCK, COLUMNS, LANES, ROWS, add_sums
from autograd_cy._core.runtime.threads cimport parallel_for

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_normalize_f32)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_normalize_f64)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_gradient_f32)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_gradient_f64)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_weight_f32)
    AUTOGRAD_CY_FLAT_TASK(autograd_cy_weight_f64)
    """


cdef inline real[:, ::1] rows_of(const void *data, real kind, const Layers *p, npy_intp first, npy_intp end) noexcept nogil:
    return matrix(<const real *> data + first * p.n, end - first, p.n)


cdef inline real[::1] each_of(const void *data, real kind, npy_intp first, npy_intp end) noexcept nogil:
    """A number for each row, or each column; none without data."""
    return run(<const real *> data + first, 0 if data == NULL else end - first)


cdef inline void sum_row(const real[::1] g, const real[::1] x, bint weighed, real center, double *sums) noexcept nogil:
    cdef npy_intp start = 0, size
    sums[0] = sums[1] = 0
    while start < x.shape[0]:
        size = min(x.shape[0] - start, <npy_intp> BLOCK)
        add_sums(run(&g[start], size), run(&x[start], size), weighed, center, sums)
        start += size


# forward

cdef void normalize_layers(int dtype_code, Layers *layers) noexcept nogil:
    """out = (x - mean) / sqrt(variance + eps) * weight + bias; the factors are kept in `scales`."""
    parallel_for(normalize_f32 if dtype_code == FLOAT32 else normalize_f64, layers, layers.rows, layers.n)


cdef void normalize_f32 "autograd_cy_normalize_f32"(void *layers, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    normalize_part(<const Layers *> layers, first, end, <float> 0)


cdef void normalize_f64 "autograd_cy_normalize_f64"(void *layers, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    normalize_part(<const Layers *> layers, first, end, <double> 0)


cdef inline void normalize_part(const Layers *p, npy_intp first, npy_intp end, real kind) noexcept nogil:
    normalize_rows(rows_of(p.x, kind, p, first, end), each_of(p.weight, kind, 0, p.n), each_of(p.bias, kind, 0, p.n),
                   rows_of(p.out, kind, p, first, end), each_of(p.means, kind, first, end),
                   each_of(p.scales, kind, first, end), p.eps)


cdef inline void normalize_rows(const real[:, ::1] x, const real[::1] weight, const real[::1] bias, real[:, ::1] y,
                                real[::1] means, real[::1] scales, double eps) noexcept nogil:
    cdef double[2] sums
    cdef double rest
    cdef real center, value
    cdef npy_intp row, j, n = x.shape[1]
    cdef bint weighed = weight.shape[0] > 0, shifted = bias.shape[0] > 0
    for row in range(x.shape[0]):
        center = <real> (row_total(&x[row, 0], n) / n) if n else 0
        sum_row(run(&x[row, 0], n), run(&x[row, 0], n), False, center, sums)
        rest = sums[0] / n if n else 0         # by how much the center missed the mean, being rounded
        means[row] = <real> (center + rest)
        scales[row] = <real> (1 / sqrt(sums[1] / n - rest * rest + eps))
        for j in range(n):
            value = (x[row, j] - center - <real> rest) * scales[row]
            if weighed:
                value = value * weight[j]
            if shifted:
                value = value + bias[j]
            y[row, j] = value


# backward

cdef void layer_gradient(int dtype_code, Layers *layers) noexcept nogil:
    """The gradient of x: scale * (h - mean(h) - z * mean(h * z)) with h = g * weight, z = (x - mean) * scale.

    `out` may be `g`.
    """
    parallel_for(gradient_f32 if dtype_code == FLOAT32 else gradient_f64, layers, layers.rows, layers.n)


cdef void gradient_f32 "autograd_cy_gradient_f32"(void *layers, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    gradient_part(<const Layers *> layers, first, end, <float> 0)


cdef void gradient_f64 "autograd_cy_gradient_f64"(void *layers, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    gradient_part(<const Layers *> layers, first, end, <double> 0)


cdef inline void gradient_part(const Layers *p, npy_intp first, npy_intp end, real kind) noexcept nogil:
    gradient_of_rows(rows_of(p.g, kind, p, first, end), rows_of(p.x, kind, p, first, end), each_of(p.weight, kind, 0, p.n),
                     each_of(p.means, kind, first, end), each_of(p.scales, kind, first, end),
                     rows_of(p.out, kind, p, first, end))


cdef inline void gradient_of_rows(const real[:, ::1] g, const real[:, ::1] x, const real[::1] weight, const real[::1] means,
                                  const real[::1] scales, real[:, ::1] out) noexcept nogil:
    cdef npy_intp row, j, n = x.shape[1]
    cdef bint weighed = weight.shape[0] > 0
    for row in range(x.shape[0]):
        if weighed:
            for j in range(n):
                out[row, j] = g[row, j] * weight[j]
        gradient_of_row(run(&out[row, 0] if weighed else &g[row, 0], n), run(&x[row, 0], n), means[row], scales[row],
                        run(&out[row, 0], n))


cdef inline void gradient_of_row(
        const real[::1] h, const real[::1] x, real mean, real scale, real[::1] out) noexcept nogil:
    cdef double[2] sums
    cdef real constant, slope
    cdef npy_intp j, n = x.shape[0]
    sum_row(h, x, True, mean, sums)
    constant = <real> (sums[0] / n)
    slope = <real> (sums[1] / n * scale * scale)
    for j in range(n):
        out[j] = scale * (h[j] - constant - (x[j] - mean) * slope)


cdef void layer_weight_gradient(int dtype_code, Layers *layers) noexcept nogil:
    """The gradient of the weight: over all rows, the sum of g * (x - mean) * scale."""
    parallel_for(weight_f32 if dtype_code == FLOAT32 else weight_f64, layers, layers.n, layers.rows,
                 max(layers.n // 4 // LANES, 1) * LANES)


cdef void weight_f32 "autograd_cy_weight_f32"(void *layers, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    weight_part(<const Layers *> layers, start, end, <float> 0)


cdef void weight_f64 "autograd_cy_weight_f64"(void *layers, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    weight_part(<const Layers *> layers, start, end, <double> 0)


cdef inline void weight_part(const Layers *p, npy_intp start, npy_intp end, real kind) noexcept nogil:
    """Some of the columns."""
    cdef npy_intp width, stride = p.n * <npy_intp> sizeof(real)
    while start < end:
        width = min(end - start, <npy_intp> COLUMNS)
        sum_weighed(rows_apart(<const real *> p.g + start, p.rows, stride, width),
                    rows_apart(<const real *> p.x + start, p.rows, stride, width), each_of(p.means, kind, 0, p.rows),
                    each_of(p.scales, kind, 0, p.rows), each_of(p.out, kind, start, start + width))
        start += width


cdef inline void sum_weighed(const real[:, ::1] g, const real[:, ::1] x, const real[::1] means, const real[::1] scales,
                             real[::1] out) noexcept nogil:
    """At most COLUMNS columns."""
    cdef double[COLUMNS] totals
    cdef real[COLUMNS] sums
    cdef npy_intp row = 0, end, j, width = out.shape[0]
    for j in range(width):
        totals[j] = 0
    while row < g.shape[0]:
        end = min(row + ROWS, g.shape[0])
        for j in range(width):
            sums[j] = 0
        while row < end:
            for j in range(width):
                sums[j] = sums[j] + g[row, j] * ((x[row, j] - means[row]) * scales[row])
            row += 1
        for j in range(width):
            totals[j] += sums[j]
    for j in range(width):
        out[j] = <real> totals[j]
