"""Padding of arrays with their own elements, by index maps of the last three dimensions (knows no Tensor).

The inside of the last dimension is one contiguous run, which is copied or added at once. Threads share planes; the transpose
adds only within a plane.
"""

from cython cimport floating
from libc.string cimport memcpy

from autograd_cy._core.arrays.buffers cimport flat, in_type, new_array, new_zeros
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of, kernel_code
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef struct Border:
    npy_intp planes
    npy_intp[3] inside          # the sizes without borders, and with them
    npy_intp[3] whole
    const npy_intp *maps[3]
    npy_intp start, run         # the contiguous run of the last dimension
    void *x
    void *y


cdef void spread(const Border *p, npy_intp plane, const floating *x, floating *y) noexcept nogil:
    cdef npy_intp i, j, k, end = p.start + p.run
    cdef const floating *row
    x += plane * p.inside[0] * p.inside[1] * p.inside[2]
    y += plane * p.whole[0] * p.whole[1] * p.whole[2]
    for i in range(p.whole[0]):
        for j in range(p.whole[1]):
            row = x + (p.maps[0][i] * p.inside[1] + p.maps[1][j]) * p.inside[2]
            for k in range(p.start):
                y[k] = row[p.maps[2][k]]
            if p.run:
                memcpy(y + p.start, row + p.maps[2][p.start], p.run * sizeof(floating))
            for k in range(end, p.whole[2]):
                y[k] = row[p.maps[2][k]]
            y += p.whole[2]


cdef void fold(const Border *p, npy_intp plane, floating *x, const floating *y) noexcept nogil:
    cdef npy_intp i, j, k, end = p.start + p.run
    cdef floating *row
    cdef floating *middle
    x += plane * p.inside[0] * p.inside[1] * p.inside[2]
    y += plane * p.whole[0] * p.whole[1] * p.whole[2]
    for i in range(p.whole[0]):
        for j in range(p.whole[1]):
            row = x + (p.maps[0][i] * p.inside[1] + p.maps[1][j]) * p.inside[2]
            for k in range(p.start):
                row[p.maps[2][k]] += y[k]
            if p.run:
                middle = row + p.maps[2][p.start] - p.start
                for k in range(p.start, end):
                    middle[k] += y[k]
            for k in range(end, p.whole[2]):
                row[p.maps[2][k]] += y[k]
            y += p.whole[2]


cdef void spread_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t plane
    for plane in range(first, end):
        spread(<Border *> data, plane, <const float *> (<Border *> data).x, <float *> (<Border *> data).y)


cdef void spread_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t plane
    for plane in range(first, end):
        spread(<Border *> data, plane, <const double *> (<Border *> data).x, <double *> (<Border *> data).y)


cdef void fold_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t plane
    for plane in range(first, end):
        fold(<Border *> data, plane, <float *> (<Border *> data).x, <const float *> (<Border *> data).y)


cdef void fold_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t plane
    for plane in range(first, end):
        fold(<Border *> data, plane, <double *> (<Border *> data).x, <const double *> (<Border *> data).y)


cdef Border border_of(tuple sizes, list maps):
    """From the sizes of all dimensions without borders, and the maps of the last three dimensions."""
    cdef Border p
    cdef int k, ndim = len(sizes)
    cdef cnp.ndarray indices
    cdef npy_intp n
    p.planes = 1
    for k in range(ndim - 3):
        p.planes *= <npy_intp> sizes[k]
    for k in range(3):
        indices = maps[k]
        p.inside[k] = sizes[ndim - 3 + k] if ndim - 3 + k >= 0 else 1
        p.whole[k], p.maps[k] = cnp.PyArray_SIZE(indices), <const npy_intp *> cnp.PyArray_DATA(indices)
    p.start, n = 0, p.whole[2]
    while p.start < n - 1 and p.maps[2][p.start + 1] != p.maps[2][p.start] + 1:
        p.start += 1
    p.run = 1 if n else 0
    while p.start + p.run < n and p.maps[2][p.start + p.run] == p.maps[2][p.start] + p.run:
        p.run += 1
    return p


cdef tuple sizes_with(tuple sizes, list maps):
    """The sizes with borders."""
    cdef int ndim = len(sizes), first = max(ndim - 3, 0)
    return sizes[:first] + tuple([cnp.PyArray_SIZE(<cnp.ndarray> indices) for indices in maps[3 - (ndim - first):]])


cdef cnp.ndarray spread_out(cnp.ndarray x, list maps):
    """A new array with borders, of a floating-point type. The caller has checked the maps, arrays of npy_intp."""
    cdef int own = code_of(x), dtype_code = kernel_code(x), k
    cdef cnp.ndarray dense = flat(x, dtype_code), y
    cdef tuple sizes = (<object> x).shape
    cdef Border p = border_of(sizes, maps)
    cdef npy_intp[64] dims
    for k, n in enumerate(sizes_with(sizes, maps)):
        dims[k] = n
    y = new_array(dtype_code, cnp.PyArray_NDIM(x), dims)
    p.x, p.y = cnp.PyArray_DATA(dense), cnp.PyArray_DATA(y)
    parallel_for(spread_f32 if dtype_code == FLOAT32 else spread_f64, &p, p.planes, p.whole[0] * p.whole[1] * p.whole[2])
    return in_type(y, own)


cdef cnp.ndarray folded_in(cnp.ndarray g, list maps, tuple sizes):
    """The transpose: an array of these sizes."""
    cdef int own = code_of(g), dtype_code = kernel_code(g), k
    cdef cnp.ndarray dense = flat(g, dtype_code), x
    cdef Border p = border_of(sizes, maps)
    cdef npy_intp[64] dims
    if (<object> g).shape != sizes_with(sizes, maps):
        raise RuntimeError(f"pad: expected a gradient of shape {sizes_with(sizes, maps)}, got {(<object> g).shape}")
    for k, n in enumerate(sizes):
        dims[k] = n
    x = new_zeros(dtype_code, len(sizes), dims)
    p.x, p.y = cnp.PyArray_DATA(x), cnp.PyArray_DATA(dense)
    parallel_for(fold_f32 if dtype_code == FLOAT32 else fold_f64, &p, p.planes, p.whole[0] * p.whole[1] * p.whole[2])
    return in_type(x, own)
