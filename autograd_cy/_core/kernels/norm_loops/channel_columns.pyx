"""Loops of batch_norm on planes of one element, which are the columns of rows of channels (knows no Tensor).

Columns are summed down the rows, COLUMN_BLOCK side by side, in double after each ROW_BLOCK rows. If rows are shorter, several
are treated as one. Threads share columns, or slices of short rows, each with its own sums.

Arrays that fit the caches are gone through by tiles, strip by strip. Larger ones come from memory, which is fastest in
order: rows of 512 channels took twice the time by tiles. FAR rows, far from each other, are in order as well, and take a
tenth less time than one. Storing a result without reading its memory first saves a third.
"""

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.kernels.planes cimport Planes
from autograd_cy._core.kernels.reduction_loops cimport LANES, real
from autograd_cy._core.parallel.threads cimport Task, parallel_for
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_scale_tile( \\
            real const *, real *, npy_intp, npy_intp, npy_intp, real const *, real const *, real const *, int); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_tile_gradients( \\
            real const *, real const *, real *, npy_intp, npy_intp, npy_intp, real const *, real const *, real const *, \\
            real const *, real const *, int); \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_add_rows( \\
            real const *, real const *, npy_intp, npy_intp, npy_intp, int, real const *, double *, double *);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef extern from "channel_strips.h":
    void END_OF_STORES_PAST() noexcept nogil
    void sum_tile_f32(const float *g, const float *x, npy_intp rows, npy_intp stride, npy_intp width,
                      const float *centers, float *sums, float *products) noexcept nogil
    void scale_tile_f32(const float *x, float *y, npy_intp rows, npy_intp stride, npy_intp width, const float *means,
                        const float *factors, const float *constants, bint past) noexcept nogil
    void gradient_tile_f32(const float *g, const float *x, float *out, npy_intp rows, npy_intp stride, npy_intp width,
                           const float *means, const float *scales, const float *weights, const float *slopes,
                           const float *constants, bint past) noexcept nogil
    void sum_tile_f64(const double *g, const double *x, npy_intp rows, npy_intp stride, npy_intp width,
                      const double *centers, double *sums, double *products) noexcept nogil
    void scale_tile_f64(const double *x, double *y, npy_intp rows, npy_intp stride, npy_intp width, const double *means,
                        const double *factors, const double *constants, bint past) noexcept nogil
    void gradient_tile_f64(const double *g, const double *x, double *out, npy_intp rows, npy_intp stride, npy_intp width,
                           const double *means, const double *scales, const double *weights, const double *slopes,
                           const double *constants, bint past) noexcept nogil

cdef enum:
    COLUMN_BLOCK = 1024         # that are summed, or normalized, side by side ...
    STRIP = 64                  # ... of which so many have their sums in registers ...
    ROW_BLOCK = 64              # ... over so many rows, before they are added in double
    TILE = 1 << 14              # elements of rows whose columns are taken strip by strip
    LARGE = 6 << 20             # bytes of an array, from which results don't enter the caches, and ...
    FAR = 4                     # ... so many rows of a tile are taken together
    SHORT = 256                 # elements of short rows that are treated as one
    SLICES = 16                 # of short rows, at most ...
    SLICE = 1 << 14             # ... each of at least so many elements

cdef struct Tiles:              # of some columns; several rows are treated as one of `width` elements
    npy_intp columns, width
    npy_intp stride             # from one such row to the next
    npy_intp end                # of all elements of the rows, counted from the first
    npy_intp first, rows        # of the tile: its first element, and its number of such rows
    npy_intp most               # rows of a tile
    bint are_large

cdef struct Walk:               # through the rows of a tile: `rows` at a time, `apart` from each other, from each of `steps`
    npy_intp steps, rows, apart


cdef bint are_columns(const Planes *planes) noexcept nogil:
    """Whether planes are single elements, and a row has one per channel, with its own statistics."""
    return planes.size == 1 and planes.per == 1 and planes.groups == planes.channels


cdef inline bint are_short(npy_intp n) noexcept nogil:
    """Whether several rows of n elements can be treated as one."""
    return 0 < 2 * n <= SHORT


cdef inline bint are_large(const Planes *planes, npy_intp size) noexcept nogil:
    """Whether an array of elements of `size` bytes is hardly found in the caches."""
    return planes.count * size >= LARGE


cdef inline bint come_from_memory(const Planes *planes, npy_intp width, npy_intp size) noexcept nogil:
    """Whether rows of so many columns, in elements of `size` bytes, are longer than a strip and hardly found in the caches."""
    return width > STRIP and are_large(planes, size)


cdef inline Walk walk_through(npy_intp rows, bint are_large) noexcept nogil:
    if not are_large:
        return Walk(1, rows, 1)
    if rows % FAR == 0:
        return Walk(rows // FAR, FAR, rows // FAR)
    return Walk(rows, 1, 1)


# sums

cdef npy_intp slices_of(const Planes *planes) noexcept nogil:
    """The number of slices in which rows are summed."""
    return max(min(planes.count // SLICE, <npy_intp> SLICES), 1) if are_short(planes.channels) else 1


cdef void sum_columns(int dtype_code, Work *work) noexcept nogil:
    """Write each column's sums of g and of g * (x - mean); of x - mean and of its square if g is NULL. `sums` has room for
    those of each slice, and the results are in the first."""
    cdef npy_intp n = work.planes.channels, slices = slices_of(work.planes), slice, j
    if are_short(n):
        parallel_for(slices_f32 if dtype_code == FLOAT32 else slices_f64, work, slices, work.planes.count // slices)
        for slice in range(1, slices):
            for j in range(2 * n):
                work.sums[j] += work.sums[2 * n * slice + j]
    else:
        parallel_for(columns_f32 if dtype_code == FLOAT32 else columns_f64, work, n, work.planes.count // max(n, 1),
                     max(n // 4 // LANES, 1) * LANES)


cdef void slices_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    slices_part(<Work *> data, first, end, <float> 0)


cdef void slices_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    slices_part(<Work *> data, first, end, <double> 0)


cdef inline void slices_part(Work *p, npy_intp slice, npy_intp end, real kind) noexcept nogil:
    """Sum all columns of some slices of the rows."""
    cdef npy_intp n = p.planes.channels, rows = p.planes.count // n, slices = slices_of(p.planes)
    while slice < end:
        sum_slice(p, rows * slice // slices, rows * (slice + 1) // slices, p.sums + 2 * n * slice, kind)
        slice += 1


cdef inline void sum_slice(Work *p, npy_intp row, npy_intp end, double *sums, real kind) noexcept nogil:
    """Sum all columns of some rows; several rows are treated as one."""
    cdef real[SHORT] centers
    cdef double[SHORT] first, second
    cdef npy_intp n = p.planes.channels, times = rows_at_once(n), rest = (end - row) % times, j, k = 0
    for j in range(n * times):
        first[j] = second[j] = 0
        centers[j] = (<const real *> p.means)[k]
        k = k + 1 if k + 1 < n else 0
    sum_rows(p, row * n, (end - row) // times, n * times, n * times, &centers[0], &first[0], &second[0])
    sum_rows(p, (end - rest) * n, rest, n, n, &centers[0], &first[0], &second[0])
    for j in range(n):
        sums[2 * j], sums[2 * j + 1] = first[j], second[j]
    for k in range(1, times):
        for j in range(n):
            sums[2 * j] += first[k * n + j]
            sums[2 * j + 1] += second[k * n + j]


cdef inline npy_intp rows_at_once(npy_intp n) noexcept nogil:
    """How many rows of n elements are summed as one: whole strips if possible."""
    cdef npy_intp times = 1
    while n * times % STRIP != 0 and 2 * n * times <= SHORT:
        times *= 2
    return times if n * times % STRIP == 0 else max(SHORT // n, <npy_intp> 1)


cdef void columns_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    columns_part(<Work *> data, first, end, <float> 0)


cdef void columns_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    columns_part(<Work *> data, first, end, <double> 0)


cdef inline void columns_part(Work *p, npy_intp start, npy_intp end, real kind) noexcept nogil:
    """The sums of some columns."""
    cdef double[COLUMN_BLOCK] first, second
    cdef npy_intp n = p.planes.channels, rows = p.planes.count // n, width, j
    while start < end:
        width = min(end - start, <npy_intp> COLUMN_BLOCK)
        for j in range(width):
            first[j] = second[j] = 0
        sum_rows(p, start, rows, n, width, <const real *> p.means + start, &first[0], &second[0])
        for j in range(width):
            p.sums[2 * (start + j)], p.sums[2 * (start + j) + 1] = first[j], second[j]
        start += width


cdef inline void sum_rows(Work *p, npy_intp start, npy_intp rows, npy_intp stride, npy_intp width, const real *centers,
                          double *first, double *second) noexcept nogil:
    """Add the sums of `width` columns, from an element on, to `first` and `second`."""
    add_rows(NULL if p.g == NULL else <const real *> p.g + start, <const real *> p.x + start, rows, stride, width,
             come_from_memory(p.planes, stride, sizeof(real)), centers, first, second)


cdef void add_rows "autograd_cy_add_rows"(
        const real *g, const real *x, npy_intp rows, npy_intp stride, npy_intp width, bint are_large, const real *centers,
        double *first, double *second) noexcept nogil:
    """Sums of ROW_BLOCK rows."""
    cdef real[COLUMN_BLOCK] sums, products
    cdef npy_intp row = 0, k, step
    cdef const real *from_g = NULL
    cdef Walk walk
    while row < rows:
        walk = walk_through(min(rows - row, <npy_intp> ROW_BLOCK), are_large)
        for k in range(width):
            sums[k] = products[k] = 0
        for step in range(walk.steps):
            if g != NULL:
                from_g = g + (row + step) * stride
            if real is float:
                sum_tile_f32(from_g, x + (row + step) * stride, walk.rows, walk.apart * stride, width, centers, &sums[0],
                             &products[0])
            else:
                sum_tile_f64(from_g, x + (row + step) * stride, walk.rows, walk.apart * stride, width, centers, &sums[0],
                             &products[0])
        row += walk.steps * walk.rows
        for k in range(width):
            first[k] += sums[k]
            second[k] += products[k]


# tiles

cdef inline Tiles tiles_of(const Planes *planes, npy_intp start, npy_intp rows, npy_intp size) noexcept nogil:
    """The tiles of the columns from `start` on in rows of elements of `size` bytes. `next_tile` moves to the first tile."""
    cdef npy_intp n = planes.channels, times = rows_at_once(n), columns = min(n - start, <npy_intp> COLUMN_BLOCK)
    cdef bint are_large = come_from_memory(planes, columns * times, size)
    cdef npy_intp most = ROW_BLOCK if are_large else max(TILE // (columns * times), 1)
    return Tiles(columns, columns * times, n * times, n * rows, 0, 0, most, are_large)


cdef inline bint next_tile(Tiles *tiles) noexcept nogil:
    """Move to the next tile; False if none is left. The last row may be shorter."""
    cdef npy_intp left
    tiles.first += tiles.rows * tiles.stride
    left = tiles.end - tiles.first
    tiles.rows = min(left // tiles.stride, tiles.most)
    if tiles.rows == 0 and left > 0:
        tiles.rows, tiles.width = 1, min(tiles.width, left)
    return left > 0


# forward

cdef void normalize_columns(int dtype_code, Work *work) noexcept nogil:
    share_rows(rows_f32 if dtype_code == FLOAT32 else rows_f64, work)


cdef inline void share_rows(Task task, Work *work) noexcept nogil:
    cdef npy_intp n = work.planes.channels
    parallel_for(task, work, work.planes.count // max(n, 1), n)


cdef void rows_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    rows_part(<Work *> data, first, end, <float> 0)


cdef void rows_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    rows_part(<Work *> data, first, end, <double> 0)


cdef inline void rows_part(Work *p, npy_intp row, npy_intp end, real kind) noexcept nogil:
    cdef real[COLUMN_BLOCK] means, factors, constants
    cdef npy_intp n = p.planes.channels, start = 0, at, j, k, _step
    cdef bint past = p.out != p.x and are_large(p.planes, sizeof(real))
    cdef Tiles tiles
    cdef Walk walk
    while start < n:
        tiles = tiles_of(p.planes, start, end - row, sizeof(real))
        k = start
        for j in range(tiles.width):
            means[j], factors[j] = (<const real *> p.means)[k], (<const real *> p.scales)[k]
            if p.weight != NULL:
                factors[j] = factors[j] * (<const real *> p.weight)[k]
            constants[j] = 0 if p.bias == NULL else (<const real *> p.bias)[k]
            k = k + 1 if k + 1 < start + tiles.columns else start
        while next_tile(&tiles):
            at = row * n + start + tiles.first
            walk = walk_through(tiles.rows, tiles.are_large)
            for _step in range(walk.steps):
                scale_tile(<const real *> p.x + at, <real *> p.out + at, walk.rows, walk.apart * tiles.stride, tiles.width,
                           &means[0], &factors[0], &constants[0], past)
                at += tiles.stride
        start += tiles.columns
    END_OF_STORES_PAST()


cdef void scale_tile "autograd_cy_scale_tile"(
        const real *x, real *y, npy_intp rows, npy_intp stride, npy_intp width, const real *means, const real *factors,
        const real *constants, bint past) noexcept nogil:
    if real is float:
        scale_tile_f32(x, y, rows, stride, width, means, factors, constants, past)
    else:
        scale_tile_f64(x, y, rows, stride, width, means, factors, constants, past)


# backward

cdef void column_gradients(int dtype_code, Work *work) noexcept nogil:
    share_rows(row_gradients_f32 if dtype_code == FLOAT32 else row_gradients_f64, work)


cdef void row_gradients_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    row_gradients_part(<Work *> data, first, end, <float> 0)


cdef void row_gradients_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    row_gradients_part(<Work *> data, first, end, <double> 0)


cdef inline void row_gradients_part(Work *p, npy_intp row, npy_intp end, real kind) noexcept nogil:
    cdef real[COLUMN_BLOCK] means, scales, weights, slopes, constants
    cdef npy_intp n = p.planes.channels, start = 0, at, j, k, _step
    cdef bint past = p.out != p.g and are_large(p.planes, sizeof(real))
    cdef Tiles tiles
    cdef Walk walk
    while start < n:
        tiles = tiles_of(p.planes, start, end - row, sizeof(real))
        k = start
        for j in range(tiles.width):
            means[j], scales[j] = (<const real *> p.means)[k], (<const real *> p.scales)[k]
            weights[j] = 1 if p.weight == NULL else (<const real *> p.weight)[k]
            constants[j], slopes[j] = <real> p.corrections[2 * k], <real> p.corrections[2 * k + 1]
            k = k + 1 if k + 1 < start + tiles.columns else start
        while next_tile(&tiles):
            at = row * n + start + tiles.first
            walk = walk_through(tiles.rows, tiles.are_large)
            for _step in range(walk.steps):
                tile_gradients(<const real *> p.g + at, <const real *> p.x + at, <real *> p.out + at, walk.rows,
                               walk.apart * tiles.stride, tiles.width, &means[0], &scales[0], &weights[0], &slopes[0],
                               &constants[0], past)
                at += tiles.stride
        start += tiles.columns
    END_OF_STORES_PAST()


cdef void tile_gradients "autograd_cy_tile_gradients"(
        const real *g, const real *x, real *out, npy_intp rows, npy_intp stride, npy_intp width, const real *means,
        const real *scales, const real *weights, const real *slopes, const real *constants, bint past) noexcept nogil:
    """A slope times its scale may overflow."""
    if real is float:
        gradient_tile_f32(g, x, out, rows, stride, width, means, scales, weights, slopes, constants, past)
    else:
        gradient_tile_f64(g, x, out, rows, stride, width, means, scales, weights, slopes, constants, past)
