"""Operands of elementwise operations: Tensors, array-likes of NumPy, or Python numbers."""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.conversions cimport converted
from autograd_cy._core.arrays.dtypes cimport BOOL, INT64, code_of, default_code, default_complex_code
from autograd_cy._core.arrays.orders cimport copy_in_order
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED
from autograd_cy._core.runtime.own cimport NUMBERS, own_store

cdef enum:
    CACHED_NUMBERS = 256

cdef struct CachedNumber:
    PyObject *number
    int dtype_code
    PyObject *array

cdef CachedNumber *cached_numbers       # of all threads; without a GIL each thread has its own

cdef cnp.ndarray keep_number(CachedNumber *place, object number, int dtype_code)
cdef Tensor foreign_operand(object value)
cdef cnp.ndarray scalar_array(Tensor x, object value, int dtype_code)
cdef int extended_code(object number) noexcept
cdef Tensor number_tensor(cnp.ndarray array)


cdef inline int number_code(object number):
    """The dtype code of a Python number or a longdouble; -1 for anything else."""
    kind = type(number)
    if kind is float:
        return default_code()
    if kind is int:
        return INT64
    if kind is bool:
        return BOOL
    if kind is complex:
        return default_complex_code()
    return extended_code(number)


cdef inline cnp.ndarray number_array(object number, int dtype_code):
    """A Python number as a 0-d array. A program's constants are the same objects each time, so the last few are cached."""
    cdef CachedNumber *numbers = <CachedNumber *> own_store(NUMBERS) if FREE_THREADED else cached_numbers
    cdef CachedNumber *place = &numbers[((<size_t> <PyObject *> number >> 4) + dtype_code) % CACHED_NUMBERS]
    if FREE_THREADED and numbers == NULL:       # the thread is ending
        return converted(number, dtype_code)
    if place.number != <PyObject *> number or place.dtype_code != dtype_code:
        return keep_number(place, number, dtype_code)
    return <cnp.ndarray> place.array


cdef inline Tensor tensor_of(object value):
    """The Tensor of an operand: itself, or a new one for NumPy objects; None for numbers and anything else."""
    return <Tensor> value if isinstance(value, Tensor) else foreign_operand(value)


cdef inline int operand_code(Tensor x, object value) except -2:
    """The dtype code of an operand and its Tensor `x`; -1 for a non-operand."""
    return number_code(value) if x is None else code_of(x.array)


cdef inline int rank_of(Tensor x) noexcept:
    """The rank of an operand in promotion: numbers, then 0-d, then dimensions."""
    return 0 if x is None or x.is_number else 2 if cnp.PyArray_NDIM(x.array) else 1


cdef inline cnp.ndarray operand_array(Tensor x, object value, int own, int dtype_code):
    """The array, with dtype `dtype_code`, of an operand of dtype `own`."""
    if x is None:
        return number_array(value, dtype_code)
    if own == dtype_code:
        return x.array
    return scalar_array(x, value, dtype_code) if x.is_number else copy_in_order(x.array, dtype_code)
cdef int common_code(const int *dtype_codes, const int *ranks, int count) except -1
