"""Copies by several threads (knows no Tensor)."""

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from autograd_cy._core.arrays.buffers cimport dense_copy, is_large, new_array
from autograd_cy._core.arrays.dtypes cimport ITEMSIZE, NCODES, code_of
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef Kernel[NCODES] COPYING


cdef void copy_run(char **args, const npy_intp *dims, const npy_intp *strides, void *itemsize) noexcept nogil:
    cdef npy_intp size = <npy_intp> itemsize
    if strides[0] == size and strides[1] == size:
        memcpy(args[1], args[0], dims[0] * size)
    else:
        copy_strided(args[1], strides[1], args[0], strides[0], dims[0], size)


for _code in range(NCODES):
    COPYING[_code] = Kernel(copy_run, <void *> <npy_intp> ITEMSIZE[_code])


cdef npy_intp run_of(cnp.ndarray array) noexcept:
    """How many elements at the end of the array are equally spaced."""
    cdef npy_intp size = 1, step = 0
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(array) - 1, -1, -1):
        if cnp.PyArray_DIM(array, axis) == 1:
            continue
        if size > 1 and cnp.PyArray_STRIDE(array, axis) != step * size:
            break
        if size == 1:
            step = cnp.PyArray_STRIDE(array, axis)
        size *= cnp.PyArray_DIM(array, axis)
    return size


cdef cnp.ndarray copied(cnp.ndarray array):
    """A C-contiguous copy of an array that the caller holds."""
    cdef PyObject *operands[1]
    cdef int dtype_code = code_of(array)
    if not is_large(array) or not cnp.PyArray_ISALIGNED(array) or run_of(array) < thresholds.copied_run:
        return dense_copy(array)
    operands[0] = <PyObject *> array
    return evaluate(&COPYING[dtype_code], operands, 1, dtype_code,
                    new_array(dtype_code, cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array)))


ctypedef fused Element:
    uint32_t
    uint64_t


cdef cnp.ndarray reversed_rows(cnp.ndarray array):
    """A copy of a C-contiguous array with its last dimension reversed; None unless elements have 4 or 8 bytes.

    NumPy takes three times as long.
    """
    cdef cnp.npy_intp itemsize = cnp.PyArray_ITEMSIZE(array), n = cnp.PyArray_DIM(array, cnp.PyArray_NDIM(array) - 1)
    cdef cnp.ndarray result
    if itemsize not in (4, 8) or not cnp.PyArray_ISALIGNED(array):
        return None
    result = new_array(code_of(array), cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))
    if cnp.PyArray_SIZE(array) == 0:
        return result
    word = f"uint{8 * itemsize}"
    source, target = array.view(word).reshape(-1, n), result.view(word).reshape(-1, n)
    if itemsize == 4:
        reverse[uint32_t](target, source)
    else:
        reverse[uint64_t](target, source)
    return result


cdef int reverse(Element[:, ::1] result, const Element[:, ::1] array) noexcept nogil:
    cdef Py_ssize_t i, k, n = array.shape[1]
    for i in range(array.shape[0]):
        for k in range(n):
            result[i, k] = array[i, n - 1 - k]
    return 0


cdef int copy_triangles(unsigned char[:, ::1] result, const unsigned char[:, ::1] array, Py_ssize_t rows, Py_ssize_t diagonal,
                        Py_ssize_t itemsize, bint lower) noexcept nogil:
    """Copy the rows of matrices up to the diagonal (`lower`) or from it on, and fill the rest with zeros."""
    cdef Py_ssize_t k, split, n = array.shape[1], columns = n // itemsize
    diagonal = min(max(diagonal, -rows - 1), columns)       # a diagonal further out changes nothing
    for k in range(array.shape[0]):
        split = min(max(k % rows + diagonal + (1 if lower else 0), 0), columns) * itemsize
        if lower:
            memcpy(&result[k, 0], &array[k, 0], split)
            memset(&result[k, 0] + split, 0, n - split)
        else:
            memset(&result[k, 0], 0, split)
            memcpy(&result[k, 0] + split, &array[k, 0] + split, n - split)
    return 0
