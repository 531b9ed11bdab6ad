"""Sums and differences, with a factor for the second operand; conj; and their operators."""

import numpy as np

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport fitting
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, is_half, result_code
from autograd_cy._core.graph.context cimport RSUB, SUB, fill_operator
from autograd_cy._core.graph.record cimport (
    as_tensor, broadcast_sizes, needs_node, number_code, operand_array, operand_code, rank_of, shape_of, tensor_of)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.overrides cimport declined
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.ops.pointwise.pointwise cimport binary, called, forward, record_row, row_of, unary
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.ops.registry import op


cdef Pointwise *OP_add = row_of("add")
cdef Pointwise *OP_sub = row_of("sub")
cdef Pointwise *OP_mul = row_of("mul")
cdef Pointwise *OP_add_scaled = row_of("add_scaled")
cdef Pointwise *OP_sub_scaled = row_of("sub_scaled")
cdef Pointwise *OP_rsub = row_of("rsub")
cdef Pointwise *OP_conj = row_of("conj")


@op(methods=("add",), kind="elementwise")
def add(input, other, *, alpha=1):
    """add(input, other, *, alpha=1) -> Tensor: the sum input + alpha * other.

    >>> import autograd_cy as ag
    >>> ag.add(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]), alpha=10)
    tensor([31., 42.])
    """
    return called(OP_add, input, other) if is_one(alpha) else sum_of(OP_add, input, other, alpha)


@op(methods=("sub", "subtract"), kind="elementwise")
def sub(input, other, *, alpha=1):
    """sub(input, other, *, alpha=1) -> Tensor: the difference input - alpha * other.

    >>> import autograd_cy as ag
    >>> ag.sub(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]), alpha=10)
    tensor([-29., -38.])
    """
    check_not_bool(input, other)
    return called(OP_sub, input, other) if is_one(alpha) else sum_of(OP_sub, input, other, alpha)


# with a factor

cdef object sum_of(Pointwise *row, object input, object other, object alpha):
    """input + alpha * other, or input - alpha * other: computed in the common type of both operands."""
    cdef Tensor a = tensor_of(input), b = tensor_of(other), result
    cdef int a_code = operand_code(a, input), b_code = operand_code(b, other), dtype_code
    cdef cnp.ndarray x, y, factor
    cdef PyObject *arrays[3]
    if a_code < 0 or b_code < 0:
        return called(row, input, other)
    dtype_code = result_code(a_code, rank_of(a), b_code, rank_of(b))
    if a is not None and b is not None:
        broadcast_sizes(shape_of(a), shape_of(b))       # PyTorch's order: a mismatch of sizes is reported before a wrong alpha
    factor = factor_of(row, alpha, dtype_code)
    if factor is None:
        return called(row, input, other if alpha else np.zeros_like(operand_array(b, other, b_code, dtype_code)))
    x, y = operand_array(a, input, a_code, dtype_code), operand_array(b, other, b_code, dtype_code)
    arrays[0], arrays[1], arrays[2] = <PyObject *> x, <PyObject *> y, <PyObject *> factor
    result = new_tensor(scaled_forward(row, arrays, dtype_code, None))
    if (a is not None and needs_node(a)) or (b is not None and needs_node(b)):
        record_scaled(row, result, arrays, a, b, alpha)
    return result


cdef int record_scaled(Pointwise *row, Tensor result, PyObject **arrays, Tensor a, Tensor b, object alpha) except -1:
    """Record a sum with a factor. A constant is not freed by backward: a second backward is allowed."""
    record_row(scaled_row(row), result, arrays, a, b, None)
    if result.grad_fn is not None:
        result.grad_fn.constants = (alpha,)
        result.grad_fn.saves = 0
    return 0


cdef Pointwise *scaled_row(Pointwise *row) noexcept:
    """The row of add or sub with a factor."""
    return OP_add_scaled if row == OP_add else OP_sub_scaled


cdef cnp.ndarray factor_of(Pointwise *row, object alpha, int dtype_code):
    """alpha, or -alpha for sub, in that type; None for bools: their alpha decides whether the operand is added at all."""
    if isinstance(alpha, (Tensor, np.generic)):
        alpha = alpha.item()
    if number_code(alpha) < 0:
        raise TypeError(f"{row.name.decode()}(): argument 'alpha' must be Number, not {type(alpha).__name__}")
    if type(alpha) is bool and dtype_code != BOOL:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if dtype_code < FLOAT16 and not isinstance(alpha, int):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if dtype_code < COMPLEX64 and isinstance(alpha, complex):
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    fitting(alpha, BOOL)                    # BOOL holds all but integers of more than 64 bits
    if dtype_code == BOOL:
        return None
    if row == OP_sub:
        alpha = wrapped(-alpha) if isinstance(alpha, int) else -alpha
    return fitting(alpha, dtype_code)


cdef object wrapped(object number):
    """An integer wrapped to 64 bits."""
    return (number + 2 ** 63) % 2 ** 64 - 2 ** 63


cdef cnp.ndarray scaled_forward(Pointwise *row, PyObject **arrays, int dtype_code, cnp.ndarray out):
    """a + c * b for the three arrays; in float16 the product is rounded, as in PyTorch."""
    cdef cnp.ndarray product
    cdef PyObject *operands[2]
    if not is_half(dtype_code):
        return forward(scaled_row(row), arrays, dtype_code, out)
    product = forward(OP_mul, &arrays[1], dtype_code, None)
    operands[0], operands[1] = arrays[0], <PyObject *> product
    return forward(OP_add, operands, dtype_code, out)


# differences

cdef inline int check_not_bool(object left, object right) except -1:
    if is_bool(left) or is_bool(right):
        refuse_bool(left, right)
    return 0


cdef int refuse_bool(object left, object right) except -1:
    if is_bool(left) and is_bool(right):
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                           "`logical_xor()` operator instead.")
    raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
                       "invert a mask, use the `~` or `logical_not()` operator instead.")


cdef object sub_operator(object left, object right):
    check_not_bool(left, right)
    result = binary(OP_sub, left, right)
    return declined(SUB, left, right) if result is NotImplemented else result


cdef object rsub_of(object self, object other):
    """other - self"""
    check_not_bool(self, other)
    if number_code(other) >= 0:
        return binary(OP_rsub, self, other)
    result = binary(OP_sub, other, self)
    return declined(RSUB, other, self) if result is NotImplemented else result


@op(methods=("conj",), kind="elementwise")
def conj(input):
    """conj(input) -> Tensor: the complex conjugate; a real tensor itself.

    >>> import autograd_cy as ag
    >>> ag.conj(ag.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return unary(OP_conj, input) if cnp.PyArray_ISCOMPLEX(as_tensor(input, "conj").array) else input


fill_operator(SUB, "sub", sub_operator)
fill_operator(RSUB, "sub", rsub_of)
