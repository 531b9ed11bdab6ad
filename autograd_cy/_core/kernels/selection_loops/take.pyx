"""Rows of an array: views, gather by number, and scatter by addition (knows no Tensor).

A row is the part of an array at one index along an axis: outer * inner elements of the array viewed as (outer, n, inner),
with the products of the sizes before and after the axis.
"""

from math import prod

import numpy as np

cimport cython
from libc.stdint cimport int64_t

from autograd_cy._core.arrays.buffers cimport cast, dense_copy, new_array, new_zeros, sizes_of, strided_view
from autograd_cy._core.arrays.dtypes cimport COMPLEX128, COMPLEX64, FLOAT32, FLOAT64, INT64, LONGDOUBLE, code_of, is_half
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "numpy/arrayobject.h":
    object PyArray_TakeFrom(cnp.ndarray, object, int, void *, int)

cdef enum:
    MAX_DIMS = 64

ctypedef fused Number:
    float
    double
    float complex
    double complex

ctypedef fused Real:
    float
    double


# views

cdef cnp.ndarray selected(cnp.ndarray array, int axis, Py_ssize_t i):
    """The view of row i, without the axis."""
    cdef npy_intp[MAX_DIMS] dims
    cdef npy_intp[MAX_DIMS] strides
    cdef int k, ndim = cnp.PyArray_NDIM(array) - 1
    for k in range(ndim):
        dims[k] = cnp.PyArray_DIM(array, k + (k >= axis))
        strides[k] = cnp.PyArray_STRIDE(array, k + (k >= axis))
    return strided_view(array, cnp.PyArray_BYTES(array) + i * cnp.PyArray_STRIDE(array, axis), ndim, dims, strides)


cdef cnp.ndarray sliced(cnp.ndarray array, int axis, Py_ssize_t start, Py_ssize_t length, Py_ssize_t step):
    """The view of the rows start, start + step, ..."""
    cdef npy_intp[MAX_DIMS] dims
    cdef npy_intp[MAX_DIMS] strides
    cdef int k, ndim = cnp.PyArray_NDIM(array)
    for k in range(ndim):
        dims[k] = cnp.PyArray_DIM(array, k)
        strides[k] = cnp.PyArray_STRIDE(array, k)
    cdef char *first = cnp.PyArray_BYTES(array)
    if length > 0:                      # without rows, the first one would lie outside
        first += start * strides[axis]
    if length < 2 and step > 1 << 31:   # the stride is unused, and could overflow
        step = 1
    dims[axis] = length
    strides[axis] *= step
    return strided_view(array, first, ndim, dims, strides)


cdef cnp.ndarray zeros(tuple sizes, int dtype_code):
    cdef npy_intp[MAX_DIMS] dims
    cdef int axis, ndim = len(sizes)
    for axis in range(ndim):
        dims[axis] = sizes[axis]
    return new_zeros(dtype_code, ndim, dims)


# rows by their numbers

cdef cnp.ndarray take_rows(cnp.ndarray array, int axis, cnp.ndarray rows):
    """A dense array of the rows, with the shape of `rows` in place of the axis. IndexError if out of bounds."""
    cdef cnp.ndarray columns
    if axis and axis == cnp.PyArray_NDIM(array) - 1 and cnp.PyArray_NDIM(rows) == 1 and cnp.PyArray_ISCARRAY_RO(array) \
            and cnp.PyArray_SIZE(array) and cnp.PyArray_SIZE(rows):
        columns = taken_columns(array, numbers_of(rows))
        if columns is not None:
            return columns
    if cnp.PyArray_IS_C_CONTIGUOUS(array):
        return <cnp.ndarray> PyArray_TakeFrom(array, rows, axis, NULL, cnp.NPY_RAISE)
    # `take` would make a dense copy of the whole array first
    return np.ascontiguousarray(array[(slice(None),) * axis + (rows,)])


cdef cnp.ndarray taken_columns(cnp.ndarray array, cnp.ndarray numbers):
    """Single elements of each row, for which NumPy makes a call each. None for other types, or an index out of bounds."""
    cdef npy_intp[MAX_DIMS] dims
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    cdef bint inside
    for axis in range(ndim):
        dims[axis] = cnp.PyArray_DIM(array, axis)
    dims[ndim - 1] = cnp.PyArray_SIZE(numbers)
    cdef cnp.ndarray out = new_array(code_of(array), ndim, dims)
    source, target = array.reshape(-1, cnp.PyArray_DIM(array, ndim - 1)), out.reshape(-1, cnp.PyArray_SIZE(numbers))
    if code_of(array) == FLOAT32:
        inside = take_columns[float](target, source, numbers)
    elif code_of(array) == FLOAT64:
        inside = take_columns[double](target, source, numbers)
    else:
        return None
    return out if inside else None


cdef bint take_columns(Real[:, ::1] out, const Real[:, ::1] source, const int64_t[::1] columns) noexcept nogil:
    cdef Py_ssize_t i, k
    if not none_outside(columns, source.shape[1]):
        return False
    for i in range(out.shape[0]):
        for k in range(columns.shape[0]):
            out[i, k] = source[i, columns[k]]
    return True


cdef cnp.ndarray add_rows(cnp.ndarray values, tuple sizes, Py_ssize_t outer, Py_ssize_t n, cnp.ndarray rows):
    """Zeros, viewed as (outer, n, inner), with `values` added to the rows in order: the transpose of take_rows.

    Negative rows count from the end. 16-bit types are summed in float32.
    """
    cdef int dtype_code = code_of(values)
    if is_half(dtype_code):
        return cast(add_rows(cast(values, FLOAT32), sizes, outer, n, rows), dtype_code)
    cdef cnp.ndarray total = zeros(sizes, dtype_code)
    if cnp.PyArray_SIZE(values) == 0:
        return total
    target = total.reshape(outer, n, -1)
    flat = flattened(numbers_of(rows))
    if cnp.PyArray_SIZE(values) != outer * len(flat) * target.shape[2]:
        raise RuntimeError(f"expected a gradient of {outer * len(flat) * target.shape[2]} elements for rows of an array of "
                           f"shape {list(sizes)}, got shape {list(np.shape(values))}")
    source = (values if cnp.PyArray_ISALIGNED(values) else dense_copy(values)).reshape(outer, len(flat), -1)
    if dtype_code not in (FLOAT32, FLOAT64, COMPLEX64, COMPLEX128):
        np.add.at(target, (slice(None), flat), source)
    elif not rows_added(dtype_code, target, flat, source):
        raise IndexError(f"an index was changed after its use: it is out of bounds for size {n}")
    return total


cdef bint rows_added(int dtype_code, object target, object rows, object source) except -1:
    """target[:, rows] += source, of floats or complex numbers; False if a row is out of bounds."""
    if dtype_code == FLOAT32:
        return add_along[float](target, rows, source)
    if dtype_code == FLOAT64:
        return add_along[double](target, rows, source)
    if dtype_code == COMPLEX64:
        return add_along[cython.floatcomplex](target, rows, source)
    return add_along[cython.doublecomplex](target, rows, source)


cdef bint add_along(
        Number[:, :, ::1] target, const int64_t[::1] rows, const Number[:, :, :] source) noexcept nogil:
    """target[:, rows] += source, including duplicates. Stop and return False at a row out of bounds."""
    cdef Py_ssize_t n = target.shape[1], inner = target.shape[2], o, i, k
    cdef int64_t row
    for o in range(target.shape[0]):
        for i in range(rows.shape[0]):
            row = rows[i]
            if row < 0:
                row += n
            if not 0 <= row < n:
                return False
            if inner == 1:
                target[o, row, 0] += source[o, i, 0]
            else:
                for k in range(inner):
                    target[o, row, k] += source[o, i, k]
    return True


cdef cnp.ndarray numbers_of(cnp.ndarray rows):
    """The rows as a dense array of int64."""
    if cnp.PyArray_TYPE(rows) == cnp.NPY_INT64 and cnp.PyArray_ISCARRAY_RO(rows):
        return rows
    return np.array(rows, np.int64, order="C")


# numbers into numbers

cdef cnp.ndarray combined(list rows, list sizes):
    """Indices of several axes as indices of the flattened axes.

    IndexError if one is out of bounds, or if the shapes don't broadcast.
    """
    cdef cnp.ndarray numbers, total
    if len(rows) == 1:
        return rows[0]
    for numbers in rows:
        if not cnp.PyArray_SAMESHAPE(numbers, <cnp.ndarray> rows[0]):
            rows = broadcast(rows)
            break
    numbers = <cnp.ndarray> rows[0]
    total = new_zeros(INT64, cnp.PyArray_NDIM(numbers), cnp.PyArray_DIMS(numbers))
    cdef int64_t[::1] flat = flattened(total)
    for numbers, size in zip(rows, sizes):
        if not multiply_out(flat, flattened(numbers_of(numbers)), size):
            raise IndexError(f"an index is out of bounds for size {size}")
    return total


cdef cnp.ndarray flattened(cnp.ndarray array):
    return array if cnp.PyArray_NDIM(array) == 1 else array.reshape(-1)


cdef list broadcast(list rows):
    try:
        return list(np.broadcast_arrays(*rows))
    except ValueError as error:
        raise IndexError(str(error)) from None


cdef bint multiply_out(int64_t[::1] total, const int64_t[::1] rows, Py_ssize_t size) noexcept nogil:
    """total = total * size + rows; negative rows count from the end. False at a row out of bounds."""
    cdef Py_ssize_t i
    cdef int64_t row
    for i in range(rows.shape[0]):
        row = rows[i]
        if row < 0:
            row += size
        if not 0 <= row < size:
            return False
        total[i] = total[i] * size + row
    return True


cdef cnp.ndarray positions(cnp.ndarray rows, int axis, Py_ssize_t size):
    """Flat positions of single elements in a dense array with `size` rows along the axis and otherwise the shape of `rows`.

    None if a row is below 0 or too large.
    """
    cdef tuple shape = sizes_of(rows)
    cdef cnp.ndarray numbers = numbers_of(rows), places
    if prod(shape[:axis]) == 1 and prod(shape[axis + 1:]) == 1:
        return numbers if all_inside(numbers, size) else None
    places = new_array(INT64, cnp.PyArray_NDIM(rows), cnp.PyArray_DIMS(rows))
    seen = (prod(shape[:axis]), shape[axis], prod(shape[axis + 1:]))
    return places if place_along(places.reshape(seen), numbers.reshape(seen), size) else None


cdef bint place_along(
        int64_t[:, :, ::1] places, const int64_t[:, :, ::1] rows, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t inner = rows.shape[2], o, i, k
    cdef int64_t row
    for o in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            for k in range(inner):
                row = rows[o, i, k]
                if not 0 <= row < size:
                    return False
                places[o, i, k] = (o * size + row) * inner + k
    return True


cdef bint all_inside(cnp.ndarray rows, Py_ssize_t size):
    """Whether all rows are in [0, size)."""
    return cnp.PyArray_SIZE(rows) == 0 or none_outside(flattened(numbers_of(rows)), size)


cdef bint none_outside(const int64_t[::1] rows, Py_ssize_t size) noexcept nogil:
    """Collects rows out of bounds in the sign bit, without branches, so that the loop is vectorized."""
    cdef int64_t signs = 0
    cdef Py_ssize_t i
    for i in range(rows.shape[0]):
        signs |= rows[i] | (size - 1 - rows[i])
    return signs >= 0


cdef int add_at(cnp.ndarray array, tuple places, object values) except -1:
    """array[places] += values, including duplicates; the array is dense.

    16-bit types are summed in float32. NumPy's ufunc.at() crashes with more than 32 dimensions, so these are flattened.
    """
    cdef int axis = len(places) - 1
    cdef cnp.ndarray wide
    if is_half(code_of(array)):
        wide = cast(array, FLOAT32)
        add_at(wide, places, np.asarray(values, np.float32))
        cnp.PyArray_CopyInto(array, cast(wide, code_of(array)))
        return 0
    if is_rows(array, axis, places, values):
        seen = (prod(np.shape(array)[:axis]), cnp.PyArray_DIM(array, axis), -1)
        rows = flattened(numbers_of(places[axis]))
        if rows_added(code_of(array), array.reshape(seen), rows, values.reshape(seen[0], len(rows), -1)):
            return 0
    cdef int ndim = cnp.PyArray_NDIM(array) + sum([np.ndim(place) for place in places if isinstance(place, np.ndarray)])
    if ndim > 32:
        numbers = np.arange(array.size).reshape(sizes_of(array))[places]
        values = np.broadcast_to(values, numbers.shape).reshape(-1)
        array, places = array.reshape(-1), (numbers.reshape(-1),)
    np.add.at(array, places, values)
    return 0


cdef bint is_rows(cnp.ndarray array, int axis, tuple places, object values) except -1:
    """Whether the places are rows along the axis, and the values floats or complex numbers that need no broadcast."""
    cdef int k
    if axis < 0 or not isinstance(places[axis], np.ndarray) or places[axis].dtype.kind not in "iu":
        return False
    for k in range(axis):
        if not isinstance(places[k], slice) or places[k] != slice(None):
            return False
    if (not cnp.PyArray_ISCARRAY(array) or not isinstance(values, np.ndarray)
            or code_of(<cnp.ndarray> values) != code_of(array)):
        return False
    wanted = np.shape(array)[:axis] + np.shape(places[axis]) + np.shape(array)[axis + 1:]
    if code_of(array) < FLOAT32 or code_of(array) == LONGDOUBLE:
        return False
    return np.shape(values) == wanted and np.size(values) > 0 and values.flags.aligned
