"""Cumulative sums, products, extremes and logsumexp along one dimension, and their gradients.

Arrays are float32 or float64 (extremes: also int64), in C order. Sums and products accumulate in double.
"""

from libc.math cimport INFINITY, exp, log1p

from autograd_cy._core.arrays.buffers cimport is_flat, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, INT64, LONGDOUBLE, code_of
from autograd_cy._core.kernels.borrowed cimport run, spaced
from autograd_cy._core.kernels.reduction_loops cimport MULTIPLY, extended_extremes, extended_logcumsumexp, real
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    COLUMNS = 256

ctypedef fused number:
    long long
    float
    double

cdef struct Rows:                   # the runs of an array along one dimension: n elements, `inner` elements apart
    npy_intp outer
    npy_intp n
    npy_intp inner


cdef Rows rows_along(cnp.ndarray array, int dim):
    """The runs along a dimension. A 0-d array has one run of one element."""
    cdef Rows rows
    cdef int axis
    rows.outer = rows.n = rows.inner = 1
    for axis in range(cnp.PyArray_NDIM(array)):
        if axis < dim:
            rows.outer *= cnp.PyArray_DIM(array, axis)
        elif axis == dim:
            rows.n = cnp.PyArray_DIM(array, axis)
        else:
            rows.inner *= cnp.PyArray_DIM(array, axis)
    if cnp.PyArray_SIZE(array) == 0:
        rows.outer = 0              # an empty array may have 2**40 columns
    return rows


cdef inline npy_intp first_of(Rows *rows, npy_intp k) noexcept nogil:
    """The start of the k-th run, in elements."""
    return k // rows.inner * rows.n * rows.inner + k % rows.inner


# sums and products

cdef inline void sum_run(real[:] x) noexcept nogil:
    """Four at a time, so that the dependency chain has one addition per four elements."""
    cdef double total = 0, a, b, c, d
    cdef Py_ssize_t i = 0, n = x.shape[0]
    while i + 4 <= n:
        a = x[i]
        b = a + x[i + 1]
        c = x[i + 2]
        d = b + (c + x[i + 3])
        x[i] = <real> (total + a)
        x[i + 1] = <real> (total + b)
        x[i + 2] = <real> (total + (b + c))
        total += d
        x[i + 3] = <real> total
        i += 4
    while i < n:
        total += x[i]
        x[i] = <real> total
        i += 1


cdef inline void multiply_run(real[:] x) noexcept nogil:
    """One by one, since a partial product could overflow where the total doesn't."""
    cdef double total = 1
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        total *= x[i]
        x[i] = <real> total


cdef void accumulate_columns(real *data, npy_intp n, npy_intp stride, npy_intp width, bint multiplied) noexcept nogil:
    """Accumulate along a few columns with elements `stride` apart."""
    cdef double[COLUMNS] memory
    cdef double[::1] totals = run(<double *> memory, width)
    cdef real[::1] row
    cdef npy_intp i, j
    for j in range(width):
        totals[j] = multiplied
    for i in range(n):
        row = run(data + i * stride, width)
        if multiplied:
            for j in range(width):
                totals[j] = totals[j] * row[j]
                row[j] = <real> totals[j]
        else:
            for j in range(width):
                totals[j] = totals[j] + row[j]
                row[j] = <real> totals[j]


cdef void accumulate(real *data, Rows rows, bint multiplied, bint backwards) noexcept nogil:
    """In place, from the other end if `backwards`."""
    cdef npy_intp j, step = -rows.inner if backwards else rows.inner
    for _ in range(rows.outer):
        if backwards:
            data += (rows.n - 1) * rows.inner
        if rows.inner > 1:
            j = 0
            while j < rows.inner:
                accumulate_columns(data + j, rows.n, step, min(rows.inner - j, <npy_intp> COLUMNS), multiplied)
                j += COLUMNS
        elif multiplied:
            multiply_run(spaced(data, rows.n, step * sizeof(real)))
        else:
            sum_run(spaced(data, rows.n, step * sizeof(real)))
        data += rows.inner if backwards else rows.n * rows.inner


cdef cnp.ndarray accumulated(cnp.ndarray array, int dim, int how, bint backwards):
    """Overwrite the array with its cumulative sums or products (MULTIPLY), and return it."""
    cdef Rows rows = rows_along(array, dim)
    if code_of(array) == FLOAT32:
        accumulate(<float *> cnp.PyArray_DATA(array), rows, how == MULTIPLY, backwards)
    else:
        accumulate(<double *> cnp.PyArray_DATA(array), rows, how == MULTIPLY, backwards)
    return array


cdef inline void product_slopes(const real[:] x, const real[:] g, real[:] out) noexcept nogil:
    """The product before an element, times the sum over later gradients, each times the product in between.

    It divides by nothing, so zeros need no special case.
    """
    cdef double total = 1
    cdef Py_ssize_t i, n = x.shape[0]
    for i in range(n):
        out[i] = <real> total
        total *= x[i]
    total = 0
    for i in range(n - 1, -1, -1):
        total += g[i]
        out[i] = <real> (out[i] * total)
        total *= x[i]


cdef void product_rows(const real *x, const real *g, real *out, Rows rows) noexcept nogil:
    cdef npy_intp k, i, step = rows.inner * sizeof(real)
    for k in range(rows.outer * rows.inner):
        i = first_of(&rows, k)
        product_slopes(spaced(x + i, rows.n, step), spaced(g + i, rows.n, step), spaced(out + i, rows.n, step))


cdef cnp.ndarray product_gradient(cnp.ndarray x, cnp.ndarray g, int dim):
    """The gradient of the cumulative products of x; None unless x and g suit these loops (`are_alike`)."""
    cdef int dtype_code = code_of(x)
    cdef cnp.ndarray out
    if not are_alike(x, g):
        return None
    out = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    if dtype_code == FLOAT32:
        product_rows(<const float *> cnp.PyArray_DATA(x), <const float *> cnp.PyArray_DATA(g),
                     <float *> cnp.PyArray_DATA(out), rows_along(x, dim))
    else:
        product_rows(<const double *> cnp.PyArray_DATA(x), <const double *> cnp.PyArray_DATA(g),
                     <double *> cnp.PyArray_DATA(out), rows_along(x, dim))
    return out


cdef bint are_alike(cnp.ndarray x, cnp.ndarray g) except -1:
    """Whether both have the same supported type and shape, and are contiguous."""
    cdef int dtype_code = code_of(x)
    return (dtype_code in (FLOAT32, FLOAT64) and code_of(g) == dtype_code and is_flat(x) and is_flat(g)
            and cnp.PyArray_SAMESHAPE(x, g))


# extremes

cdef inline void extremes_of_run(const number[:] x, number[:] y, long long[:] places, bint largest) noexcept nogil:
    """The last of equal elements or nans wins. Most elements take one comparison."""
    cdef number best = x[0], value
    cdef long long place = 0
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        value = x[i]
        if not (value < best if largest else value > best):
            if best == best or value != value:
                best, place = value, i
        y[i], places[i] = best, place


cdef void extremes_of_rows(const number *x, number *y, long long *places, Rows rows, bint largest) noexcept nogil:
    cdef npy_intp k, i, step = rows.inner * sizeof(number)
    for k in range(rows.outer * rows.inner):
        i = first_of(&rows, k)
        extremes_of_run(spaced(x + i, rows.n, step), spaced(y + i, rows.n, step),
                        spaced(places + i, rows.n, rows.inner * sizeof(long long)), largest)


cdef tuple running_extremes(cnp.ndarray array, int dim, bint largest):
    """(values, indices) of the cumulative maxima or minima."""
    cdef int dtype_code = code_of(array)
    if dtype_code == LONGDOUBLE:
        return extended_extremes(array, dim, largest)
    cdef cnp.ndarray values = new_array(dtype_code, cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))
    cdef cnp.ndarray indices = new_array(INT64, cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))
    cdef long long *places = <long long *> cnp.PyArray_DATA(indices)
    cdef void *x = cnp.PyArray_DATA(array)
    cdef void *y = cnp.PyArray_DATA(values)
    cdef Rows rows = rows_along(array, dim)
    if dtype_code == INT64:
        extremes_of_rows(<const long long *> x, <long long *> y, places, rows, largest)
    elif dtype_code == FLOAT32:
        extremes_of_rows(<const float *> x, <float *> y, places, rows, largest)
    else:
        extremes_of_rows(<const double *> x, <double *> y, places, rows, largest)
    return values, indices


cdef inline void add_run(const real[:] g, const long long[:] places, real[:] out) noexcept nogil:
    """Places are nondecreasing, so elements with the same place are summed first."""
    cdef double total
    cdef long long place
    cdef Py_ssize_t i = 0, n = g.shape[0]
    for i in range(n):
        out[i] = 0
    i = 0
    while i < n:
        place, total = places[i], 0
        while i + 4 <= n and places[i + 3] == place:
            total += (g[i] + g[i + 1]) + (g[i + 2] + g[i + 3])
            i += 4
        while i < n and places[i] == place:
            total += g[i]
            i += 1
        if 0 <= place < n:                      # they may have been overwritten since
            out[place] += <real> total


cdef void add_rows(const real *g, const long long *places, real *out, Rows rows) noexcept nogil:
    cdef npy_intp k, i, step = rows.inner * sizeof(real)
    for k in range(rows.outer * rows.inner):
        i = first_of(&rows, k)
        add_run(spaced(g + i, rows.n, step), spaced(places + i, rows.n, rows.inner * sizeof(long long)),
                spaced(out + i, rows.n, step))


cdef cnp.ndarray sums_at(cnp.ndarray g, cnp.ndarray places, int dim):
    """An array of g's shape, with each element of g added at its place along a dimension; None as above."""
    cdef int dtype_code = code_of(g)
    cdef cnp.ndarray out
    if not are_alike(g, g) or not is_flat(places) or not cnp.PyArray_SAMESHAPE(g, places):
        return None
    out = new_array(dtype_code, cnp.PyArray_NDIM(g), cnp.PyArray_DIMS(g))
    cdef const long long *numbers = <const long long *> cnp.PyArray_DATA(places)
    if dtype_code == FLOAT32:
        add_rows(<const float *> cnp.PyArray_DATA(g), numbers, <float *> cnp.PyArray_DATA(out), rows_along(g, dim))
    else:
        add_rows(<const double *> cnp.PyArray_DATA(g), numbers, <double *> cnp.PyArray_DATA(out), rows_along(g, dim))
    return out


# logarithms of sums of exponentials

cdef inline void logsumexp_of_run(real[:] x) noexcept nogil:
    """In place. The largest element contributes 1 to the sum, and `rest` is the contribution of the others."""
    cdef double largest = -INFINITY, rest = 0, value
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        value = x[i]
        if value < largest:
            rest += exp(value - largest)
        elif value == largest:
            rest += 1
        elif value > largest:
            rest = (rest + 1) * exp(largest - value)
            largest = value
        else:
            largest = value + largest           # nan
        x[i] = <real> (largest + log1p(rest))


cdef inline void logsumexp_slopes(const real[:] x, const real[:] y, const real[:] g, real[:] out) noexcept nogil:
    """The sum of g * exp(x - y) over the results from each element on. These are nondecreasing, so no exp exceeds 1."""
    cdef double total = 0
    cdef Py_ssize_t i, n = x.shape[0]
    for i in range(n - 1, -1, -1):
        if i + 1 < n and y[i] != y[i + 1]:
            total *= exp(<double> y[i] - y[i + 1])
        total += g[i]
        out[i] = <real> (total if x[i] == y[i] else total * exp(<double> x[i] - y[i]))      # also for -inf


cdef void logsumexp_rows(real *x, Rows rows) noexcept nogil:
    cdef npy_intp k
    for k in range(rows.outer * rows.inner):
        logsumexp_of_run(spaced(x + first_of(&rows, k), rows.n, rows.inner * sizeof(real)))


cdef void logsumexp_slopes_of_rows(const real *x, const real *y, const real *g, real *out, Rows rows) noexcept nogil:
    cdef npy_intp k, i, step = rows.inner * sizeof(real)
    for k in range(rows.outer * rows.inner):
        i = first_of(&rows, k)
        logsumexp_slopes(spaced(x + i, rows.n, step), spaced(y + i, rows.n, step), spaced(g + i, rows.n, step),
                         spaced(out + i, rows.n, step))


cdef cnp.ndarray running_logsumexp(cnp.ndarray array, int dim):
    """Overwrite the array and return it; longdouble gives a new array."""
    if code_of(array) == LONGDOUBLE:
        return extended_logcumsumexp(array, dim)
    if code_of(array) == FLOAT32:
        logsumexp_rows(<float *> cnp.PyArray_DATA(array), rows_along(array, dim))
    else:
        logsumexp_rows(<double *> cnp.PyArray_DATA(array), rows_along(array, dim))
    return array


cdef cnp.ndarray logsumexp_gradient(cnp.ndarray x, cnp.ndarray y, cnp.ndarray g, int dim):
    """The gradient of x, given y = running_logsumexp(x); None as above."""
    cdef cnp.ndarray out
    if not are_alike(x, g) or not are_alike(x, y):
        return None
    out = new_array(code_of(x), cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
    cdef void *a = cnp.PyArray_DATA(x)
    cdef void *b = cnp.PyArray_DATA(y)
    cdef void *c = cnp.PyArray_DATA(g)
    if code_of(x) == FLOAT32:
        logsumexp_slopes_of_rows(<const float *> a, <const float *> b, <const float *> c,
                                 <float *> cnp.PyArray_DATA(out), rows_along(x, dim))
    else:
        logsumexp_slopes_of_rows(<const double *> a, <const double *> b, <const double *> c,
                                 <double *> cnp.PyArray_DATA(out), rows_along(x, dim))
    return out
