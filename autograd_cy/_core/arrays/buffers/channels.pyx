"""Arrays (N, C, ...) with channels last in memory (knows no Tensor).

NOTE [Channels last]
  1. The strides of a tensor of four or five dimensions suggest a memory format: `channels_last` (`channels_last_3d`), or the
     contiguous one (`has_channels_last`). Functions of nn give their result, and the gradient of their input, the format
     that the input suggests.
  2. Strides of dimensions of size 1 count: (N, C, 1, 1) has channels last if its strides were made so. An array that fits
     both formats, such as (N, 1, 1, 1), counts as contiguous.
  3. A kernel that works in either order gets the view (N, ..., C) as a contiguous array (`channels_at_end`). Its result
     becomes (N, C, ...) without a copy (`channels_second`). The results of other kernels are copied (`in_format`).
  4. Interpolation, shuffles and constant padding give a gradient the format of the incoming gradient, as their nodes save
     no input. Bicubic interpolation, and nearest interpolation of volumes, give a contiguous one, and so do the functions
     that drop the format: average and adaptive pooling of volumes, unpooling of volumes, fractional pooling, circular
     padding, instance_norm(), local_response_norm().
  5. The result of cat() has channels last if all tensors have; stack() splits a dimension of a result of cat().
     `to(memory_format=)` returns the tensor itself if it suggests that format, contiguous() if it is dense in it.
"""

cimport cython

from autograd_cy._core.arrays.dtypes cimport FLOAT32, FLOAT64, INT64, code_of
from autograd_cy._core.parallel.threads cimport parallel_for
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "turns.h":
    bint has_large_turns() noexcept nogil
    void turn_16x16_f32(const float *x, npy_intp x_row, float *out, npy_intp row) noexcept nogil
    void turn_8x8_f64(const double *x, npy_intp x_row, double *out, npy_intp row) noexcept nogil
    void turn_4x4_f32(const char *x, npy_intp x_row, float *out, npy_intp row) noexcept nogil
    void turn_4x4_f64(const char *x, npy_intp x_row, double *out, npy_intp row) noexcept nogil
    void turn_few_f32(const float *x, npy_intp n, npy_intp count, float *out, npy_intp row, bint joined) noexcept nogil
    void turn_few_f64(const double *x, npy_intp n, npy_intp count, double *out, npy_intp row, bint joined) noexcept nogil

cdef enum:
    MOST = 5            # dimensions of an array that has a format
    TILE = 16           # rows and columns that are transposed at once
    LONG = 1024         # rows of few columns that are transposed at once

cdef bint TURNS_TILES = has_large_turns()

cdef struct Turned:     # matrices and their transposes
    const void *x
    void *y
    npy_intp rows, columns
    npy_intp height, blocks     # rows of a block, and blocks of a matrix


cdef bint has_channels_last(cnp.ndarray x) noexcept:
    """Whether the strides suggest channels_last or channels_last_3d: cases 1 and 2."""
    cdef int ndim = cnp.PyArray_NDIM(x), k, axis
    cdef npy_intp least = 0, stride, channel
    if ndim != 4 and ndim != 5:
        return False
    channel = cnp.PyArray_STRIDE(x, 1)
    if channel <= 0 or cnp.PyArray_STRIDE(x, ndim - 1) < channel:       # most are contiguous
        return False
    for k in range(ndim):
        axis = 1 if k == 0 else ndim - k if k < ndim - 1 else 0
        stride = cnp.PyArray_STRIDE(x, axis)
        if cnp.PyArray_DIM(x, axis) == 0 or stride < least or (axis == 0 and least == channel):
            return False
        least = stride * cnp.PyArray_DIM(x, axis)
    return True


def suggests_channels_last(cnp.ndarray array):
    """suggests_channels_last(array) -> bool: whether its strides suggest channels_last or channels_last_3d."""
    return has_channels_last(array)


cdef cnp.ndarray in_format(cnp.ndarray array, bint channels_last):
    """The dense array itself, or a copy with channels last."""
    cdef cnp.ndarray copy
    if not channels_last:
        return array
    copy = new_array(code_of(array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))
    show_channels_last(copy)
    if can_turn(array):
        turn(array, copy, cnp.PyArray_DIM(array, 1), rest_of(array))
    else:
        cnp.PyArray_CopyInto(copy, array)
    return copy


def with_channels_last(cnp.ndarray array):
    """with_channels_last(array) -> array: a copy with channels last."""
    return in_format(array, True)


cdef cnp.ndarray in_c_order(cnp.ndarray array, int dtype_code):
    """flat() of an array (N, C, ...) that may have channels last."""
    cdef cnp.ndarray copy
    if code_of(array) != dtype_code or is_flat(array) or not can_turn(channels_at_end(array)):
        return flat(array, dtype_code)
    copy = new_array(dtype_code, cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))
    turn(array, copy, rest_of(array), cnp.PyArray_DIM(array, 1))
    return copy


cdef cnp.ndarray new_in_format(int dtype_code, tuple sizes, bint channels_last):
    """A new array, not initialized."""
    cdef npy_intp[MAX_DIMS] dims
    cdef cnp.ndarray array
    for axis, size in enumerate(sizes):
        dims[axis] = size
    array = new_array(dtype_code, len(sizes), dims)
    if channels_last:
        show_channels_last(array)
    return array


cdef int show_channels_last(cnp.ndarray array) except -1:
    """Give a new array (N, C, ...) the strides of channels last."""
    cdef int[MOST] order
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    order[0], order[ndim - 1] = 0, 1
    for axis in range(2, ndim):
        order[axis - 1] = axis
    return lay_out(array, order)


cdef cnp.ndarray channels_at_end(cnp.ndarray array):
    """A view of an array (N, C, ...) as (N, ..., C)."""
    cdef npy_intp[MOST] dims
    cdef npy_intp[MOST] strides
    cdef int axis, place, ndim = cnp.PyArray_NDIM(array)
    for axis in range(ndim):
        place = 0 if axis == 0 else ndim - 1 if axis == 1 else axis - 1
        dims[place], strides[place] = cnp.PyArray_DIM(array, axis), cnp.PyArray_STRIDE(array, axis)
    return strided_view(array, cnp.PyArray_BYTES(array), ndim, dims, strides)


cdef cnp.ndarray channels_second(cnp.ndarray array):
    """A new array (N, ..., C) in C order, relabelled as (N, C, ...)."""
    cdef npy_intp *dims = cnp.PyArray_DIMS(array)
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    cdef npy_intp channels = dims[ndim - 1]
    for axis in range(ndim - 1, 1, -1):
        dims[axis] = dims[axis - 1]
    dims[1] = channels
    show_channels_last(array)
    return array


cdef cnp.ndarray in_type_and_order(cnp.ndarray array, int dtype_code):
    """The array, or a copy of that type with its dimensions in the same order."""
    return array if code_of(array) == dtype_code else copy_in_order(array, dtype_code)


# copies between the two formats

cdef inline bint can_turn(cnp.ndarray array) noexcept:
    """Whether turn() can copy the array: matrices in C order of a type that it has."""
    return is_flat(array) and code_of(array) in (FLOAT32, FLOAT64, INT64) and cnp.PyArray_SIZE(array) > 0


cdef inline npy_intp rest_of(cnp.ndarray array) noexcept:
    """The number of elements of a channel."""
    return cnp.PyArray_SIZE(array) // max(cnp.PyArray_DIM(array, 0) * cnp.PyArray_DIM(array, 1), 1)


cdef int turn(cnp.ndarray array, cnp.ndarray copy, npy_intp rows, npy_intp columns) except -1:
    """Copy the transpose of each sample's matrix."""
    cdef npy_intp height = TILE if columns > NARROW else LONG, blocks = (rows + height - 1) // height
    cdef npy_intp samples = cnp.PyArray_DIM(array, 0)
    cdef Turned turned = Turned(cnp.PyArray_DATA(array), cnp.PyArray_DATA(copy), rows, columns, height, blocks)
    parallel_for(turn_f32 if code_of(array) == FLOAT32 else turn_f64, &turned, samples * blocks, height * columns)
    return 0


cdef void turn_f32(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    turn_blocks(<Turned *> data, <const float *> (<Turned *> data).x, <float *> (<Turned *> data).y, first, end)


cdef void turn_f64(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    turn_blocks(<Turned *> data, <const double *> (<Turned *> data).x, <double *> (<Turned *> data).y, first, end)


cdef void turn_blocks(const Turned *p, const cython.floating *x, cython.floating *y, npy_intp block,
                      npy_intp end) noexcept nogil:
    """Transpose some blocks of rows, which are counted through all samples."""
    cdef npy_intp sample, i, j
    while block < end:
        sample, i, j = block // p.blocks * p.rows * p.columns, block % p.blocks * p.height, 0
        if p.height > TILE or p.rows <= NARROW:
            turn_few(p, x + sample + i * p.columns, y + sample + i, min(p.rows - i, p.height))
            j = p.columns
        while j < p.columns:
            turn_tile(p, x + sample + i * p.columns + j, y + sample + j * p.rows + i, min(p.rows - i, <npy_intp> TILE),
                      min(p.columns - j, <npy_intp> TILE))
            j += TILE
        block += 1


cdef inline void turn_few(const Turned *p, const cython.floating *x, cython.floating *y, npy_intp height) noexcept nogil:
    """Transpose all columns of a block of rows; either are few."""
    cdef bint joined = p.columns > NARROW
    cdef npy_intp n = height if joined else p.columns, count = p.columns if joined else height
    if cython.floating is float:
        turn_few_f32(x, n, count, y, p.columns if joined else p.rows, joined)
    else:
        turn_few_f64(x, n, count, y, p.columns if joined else p.rows, joined)


cdef inline void turn_tile(const Turned *p, const cython.floating *x, cython.floating *y, npy_intp height,
                           npy_intp width) noexcept nogil:
    """Transpose a tile along the longer side: cache lines that lie far apart evict each other."""
    cdef npy_intp whole = height // 4 * 4 if width >= 4 else 0, right = width // 4 * 4 if height >= 4 else 0, i, j
    if TURNS_TILES and height == TILE and width == TILE:
        if cython.floating is float:
            turn_16x16_f32(x, p.columns, y, p.rows)
        else:
            for i in range(0, TILE, 8):
                for j in range(0, TILE, 8):
                    turn_8x8_f64(x + i * p.columns + j, p.columns, y + j * p.rows + i, p.rows)
        return
    if p.columns > p.rows:
        for i in range(0, whole, 4):
            for j in range(0, right, 4):
                turn_4x4(p, x, y, i, j)
    else:
        for j in range(0, right, 4):
            for i in range(0, whole, 4):
                turn_4x4(p, x, y, i, j)
    for i in range(height):
        for j in range(right if i < whole else 0, width):
            y[j * p.rows + i] = x[i * p.columns + j]


cdef inline void turn_4x4(const Turned *p, const cython.floating *x, cython.floating *y, npy_intp i,
                          npy_intp j) noexcept nogil:
    if cython.floating is float:
        turn_4x4_f32(<const char *> (x + i * p.columns + j), p.columns * sizeof(float), y + j * p.rows + i, p.rows)
    else:
        turn_4x4_f64(<const char *> (x + i * p.columns + j), p.columns * sizeof(double), y + j * p.rows + i, p.rows)
