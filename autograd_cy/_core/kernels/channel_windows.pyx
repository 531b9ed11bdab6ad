"""Maxima of windows, and gather and scatter at their places, with channels last in memory (knows no Tensor).

Like window_loops, but for all channels of a pixel at once instead of plane by plane. Arrays are (N, ..., C) in C order, with
up to three dimensions between. A place is a pixel's number within its image. Threads share rows of windows, or channels.
"""

cimport cython
from libc.limits cimport INT_MAX
from libc.string cimport memset

from autograd_cy._core.arrays.buffers cimport channels_at_end, channels_second, flat, in_type, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, INT64, code_of
from autograd_cy._core.kernels.gemm cimport vectors
from autograd_cy._core.kernels.window_loops cimport ADDED, PUT, TAKEN, Arrival
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cnp.import_array()

cdef extern from "channel_maxima.h":
    ctypedef struct Row "autograd_cy_row":
        const long long *starts
        const long long *counts
        npy_intp out, first, deep, high, depth, line, column, channels, end
    ctypedef void RowOfMaxima(const void *image, void *y, long long *places, const Row *row) noexcept nogil
    RowOfMaxima *rows_of_maxima[3][3]

cdef enum:
    UNROLLED = 4            # elements whose loop has no branches but for checks
    PARTS = 4               # of the channels, at most
    LEAST = 16              # channels of a part, at least

cdef struct Along:          # the windows along one dimension
    const long long *starts
    const long long *counts
    npy_intp n, out, dilation

cdef struct Images:         # the arrays of a shared loop
    const void *x
    void *y
    long long *places
    Along[3] along
    npy_intp size, out      # pixels of an image
    npy_intp channels       # of a pixel
    npy_intp item           # bytes of an element
    npy_intp end            # elements of all images
    RowOfMaxima *row
    npy_intp parts          # of the channels
    Arrival arrival
    bint is_wrong           # a place is outside of its image


cdef bint counts_places(cnp.ndarray x) noexcept:
    """Whether places in an array (N, C, ...) can be counted in 32 bits."""
    return cnp.PyArray_SIZE(x) // max(cnp.PyArray_DIM(x, 0) * cnp.PyArray_DIM(x, 1), 1) <= INT_MAX


# the largest

cdef tuple channel_maxima(cnp.ndarray x, tuple tables, tuple dilation):
    """(Maxima, their places) of an array (N, ..., C) of float32, float64 or int64, as arrays (N, C, ...).

    A nan counts as largest. The first of equal elements wins, and the last nan.
    """
    cdef int ndim = cnp.PyArray_NDIM(x), dims = len(tables), k
    cdef npy_intp[5] shape
    cdef long long[2] whole
    cdef Images images
    cdef cnp.ndarray y, places, table
    whole[0], whole[1] = 0, 1
    images.size, images.channels = 1, cnp.PyArray_DIM(x, ndim - 1)
    shape[0], shape[ndim - 1] = cnp.PyArray_DIM(x, 0), images.channels
    for k in range(3):
        if k < 3 - dims:
            images.along[k] = Along(&whole[0], &whole[1], 1, 1, 1)
            continue
        table = <cnp.ndarray> tables[k - 3 + dims]
        shape[k - 2 + dims] = cnp.PyArray_DIM(table, 1)
        images.along[k] = Along(
            <long long *> cnp.PyArray_DATA(table), <long long *> cnp.PyArray_DATA(table) + cnp.PyArray_DIM(table, 1),
            cnp.PyArray_DIM(x, k - 2 + dims), cnp.PyArray_DIM(table, 1), dilation[k - 3 + dims])
        images.size *= images.along[k].n
    y, places = new_array(code_of(x), ndim, shape), new_array(INT64, ndim, shape)
    images.x, images.y, images.places = cnp.PyArray_DATA(x), cnp.PyArray_DATA(y), <long long *> cnp.PyArray_DATA(places)
    images.item, images.end = cnp.PyArray_ITEMSIZE(x), cnp.PyArray_SIZE(x)
    images.row = rows_of_maxima[vectors()][0 if code_of(x) == FLOAT32 else 1 if code_of(x) == FLOAT64 else 2]
    cdef npy_intp rows = shape[0] * images.along[0].out * images.along[1].out
    if cnp.PyArray_SIZE(y):
        parallel_for(maxima, &images, rows, (cnp.PyArray_SIZE(x) + cnp.PyArray_SIZE(y)) // rows)
    return channels_second(y), channels_second(places)


cdef void maxima(void *data, Py_ssize_t row, Py_ssize_t end) noexcept nogil:
    """Some rows of windows."""
    cdef const Images *p = <const Images *> data
    cdef const Along *w = &p.along[0]
    cdef npy_intp of_image = w[0].out * w[1].out, of_row = w[2].out * p.channels, i, j, image
    cdef Row of = Row(w[2].starts, w[2].counts, w[2].out, 0, 0, 0, w[0].dilation * w[1].n * w[2].n, w[1].dilation * w[2].n,
                      w[2].dilation, p.channels, 0)
    while row < end:
        i, j = row % of_image // w[1].out, row % of_image % w[1].out
        image = row // of_image * p.size * p.channels
        of.first, of.end = (w[0].starts[i] * w[1].n + w[1].starts[j]) * w[2].n, p.end - image
        of.deep, of.high = w[0].counts[i], w[1].counts[j]
        p.row(<const char *> p.x + image * p.item, <char *> p.y + row * of_row * p.item, p.places + row * of_row, &of)
        row += 1


# elements at their places

cdef cnp.ndarray moved_by_channels(cnp.ndarray source, cnp.ndarray places, tuple sizes, Arrival arrival):
    """moved() of arrays (N, C, ...) with channels last in the result; see window_loops."""
    cdef int dtype_code = max(code_of(source), <int> FLOAT32), ndim = len(sizes), axis
    cdef npy_intp[5] shape
    cdef Images images
    cdef cnp.ndarray x = flat(channels_at_end(source), dtype_code), where = flat(channels_at_end(places), INT64)
    images.size = images.out = 1
    images.channels, images.arrival, images.is_wrong = cnp.PyArray_DIM(source, 1), arrival, False
    shape[0], shape[ndim - 1] = sizes[0], sizes[1]
    for axis in range(1, ndim - 1):
        shape[axis] = sizes[axis + 1]
        images.size *= cnp.PyArray_DIM(x, axis) if arrival == TAKEN else shape[axis]
        images.out *= cnp.PyArray_DIM(where, axis)
    cdef cnp.ndarray y = new_array(dtype_code, ndim, shape)
    images.x, images.y, images.places = cnp.PyArray_DATA(x), cnp.PyArray_DATA(y), <long long *> cnp.PyArray_DATA(where)
    images.parts = min(max(images.channels // LEAST, 1), <npy_intp> PARTS)
    if cnp.PyArray_SIZE(where) or cnp.PyArray_SIZE(y):
        parallel_for(moved_f32 if dtype_code == FLOAT32 else moved_f64, &images, shape[0] * images.parts,
                     (images.size + images.out) * images.channels // images.parts)
    if images.is_wrong:
        raise RuntimeError("an index of a pooling operation is outside of its plane: it was changed after its use")
    return channels_second(in_type(y, code_of(source)))


cdef void moved_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    move[float](<Images *> data, <const float *> (<Images *> data).x, <float *> (<Images *> data).y, first, end)


cdef void moved_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    move[double](<Images *> data, <const double *> (<Images *> data).x, <double *> (<Images *> data).y, first, end)


cdef void move(Images *p, const cython.floating *x, cython.floating *y, npy_intp number, npy_intp end) noexcept nogil:
    """Some parts of the channels of some images; if all parts of an image are among them, they are processed at once."""
    cdef npy_intp n = p.channels, image, part, parts, first, last
    cdef npy_intp of_x = (p.size if p.arrival == TAKEN else p.out) * n, of_y = (p.out if p.arrival == TAKEN else p.size) * n
    cdef bint inside = True
    cdef const long long *places
    while number < end:
        image, part = number // p.parts, number % p.parts
        parts = p.parts if part == 0 and number + p.parts <= end else 1
        first, last = n * part // p.parts, n * (part + parts) // p.parts
        places = p.places + image * p.out * n
        if p.arrival != TAKEN:
            clear(y + image * of_y, p.size, n, first, last)
        if p.arrival == TAKEN:              # constants: the compiler makes a loop for each
            inside &= move_pixels(p, TAKEN, x + image * of_x, y + image * of_y, places, first, last)
        elif p.arrival == ADDED:
            inside &= move_pixels(p, ADDED, x + image * of_x, y + image * of_y, places, first, last)
        else:
            inside &= move_pixels(p, PUT, x + image * of_x, y + image * of_y, places, first, last)
        number += parts
    if not inside:
        p.is_wrong = True


cdef inline void clear(cython.floating *y, npy_intp size, npy_intp n, npy_intp first, npy_intp end) noexcept nogil:
    """Write zeros to some channels of an image, just before it is in use: so it is in the cache."""
    cdef npy_intp pixel
    if end - first == n:
        memset(y, 0, size * n * sizeof(y[0]))
        return
    for pixel in range(size):
        memset(y + pixel * n + first, 0, (end - first) * sizeof(y[0]))


cdef inline bint move_pixels(const Images *p, Arrival arrival, const cython.floating *x, cython.floating *y,
                             const long long *places, npy_intp first, npy_intp end) noexcept nogil:
    """Some channels of an image; False if a place is outside of it."""
    if p.channels == 1:                 # constants: the compiler makes a loop for each
        return move_few(p, arrival, x, y, places, 1)
    if p.channels == 2:
        return move_few(p, arrival, x, y, places, 2)
    if p.channels == 3:
        return move_few(p, arrival, x, y, places, 3)
    return move_many(p, arrival, x, y, places, first, end)


cdef inline bint move_few(const Images *p, Arrival arrival, const cython.floating *x, cython.floating *y,
                          const long long *places, npy_intp n) noexcept nogil:
    cdef npy_intp pixel, j, size = p.size, out = p.out
    for pixel in range(out):
        for j in range(n):
            if not move_element(arrival, x + j, y + j, places[pixel * n + j], n, size):
                return False
        if arrival == TAKEN:
            y += n
        else:
            x += n
    return True


cdef inline bint move_many(const Images *p, Arrival arrival, const cython.floating *x, cython.floating *y,
                           const long long *places, npy_intp first, npy_intp end) noexcept nogil:
    cdef npy_intp n = p.channels, size = p.size, _pixel, k, j
    for _pixel in range(p.out):
        k = first
        while k + UNROLLED <= end:
            for j in range(UNROLLED):
                if not move_element(arrival, x + k + j, y + k + j, places[k + j], n, size):
                    return False
            k += UNROLLED
        while k < end:
            if not move_element(arrival, x + k, y + k, places[k], n, size):
                return False
            k += 1
        places += n
        if arrival == TAKEN:
            y += n
        else:
            x += n
    return True


cdef inline bint move_element(Arrival arrival, const cython.floating *x, cython.floating *y, long long place, npy_intp n,
                              npy_intp size) noexcept nogil:
    """An element of a channel; False if its place is outside of the image."""
    if <size_t> place >= <size_t> size:
        return False
    if arrival == TAKEN:
        y[0] = x[place * n]
    elif arrival == ADDED:
        y[place * n] += x[0]
    else:
        y[place * n] = x[0]
    return True
