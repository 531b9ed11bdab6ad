"""Loops that reduce float32 and float64 over the last two dimensions of a walk (know no array).

Along contiguous runs they go as in runs.pyx. Across runs they take four at a time; if results are double (`wide`), ROWS runs
are summed before they are added.
"""

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    COLUMNS = 2048          # columns reduced together
    ROWS = 64               # rows summed before they are added in double


cdef inline void reduce_columns "autograd_cy_reduce_columns"(
        real *out, const char *x, npy_intp rows, npy_intp stride, npy_intp n, int how) noexcept nogil:
    """out = out + x[0] + x[1] + ...: rows of n contiguous elements, four at a time; `out` must fit the cache."""
    cdef const real *p0
    cdef const real *p1
    cdef const real *p2
    cdef const real *p3
    cdef npy_intp row = 0, k
    while row + 4 <= rows:
        p0 = <const real *> (x + row * stride)
        p1 = <const real *> (x + (row + 1) * stride)
        p2 = <const real *> (x + (row + 2) * stride)
        p3 = <const real *> (x + (row + 3) * stride)
        for k in range(n):
            out[k] = combined(out[k], combined(combined(mapped(p0[k], how), mapped(p1[k], how), how),
                                               combined(mapped(p2[k], how), mapped(p3[k], how), how), how), how)
        row += 4
    while row < rows:
        p0 = <const real *> (x + row * stride)
        for k in range(n):
            out[k] = combined(out[k], mapped(p0[k], how), how)
        row += 1


cdef inline void add_eight "autograd_cy_add_eight"(
        real *out, const char *x, npy_intp stride, npy_intp n, bint fresh, int how) noexcept nogil:
    """The sum of eight rows, added to `out`, or written to it if `fresh`."""
    cdef const real *p0 = <const real *> x
    cdef const real *p1 = <const real *> (x + stride)
    cdef const real *p2 = <const real *> (x + 2 * stride)
    cdef const real *p3 = <const real *> (x + 3 * stride)
    cdef const real *p4 = <const real *> (x + 4 * stride)
    cdef const real *p5 = <const real *> (x + 5 * stride)
    cdef const real *p6 = <const real *> (x + 6 * stride)
    cdef const real *p7 = <const real *> (x + 7 * stride)
    cdef real total
    cdef npy_intp k
    for k in range(n):
        total = (((mapped(p0[k], how) + mapped(p1[k], how)) + (mapped(p2[k], how) + mapped(p3[k], how)))
                 + ((mapped(p4[k], how) + mapped(p5[k], how)) + (mapped(p6[k], how) + mapped(p7[k], how))))
        out[k] = total if fresh else out[k] + total


cdef inline void sum_columns "autograd_cy_sum_columns"(
        double *out, const char *x, npy_intp rows, npy_intp stride, npy_intp n, int how, real kind) noexcept nogil:
    """Sum columns; partial sums are added to the totals in double after each ROWS rows."""
    cdef real[COLUMNS] block
    cdef npy_intp row, count, k
    while rows > 0:
        count = min(rows, <npy_intp> ROWS)
        row = 0
        if count < 8:
            for k in range(n):
                block[k] = 0
        else:
            add_eight(<real *> &block[0], x, stride, n, True, how)
            row = 8
        while row + 8 <= count:
            add_eight(<real *> &block[0], x + row * stride, stride, n, False, how)
            row += 8
        reduce_columns(<real *> &block[0], x + row * stride, count - row, stride, n, how)
        for k in range(n):
            out[k] += block[k]
        x += count * stride
        rows -= count


cdef inline void put(char *out, double value, int how, real kind, bint wide) noexcept nogil:
    """Combine one result with a value."""
    if wide:
        (<double *> out)[0] = combined((<double *> out)[0], value, how)
    else:
        (<real *> out)[0] = <real> combined(<double> (<real *> out)[0], value, how)


cdef inline void reduce_odd(char **args, const npy_intp *strides, const Run *run, int how, real kind,
                            bint wide) noexcept nogil:
    """One run, neither along nor across contiguous elements."""
    cdef char *operands[3]
    cdef real *out
    cdef npy_intp i, n = run.size
    if run.borrowed != NULL:
        operands[0] = operands[2] = args[0]
        operands[1] = args[1]
        run.borrowed.loop(operands, &n, run.strides, run.borrowed.data)
    elif run.strides[0] == 0:
        put(args[0], reduce_strided(args[1], n, run.strides[1], how, kind), how, kind, wide)
    elif wide:
        for i in range(n):
            put(args[0] + i * run.strides[0], mapped((<real *> (args[1] + i * run.strides[1]))[0], how), how, kind, wide)
    else:
        for i in range(n):
            out = <real *> (args[0] + i * run.strides[0])
            out[0] = combined(out[0], mapped((<real *> (args[1] + i * run.strides[1]))[0], how), how)


cdef inline void reduce_plane "autograd_cy_reduce_plane"(
        char **args, npy_intp rows, const npy_intp *strides, void *data, real kind, int how, bint wide) noexcept nogil:
    """Reduce `rows` runs, each as `run` says: along contiguous runs, across them, or otherwise.

    `wide`: elements are float, and the results (sums) are double.
    """
    cdef const Run *run = <const Run *> data
    cdef npy_intp row, start = 0, n = run.size, width
    cdef npy_intp size = sizeof(double) if wide else sizeof(real)
    cdef char *operands[2]
    if run.strides[1] == sizeof(real) and run.strides[0] == 0 and not (is_choice(how) and n >= thresholds.long_choice):
        for row in range(rows):
            put(args[0] + row * strides[0], reduce_row(<const real *> (args[1] + row * strides[1]), n, how), how, kind, wide)
    elif run.strides[1] == sizeof(real) and run.strides[0] == size and strides[0] == 0:
        while start < n:
            width = min(n - start, <npy_intp> COLUMNS)
            operands[0] = args[0] + start * size
            operands[1] = args[1] + start * sizeof(real)
            if wide:
                sum_columns(<double *> operands[0], operands[1], rows, strides[1], width, how, kind)
            else:
                reduce_columns(<real *> operands[0], operands[1], rows, strides[1], width, how)
            start += COLUMNS
    else:
        for row in range(rows):
            operands[0] = args[0] + row * strides[0]
            operands[1] = args[1] + row * strides[1]
            reduce_odd(operands, strides, run, how, kind, wide)


cdef void sum_f32 "autograd_cy_sum_f32"(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, ADD, False)


cdef void sum_f64 "autograd_cy_sum_f64"(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <double> 0, ADD, False)


cdef void sizes_f32 "autograd_cy_sizes_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                            void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, ADD_SIZES, False)


cdef void sizes_f64 "autograd_cy_sizes_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                            void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <double> 0, ADD_SIZES, False)


cdef void squares_f32 "autograd_cy_squares_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, ADD_SQUARES, False)


cdef void squares_f64 "autograd_cy_squares_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <double> 0, ADD_SQUARES, False)


cdef void sum_wide "autograd_cy_sum_wide"(char **args, const npy_intp *dims, const npy_intp *strides,
                                          void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, ADD, True)


cdef void sizes_wide "autograd_cy_sizes_wide"(char **args, const npy_intp *dims, const npy_intp *strides,
                                              void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, ADD_SIZES, True)


cdef void squares_wide "autograd_cy_squares_wide"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                  void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, ADD_SQUARES, True)


cdef void product_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, MULTIPLY, False)


cdef void product_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <double> 0, MULTIPLY, False)


cdef void largest_f32 "autograd_cy_largest_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, TAKE_LARGEST, False)


cdef void largest_f64 "autograd_cy_largest_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <double> 0, TAKE_LARGEST, False)


cdef void smallest_f32 "autograd_cy_smallest_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                  void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <float> 0, TAKE_SMALLEST, False)


cdef void smallest_f64 "autograd_cy_smallest_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                  void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, data, <double> 0, TAKE_SMALLEST, False)


cdef Loop plane_loop(How how, int dtype_code) noexcept:
    """The loop for a type, or NULL. Its data is the Run."""
    cdef bint single = dtype_code == FLOAT32
    if dtype_code != FLOAT32 and dtype_code != FLOAT64:
        return NULL
    if how == ADD:
        if single:
            return sum_f32
        return sum_f64
    if how == ADD_SIZES:
        if single:
            return sizes_f32
        return sizes_f64
    if how == ADD_SQUARES:
        if single:
            return squares_f32
        return squares_f64
    if how == MULTIPLY:
        if single:
            return product_f32
        return product_f64
    if how == TAKE_LARGEST:
        if single:
            return largest_f32
        return largest_f64
    if single:
        return smallest_f32
    return smallest_f64


cdef Loop wide_loop(How how) noexcept:
    """The loop that sums float32 in float64, or NULL."""
    if how == ADD:
        return sum_wide
    if how == ADD_SIZES:
        return sizes_wide
    if how == ADD_SQUARES:
        return squares_wide
    return NULL
