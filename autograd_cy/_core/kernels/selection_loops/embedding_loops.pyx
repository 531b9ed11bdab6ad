"""Gather of a table's rows by number, and scatter of their gradients (knows no Tensor).

The caller has checked the row numbers. Threads share the output: gathered rows, or rows of the table's gradient. For the
latter, each thread scans all numbers and adds to its own rows only, in order.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from autograd_cy._core.kernels.reduction_loops cimport real
from autograd_cy._core.parallel.threads cimport UNIT, parallel_for
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Rows:               # the arrays of a shared loop
    const void *source
    const int64_t *rows
    const int64_t *counts
    void *out
    npy_intp n, inner
    int64_t skipped

cdef struct Bags:               # the same for bags of rows; `table` may be the gradient of the bags
    const void *table
    const int64_t *rows
    const int64_t *starts
    const void *factors
    int64_t *numbers
    void *out
    npy_intp n, inner
    bint mean


cdef void copy_rows(const char *table, npy_intp size, const int64_t *rows, npy_intp n, char *out) noexcept nogil:
    """out[i] = table[rows[i]]; a row has `size` bytes."""
    cdef Rows taken = Rows(table, rows, NULL, out, n, size, -1)
    parallel_for(copy_part, &taken, n, size // UNIT + 1)


cdef void copy_part(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Rows *p = <Rows *> data
    cdef npy_intp size = p.inner, i
    for i in range(first, end):
        memcpy(<char *> p.out + i * size, <const char *> p.source + p.rows[i] * size, size)


cdef void add_to_rows(const real *g, const int64_t *rows, npy_intp n, npy_intp inner, int64_t skipped, const int64_t *counts,
                      real *out, npy_intp height) noexcept nogil:
    """out[rows[i]] += g[i], except for the row `skipped`; divided by the row's count if `counts` isn't NULL."""
    cdef Rows added = Rows(g, rows, counts, out, n, inner, skipped)
    cdef npy_intp weight = n * inner // max(height, 1) + 1
    parallel_for(add_f32 if real is float else add_f64, &added, height, weight, max(height // 4, 1))


cdef void add_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    add_part(<Rows *> data, first, end, <float> 0)


cdef void add_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    add_part(<Rows *> data, first, end, <double> 0)


cdef inline void add_part(Rows *p, int64_t first, int64_t end, real kind) noexcept nogil:
    """Add to the rows from `first` to `end`."""
    cdef const real *g
    cdef real *out
    cdef real scale
    cdef npy_intp i, k
    cdef int64_t row
    for i in range(p.n):
        row = p.rows[i]
        if row < first or row >= end or row == p.skipped:
            continue
        g = <const real *> p.source + i * p.inner
        out = <real *> p.out + row * p.inner
        if p.counts == NULL:
            for k in range(p.inner):
                out[k] += g[k]
        else:
            scale = <real> (1 / <real> p.counts[row])
            for k in range(p.inner):
                out[k] += g[k] * scale


# consecutive bags of rows: bag b has rows[starts[b]:starts[b + 1]]

cdef void add_bags(const real *table, const int64_t *rows, const int64_t *starts, npy_intp bags, npy_intp inner,
                   const real *factors, bint mean, real *out) noexcept nogil:
    """out[b] = the sum of factors[i] * table[rows[i]] over the bag (factors NULL: 1), or the mean; 0 for an empty bag."""
    cdef Bags p = Bags(table, rows, starts, factors, NULL, out, bags, inner, mean)
    parallel_for(bags_f32 if real is float else bags_f64, &p, bags, weight_of_bag(&p))


cdef void find_largest(const real *table, const int64_t *rows, const int64_t *starts, npy_intp bags, npy_intp inner,
                       int64_t *numbers, real *out) noexcept nogil:
    """The maxima of bags and the numbers of their rows (the first of equal ones); 0 for an empty bag."""
    cdef Bags p = Bags(table, rows, starts, NULL, numbers, out, bags, inner, False)
    parallel_for(largest_f32 if real is float else largest_f64, &p, bags, weight_of_bag(&p))


cdef npy_intp weight_of_bag(Bags *p) noexcept nogil:
    return (p.starts[p.n] // max(p.n, 1) + 1) * p.inner + 1


cdef void bags_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    bags_part(<Bags *> data, first, end, <float> 0)


cdef void bags_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    bags_part(<Bags *> data, first, end, <double> 0)


cdef inline void bags_part(Bags *p, npy_intp first, npy_intp end, real kind) noexcept nogil:
    cdef const real *row
    cdef const real *factors = <const real *> p.factors
    cdef real *out
    cdef real factor
    cdef npy_intp b, i, k
    for b in range(first, end):
        out = <real *> p.out + b * p.inner
        for k in range(p.inner):
            out[k] = 0
        for i in range(p.starts[b], p.starts[b + 1]):
            row = <const real *> p.table + p.rows[i] * p.inner
            if factors == NULL:
                for k in range(p.inner):
                    out[k] += row[k]
            else:
                factor = factors[i]
                for k in range(p.inner):
                    out[k] += row[k] * factor
        if p.mean and p.starts[b + 1] - p.starts[b] > 1:
            factor = <real> (p.starts[b + 1] - p.starts[b])
            for k in range(p.inner):
                out[k] = out[k] / factor


cdef void largest_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    largest_part(<Bags *> data, first, end, <float> 0)


cdef void largest_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    largest_part(<Bags *> data, first, end, <double> 0)


cdef inline void largest_part(Bags *p, npy_intp first, npy_intp end, real kind) noexcept nogil:
    cdef const real *row
    cdef real *out
    cdef int64_t *numbers
    cdef npy_intp b, i, k
    for b in range(first, end):
        out = <real *> p.out + b * p.inner
        numbers = p.numbers + b * p.inner
        for k in range(p.inner):
            out[k] = 0
            numbers[k] = 0
        for i in range(p.starts[b], p.starts[b + 1]):
            row = <const real *> p.table + p.rows[i] * p.inner
            for k in range(p.inner):
                if i == p.starts[b] or row[k] > out[k]:
                    out[k] = row[k]
                    numbers[k] = p.rows[i]


cdef void add_from_bags(const real *g, const int64_t *rows, const int64_t *starts, npy_intp bags, npy_intp inner,
                        const real *factors, real *out, npy_intp height) noexcept nogil:
    """out[rows[i]] += factors[i] * g[b] for all rows of the bags."""
    cdef Bags p = Bags(g, rows, starts, factors, NULL, out, bags, inner, False)
    parallel_for(from_bags_f32 if real is float else from_bags_f64, &p, height,
                 starts[bags] * inner // max(height, 1) + 1, max(height // 4, 1))


cdef void add_to_largest(const real *g, int64_t *numbers, const int64_t *starts, npy_intp bags, npy_intp inner, real *out,
                         npy_intp height) noexcept nogil:
    """out[numbers[b, k], k] += g[b, k] for all nonempty bags."""
    cdef Bags p = Bags(g, NULL, starts, NULL, numbers, out, bags, inner, False)
    parallel_for(to_largest_f32 if real is float else to_largest_f64, &p, height, bags * inner // max(height, 1) + 1,
                 max(height // 4, 1))


cdef void from_bags_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    from_bags_part(<Bags *> data, first, end, <float> 0)


cdef void from_bags_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    from_bags_part(<Bags *> data, first, end, <double> 0)


cdef inline void from_bags_part(Bags *p, int64_t first, int64_t end, real kind) noexcept nogil:
    """Add to the rows from `first` to `end`."""
    cdef const real *g
    cdef const real *factors = <const real *> p.factors
    cdef real *out
    cdef npy_intp b, i, k
    for b in range(p.n):
        g = <const real *> p.table + b * p.inner
        for i in range(p.starts[b], p.starts[b + 1]):
            if p.rows[i] < first or p.rows[i] >= end:
                continue
            out = <real *> p.out + p.rows[i] * p.inner
            if factors == NULL:
                for k in range(p.inner):
                    out[k] += g[k]
            else:
                for k in range(p.inner):
                    out[k] += g[k] * factors[i]


cdef void to_largest_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    to_largest_part(<Bags *> data, first, end, <float> 0)


cdef void to_largest_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    to_largest_part(<Bags *> data, first, end, <double> 0)


cdef inline void to_largest_part(Bags *p, int64_t first, int64_t end, real kind) noexcept nogil:
    """Add to the rows from `first` to `end`."""
    cdef const real *g = <const real *> p.table
    cdef real *out = <real *> p.out
    cdef npy_intp b, k
    cdef int64_t row
    for b in range(p.n):
        if p.starts[b] == p.starts[b + 1]:
            continue
        for k in range(p.inner):
            row = p.numbers[b * p.inner + k]
            if first <= row < end:
                out[row * p.inner + k] += g[b * p.inner + k]
