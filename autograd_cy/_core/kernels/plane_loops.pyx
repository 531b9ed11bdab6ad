"""Loops that reduce float32 and float64 over the last two dimensions of a walk (know no array).

Along contiguous runs they keep LANES results at a time, so that no step waits for the one before, and combine elements in
pairs first; across runs they take four at a time, and where results are double (`wide`), ROWS of them are summed before they
are added to those. So errors of sums grow as slowly as in NumPy's pairwise sum.
"""

from libc.math cimport INFINITY, NAN
from numpy cimport npy_intp

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64
from autograd_cy._core.kernels.borrowed cimport plane, plane_f32, plane_f64, real, rows_apart, run
from autograd_cy._core.runtime.thresholds cimport thresholds

cdef extern from "math.h" nogil:
    float fabsf(float)
    double fabs(double)

cdef extern from *:
    """
    #include "clones.h"
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_FLAT static double fuse##autograd_cy_row_total(real const *, npy_intp); \\
        AUTOGRAD_CY_FLAT static double fuse##autograd_cy_row_dot(real const *, real const *, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_planes_f32)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_planes_f64)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_planes_wide)
    """

ctypedef fused kept:        # the results of `real` elements
    float
    double

cdef enum:
    LANES = 32
    BLOCK = 1024            # elements that are reduced lane by lane before the lanes are put together
    COLUMNS = 2048          # columns that are reduced together
    ROWS = 64               # rows that are summed before they are added in double


# one run

cdef inline bint is_choice(int how) noexcept nogil:
    return how == TAKE_LARGEST or how == TAKE_SMALLEST


cdef inline real joined(real a, real b, int how) noexcept nogil:
    """Of two elements; where one is a nan, either."""
    if how == MULTIPLY:
        return a * b
    if how == TAKE_LARGEST:
        return a if a > b else b
    if how == TAKE_SMALLEST:
        return a if a < b else b
    return a + b


cdef inline real combined(real a, real b, int how) noexcept nogil:
    """`joined`, but that a nan stays."""
    cdef real c = joined(a, b, how)         # one choice after the other, or there would be branches
    return a if is_choice(how) and a != a else c


cdef inline bint has_nan(const real[::1] x) noexcept nogil:
    cdef int found = 0
    cdef npy_intp i
    for i in range(x.shape[0]):
        found |= x[i] != x[i]
    return found


cdef inline real mapped(real x, int how) noexcept nogil:
    if how == ADD_SIZES:
        return fabsf(x) if real is float else fabs(x)
    return x * x if how == ADD_SQUARES else x


cdef inline real identity(int how, real kind) noexcept nogil:
    if how == MULTIPLY:
        return 1
    return <real> -INFINITY if how == TAKE_LARGEST else <real> INFINITY if how == TAKE_SMALLEST else 0


cdef inline npy_intp folded(real *lanes, const real[::1] x, npy_intp i, int half, int how) noexcept nogil:
    """Join the upper half of the lanes to the lower, and then as many elements, if they are left; returns what comes next."""
    cdef int k
    for k in range(half):
        lanes[k] = joined(lanes[k], lanes[k + half], how)
    if i + half > x.shape[0]:
        return i
    for k in range(half):
        lanes[k] = joined(lanes[k], mapped(x[i + k], how), how)
    return i + half


cdef inline real reduce_block(const real[::1] x, int how) noexcept nogil:
    cdef real[LANES] lanes
    cdef real r0, r1, r2, r3
    cdef npy_intp i = 0, k, n = x.shape[0]
    r0 = r1 = r2 = r3 = identity(how, <real> 0)
    if n >= LANES:
        for k in range(LANES):
            lanes[k] = mapped(x[k], how)
        i = LANES
        while i + 2 * LANES <= n:
            for k in range(LANES):
                lanes[k] = joined(lanes[k], joined(mapped(x[i + k], how), mapped(x[i + LANES + k], how), how), how)
            i += 2 * LANES
        if i + LANES <= n:
            for k in range(LANES):
                lanes[k] = joined(lanes[k], mapped(x[i + k], how), how)
            i += LANES
        i = folded(lanes, x, i, 16, how)
        i = folded(lanes, x, i, 8, how)
        r0 = joined(lanes[0], lanes[4], how)
        r1 = joined(lanes[1], lanes[5], how)
        r2 = joined(lanes[2], lanes[6], how)
        r3 = joined(lanes[3], lanes[7], how)
    while i + 4 <= n:
        r0 = joined(r0, mapped(x[i], how), how)
        r1 = joined(r1, mapped(x[i + 1], how), how)
        r2 = joined(r2, mapped(x[i + 2], how), how)
        r3 = joined(r3, mapped(x[i + 3], how), how)
        i += 4
    while i < n:
        r0 = joined(r0, mapped(x[i], how), how)
        i += 1
    if is_choice(how) and has_nan(x):
        return NAN
    return joined(joined(r0, r2, how), joined(r1, r3, how), how)


cdef inline double reduce_row(const real[:, :] x, npy_intp row, int how) noexcept nogil:
    """Reduce many elements: block by block, so that errors don't grow with their number; those that lie apart are copied."""
    cdef real[BLOCK] block
    cdef const real *elements
    cdef double result = identity(how, <double> 0)
    cdef npy_intp start = 0, size, i
    while start < x.shape[1]:
        size = min(x.shape[1] - start, <npy_intp> BLOCK)
        elements = &x[row, start]
        if x.strides[1] != sizeof(real):
            for i in range(size):
                block[i] = x[row, start + i]
            elements = block
        result = combined(result, <double> reduce_block(run(elements, size), how), how)
        start += size
    return result


cdef double row_total "autograd_cy_row_total"(const real *x, npy_intp n) noexcept nogil:
    return reduce_row(plane(x, 1, 0, n, sizeof(real)), 0, ADD)


cdef double row_dot "autograd_cy_row_dot"(const real *x, const real *y, npy_intp n) noexcept nogil:
    """The sum of the products of 2 * n contiguous elements."""
    cdef double total = 0
    cdef npy_intp start = 0, size
    while start < n:
        size = min(n - start, <npy_intp> BLOCK)
        total += dot_block(run(x + start, size), run(y + start, size))
        start += size
    return total


cdef inline real dot_block(const real[::1] x, const real[::1] y) noexcept nogil:
    cdef real[LANES] lanes
    cdef npy_intp i = 0, k, n = x.shape[0]
    for k in range(LANES):
        lanes[k] = 0
    while i + LANES <= n:
        for k in range(LANES):
            lanes[k] = lanes[k] + x[i + k] * y[i + k]
        i += LANES
    for k in range(n - i):
        lanes[k] = lanes[k] + x[i + k] * y[i + k]
    return reduce_block(run(<const real *> lanes, LANES), ADD)


# several runs

cdef inline void reduce_columns(real[::1] out, const real[:, ::1] x, npy_intp row, npy_intp end, int how) noexcept nogil:
    """out = out + x[row] + x[row + 1] + ...: four rows at a time, which are short enough to stay in the cache."""
    cdef npy_intp k, n = out.shape[0]
    while row + 4 <= end:
        for k in range(n):
            out[k] = combined(
                out[k], combined(combined(mapped(x[row, k], how), mapped(x[row + 1, k], how), how),
                                 combined(mapped(x[row + 2, k], how), mapped(x[row + 3, k], how), how), how), how)
        row += 4
    while row < end:
        for k in range(n):
            out[k] = combined(out[k], mapped(x[row, k], how), how)
        row += 1


cdef inline void add_eight(real[::1] out, const real[:, ::1] x, npy_intp row, bint fresh, int how) noexcept nogil:
    """Eight rows at once, added to what is there, or (`fresh`) alone."""
    cdef real total
    cdef npy_intp k
    for k in range(out.shape[0]):
        total = (((mapped(x[row, k], how) + mapped(x[row + 1, k], how))
                  + (mapped(x[row + 2, k], how) + mapped(x[row + 3, k], how)))
                 + ((mapped(x[row + 4, k], how) + mapped(x[row + 5, k], how))
                    + (mapped(x[row + 6, k], how) + mapped(x[row + 7, k], how))))
        out[k] = total if fresh else out[k] + total


cdef inline void sum_columns(kept[::1] out, const real[:, ::1] x, int how) noexcept nogil:
    """Add up columns, added to totals in double after each ROWS rows."""
    cdef real[COLUMNS] block
    cdef npy_intp row = 0, end, k, n = out.shape[0]
    while row < x.shape[0]:
        end = min(row + ROWS, x.shape[0])
        if end - row < 8:
            for k in range(n):
                block[k] = 0
        else:
            add_eight(run(<const real *> block, n), x, row, True, how)
            row += 8
        while row + 8 <= end:
            add_eight(run(<const real *> block, n), x, row, False, how)
            row += 8
        reduce_columns(run(<const real *> block, n), x, row, end, how)
        for k in range(n):
            out[k] += block[k]
        row = end


cdef inline void reduce_plane(kept[:, :] out, const real[:, :] x, int how) noexcept nogil:
    """Combine each element of x with that of `out` in its place, which by strides of 0 is one for many.

    Across contiguous rows, along them, or any other way. Where results are wider, they are sums.
    """
    cdef npy_intp row, start = 0, k, n = x.shape[1]
    if is_across(out, x):
        while start < n:
            reduce_panel(run(&out[0, start], min(n - start, <npy_intp> COLUMNS)),
                         rows_apart(&x[0, start], x.shape[0], x.strides[0], n - start), how)
            start += COLUMNS
    elif out.strides[1] == 0:
        for row in range(x.shape[0]):
            out[row, 0] = <kept> combined(<double> out[row, 0], reduce_row(x, row, how), how)
    else:
        for row in range(x.shape[0]):
            for k in range(n):
                out[row, k] = combined(out[row, k], <kept> mapped(x[row, k], how), how)


cdef inline bint is_across(kept[:, :] out, const real[:, :] x) noexcept nogil:
    """Whether contiguous rows are reduced to one."""
    return x.strides[1] == sizeof(real) and out.strides[1] == sizeof(kept) and out.strides[0] == 0


cdef inline void reduce_panel(kept[::1] out, const real[:, ::1] x, int how) noexcept nogil:
    """Reduce at most COLUMNS columns."""
    if kept is real:
        reduce_columns(out, x, 0, x.shape[0], how)
    else:
        sum_columns(out, x, how)


cdef inline bint is_borrowed(kept[:, :] out, const real[:, :] x, const Run *last) noexcept nogil:
    """Whether NumPy's loop is to be called: neither along nor across contiguous rows, or for the largest of many."""
    if last.borrowed == NULL or is_across(out, x):
        return False
    if x.strides[1] != sizeof(real) or out.strides[1] != 0:
        return True
    return is_choice(last.how) and x.shape[1] >= thresholds.long_choice


cdef inline void reduce_planes(kept[:, :] out, const real[:, :] x, const Run *last) noexcept nogil:
    """`reduce_plane`, compiled for each way to reduce, or NumPy's loop."""
    cdef char *operands[3]
    cdef npy_intp row
    if is_borrowed(out, x, last):
        for row in range(x.shape[0]):
            operands[0] = operands[2] = <char *> &out[row, 0]
            operands[1] = <char *> &x[row, 0]
            last.borrowed.loop(operands, &last.size, last.strides, last.borrowed.data)
    elif last.how == ADD:
        reduce_plane(out, x, ADD)
    elif last.how == ADD_SIZES:
        reduce_plane(out, x, ADD_SIZES)
    elif last.how == ADD_SQUARES:
        reduce_plane(out, x, ADD_SQUARES)
    elif kept is real:
        if last.how == MULTIPLY:
            reduce_plane(out, x, MULTIPLY)
        elif last.how == TAKE_LARGEST:
            reduce_plane(out, x, TAKE_LARGEST)
        else:
            reduce_plane(out, x, TAKE_SMALLEST)


cdef void planes_f32 "autograd_cy_planes_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                              void *data) noexcept nogil:
    cdef const Run *last = <const Run *> data
    reduce_planes(plane_f32(args[0], dims[0], strides[0], last.size, last.strides[0]),
                  plane_f32(args[1], dims[0], strides[1], last.size, last.strides[1]), last)


cdef void planes_f64 "autograd_cy_planes_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                              void *data) noexcept nogil:
    cdef const Run *last = <const Run *> data
    reduce_planes(plane_f64(args[0], dims[0], strides[0], last.size, last.strides[0]),
                  plane_f64(args[1], dims[0], strides[1], last.size, last.strides[1]), last)


cdef void planes_wide "autograd_cy_planes_wide"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                void *data) noexcept nogil:
    cdef const Run *last = <const Run *> data
    reduce_planes(plane_f64(args[0], dims[0], strides[0], last.size, last.strides[0]),
                  plane_f32(args[1], dims[0], strides[1], last.size, last.strides[1]), last)


PLANES[FLOAT32], PLANES[FLOAT64], WIDE_PLANES = planes_f32, planes_f64, planes_wide
