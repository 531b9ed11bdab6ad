"""Rounding to decimals, the Heaviside step, and comparisons without a row: signs, infinities, closeness."""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, FLOAT16, code_of, long_word, type_word
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, go_on, number_code, pause, record_linear, shown, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, from_array, new_tensor
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.ops.pointwise.pointwise cimport binary, not_implemented_for, row_of, unary

from autograd_cy._core.ops.registry import inplace_op, op


cdef Pointwise *OP_round_whole = row_of("round_whole")
cdef Pointwise *OP_heaviside_step = row_of("heaviside_step")


cdef class RoundBackward1(Node):
    """The node of rounding to decimals."""

    cdef object vjp(self, object g, int i):
        return new_tensor(np.zeros_like((<Tensor> g).array))


@op(methods=("round",), kind="elementwise")
def round(input, *, decimals=0):
    """round(input, *, decimals=0) -> Tensor: the nearest integer, ties to even; or rounded to that many decimals.

    Negative `decimals` round to tens, hundreds, ... The gradient is 0. Integers are returned as they are.

    >>> import autograd_cy as ag
    >>> ag.round(ag.tensor([0.5, 1.5, -2.7]))
    tensor([ 0.,  2., -3.])
    >>> ag.round(ag.tensor([1.25, 1234.5]), decimals=-2)
    tensor([   0., 1200.])
    """
    if decimals == 0:
        return unary(OP_round_whole, input)
    cdef Tensor x = as_tensor(input, "round")
    cdef int dtype_code = code_of(x.array)
    if dtype_code < FLOAT16 or dtype_code >= COMPLEX64:
        raise not_implemented_for(OP_round_whole, dtype_code)
    scale = x.array.dtype.type(10.0 ** abs(decimals))
    with np.errstate(all="ignore"):
        rounded = np.rint(x.array * scale) / scale if decimals > 0 else np.rint(x.array / scale) * scale
    return record_linear(RoundBackward1, None, x, np.asarray(rounded))


@op(methods=("heaviside",), kind="elementwise")
def heaviside(input, values):
    """heaviside(input, values) -> Tensor: 0 where input is negative, 1 where it is positive, and `values` where it is 0.

    RuntimeError for tensors of different types. Has no derivative.

    >>> import autograd_cy as ag
    >>> ag.heaviside(ag.tensor([-1, 0, 2]), ag.tensor(5))
    tensor([0, 5, 1])
    """
    cdef Tensor x = as_tensor(input, "heaviside"), v = tensor_argument(values, "heaviside", "values", 2)
    if code_of(x.array) >= COMPLEX64 or code_of(v.array) >= COMPLEX64:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if code_of(x.array) != code_of(v.array):
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    cdef int paused = pause()
    try:
        y = binary(OP_heaviside_step, new_tensor(x.array), new_tensor(v.array))
    finally:
        go_on(paused)
    return without_derivative("heaviside", y, x, v)


# signs and infinities

@op(methods=("signbit",), kind="elementwise")
def signbit(input):
    """signbit(input) -> Tensor: whether the sign bit is set, a bool tensor; it is for -0.0.

    >>> import autograd_cy as ag
    >>> ag.signbit(ag.tensor([-1.0, -0.0, 0.0]))
    tensor([ True,  True, False])
    """
    cdef Tensor x = as_tensor(input, "signbit")
    if code_of(x.array) >= COMPLEX64:
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    negative = np.signbit(x.array) if code_of(x.array) >= FLOAT16 else x.array < 0
    return shown("signbit", from_array(np.asarray(negative)), (x,))


@op(methods=("isposinf",), kind="elementwise")
def isposinf(input):
    """isposinf(input) -> Tensor: whether each element is positive infinity, a bool tensor.

    >>> import autograd_cy as ag
    >>> ag.isposinf(ag.tensor([1.0, float("inf"), -float("inf")]))
    tensor([False,  True, False])
    """
    return equal_to_infinity(as_tensor(input, "isposinf"), np.inf, "isposinf")


@op(methods=("isneginf",), kind="elementwise")
def isneginf(input):
    """isneginf(input) -> Tensor: whether each element is negative infinity, a bool tensor.

    >>> import autograd_cy as ag
    >>> ag.isneginf(ag.tensor([1.0, float("inf"), -float("inf")]))
    tensor([False, False,  True])
    """
    return equal_to_infinity(as_tensor(input, "isneginf"), -np.inf, "isneginf")


cdef Tensor equal_to_infinity(Tensor x, double infinity, str name):
    if code_of(x.array) >= COMPLEX64:
        raise RuntimeError(f"{name} does not support complex inputs.")
    return shown(name, from_array(np.asarray(np.equal(x.array, infinity))), (x,))


@op(methods=("isreal",), kind="elementwise")
def isreal(input):
    """isreal(input) -> Tensor: whether the imaginary part of each element is 0, a bool tensor.

    >>> import autograd_cy as ag
    >>> ag.isreal(ag.tensor([1 + 2j, 3 + 0j]))
    tensor([False,  True])
    """
    cdef Tensor x = as_tensor(input, "isreal")
    return shown("isreal", from_array(np.asarray(np.isreal(x.array))), (x,))


# closeness

@op(methods=("isclose",), kind="elementwise")
def isclose(input, other, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False):
    """isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) -> Tensor: whether two numbers are nearly equal.

    They are if |input - other| <= atol + rtol * |other|.

    Infinities are only close to themselves; NaN is close to NaN with `equal_nan`. RuntimeError for tensors of
    different types.

    >>> import autograd_cy as ag
    >>> ag.isclose(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    cdef Tensor x = as_tensor(input, "isclose"), y = tensor_argument(other, "isclose", "other", 2)
    if code_of(x.array) != code_of(y.array):
        raise RuntimeError(f"{long_word(code_of(x.array))} did not match {long_word(code_of(y.array))}")
    if not rtol >= 0:
        raise RuntimeError(f"rtol must be greater than or equal to zero, but got {rtol:g}")
    if not atol >= 0:
        raise RuntimeError(f"atol must be greater than or equal to zero, but got {atol:g}")
    return shown("isclose", from_array(np.asarray(are_close(x.array, y.array, rtol, atol, equal_nan))), (x, y))


cdef object are_close(a, b, double rtol, double atol, bint equal_nan):
    if a.dtype.kind in "bui":               # differences of integers are computed in float64
        a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        close = (abs(a - b) <= atol + rtol * abs(b)) & np.isfinite(a) & np.isfinite(b) | (a == b)
    return close | np.isnan(a) & np.isnan(b) if equal_nan else close


def batched_isin(call, elements, test_elements, **kwargs):
    """Test elements that differ between samples are compared sample by sample."""
    if not call.is_batched(test_elements):
        return call(call.value(elements), test_elements, **kwargs)
    tests = call.value(test_elements).reshape(call.size, 1, test_elements.numel())
    each = call.front(elements)
    found = each == tests if not isinstance(each, Tensor) else each.reshape(call.size, elements.numel(), 1) == tests
    found = found.any(-1).reshape(each.shape if isinstance(each, Tensor) else (call.size,))
    return found.logical_not() if kwargs.get("invert") else found


@op(batch=batched_isin)
def isin(elements, test_elements, *, assume_unique: bool = False, invert: bool = False):
    """isin(elements, test_elements, *, assume_unique=False, invert=False) -> Tensor: whether each is among the test elements.

    One of the two may be a number; with `invert`, whether it is not among them.

    >>> import autograd_cy as ag
    >>> ag.isin(ag.tensor([1, 2, 3]), ag.tensor([2, 4]))
    tensor([False,  True, False])
    """
    if number_code(elements) >= 0 and number_code(test_elements) >= 0:
        raise TypeError("isin(): elements or test_elements must be a Tensor, not both numbers")
    cdef tuple tensors = tuple([x for x in (elements, test_elements) if isinstance(x, Tensor)])
    for x in tensors:
        if code_of((<Tensor> x).array) == BOOL or code_of((<Tensor> x).array) >= COMPLEX64:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {type_word(code_of((<Tensor> x).array))}")
    a = (<Tensor> elements).array if isinstance(elements, Tensor) else elements
    b = (<Tensor> test_elements).array if isinstance(test_elements, Tensor) else test_elements
    return shown("isin", from_array(np.asarray(np.isin(a, b, assume_unique=assume_unique, invert=invert))), tensors)


def round_(Tensor self, *, decimals=0):
    """round_(*, decimals=0) -> Tensor: round() written into the tensor's own memory."""
    return in_place("round_", rounded, self, (decimals,))


def rounded(input, decimals):
    return round(input, decimals=decimals)


inplace_op(round_, round)
