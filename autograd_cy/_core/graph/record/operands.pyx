"""Operands of elementwise operations: numbers as arrays, and NumPy objects as Tensors."""

import numpy as np

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF

from autograd_cy._core.arrays.buffers cimport converted
from autograd_cy._core.arrays.dtypes cimport promote, result_code
from autograd_cy._core.graph.tensor cimport Tensor, from_array, new_tensor, sharing
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport NUMBERS, declare_store


cdef object LONGDOUBLE_NUMBER = np.longdouble
cdef int LONGDOUBLE_CODE = code_of(np.zeros((), np.longdouble))         # FLOAT64 where the two have the same bits
cdef CachedNumber[CACHED_NUMBERS] places
cached_numbers = places


cdef void empty_store(void *store) noexcept:
    cdef CachedNumber *numbers = <CachedNumber *> store
    cdef int k
    for k in range(CACHED_NUMBERS):
        Py_XDECREF(numbers[k].number)
        Py_XDECREF(numbers[k].array)


declare_store(NUMBERS, CACHED_NUMBERS * sizeof(CachedNumber), empty_store)


cdef cnp.ndarray keep_number(CachedNumber *place, object number, int dtype_code):
    """Replace a cache entry by a number's array, and return the array.

    Making the array and releasing the old entry may let other threads run, so neither happens between reading and writing the
    entry.
    """
    cdef cnp.ndarray array = converted(number, dtype_code)
    cdef CachedNumber old = place[0]
    Py_INCREF(number)
    Py_INCREF(array)
    place[0] = CachedNumber(<PyObject *> number, dtype_code, <PyObject *> array)
    if old.number != NULL:
        Py_DECREF(<object> old.number)
        Py_DECREF(<object> old.array)
    return array


cdef Tensor foreign_operand(object value):
    """The Tensor of an ndarray, or of a NumPy scalar, which counts as the Python number of its kind; None for Python
    numbers and anything else."""
    kind = type(value)
    if kind is float or kind is int or kind is bool or kind is complex:
        return None
    if isinstance(value, cnp.ndarray):
        return sharing(value)
    if not isinstance(value, np.generic):
        return None
    if isinstance(value, np.longdouble):
        return number_tensor(np.array(value))           # a Python number has too few digits
    number = value.item()
    cdef int dtype_code = number_code(number)
    return from_array(np.asarray(value)) if dtype_code < 0 else number_tensor(number_array(number, dtype_code))


cdef cnp.ndarray scalar_array(Tensor x, object value, int dtype_code):
    """The array of `x`, the number that a NumPy scalar counts as, in another type: from the scalar, which has more digits."""
    if isinstance(value, np.generic) and not isinstance(value, np.longdouble):
        return number_array(value.item(), dtype_code)
    return copy_in_order(x.array, dtype_code)


cdef int extended_code(object number) noexcept:
    """The dtype code of a longdouble, which no Python number can hold; -1 for anything else."""
    return LONGDOUBLE_CODE if type(number) is LONGDOUBLE_NUMBER else -1


cdef Tensor number_tensor(cnp.ndarray array):
    """A Tensor that represents a Python number, as a node saves it."""
    cdef Tensor number = new_tensor(array)
    number.is_number = True
    return number


cdef int common_code(const int *dtype_codes, const int *ranks, int count) except -1:
    """The common type of several operands, whatever their order: one for each rank, then from the lowest rank to the highest.

    See result_code for the ranks. To take one operand after the other would lift the type of a 0-d tensor to the rank of what
    it was joined with.
    """
    cdef int found[3]
    cdef int rank, k, total = -1
    found[0] = found[1] = found[2] = -1
    for k in range(count):
        rank = ranks[k]
        found[rank] = dtype_codes[k] if found[rank] < 0 else promote(found[rank], dtype_codes[k])
    for rank in range(3):
        if found[rank] >= 0:
            total = found[rank] if total < 0 else result_code(found[rank], rank, total, rank - 1)
    return total
