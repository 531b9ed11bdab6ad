"""Elementwise operations: calling a row of the table."""

from cpython.object cimport PyObject
cimport numpy as cnp

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.pointwise_node cimport Pointwise

cdef Pointwise *row_of(str name) except NULL
cdef Tensor unary(Pointwise *row, object input)
cdef object binary(Pointwise *row, object left, object right)
cdef Tensor ternary(Pointwise *row, object a, object b, object c)
cdef object called(Pointwise *row, object input, object other)
cdef cnp.ndarray forward(Pointwise *row, PyObject **arrays, int code, cnp.ndarray out)
cdef object not_implemented_for(Pointwise *row, int code)
cdef int beside_half(Pointwise *row, Tensor x, int own) noexcept
cdef int record_row(Pointwise *row, Tensor y, PyObject **arrays, Tensor a, Tensor b, Tensor c) except -1
