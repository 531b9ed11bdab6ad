"""Powers: the exponent decides which row of the elementwise table is used; integers use NumPy's loops."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport dense_copy, fitting
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, INT64, is_half, result_code
from autograd_cy._core.graph.context cimport POW, fill_operator
from autograd_cy._core.graph.node cimport save_elsewhere, save_number
from autograd_cy._core.graph.record cimport (
    as_tensor, number_array, number_tensor, operand_array, operand_code, rank_of, tensor_of)
from autograd_cy._core.graph.tensor cimport Tensor, from_array
from autograd_cy._core.ops.overrides cimport declined
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.ops.pointwise.pointwise cimport binary, not_implemented_for, row_of
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.ops.registry import op


cdef Pointwise *OP_squared = row_of("squared")
cdef Pointwise *OP_cubed = row_of("cubed")
cdef Pointwise *OP_power = row_of("power")
cdef Pointwise *OP_power_to_element = row_of("power_to_element")
cdef Pointwise *OP_power_to_number = row_of("power_to_number")
cdef Pointwise *OP_power_to_zero = row_of("power_to_zero")
cdef Pointwise *OP_power_of_number = row_of("power_of_number")
cdef Pointwise *OP_power_of_half = row_of("power_of_half")
cdef Pointwise *OP_power_root = row_of("power_root")
cdef Pointwise *OP_power_inverse_root = row_of("power_inverse_root")
cdef Pointwise *OP_power_cubed_root = row_of("power_cubed_root")


@op(methods=("pow",), kind="elementwise")
def pow(input, exponent):
    """pow(input, exponent) -> Tensor: input to the power of exponent; one of the two may be a number.

    The gradient of the exponent is 0 where the base is 0 and the exponent is not negative. RuntimeError for integers to a
    negative number. Integers to a tensor with negative elements are rounded towards zero.

    >>> import autograd_cy as ag
    >>> ag.pow(ag.tensor([1.0, 2.0, 3.0]), 3)
    tensor([ 1.,  8., 27.])
    """
    result = pow_operator(input, exponent)
    if result is NotImplemented:
        raise TypeError(f"pow(): arguments must be Tensors or numbers, not {type(input).__name__} and "
                        f"{type(exponent).__name__}")
    return result


cdef object number_in(Tensor x, object value):
    """The Python number of an operand that counts as one. A NumPy scalar has all of its digits, unlike its Tensor."""
    return value.item() if isinstance(value, np.generic) else x.array.item()


cdef object pow_operator(object input, object exponent):
    cdef Tensor a = tensor_of(input), b = tensor_of(exponent)
    if a is not None and a.is_number:               # a NumPy scalar
        a, input = None, number_in(a, input)
    if b is not None and b.is_number:
        b, exponent = None, number_in(b, exponent)
    cdef int a_code = operand_code(a, input), b_code = operand_code(b, exponent), dtype_code
    if a_code < 0 or b_code < 0 or a is None and b is None:
        return declined(POW, input, exponent)
    dtype_code = result_code(a_code, rank_of(a), b_code, rank_of(b))
    if dtype_code < FLOAT16:
        return integer_power(a, input, a_code, b, exponent, b_code, dtype_code)
    if b is None:
        return power_to_number(a, exponent, dtype_code)
    if a is None:
        return in_c_order(binary(OP_power_of_number, b, input))
    return binary(OP_power_to_element if is_one_power(b) else OP_power, a, b)


cdef bint is_one_power(Tensor exponent) except -1:
    """Whether a 0-d exponent may use NumPy's loop for one exponent. It is faster, but takes the root at 0.5, unlike PyTorch.

    float32 rounds exponents near 0.5 to it, so they are excluded.
    """
    return cnp.PyArray_NDIM(exponent.array) == 0 and not 0.49 < abs(exponent.array.item()) < 0.51


cdef object power_to_number(Tensor x, object exponent, int dtype_code):
    if is_half(dtype_code):
        fitting(exponent, dtype_code)
    if exponent != 2 and exponent != 3 and exponent != 0:
        return binary(row_to_number(exponent, dtype_code), x, exponent)
    y = binary(OP_squared if exponent == 2 else OP_cubed if exponent == 3 else OP_power_to_zero, x, exponent)
    if (<Tensor> y).grad_fn is not None:
        save_number((<Tensor> y).grad_fn, 1, number_tensor(number_array(exponent, dtype_code)))
    return y


cdef Tensor in_c_order(Tensor y):
    """Reorder a new result to C order: powers of numbers don't keep the layout, as in PyTorch."""
    cdef cnp.ndarray array = y.array
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        y.array = dense_copy(array)
        if y.grad_fn is not None:
            save_elsewhere(y.grad_fn, array, y)
    return y


cdef Pointwise *row_to_number(object exponent, int dtype_code) noexcept:
    """The row for a number that is not 0, 2 or 3. Roots differ from powers at -inf and -0.0, as in PyTorch; not in float16."""
    if type(exponent) is not float or dtype_code >= COMPLEX64:
        return OP_power_to_number
    cdef double e = exponent
    if is_half(dtype_code):
        return OP_power_of_half if e == 0.5 else OP_power_to_number
    if e == 0.5:
        return OP_power_root
    if e == -0.5:
        return OP_power_inverse_root
    return OP_power_cubed_root if e == 1.5 else OP_power_to_number


cdef object integer_power(Tensor a, object input, int a_code, Tensor b, object exponent, int b_code, int dtype_code):
    """The power of integers or bools."""
    if b is None:
        if b_code == INT64 and exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        if dtype_code == BOOL:
            return from_array(np.logical_or(a.array, not exponent))
        fitting(exponent, dtype_code)
    if dtype_code == BOOL:
        raise not_implemented_for(OP_power, BOOL)
    x, e = operand_array(a, input, a_code, dtype_code), operand_array(b, exponent, b_code, dtype_code)
    y = np.power(x, np.maximum(e, 0))
    if b is not None and np.any(e < 0):
        y = np.where(e >= 0, y, np.where(x == 1, 1, np.where(x == -1, 1 - 2 * (e & 1), 0))).astype(y.dtype)
    return from_array(np.asarray(y))


@op(methods=("square",), kind="elementwise")
def square(input):
    """square(input) -> Tensor: input * input; recorded as pow(input, 2).

    >>> import autograd_cy as ag
    >>> ag.square(ag.tensor([2.0, 3.0]))
    tensor([4., 9.])
    """
    return pow_operator(as_tensor(input, "square"), 2)


fill_operator(POW, "pow", pow_operator)
