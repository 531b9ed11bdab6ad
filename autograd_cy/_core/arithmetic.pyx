"""Arithmetic whose row depends on the arguments: add, sub and div, powers, conj, and the operators of these."""

import numpy as np

cimport numpy as cnp

from autograd_cy._core.dtypes cimport BOOL, FLOAT16, INT64, code_of
from autograd_cy._core.operands cimport number_array, number_code, number_tensor
from autograd_cy._core.pointwise cimport binary, called, not_implemented_for, row_of, unary
from autograd_cy._core.pointwise_node cimport Pointwise, with_constants
from autograd_cy._core.record cimport as_tensor
from autograd_cy._core.tensor cimport POW, RDIV, RSUB, SUB, Tensor, from_array
cimport autograd_cy._core.tensor as tensor_module

from autograd_cy._core.registry import op

cnp.import_array()

cdef Pointwise *OP_add = row_of("add")
cdef Pointwise *OP_sub = row_of("sub")
cdef Pointwise *OP_rsub = row_of("rsub")
cdef Pointwise *OP_mul = row_of("mul")
cdef Pointwise *OP_div = row_of("div")
cdef Pointwise *OP_reciprocal = row_of("reciprocal")
cdef Pointwise *OP_conj = row_of("conj")
cdef Pointwise *OP_squared = row_of("squared")
cdef Pointwise *OP_cubed = row_of("cubed")
cdef Pointwise *OP_power = row_of("power")
cdef Pointwise *OP_power_to_number = row_of("power_to_number")
cdef Pointwise *OP_power_of_number = row_of("power_of_number")


@op(methods=("add",), kind="elementwise")
def add(input, other, *, alpha=1):
    """add(input, other, *, alpha=1) -> Tensor: the sum input + alpha * other.

    >>> import autograd_cy as ag
    >>> ag.add(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]), alpha=10)
    tensor([31., 42.])
    """
    return with_alpha(OP_add, input, other, alpha)


@op(methods=("sub", "subtract"), kind="elementwise")
def sub(input, other, *, alpha=1):
    """sub(input, other, *, alpha=1) -> Tensor: the difference input - alpha * other.

    >>> import autograd_cy as ag
    >>> ag.sub(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]), alpha=10)
    tensor([-29., -38.])
    """
    check_not_bool(input, other)
    return with_alpha(OP_sub, input, other, alpha)


cdef object with_alpha(Pointwise *row, object input, object other, object alpha):
    """input + alpha * other, or with a minus: the product is an operation of its own."""
    result = called(row, input, other if alpha == 1 else scaled(other, alpha))
    return result if alpha == 1 else with_constants(<Tensor> result, (alpha,))


cdef object scaled(object other, object alpha):
    """alpha * other in the type of `other`."""
    if not isinstance(other, Tensor):
        return other * alpha
    cdef int code = code_of((<Tensor> other).array)
    if code < FLOAT16 and not isinstance(alpha, int):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    return other * (bool(alpha) if code == BOOL else alpha)


cdef inline bint is_bool(object x) except -1:
    return isinstance(x, Tensor) and code_of((<Tensor> x).array) == BOOL


cdef inline int check_not_bool(object left, object right) except -1:
    if is_bool(left) or is_bool(right):
        raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
                           "invert a mask, use the `~` or `logical_not()` operator instead.")
    return 0


@op(methods=("div", "divide", "true_divide"), kind="elementwise")
def div(input, other, *, rounding_mode=None):
    """div(input, other) -> Tensor: the quotient input / other; of integers a float.

    >>> import autograd_cy as ag
    >>> ag.div(ag.tensor([1.0, 2.0]), ag.tensor([2.0, 8.0]))
    tensor([0.5000, 0.2500])
    """
    if rounding_mode is not None:
        raise NotImplementedError("div(): rounding_mode is not supported yet")
    return called(OP_div, input, other)


@op(methods=("pow",), kind="elementwise")
def pow(input, exponent):
    """pow(input, exponent) -> Tensor: input to the power of exponent; one of the two may be a number.

    The gradient for the exponent is 0 where the base is 0 and the exponent is not negative.

    >>> import autograd_cy as ag
    >>> ag.pow(ag.tensor([1.0, 2.0, 3.0]), 3)
    tensor([ 1.,  8., 27.])
    """
    result = pow_operator(input, exponent)
    if result is NotImplemented:
        raise TypeError(f"pow(): arguments must be Tensors or numbers, not {type(input).__name__} and "
                        f"{type(exponent).__name__}")
    return result


cdef object pow_operator(object input, object exponent):
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        return NotImplemented
    if is_bool(input) or is_bool(exponent):
        raise not_implemented_for(OP_power, BOOL)
    if number_code(exponent) >= 0:
        if code_of((<Tensor> input).array) < FLOAT16 and number_code(exponent) == INT64:
            return integer_power(input, exponent)
        y = binary(OP_squared if exponent == 2 else OP_cubed if exponent == 3 else OP_power_to_number, input, exponent)
        if y is not NotImplemented and (<Tensor> y).grad_fn is not None and (exponent == 2 or exponent == 3):
            number = number_array(exponent, code_of((<Tensor> y).array))
            (<Tensor> y).grad_fn.saved1 = number_tensor(number)
        return y
    if number_code(input) >= 0:
        if code_of((<Tensor> exponent).array) < FLOAT16 and number_code(input) <= INT64:
            return integer_power(input, exponent)
        return binary(OP_power_of_number, input, exponent)
    if (isinstance(input, Tensor) and isinstance(exponent, Tensor) and code_of((<Tensor> input).array) < FLOAT16
            and code_of((<Tensor> exponent).array) < FLOAT16):
        return integer_power(input, exponent)
    return binary(OP_power, input, exponent)


cdef object integer_power(object input, object exponent):
    x = (<Tensor> input).array if isinstance(input, Tensor) else input
    e = (<Tensor> exponent).array if isinstance(exponent, Tensor) else exponent
    if np.any(np.less(e, 0)):
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return from_array(np.asarray(np.power(x, e)))


@op(methods=("square",), kind="elementwise")
def square(input):
    """square(input) -> Tensor: input * input; recorded as pow(input, 2).

    >>> import autograd_cy as ag
    >>> ag.square(ag.tensor([2.0, 3.0]))
    tensor([4., 9.])
    """
    if code_of(as_tensor(input, "square").array) == BOOL:
        input = input.long()
    return pow(input, 2)


@op(methods=("conj",), kind="elementwise")
def conj(input):
    """conj(input) -> Tensor: the complex conjugate; a real tensor itself.

    >>> import autograd_cy as ag
    >>> ag.conj(ag.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return unary(OP_conj, input) if cnp.PyArray_ISCOMPLEX(as_tensor(input, "conj").array) else input


cdef object sub_operator(object left, object right):
    check_not_bool(left, right)
    return binary(OP_sub, left, right)


cdef object rsub_of(object self, object other):
    """other - self"""
    if number_code(other) >= 0:
        return binary(OP_rsub, other, self)
    return sub_operator(other, self)


cdef object rdiv_of(object self, object other):
    """other / self, which PyTorch computes as reciprocal times number."""
    if number_code(other) >= 0:
        return binary(OP_mul, unary(OP_reciprocal, self), other)
    return binary(OP_div, other, self)


tensor_module.operators[SUB] = sub_operator
tensor_module.operators[RSUB] = rsub_of
tensor_module.operators[RDIV] = rdiv_of
tensor_module.operators[POW] = pow_operator
