"""Rows of an array: views of some, taken by number, and added up where they were taken (knows no Tensor).

A row is what one number along an axis picks: of an array of shape (outer, n, inner), with the sizes before and after the
axis multiplied out, outer times inner elements.
"""

from math import prod

import numpy as np

cimport cython
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.buffers cimport dense_copy, new_zeros, strided_view
from autograd_cy._core.dtypes cimport COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, code_of

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    object PyArray_TakeFrom(cnp.ndarray, object, int, void *, int)

cdef enum:
    MAX_DIMS = 64

ctypedef fused Number:
    float
    double
    float complex
    double complex


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
    if length > 0:                      # of no rows the first may lie outside
        first += start * strides[axis]
    dims[axis] = length
    strides[axis] *= step
    return strided_view(array, first, ndim, dims, strides)


cdef cnp.ndarray zeros(tuple sizes, int code):
    cdef npy_intp[MAX_DIMS] dims
    cdef int axis, ndim = len(sizes)
    for axis in range(ndim):
        dims[axis] = sizes[axis]
    return new_zeros(code, ndim, dims)


cdef cnp.ndarray take_rows(cnp.ndarray array, int axis, cnp.ndarray rows):
    """A dense array of the rows, whose shape takes the axis's place. IndexError if there is no such row."""
    if cnp.PyArray_IS_C_CONTIGUOUS(array):
        return <cnp.ndarray> PyArray_TakeFrom(array, rows, axis, NULL, cnp.NPY_RAISE)
    # `take` would copy the whole array first
    return np.ascontiguousarray(array[(slice(None),) * axis + (rows,)])


cdef cnp.ndarray add_rows(cnp.ndarray values, tuple sizes, int axis, cnp.ndarray rows):
    """Zeros of those sizes, to whose rows `values` were added, one after the other: the transposed take_rows.

    A row below 0 counts from the end.
    """
    cdef int code = code_of(values)
    cdef cnp.ndarray total = zeros(sizes, code)
    cdef bint inside = True
    if cnp.PyArray_SIZE(values) == 0:
        return total
    target = total.reshape(prod(sizes[:axis]), sizes[axis], prod(sizes[axis + 1:]))
    flat = np.ascontiguousarray(rows, np.int64).reshape(-1)
    source = (values if cnp.PyArray_ISALIGNED(values) else dense_copy(values)).reshape(len(target), len(flat), -1)
    if code == FLOAT32:
        inside = add_along[float](target, flat, source)
    elif code == FLOAT64:
        inside = add_along[double](target, flat, source)
    elif code == COMPLEX64:
        inside = add_along[cython.floatcomplex](target, flat, source)
    elif code == COMPLEX128:
        inside = add_along[cython.doublecomplex](target, flat, source)
    else:
        np.add.at(target, (slice(None), flat), source)
    if not inside:
        raise IndexError(f"an index for dimension {axis} with size {sizes[axis]} is out of bounds: it was changed after use")
    return total


@cython.boundscheck(False)
cdef bint add_along(
        Number[:, :, ::1] target, const cnp.int64_t[::1] rows, const Number[:, :, :] source) noexcept nogil:
    """target[:, rows] += source with every duplicate counted; False, and no further, at a row that does not exist."""
    cdef Py_ssize_t outer = target.shape[0], n = target.shape[1], inner = target.shape[2], o, i, k
    cdef cnp.int64_t row
    for o in range(outer):
        for i in range(rows.shape[0]):
            row = rows[i]
            if row < 0:
                row += n
            if not 0 <= row < n:
                return False
            for k in range(inner):
                target[o, row, k] += source[o, i, k]
    return True
