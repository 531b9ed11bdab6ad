"""Loops of batch_norm and group_norm (knows no Tensor).

A dense array is a sequence of planes of contiguous elements (`Planes`). Sums over a plane go lane by lane, and from block to
block in double; the caller adds the sums of planes with the same statistics, in order. Planes of one element are columns:
they are summed down the rows, COLUMNS side by side. If rows are shorter, several are treated as one. Threads share planes,
columns, or slices of many short rows, each with its own sums.
"""

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.layer_norm_loops cimport sums_of_products
from autograd_cy._core.kernels.plane_loops cimport real, row_total
from autograd_cy._core.kernels.variance_loops cimport LANES, sums_of_deviations
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.threads cimport Task, parallel_for

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_scale_plane(real const *, real *, npy_intp, real, real, real); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_plane_gradient( \\
            real const *, real const *, real *, npy_intp, real, real, real, real, real); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_scale_tile( \\
            real const *, real *, npy_intp, npy_intp, npy_intp, real const *, real const *, real const *); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_tile_gradients( \\
            real const *, real const *, real *, npy_intp, npy_intp, npy_intp, real const *, real const *, real const *, \\
            real const *, real const *); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_sum_columns( \\
            real const *, real const *, npy_intp, npy_intp, npy_intp, real const *, real *, real *);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef extern from "channel_strips.h":
    enum:
        STRIP_BYTES             # of columns that are normalized side by side
    void strip_f32_scale(const float *x, float *y, npy_intp rows, npy_intp stride, const float *means, const float *factors,
                         const float *constants) noexcept nogil
    void strip_f64_scale(const double *x, double *y, npy_intp rows, npy_intp stride, const double *means,
                         const double *factors, const double *constants) noexcept nogil
    void strip_f32_gradient(const float *g, const float *x, float *out, npy_intp rows, npy_intp stride, const float *means,
                            const float *scales, const float *weights, const float *slopes,
                            const float *constants) noexcept nogil
    void strip_f64_gradient(const double *g, const double *x, double *out, npy_intp rows, npy_intp stride,
                            const double *means, const double *scales, const double *weights, const double *slopes,
                            const double *constants) noexcept nogil

cdef enum:
    COLUMNS = 256               # that are summed side by side ...
    STRIP = 64                  # ... of which so many have their sums in registers ...
    ROWS = 64                   # ... over so many rows, before they are added in double
    TILE = 1 << 12              # elements of rows that are normalized COLUMNS by COLUMNS, a strip at a time
    SLICES = 16                 # of many short rows, at most ...
    SLICE = 1 << 12             # ... each of at least so many elements

cdef struct Work:               # a shared loop
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


cdef struct Tiles:              # of some columns; several rows are treated as one of `width` elements
    npy_intp columns, width
    npy_intp stride             # from one such row to the next
    npy_intp end                # of all elements of the rows, counted from the first
    npy_intp first, rows        # of the tile: its first element, and its number of such rows


cdef inline bint are_columns(const Planes *planes) noexcept nogil:
    """Whether planes are single elements, and a row has one per channel, with its own statistics."""
    return planes.size == 1 and planes.per == 1 and planes.groups == planes.channels


cdef inline void share_planes(Task task, Work *work) noexcept nogil:
    parallel_for(task, work, work.planes.count, work.planes.size)


cdef npy_intp slices_of(const Planes *planes) noexcept nogil:
    """The number of slices in which rows are summed."""
    cdef npy_intp n = planes.channels
    return max(min(planes.count // SLICE, <npy_intp> SLICES), 1) if 0 < 2 * n <= COLUMNS else 1


cdef inline void share_columns(Task task, Work *work) noexcept nogil:
    cdef npy_intp n = work.planes.channels, slices = slices_of(work.planes)
    if slices > 1:
        parallel_for(task, work, slices, work.planes.count // slices)
        return
    parallel_for(task, work, n, work.planes.count // max(n, 1), max(n // 4 // LANES, 1) * LANES)


cdef inline Tiles tiles_of(npy_intp n, npy_intp times, npy_intp start, npy_intp rows) noexcept nogil:
    """The tiles of the columns from `start` on in rows of n elements; `times` rows are treated as one. `next_tile` moves to
    the first tile."""
    cdef npy_intp columns = min(n - start, <npy_intp> COLUMNS)
    return Tiles(columns, columns * times, n * times, n * rows, 0, 0)


cdef inline bint next_tile(Tiles *tiles) noexcept nogil:
    """Move to the next tile; False if none is left. The last row may be shorter."""
    cdef npy_intp left
    tiles.first += tiles.rows * tiles.stride
    left = tiles.end - tiles.first
    tiles.rows = min(left // tiles.stride, max(TILE // tiles.width, <npy_intp> 1))
    if tiles.rows == 0 and left > 0:
        tiles.rows, tiles.width = 1, min(tiles.width, left)
    return left > 0


cdef inline void share_rows(Task task, Work *work) noexcept nogil:
    cdef npy_intp n = work.planes.channels
    parallel_for(task, work, work.planes.count // max(n, 1), n)


# sums

cdef void first_means(int dtype_code, const void *x, const Planes *planes, void *centers) noexcept nogil:
    """A center near each mean: the mean of the first plane with these statistics, which has their number (`per` is 1)."""
    if dtype_code == FLOAT32:
        means_of_planes(<const float *> x, planes, <float *> centers)
    else:
        means_of_planes(<const double *> x, planes, <double *> centers)


cdef void means_of_planes(const real *x, const Planes *planes, real *centers) noexcept nogil:
    cdef npy_intp k
    for k in range(planes.groups):
        centers[k] = <real> (row_total(x + k * planes.size, planes.size) / planes.size)


cdef void add_moments(int dtype_code, const void *x, const Planes *planes, const void *centers, double *sums) noexcept nogil:
    """For each plane or column, the sum of the deviations from its center, and of their squares."""
    cdef Work work = Work(planes, NULL, x, centers, NULL, NULL, NULL, NULL, sums, NULL)
    if are_columns(planes):
        share_columns(columns_f32 if dtype_code == FLOAT32 else columns_f64, &work)
    else:
        share_planes(moments_f32 if dtype_code == FLOAT32 else moments_f64, &work)


cdef void add_products(int dtype_code, const void *g, const void *x, const Planes *planes, const void *means,
                       double *sums) noexcept nogil:
    """For each plane or column, the sum of g, and of g * (x - mean)."""
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
    """The sums of some columns, or of all columns in some slices: products with g, or squares if g is NULL."""
    cdef npy_intp n = p.planes.channels, rows = p.planes.count // n, slices = slices_of(p.planes), width
    if slices > 1:
        while start < end:
            sum_slice(p, rows * start // slices, rows * (start + 1) // slices, p.sums + 2 * n * start, kind)
            start += 1
        return
    while start < end:
        width = min(end - start, <npy_intp> COLUMNS)
        sum_side_by_side(p, 0, rows, start, width, n, <const real *> p.means + start, p.sums + 2 * start)
        start += width


cdef inline void sum_slice(Work *p, npy_intp row, npy_intp end, double *sums, real kind) noexcept nogil:
    """Sum all columns of some rows; several rows are treated as one."""
    cdef real[COLUMNS] centers
    cdef double[2 * COLUMNS] wide
    cdef npy_intp n = p.planes.channels, times = rows_at_once(n), rest = (end - row) % times, j, k
    for k in range(times):
        for j in range(n):
            centers[k * n + j] = (<const real *> p.means)[j]
    sum_side_by_side(p, row * n, (end - row) // times, 0, n * times, n * times, &centers[0], &wide[0])
    for j in range(2 * n):
        sums[j] = 0
    for k in range(times):
        for j in range(2 * n):
            sums[j] += wide[2 * k * n + j]
    if rest:
        sum_side_by_side(p, (end - rest) * n, rest, 0, n, n, &centers[0], &wide[0])
        for j in range(2 * n):
            sums[j] += wide[j]


cdef inline npy_intp rows_at_once(npy_intp n) noexcept nogil:
    """How many rows of n elements are summed as one: whole strips if possible."""
    cdef npy_intp times = 1
    while n * times % STRIP != 0 and 2 * n * times <= COLUMNS:
        times *= 2
    return times if n * times % STRIP == 0 else max(COLUMNS // n, <npy_intp> 1)


cdef inline void sum_side_by_side(Work *p, npy_intp first_element, npy_intp rows, npy_intp start, npy_intp width, npy_intp n,
                                  const real *centers, double *sums) noexcept nogil:
    """Sum the columns from `start` on, in rows of n elements."""
    cdef real[COLUMNS] first, second
    cdef npy_intp row = 0, j
    cdef const real *x = <const real *> p.x + first_element + start
    cdef const real *g = NULL if p.g == NULL else <const real *> p.g + first_element + start
    for j in range(2 * width):
        sums[j] = 0
    while row < rows:
        sum_columns(NULL if g == NULL else g + row * n, x + row * n, min(rows - row, <npy_intp> ROWS), n, width, centers,
                    &first[0], &second[0])
        for j in range(width):
            sums[2 * j] += first[j]
            sums[2 * j + 1] += second[j]
        row += ROWS


cdef void sum_columns "autograd_cy_sum_columns"(
        const real *g, const real *x, npy_intp rows, npy_intp stride, npy_intp width, const real *centers, real *first,
        real *second) noexcept nogil:
    """STRIP columns at a time, with their sums in registers, then the rest."""
    cdef real[STRIP] sums, products
    cdef npy_intp j = 0, k, row
    while j + STRIP <= width:
        for k in range(STRIP):
            sums[k] = products[k] = 0
        for row in range(rows):
            if g == NULL:
                add_lanes(x + row * stride + j, x + row * stride + j, centers + j, True, sums, products)
            else:
                add_lanes(g + row * stride + j, x + row * stride + j, centers + j, False, sums, products)
        for k in range(STRIP):
            first[j + k], second[j + k] = sums[k], products[k]
        j += STRIP
    for k in range(j, width):
        first[k] = second[k] = 0
    for row in range(rows if j < width else 0):
        for k in range(j, width):
            if g == NULL:
                first[k] = first[k] + (x[row * stride + k] - centers[k])
                second[k] = second[k] + (x[row * stride + k] - centers[k]) * (x[row * stride + k] - centers[k])
            else:
                first[k] = first[k] + g[row * stride + k]
                second[k] = second[k] + g[row * stride + k] * (x[row * stride + k] - centers[k])


cdef inline void add_lanes(const real *g, const real *x, const real *centers, bint squares, real *sums,
                           real *products) noexcept nogil:
    cdef npy_intp k
    cdef real d
    for k in range(STRIP):
        d = x[k] - centers[k]
        sums[k] = sums[k] + (d if squares else g[k])
        products[k] = products[k] + d * (d if squares else g[k])


# forward

cdef void normalize_planes(int dtype_code, const void *x, const Planes *planes, const Statistics *by, const void *weight,
                           const void *bias, void *y) noexcept nogil:
    """y = (x - mean) * scale * weight + bias. Weight and bias may be NULL."""
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
    cdef real[COLUMNS] means, factors, constants
    cdef npy_intp n = p.planes.channels, start = 0, at, j, k
    cdef Tiles tiles
    while start < n:
        tiles = tiles_of(n, rows_at_once(n), start, end - row)
        k = start
        for j in range(tiles.width):
            means[j], factors[j] = (<const real *> p.means)[k], (<const real *> p.scales)[k]
            if p.weight != NULL:
                factors[j] = factors[j] * (<const real *> p.weight)[k]
            constants[j] = 0 if p.bias == NULL else (<const real *> p.bias)[k]
            k = k + 1 if k + 1 < start + tiles.columns else start
        while next_tile(&tiles):
            at = row * n + start + tiles.first
            scale_tile(<const real *> p.x + at, <real *> p.out + at, tiles.rows, tiles.stride, tiles.width, &means[0],
                       &factors[0], &constants[0])
        start += tiles.columns


cdef void scale_tile "autograd_cy_scale_tile"(
        const real *x, real *y, npy_intp rows, npy_intp stride, npy_intp width, const real *means, const real *factors,
        const real *constants) noexcept nogil:
    """Strips of columns, with their factors in registers, then the rest."""
    cdef npy_intp j = 0, n = STRIP_BYTES // sizeof(real), k, row
    while j + n <= width:
        if real is float:
            strip_f32_scale(x + j, y + j, rows, stride, means + j, factors + j, constants + j)
        else:
            strip_f64_scale(x + j, y + j, rows, stride, means + j, factors + j, constants + j)
        j += n
    for row in range(rows if j < width else 0):
        for k in range(j, width):
            y[row * stride + k] = (x[row * stride + k] - means[k]) * factors[k] + constants[k]


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
    cdef real[COLUMNS] means, scales, weights, slopes, constants
    cdef npy_intp n = p.planes.channels, start = 0, at, j, k
    cdef Tiles tiles
    while start < n:
        tiles = tiles_of(n, rows_at_once(n), start, end - row)
        k = start
        for j in range(tiles.width):
            means[j], scales[j] = (<const real *> p.means)[k], (<const real *> p.scales)[k]
            weights[j] = 1 if p.weight == NULL else (<const real *> p.weight)[k]
            constants[j], slopes[j] = <real> p.corrections[2 * k], <real> p.corrections[2 * k + 1]
            k = k + 1 if k + 1 < start + tiles.columns else start
        while next_tile(&tiles):
            at = row * n + start + tiles.first
            tile_gradients(<const real *> p.g + at, <const real *> p.x + at, <real *> p.out + at, tiles.rows, tiles.stride,
                           tiles.width, &means[0], &scales[0], &weights[0], &slopes[0], &constants[0])
        start += tiles.columns


cdef void tile_gradients "autograd_cy_tile_gradients"(
        const real *g, const real *x, real *out, npy_intp rows, npy_intp stride, npy_intp width, const real *means,
        const real *scales, const real *weights, const real *slopes, const real *constants) noexcept nogil:
    """Strips of columns, then the rest. A slope times its scale may overflow."""
    cdef npy_intp j = 0, n = STRIP_BYTES // sizeof(real), k, _row
    while j + n <= width:
        if real is float:
            strip_f32_gradient(g + j, x + j, out + j, rows, stride, means + j, scales + j, weights + j, slopes + j,
                               constants + j)
        else:
            strip_f64_gradient(g + j, x + j, out + j, rows, stride, means + j, scales + j, weights + j, slopes + j,
                               constants + j)
        j += n
    for _row in range(rows if j < width else 0):
        for k in range(j, width):
            out[k] = scales[k] * (g[k] * weights[k] - constants[k] - (x[k] - means[k]) * slopes[k])
        g += stride
        x += stride
        out += stride
