"""Maxima of windows in planes, and gather and scatter of elements at their places (knows no Tensor).

A plane has up to three dimensions. A window is a product of intervals, given by a table for each dimension: a row of starts
and a row of counts. So one loop serves pooling with strides and padding, adaptive and fractional pooling. A place is an
element's number within its plane. Threads share planes.
"""

cimport cython
from libc.math cimport INFINITY
from libc.stdlib cimport free, malloc

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, flat, in_type, new_array, new_zeros
from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, INT64, code_of
from autograd_cy._core.kernels.borrowed cimport run
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


ctypedef fused Number:
    float
    double
    cython.longlong

cdef extern from "limits.h":
    const long long LLONG_MIN

# Declares the versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    typedef struct {
        const long long *starts, *counts;
        npy_intp n, out, dilation, apart;
    } autograd_cy_windows;
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(number, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static int fuse##autograd_cy_plane_maxima( \\
            number const *, number *, long long *, autograd_cy_windows const *, number *);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    DECLARE_CLONED(long long, __pyx_fuse_2)
    """
    ctypedef struct Windows "autograd_cy_windows":      # along one dimension
        const long long *starts
        const long long *counts
        npy_intp n, out, dilation
        npy_intp apart          # the distance between the tables of two planes; 0: all planes share one

cdef enum:
    EXACT = 1 << 24         # elements of a plane that float32 can count
    SHORT = 16              # rows of fewer elements are not worth a pass over columns

# tables

cdef cnp.ndarray new_table(npy_intp count):
    cdef npy_intp[2] dims
    dims[0], dims[1] = 2, count
    return new_array(INT64, 2, dims)


cdef cnp.ndarray windows_of(npy_intp n, npy_intp count, npy_intp kernel, npy_intp stride, npy_intp padding, npy_intp dilation):
    """The table of `count` windows over n elements. Windows exclude the padding, so they may be empty."""
    cdef cnp.ndarray table = new_table(count)
    cdef long long[:, ::1] windows = table
    cdef npy_intp k, first, skipped
    for k in range(count):
        first = k * stride - padding
        skipped = (dilation - 1 - first) // dilation if first < 0 else 0
        first += skipped * dilation
        windows[0, k] = min(first, n - 1)
        windows[1, k] = max(min(kernel - skipped, (n - 1 - first) // dilation + 1), 0) if first < n else 0
    return table


cdef cnp.ndarray adaptive_windows(npy_intp n, npy_intp count):
    """The table of `count` windows that cover n elements as evenly as possible."""
    cdef cnp.ndarray table = new_table(count)
    cdef long long[:, ::1] windows = table
    cdef npy_intp k
    for k in range(count):
        windows[0, k] = k // count * n + k % count * n // count
        windows[1, k] = 1 + ((k + 1) * n - 1) // count - windows[0, k]
    return table


# the largest

cdef struct Planes:         # the arrays of a shared loop
    const void *x
    void *y
    long long *places
    Windows[3] along
    npy_intp size, out
    Arrival arrival
    bint is_wrong           # a place is outside of its plane


cdef tuple window_maxima(cnp.ndarray x, tuple sizes, tuple tables, tuple dilation):
    """(Maxima, their places) of an array of float32, float64 or int64, in arrays of `sizes`.

    A nan counts as largest. The first of equal elements wins, and the last nan. A table with different windows for each
    plane is (2, planes, windows).
    """
    cdef int ndim = cnp.PyArray_NDIM(x), dims = len(tables), k, axis
    cdef npy_intp[MAX_DIMS] shape
    for axis in range(ndim):
        shape[axis] = sizes[axis]
    cdef cnp.ndarray y = new_array(code_of(x), ndim, shape), places = new_array(INT64, ndim, shape), table
    cdef Planes planes
    planes.x, planes.y, planes.places = cnp.PyArray_DATA(x), cnp.PyArray_DATA(y), <long long *> cnp.PyArray_DATA(places)
    planes.size = planes.out = 1
    cdef npy_intp n
    cdef long long[3] whole
    whole[0], whole[1], whole[2] = 0, 1, 0
    for k in range(3):
        axis = ndim - 3 + k
        if k < 3 - dims:
            planes.along[k] = Windows(&whole[0], &whole[1], 1, 1, 1, 0)
            continue
        table = <cnp.ndarray> tables[k - 3 + dims]
        n = cnp.PyArray_DIM(table, cnp.PyArray_NDIM(table) - 1)
        planes.along[k] = Windows(
            <long long *> cnp.PyArray_DATA(table), <long long *> cnp.PyArray_DATA(table) + cnp.PyArray_SIZE(table) // 2,
            cnp.PyArray_DIM(x, axis), n, dilation[k - 3 + dims], n if cnp.PyArray_NDIM(table) == 3 else 0)
        planes.size *= cnp.PyArray_DIM(x, axis)
        planes.out *= n
    if cnp.PyArray_SIZE(y):
        parallel_for(maxima_f32 if code_of(x) == FLOAT32 else maxima_f64 if code_of(x) == FLOAT64 else maxima_i64, &planes,
                     cnp.PyArray_SIZE(y) // planes.out, planes.size + planes.out)
    return y, places


cdef void maxima_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    maxima[float](<Planes *> data, <const float *> (<Planes *> data).x, <float *> (<Planes *> data).y, first, end)


cdef void maxima_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    maxima[double](<Planes *> data, <const double *> (<Planes *> data).x, <double *> (<Planes *> data).y, first, end)


cdef void maxima_i64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    maxima[cython.longlong](<Planes *> data, <const long long *> (<Planes *> data).x, <long long *> (<Planes *> data).y, first,
                            end)


cdef void maxima(Planes *p, const Number *x, Number *y, npy_intp first, npy_intp end) noexcept nogil:
    cdef Windows[3] w = p.along
    cdef npy_intp plane, k
    cdef Number *room = <Number *> malloc((2 * w[2].n + 1) * sizeof(Number))
    cdef const Number *source
    for k in range(3):
        w[k].starts += first * w[k].apart
        w[k].counts += first * w[k].apart
    for plane in range(first, end):
        source = x + plane * p.size
        if room == NULL or plane_maxima(source, y + plane * p.out, p.places + plane * p.out, &w[0], room):
            careful_maxima(run(source, p.size), run(y + plane * p.out, p.out), run(p.places + plane * p.out, p.out), &w[0])
        for k in range(3):
            w[k].starts += w[k].apart
            w[k].counts += w[k].apart
    free(room)


cdef bint plane_maxima "autograd_cy_plane_maxima"(
        const Number *x, Number *y, long long *places, const Windows *w, Number *room) noexcept nogil:
    """The maxima of columns under a row of windows, then maxima along the row; True if another loop has to do it.

    This happens if a window has a nan or is empty, or if the plane is too large. Columns keep places as Numbers, so that
    elements have one width. The first of equal elements wins. Takes pointers because it is compiled for each instruction set.
    """
    cdef npy_intp i, j, n = w[2].n
    cdef bint is_odd = False
    if (w[0].n * w[1].n + 1) * n >= EXACT:
        return True
    for i in range(w[0].out):
        for j in range(w[1].out):
            if w[0].counts[i] == 0 or w[1].counts[j] == 0:
                return True
            if n < SHORT:
                is_odd |= maxima_of_few(x, y, places, w, i, j)
            else:
                column_maxima(x + (w[0].starts[i] * w[1].n + w[1].starts[j]) * n, room, room + n, w, i, j)
                is_odd |= maxima_along(room, room + n, y, places, &w[2], (w[0].starts[i] * w[1].n + w[1].starts[j]) * n)
            y += w[2].out
            places += w[2].out
    return is_odd


cdef inline bint maxima_of_few(const Number *x, Number *y, long long *places, const Windows *w, npy_intp i,
                               npy_intp j) noexcept nogil:
    """Maxima of a short row, window by window. It uses arithmetic, because unpredictable branches would dominate the cost."""
    cdef npy_intp a, b, k, _column, place, here, is_larger, deep = w[0].counts[i], high = w[1].counts[j], wide
    cdef npy_intp row = w[1].dilation * w[2].n, corner = (w[0].starts[i] * w[1].n + w[1].starts[j]) * w[2].n
    cdef Number best, value
    cdef bint is_odd = False
    for k in range(w[2].out):
        place = corner + w[2].starts[k]
        wide = w[2].counts[k]
        best = x[place]
        is_odd |= wide == 0
        for a in range(deep):
            for b in range(high):
                here = corner + w[2].starts[k] + a * w[0].dilation * w[1].n * w[2].n + b * row
                for _column in range(wide):
                    value = x[here]
                    is_larger = value > best
                    place += (here - place) & -is_larger
                    best = value if value > best else best
                    is_odd |= value != value
                    here += w[2].dilation
        y[k] = best
        places[k] = place
    return is_odd


cdef inline void column_maxima(const Number *x, Number *best, Number *offsets, const Windows *w, npy_intp i,
                               npy_intp j) noexcept nogil:
    cdef npy_intp a, b, k, offset, n = w[2].n
    cdef bint is_larger
    for k in range(n):
        best[k] = x[k]
        offsets[k] = 0
    for a in range(w[0].counts[i]):
        for b in range(w[1].counts[j]):
            offset = (a * w[0].dilation * w[1].n + b * w[1].dilation) * n
            if offset == 0:
                continue
            for k in range(n):
                is_larger = (x[offset + k] > best[k]) | (x[offset + k] != x[offset + k])
                best[k] = x[offset + k] if is_larger else best[k]
                offsets[k] = <Number> offset if is_larger else offsets[k]


cdef inline bint maxima_along(const Number *columns, const Number *offsets, Number *y, long long *places, const Windows *w,
                              npy_intp corner) noexcept nogil:
    cdef npy_intp k, c, place, here, is_larger
    cdef Number best, value
    cdef bint is_odd = False
    for k in range(w.out):
        place = w.starts[k]
        best = columns[place]
        is_odd |= (best != best) | (w.counts[k] == 0)
        for c in range(1, w.counts[k]):
            here = w.starts[k] + c * w.dilation
            value = columns[here]
            is_larger = (value > best) | ((value == best) & (offsets[here] < offsets[place]))
            place += (here - place) & -is_larger
            best = value if value > best else best
            is_odd |= value != value
        y[k] = best
        places[k] = corner + <npy_intp> offsets[place] + place
    return is_odd


cdef void careful_maxima(const Number[::1] x, Number[::1] y, long long[::1] places, const Windows *w) noexcept nogil:
    """The same, window by window."""
    cdef npy_intp i, j, out = 0
    for i in range(w[0].out):
        for j in range(w[1].out):
            row_maxima(x, y[out:out + w[2].out], places[out:out + w[2].out], w, i, j)
            out += w[2].out


cdef inline void row_maxima(const Number[::1] x, Number[::1] y, long long[::1] places, const Windows *w, npy_intp i,
                            npy_intp j) noexcept nogil:
    """A row of results, for the windows i and j along the outer dimensions."""
    cdef npy_intp corner = (w[0].starts[i] * w[1].n + w[1].starts[j]) * w[2].n, a, b, c, k, start
    cdef long long place
    cdef Number best, value
    for k in range(w[2].out):
        place = corner + w[2].starts[k]
        best = x[place]
        if w[0].counts[i] == 0 or w[1].counts[j] == 0 or w[2].counts[k] == 0:
            best = least[Number](best)
        for a in range(w[0].counts[i]):
            for b in range(w[1].counts[j]):
                start = corner + (a * w[0].dilation * w[1].n + b * w[1].dilation) * w[2].n + w[2].starts[k]
                for c in range(w[2].counts[k]):
                    value = x[start + c * w[2].dilation]
                    if value > best or value != value:
                        best = value
                        place = start + c * w[2].dilation
        y[k] = best
        places[k] = place


cdef inline Number least(Number like) noexcept nogil:
    """The maximum of no elements."""
    if Number is cython.longlong:
        return LLONG_MIN
    else:
        return <Number> -INFINITY


# elements at their places

cdef cnp.ndarray moved(cnp.ndarray source, cnp.ndarray places, tuple sizes, int dims, Arrival arrival):
    """An array of `sizes`. Planes are its last `dims` dimensions, or the source's if elements are TAKEN.

    For float16, float32 and float64. RuntimeError if a place is outside of its plane.
    """
    cdef int dtype_code = max(code_of(source), <int> FLOAT32), ndim = len(sizes), axis
    cdef npy_intp[MAX_DIMS] shape
    cdef Planes planes
    planes.size = planes.out = 1
    planes.arrival, planes.is_wrong = arrival, False
    for axis in range(ndim):
        shape[axis] = sizes[axis]
    cdef cnp.ndarray x = flat(source, dtype_code), where = flat(places, INT64)
    cdef cnp.ndarray y = (new_array if arrival == TAKEN else new_zeros)(dtype_code, ndim, shape)
    cdef cnp.ndarray whole = x if arrival == TAKEN else y
    for axis in range(1, dims + 1):
        planes.size *= cnp.PyArray_DIM(whole, cnp.PyArray_NDIM(whole) - axis)
        planes.out *= cnp.PyArray_DIM(where, cnp.PyArray_NDIM(where) - axis)
    planes.x, planes.y, planes.places = cnp.PyArray_DATA(x), cnp.PyArray_DATA(y), <long long *> cnp.PyArray_DATA(where)
    if cnp.PyArray_SIZE(where):
        parallel_for(moved_f32 if dtype_code == FLOAT32 else moved_f64, &planes, cnp.PyArray_SIZE(where) // planes.out,
                     planes.size + planes.out)
    if planes.is_wrong:
        raise RuntimeError("an index of a pooling operation is outside of its plane: it was changed after its use")
    return in_type(y, code_of(source))


cdef void moved_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    move[float](<Planes *> data, <const float *> (<Planes *> data).x, <float *> (<Planes *> data).y, first, end)


cdef void moved_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    move[double](<Planes *> data, <const double *> (<Planes *> data).x, <double *> (<Planes *> data).y, first, end)


cdef void move(Planes *p, const cython.floating *x, cython.floating *y, npy_intp first, npy_intp end) noexcept nogil:
    cdef npy_intp plane, size = p.size, out = p.out
    cdef bint inside = True
    for plane in range(first, end):
        if p.arrival == TAKEN:
            inside &= take(run(x + plane * size, size), run(p.places + plane * out, out), run(y + plane * out, out))
        else:
            inside &= place_all(run(x + plane * out, out), run(p.places + plane * out, out), run(y + plane * size, size),
                                p.arrival == ADDED)
    if not inside:
        p.is_wrong = True


cdef inline bint take(const cython.floating[::1] x, const long long[::1] places, cython.floating[::1] y) noexcept nogil:
    cdef npy_intp k
    for k in range(y.shape[0]):
        if not 0 <= places[k] < x.shape[0]:
            return False
        y[k] = x[places[k]]
    return True


cdef inline bint place_all(
        const cython.floating[::1] x, const long long[::1] places, cython.floating[::1] y, bint added) noexcept nogil:
    cdef npy_intp k
    for k in range(x.shape[0]):
        if not 0 <= places[k] < y.shape[0]:
            return False
        y[places[k]] = y[places[k]] + x[k] if added else x[k]
    return True
