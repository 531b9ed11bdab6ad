"""Loops of batch_norm and group_norm (knows no Tensor).

A dense array is seen as planes of contiguous elements (`Planes`). Sums over a plane go lane by lane and from block to block in
double; who calls adds up those of planes with the same statistics, in their order. Planes of one element are columns: what
they sum goes down the rows, COLUMNS side by side. Threads share planes, or columns.
"""

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.layer_norm_loops cimport sums_of_products
from autograd_cy._core.kernels.plane_loops cimport real, row_total
from autograd_cy._core.kernels.variance_loops cimport LANES, sums_of_deviations
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.threads cimport Task, parallel_for

# The functions that Cython makes of those of `real` numbers: of float and of double.
cdef extern from *:
    """
    #include "clones.h"
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_scale_plane(real const *, real *, npy_intp, real, real, real); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_scale_columns( \\
            real const *, real *, npy_intp, real const *, real const *, real const *, real const *); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_plane_gradient( \\
            real const *, real const *, real *, npy_intp, real, real, real, real, real); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_column_gradients( \\
            real const *, real const *, real *, npy_intp, real const *, real const *, real const *, double const *); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_sum_columns( \\
            real const *, real const *, npy_intp, npy_intp, npy_intp, real const *, real *, real *);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef enum:
    COLUMNS = 256               # that are summed side by side ...
    ROWS = 64                   # ... over so many rows, before they are added in double

cdef struct Work:               # a loop that is shared
    const Planes *planes
    const void *g
    const void *x
    const void *means
    const void *scales
    const void *weight
    const void *bias
    const double *corrections
    double *sums
    void *out


cdef inline bint are_columns(const Planes *planes) noexcept nogil:
    """Whether planes are single elements, as many to a row as there are statistics and channels."""
    return planes.size == 1 and planes.per == 1 and planes.groups == planes.channels


cdef inline void share_planes(Task task, Work *work) noexcept nogil:
    parallel_for(task, work, work.planes.count, work.planes.size)


cdef inline void share_columns(Task task, Work *work) noexcept nogil:
    cdef npy_intp n = work.planes.channels
    parallel_for(task, work, n, work.planes.count // max(n, 1), max(n // 4 // LANES, 1) * LANES)


cdef inline void share_rows(Task task, Work *work) noexcept nogil:
    cdef npy_intp n = work.planes.channels
    parallel_for(task, work, work.planes.count // max(n, 1), n)


# sums

cdef void first_means(int dtype_code, const void *x, const Planes *planes, void *centers) noexcept nogil:
    """A center near the mean for each of the statistics: the mean of the first plane that it is of, whose number is its own
    (`per` is 1)."""
    if dtype_code == FLOAT32:
        means_of_planes(<const float *> x, planes, <float *> centers)
    else:
        means_of_planes(<const double *> x, planes, <double *> centers)


cdef void means_of_planes(const real *x, const Planes *planes, real *centers) noexcept nogil:
    cdef npy_intp k
    for k in range(planes.groups):
        centers[k] = <real> (row_total(x + k * planes.size, planes.size) / planes.size)


cdef void add_moments(int dtype_code, const void *x, const Planes *planes, const void *centers, double *sums) noexcept nogil:
    """For each plane, or each column, the sum of the deviations from its center, and of their squares."""
    cdef Work work = Work(planes, NULL, x, centers, NULL, NULL, NULL, NULL, sums, NULL)
    if are_columns(planes):
        share_columns(columns_f32 if dtype_code == FLOAT32 else columns_f64, &work)
    else:
        share_planes(moments_f32 if dtype_code == FLOAT32 else moments_f64, &work)


cdef void add_products(int dtype_code, const void *g, const void *x, const Planes *planes, const void *means,
                       double *sums) noexcept nogil:
    """For each plane, or each column, the sum of g, and of g * (x - mean)."""
    cdef Work work = Work(planes, g, x, means, NULL, NULL, NULL, NULL, sums, NULL)
    if are_columns(planes):
        share_columns(columns_f32 if dtype_code == FLOAT32 else columns_f64, &work)
    else:
        share_planes(products_f32 if dtype_code == FLOAT32 else products_f64, &work)


cdef void moments_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    moments_part(<Work *> data, first, end, <float> 0)


cdef void moments_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    moments_part(<Work *> data, first, end, <double> 0)


cdef inline void moments_part(Work *p, npy_intp plane, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.planes.size
    while plane < end:
        sums_of_deviations(<const real *> p.x + plane * size, size,
                           (<const real *> p.means)[plane // p.planes.per % p.planes.groups], p.sums + 2 * plane)
        plane += 1


cdef void products_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    products_part(<Work *> data, first, end, <float> 0)


cdef void products_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    products_part(<Work *> data, first, end, <double> 0)


cdef inline void products_part(Work *p, npy_intp plane, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.planes.size
    while plane < end:
        sums_of_products(<const real *> p.g + plane * size, <const real *> p.x + plane * size, size,
                         (<const real *> p.means)[plane // p.planes.per % p.planes.groups], p.sums + 2 * plane)
        plane += 1


cdef void columns_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    columns_part(<Work *> data, first, end, <float> 0)


cdef void columns_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    columns_part(<Work *> data, first, end, <double> 0)


cdef inline void columns_part(Work *p, npy_intp start, npy_intp end, real kind) noexcept nogil:
    """The sums of some columns, of products with g or of squares where there is none."""
    cdef real[COLUMNS] first, second
    cdef npy_intp n = p.planes.channels, rows = p.planes.count // n, width, row, j
    cdef const real *g
    while start < end:
        width = min(end - start, <npy_intp> COLUMNS)
        row = 0
        for j in range(2 * start, 2 * (start + width)):
            p.sums[j] = 0
        while row < rows:
            g = NULL if p.g == NULL else <const real *> p.g + row * n + start
            sum_columns(g, <const real *> p.x + row * n + start, min(rows - row, <npy_intp> ROWS), n, width,
                        <const real *> p.means + start, &first[0], &second[0])
            for j in range(width):
                p.sums[2 * (start + j)] += first[j]
                p.sums[2 * (start + j) + 1] += second[j]
            row += ROWS
        start += width


cdef void sum_columns "autograd_cy_sum_columns"(
        const real *g, const real *x, npy_intp rows, npy_intp stride, npy_intp width, const real *centers, real *first,
        real *second) noexcept nogil:
    cdef real d
    cdef npy_intp _row, j
    for j in range(width):
        first[j] = second[j] = 0
    for _row in range(rows):
        if g == NULL:
            for j in range(width):
                d = x[j] - centers[j]
                first[j] = first[j] + d
                second[j] = second[j] + d * d
        else:
            for j in range(width):
                first[j] = first[j] + g[j]
                second[j] = second[j] + g[j] * (x[j] - centers[j])
            g += stride
        x += stride


# forward

cdef void normalize_planes(int dtype_code, const void *x, const Planes *planes, const Statistics *by, const void *weight,
                           const void *bias, void *y) noexcept nogil:
    """y = (x - mean) * scale * weight + bias. Weight, bias: or NULL."""
    cdef Work work = Work(planes, NULL, x, by.means, by.scales, weight, bias, NULL, NULL, y)
    if are_columns(planes):
        share_rows(rows_f32 if dtype_code == FLOAT32 else rows_f64, &work)
    else:
        share_planes(planes_f32 if dtype_code == FLOAT32 else planes_f64, &work)


cdef void planes_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    planes_part(<Work *> data, first, end, <float> 0)


cdef void planes_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    planes_part(<Work *> data, first, end, <double> 0)


cdef inline void planes_part(Work *p, npy_intp plane, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.planes.size, channel, k
    cdef real factor, constant
    while plane < end:
        channel, k = plane % p.planes.channels, plane // p.planes.per % p.planes.groups
        factor = (<const real *> p.scales)[k]
        if p.weight != NULL:
            factor = factor * (<const real *> p.weight)[channel]
        constant = 0 if p.bias == NULL else (<const real *> p.bias)[channel]
        scale_plane(<const real *> p.x + plane * size, <real *> p.out + plane * size, size, (<const real *> p.means)[k],
                    factor, constant)
        plane += 1


cdef void scale_plane "autograd_cy_scale_plane"(
        const real *x, real *y, npy_intp n, real mean, real factor, real constant) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        y[j] = (x[j] - mean) * factor + constant


cdef void rows_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    rows_part(<Work *> data, first, end, <float> 0)


cdef void rows_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    rows_part(<Work *> data, first, end, <double> 0)


cdef inline void rows_part(Work *p, npy_intp row, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp n = p.planes.channels
    while row < end:
        scale_columns(<const real *> p.x + row * n, <real *> p.out + row * n, n, <const real *> p.means,
                      <const real *> p.scales, <const real *> p.weight, <const real *> p.bias)
        row += 1


cdef void scale_columns "autograd_cy_scale_columns"(
        const real *x, real *y, npy_intp n, const real *means, const real *scales, const real *weight,
        const real *bias) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        y[j] = (x[j] - means[j]) * scales[j]
    if weight != NULL:
        for j in range(n):
            y[j] = y[j] * weight[j]
    if bias != NULL:
        for j in range(n):
            y[j] = y[j] + bias[j]


# backward

cdef void plane_gradients(int dtype_code, const void *g, const void *x, const Planes *planes, const Statistics *by,
                          const void *weight, const double *corrections, void *out) noexcept nogil:
    """out = scale * (weight * g - c - (x - mean) * d), with c and d for each of the statistics. `out` may be `g`."""
    cdef Work work = Work(planes, g, x, by.means, by.scales, weight, NULL, corrections, NULL, out)
    if are_columns(planes):
        share_rows(row_gradients_f32 if dtype_code == FLOAT32 else row_gradients_f64, &work)
    else:
        share_planes(plane_gradients_f32 if dtype_code == FLOAT32 else plane_gradients_f64, &work)


cdef void plane_gradients_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    plane_gradients_part(<Work *> data, first, end, <float> 0)


cdef void plane_gradients_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    plane_gradients_part(<Work *> data, first, end, <double> 0)


cdef inline void plane_gradients_part(Work *p, npy_intp plane, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp size = p.planes.size, k
    cdef real weight
    while plane < end:
        k = plane // p.planes.per % p.planes.groups
        weight = 1 if p.weight == NULL else (<const real *> p.weight)[plane % p.planes.channels]
        plane_gradient(<const real *> p.g + plane * size, <const real *> p.x + plane * size, <real *> p.out + plane * size,
                       size, weight, (<const real *> p.means)[k], (<const real *> p.scales)[k],
                       <real> p.corrections[2 * k], <real> p.corrections[2 * k + 1])
        plane += 1


cdef void plane_gradient "autograd_cy_plane_gradient"(
        const real *g, const real *x, real *out, npy_intp n, real weight, real mean, real scale, real constant,
        real slope) noexcept nogil:
    cdef npy_intp j
    for j in range(n):
        out[j] = (g[j] * weight - constant - (x[j] - mean) * slope) * scale


cdef void row_gradients_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    row_gradients_part(<Work *> data, first, end, <float> 0)


cdef void row_gradients_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    row_gradients_part(<Work *> data, first, end, <double> 0)


cdef inline void row_gradients_part(Work *p, npy_intp row, npy_intp end, real kind) noexcept nogil:
    cdef npy_intp n = p.planes.channels
    while row < end:
        column_gradients(<const real *> p.g + row * n, <const real *> p.x + row * n, <real *> p.out + row * n, n,
                         <const real *> p.means, <const real *> p.scales, <const real *> p.weight, p.corrections)
        row += 1


cdef void column_gradients "autograd_cy_column_gradients"(
        const real *g, const real *x, real *out, npy_intp n, const real *means, const real *scales, const real *weight,
        const double *corrections) noexcept nogil:
    cdef npy_intp j
    if weight != NULL:
        for j in range(n):
            out[j] = scales[j] * (g[j] * weight[j] - <real> corrections[2 * j]
                                  - (x[j] - means[j]) * <real> corrections[2 * j + 1])
    else:
        for j in range(n):
            out[j] = scales[j] * (g[j] - <real> corrections[2 * j] - (x[j] - means[j]) * <real> corrections[2 * j + 1])
