"""Gather along one dimension, and scatter: elements are put, added or combined (knows no Tensor).

Arrays are viewed as (outer, n, inner): the products of the sizes before and after the dimension. All other sizes agree.
Elements that go to one place are combined in order.
"""

from math import prod

import numpy as np

cimport cython
from libc.stdint cimport int64_t, uint64_t

from autograd_cy._core.arrays.buffers cimport flat, new_array, sizes_of
from autograd_cy._core.arrays.dtypes cimport (
    COMPLEX128, COMPLEX64, FLOAT32, FLOAT64, INT32, INT64, ITEMSIZE, code_of)
from autograd_cy._core.kernels.loops cimport Word
from autograd_cy._core.runtime cimport numpy_api as cnp


ctypedef fused Element:
    int
    long long
    float
    double
    float complex
    double complex

WORDS = {1: np.dtype("i1"), 2: np.dtype("i2"), 4: np.dtype("i4"), 8: np.dtype("i8"), 16: np.dtype("c16")}


cdef tuple seen(cnp.ndarray array, int dim):
    """Its sizes as (outer, n, inner); a scalar counts as a vector of one element."""
    cdef tuple sizes = sizes_of(array) or (1,)
    return prod(sizes[:dim]), sizes[dim], prod(sizes[dim + 1:])


cdef bint fits(cnp.ndarray array, cnp.ndarray index, int dim) noexcept:
    """Whether the sizes agree apart from the dimension."""
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    if cnp.PyArray_NDIM(index) != ndim:
        return False
    for axis in range(ndim):
        if axis != dim and cnp.PyArray_DIM(array, axis) != cnp.PyArray_DIM(index, axis):
            return False
    return True


cdef object outside():
    return IndexError("an index is out of bounds: it was changed after its use")


# taking

cdef cnp.ndarray take_along(cnp.ndarray array, int dim, cnp.ndarray index):
    """y[o, i, k] = array[o, index[o, i, k], k]; None if these loops can't do it. IndexError if out of bounds."""
    cdef cnp.ndarray out
    cdef int size = ITEMSIZE[code_of(array)]
    if not fits(array, index, dim) or not cnp.PyArray_ISCARRAY_RO(array):
        return None
    out = new_array(code_of(array), cnp.PyArray_NDIM(index), cnp.PyArray_DIMS(index))
    if cnp.PyArray_SIZE(index) == 0:
        return out
    if cnp.PyArray_SIZE(array) == 0:
        raise outside()
    word, numbers = WORDS[size], numbers_of(index).reshape(seen(index, dim))
    source, target = array.view(word).reshape(seen(array, dim)), out.view(word).reshape(seen(index, dim))
    if size == 4:
        inside = take[int](target, source, numbers)
    elif size == 8:
        inside = take[cython.longlong](target, source, numbers)
    elif size == 16:
        inside = take[cython.doublecomplex](target, source, numbers)
    elif size == 2:
        inside = take[short](target, source, numbers)
    else:
        inside = take[cython.schar](target, source, numbers)
    if not inside:
        raise outside()
    return out


cdef bint take(Word[:, :, ::1] out, const Word[:, :, ::1] source, const int64_t[:, :, ::1] index) noexcept nogil:
    """Stop and return False at an index out of bounds."""
    cdef Py_ssize_t n = source.shape[1], inner = index.shape[2], o, i, k
    cdef Word *y
    cdef const Word *x
    cdef const int64_t *rows
    for o in range(index.shape[0]):
        x = &source[o, 0, 0]
        for i in range(index.shape[1] if inner > 1 else 1):
            y, rows = &out[o, i, 0], &index[o, i, 0]
            if inner > 1:
                for k in range(inner):
                    if <uint64_t> rows[k] >= <uint64_t> n:
                        return False
                    y[k] = x[rows[k] * inner + k]
            else:
                for k in range(index.shape[1]):
                    if <uint64_t> rows[k] >= <uint64_t> n:
                        return False
                    y[k] = x[rows[k]]
    return True


# putting

cdef bint put_along(cnp.ndarray target, int dim, cnp.ndarray index, object source, How how) except -1:
    """Combine target[o, index[o, i, k], k] with source[o, i, k] in place; False if these loops can't do it.

    The source is broadcast to the index. IndexError if out of bounds.
    """
    cdef int dtype_code = code_of(target)
    cdef bint inside
    if not fits(target, index, dim) or not cnp.PyArray_ISCARRAY(target):
        return False
    if how >= LARGER and dtype_code >= COMPLEX64:
        return False
    if cnp.PyArray_SIZE(index) == 0:
        return True
    if cnp.PyArray_SIZE(target) == 0:
        raise outside()
    numbers, place = numbers_of(index).reshape(seen(index, dim)), target.reshape(seen(target, dim))
    if np.shape(source) != sizes_of(index):
        source = np.broadcast_to(source, sizes_of(index))
    values = flat(source, dtype_code).reshape(seen(index, dim))
    if dtype_code == FLOAT32:
        inside = put[float](place, numbers, values, how)
    elif dtype_code == FLOAT64:
        inside = put[double](place, numbers, values, how)
    elif dtype_code == INT64:
        inside = put[cython.longlong](place, numbers, values, how)
    elif dtype_code == INT32:
        inside = put[int](place, numbers, values, how)
    elif dtype_code == COMPLEX64:
        inside = put[cython.floatcomplex](place, numbers, values, how)
    elif dtype_code == COMPLEX128:
        inside = put[cython.doublecomplex](place, numbers, values, how)
    else:
        return False
    if not inside:
        raise outside()
    return True


cdef inline Element together(Element x, Element value, How how) noexcept nogil:
    """Maxima and minima propagate NaN."""
    if how == ADD:
        return x + value
    if how == MULTIPLY:
        return x * value
    if Element is not cython.floatcomplex and Element is not cython.doublecomplex:
        if how == LARGER:
            return value if value > x or value != value else x
        if how == SMALLER:
            return value if value < x or value != value else x
    return value


cdef bint put(Element[:, :, ::1] target, const int64_t[:, :, ::1] index, const Element[:, :, ::1] source,
              How how) noexcept nogil:
    if how == ADD:
        return put_each(target, index, source, ADD)
    if how == PUT:
        return put_each(target, index, source, PUT)
    return put_each(target, index, source, how)


cdef inline bint put_each(Element[:, :, ::1] target, const int64_t[:, :, ::1] index, const Element[:, :, ::1] source,
                          How how) noexcept nogil:
    """Stop and return False at an index out of bounds."""
    cdef Py_ssize_t n = target.shape[1], inner = index.shape[2], o, i, k
    cdef Element *y
    cdef const Element *x
    cdef const int64_t *rows
    for o in range(index.shape[0]):
        y = &target[o, 0, 0]
        for i in range(index.shape[1] if inner > 1 else 1):
            x, rows = &source[o, i, 0], &index[o, i, 0]
            if inner > 1:
                for k in range(inner):
                    if <uint64_t> rows[k] >= <uint64_t> n:
                        return False
                    y[rows[k] * inner + k] = together(y[rows[k] * inner + k], x[k], how)
            else:
                for k in range(index.shape[1]):
                    if <uint64_t> rows[k] >= <uint64_t> n:
                        return False
                    y[rows[k]] = together(y[rows[k]], x[k], how)
    return True
