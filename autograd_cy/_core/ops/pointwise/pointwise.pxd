"""Elementwise operations: calling a row of the table."""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.dtypes cimport FLOAT32, is_half
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef Pointwise *row_of(str name) except NULL
cdef Tensor unary(Pointwise *row, object input)
cdef object binary(Pointwise *row, object left, object right)
cdef Tensor ternary(Pointwise *row, object a, object b, object c)
cdef Tensor with_numbers(Pointwise *row, object input, tuple numbers, list names)
cdef object called(Pointwise *row, object input, object other)
cdef cnp.ndarray forward(Pointwise *row, PyObject **arrays, int dtype_code, cnp.ndarray out)
cdef str public_name(Pointwise *row)
cdef object not_implemented_for(Pointwise *row, int dtype_code)
cdef int record_row(Pointwise *row, Tensor y, PyObject **arrays, Tensor a, Tensor b, Tensor c) except -1

cdef inline int second_code(Pointwise *row, int dtype_code, Tensor x, int own) noexcept:
    """The type in which a row takes its second operand, x or a number of type `own`.

    A row in float16 or bfloat16 takes a scalar second operand of another type as float32.
    """
    if is_half(dtype_code) and row.opmath and own != dtype_code and (x is None or cnp.PyArray_SIZE(x.array) == 1):
        return FLOAT32
    return dtype_code
