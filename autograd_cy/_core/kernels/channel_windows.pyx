"""Maxima of windows, and gather and scatter at their places, with channels last in memory (knows no Tensor).

Like window_loops, but for all channels of a pixel at once instead of plane by plane. Arrays are (N, ..., C) in C order, with
up to three dimensions between. A place is a pixel's number within its image. Threads share rows of windows, or channels.
"""

cimport cython
from libc.math cimport INFINITY

from autograd_cy._core.arrays.buffers cimport flat, in_type, new_array, new_zeros
from autograd_cy._core.arrays.channels cimport channels_at_end, channels_second
from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, INT64, code_of
from autograd_cy._core.kernels.window_loops cimport ADDED, TAKEN, Arrival
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.threads cimport parallel_for

cnp.import_array()

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
    #define DECLARE_CLONED(number, fuse) \\
        AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void fuse##autograd_cy_pixel_maxima( \\
            number const *, number *, long long *, void const *, npy_intp);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    DECLARE_CLONED(long long, __pyx_fuse_2)
    """

cdef enum:
    EXACT = 1 << 24         # pixels of an image that float32 can count
    PARTS = 4               # of the channels, at most
    LEAST = 16              # channels of a part, at least
    LANES = 64              # channels whose maxima stay in registers ...
    FEW_LANES = 16          # ... or so many

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
    npy_intp channels
    npy_intp parts          # of the channels
    Arrival arrival
    bint is_wrong           # a place is outside of its image


cdef bint counts_places(cnp.ndarray x) noexcept:
    """Whether places in an array (N, C, ...) can be counted in float32."""
    return cnp.PyArray_SIZE(x) < EXACT * max(cnp.PyArray_DIM(x, 0) * cnp.PyArray_DIM(x, 1), 1)


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
    cdef npy_intp rows = shape[0] * images.along[0].out * images.along[1].out
    if cnp.PyArray_SIZE(y):
        parallel_for(maxima_f32 if code_of(x) == FLOAT32 else maxima_f64 if code_of(x) == FLOAT64 else maxima_i64, &images,
                     rows, (cnp.PyArray_SIZE(x) + cnp.PyArray_SIZE(y)) // rows)
    return channels_second(y), channels_second(places)


cdef void maxima_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    maxima[float](<Images *> data, <const float *> (<Images *> data).x, <float *> (<Images *> data).y, first, end)


cdef void maxima_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    maxima[double](<Images *> data, <const double *> (<Images *> data).x, <double *> (<Images *> data).y, first, end)


cdef void maxima_i64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    maxima[cython.longlong](<Images *> data, <const long long *> (<Images *> data).x, <long long *> (<Images *> data).y, first,
                            end)


cdef void maxima(Images *p, const Number *x, Number *y, npy_intp row, npy_intp end) noexcept nogil:
    cdef npy_intp of_image = p.along[0].out * p.along[1].out, of_row = p.along[2].out * p.channels
    while row < end:
        pixel_maxima(x + row // of_image * p.size * p.channels, y + row * of_row, p.places + row * of_row, p, row % of_image)
        row += 1


cdef void pixel_maxima "autograd_cy_pixel_maxima"(
        const Number *x, Number *y, long long *places, const void *images, npy_intp row) noexcept nogil:
    """One row of windows. Takes pointers because it is compiled for each instruction set."""
    cdef const Images *p = <const Images *> images
    cdef const Along *w = &p.along[0]
    cdef npy_intp i = row // w[1].out, j = row % w[1].out, n = p.channels, k, channel, corner, lanes
    cdef npy_intp deep = w[0].counts[i], high = w[1].counts[j]
    for k in range(w[2].out):
        corner = (w[0].starts[i] * w[1].n + w[1].starts[j]) * w[2].n + w[2].starts[k]
        channel = 0
        while channel < n:
            lanes = LANES if channel + LANES <= n else FEW_LANES if channel + FEW_LANES <= n else n - channel
            if lanes == LANES:          # constants, so that the compiler keeps the loops in registers
                window_maxima(x + channel, y + channel, places + channel, w, n, corner, deep, high, w[2].counts[k], LANES)
            elif lanes == FEW_LANES:
                window_maxima(x + channel, y + channel, places + channel, w, n, corner, deep, high, w[2].counts[k], FEW_LANES)
            else:
                window_maxima(x + channel, y + channel, places + channel, w, n, corner, deep, high, w[2].counts[k], lanes)
            channel += lanes
        y += n
        places += n


cdef inline void window_maxima(const Number *x, Number *y, long long *places, const Along *w, npy_intp n, npy_intp corner,
                               npy_intp deep, npy_intp high, npy_intp wide, npy_intp lanes) noexcept nogil:
    """The maxima of some channels. Places are kept as Numbers, so that loops have elements of one width."""
    cdef Number[LANES] best, offsets
    cdef npy_intp a, b, c, k, offset
    cdef const Number *pixel = x + corner * n
    cdef bint is_empty = deep == 0 or high == 0 or wide == 0, is_larger
    for k in range(lanes):
        offsets[k] = 0
        if is_empty:
            best[k] = LLONG_MIN if Number is cython.longlong else <Number> -INFINITY
        else:
            best[k] = pixel[k]
    for a in range(deep):
        for b in range(high):
            for c in range(wide):
                offset = (a * w[0].dilation * w[1].n + b * w[1].dilation) * w[2].n + c * w[2].dilation
                pixel = x + (corner + offset) * n
                for k in range(lanes if offset else 0):
                    is_larger = (pixel[k] > best[k]) | (pixel[k] != pixel[k])
                    best[k] = pixel[k] if is_larger else best[k]
                    offsets[k] = <Number> offset if is_larger else offsets[k]
    for k in range(lanes):
        y[k], places[k] = best[k], corner + <int> offsets[k]        # below EXACT: 32-bit conversions are vectorized


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
    cdef cnp.ndarray y = (new_array if arrival == TAKEN else new_zeros)(dtype_code, ndim, shape)
    images.x, images.y, images.places = cnp.PyArray_DATA(x), cnp.PyArray_DATA(y), <long long *> cnp.PyArray_DATA(where)
    images.parts = min(max(images.channels // LEAST, 1), <npy_intp> PARTS)
    if cnp.PyArray_SIZE(where):
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
    cdef npy_intp n = p.channels, size = p.size, image, part, parts, first, last, pixel, k, place
    cdef Arrival arrival = p.arrival
    cdef npy_intp of_x = (p.size if p.arrival == TAKEN else p.out) * n, of_y = (p.out if p.arrival == TAKEN else p.size) * n
    cdef const cython.floating *source
    cdef cython.floating *target
    cdef const long long *places
    while number < end:
        image, part = number // p.parts, number % p.parts
        parts = p.parts if part == 0 and number + p.parts <= end else 1
        first, last = n * part // p.parts, n * (part + parts) // p.parts
        source, target, places = x + image * of_x, y + image * of_y, p.places + image * p.out * n
        for pixel in range(p.out):
            for k in range(first, last):
                place = places[k]
                if not 0 <= place < size:
                    p.is_wrong = True
                elif arrival == TAKEN:
                    target[pixel * n + k] = source[place * n + k]
                elif arrival == ADDED:
                    target[place * n + k] += source[pixel * n + k]
                else:
                    target[place * n + k] = source[pixel * n + k]
            places += n
        number += parts
