"""Elementwise operations that are more than a row of a table."""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.dtypes cimport BOOL, code_of
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.runtime cimport numpy_api as cnp

# in arithmetic.pyx
cdef cnp.ndarray factor_of(Pointwise *row, object alpha, int dtype_code)
cdef cnp.ndarray scaled_forward(Pointwise *row, PyObject **arrays, int dtype_code, cnp.ndarray out)
cdef object sum_of(Pointwise *row, object input, object other, object alpha)
cdef int record_scaled(Pointwise *row, Tensor result, PyObject **arrays, Tensor a, Tensor b, object alpha) except -1
cdef int refuse_bool(object left, object right) except -1


cdef inline bint is_one(object alpha) except -1:
    """Whether there is no factor. 1.0 and True count as factors: not every type accepts them."""
    return type(alpha) is int and alpha == 1


cdef inline bint is_bool(object x) except -1:
    return code_of((<Tensor> x).array) == BOOL if isinstance(x, Tensor) else type(x) is bool

# in division.pyx
cdef object without_derivative(str name, Tensor y, Tensor a, Tensor b)
