"""Division: true quotients, quotients rounded to integers, and remainders; and their operators."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT16, code_of, result_code
from autograd_cy._core.graph.context cimport RDIV, fill_operator
from autograd_cy._core.graph.node cimport Node, save_input
from autograd_cy._core.graph.record cimport (
    go_on, needs_node, new_node, number_array, number_code, number_tensor, operand_array, operand_code, pause, rank_of,
    record_all, tensor_of)
from autograd_cy._core.graph.tensor cimport Tensor, extend, from_array, new_tensor
from autograd_cy._core.ops.overrides cimport declined, declined_by
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise, PointwiseNode, note_shapes, unbroadcast_tensor
from autograd_cy._core.ops.pointwise.pointwise cimport binary, called, not_implemented_for, public_name, row_of, unary
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE, declare_rule
from autograd_cy._core.ops.registry import OPS, op


cdef Pointwise *OP_div = row_of("div")
cdef Pointwise *OP_reciprocal = row_of("reciprocal")
cdef Pointwise *OP_floor_divide = row_of("floor_divide")
cdef Pointwise *OP_trunc_divide = row_of("trunc_divide")
cdef Pointwise *OP_remainder = row_of("remainder")
cdef Pointwise *OP_remainder_by_number = row_of("remainder_by_number")
cdef Pointwise *OP_fmod = row_of("fmod")
cdef Pointwise *OP_fmod_by_number = row_of("fmod_by_number")


# the nodes

@cython.final
cdef class DivBackward2(PointwiseNode):
    """The node of a rounded quotient, which is locally constant."""

    cdef tuple saved_names(self):
        return ("self", "other", None)

    cdef tuple constant_names(self):
        return ("rounding_mode",)

    cdef object vjp(self, object g, int i):
        return unbroadcast_tensor(self, new_tensor(np.zeros_like((<Tensor> g).array)), i)

    cdef object jvp(self, tuple tangents):
        return None


@cython.final
cdef class NotImplementedBackward(Node):
    """The node of an operation without a derivative in PyTorch; constant: its name."""

    def name(self):
        return "torch::autograd::NotImplemented"

    def __repr__(self):
        return "<NotImplemented>"

    cdef object vjp(self, object g, int i):
        raise RuntimeError(f"derivative for aten::{self.constants[0]} is not implemented")

    cdef object jvp(self, tuple tangents):
        raise NotImplementedError(f"Trying to use forward AD with {self.constants[0]} that does not support it because it "
                                  "has not been implemented yet.")


# the operations

@op(methods=("div", "divide", "true_divide"), kind="elementwise")
def div(input, other, *, rounding_mode=None):
    """div(input, other, *, rounding_mode=None) -> Tensor: the quotient input / other; a float for integers.

    rounding_mode 'floor' rounds it down and 'trunc' towards zero. Then the quotient of integers is an integer, and division of
    an integer by 0 raises RuntimeError. The gradient of a rounded quotient is 0.

    >>> import autograd_cy as ag
    >>> ag.div(ag.tensor([-7, 7]), 2, rounding_mode="floor")
    tensor([-4,  3])
    >>> ag.div(ag.tensor([1.0, 2.0]), ag.tensor([2.0, 8.0]))
    tensor([0.5000, 0.2500])
    """
    if rounding_mode is None:
        if isinstance(other, Tensor) and isinstance(input, (int, float, complex, np.generic)):
            return rdiv_of(other, input)
        return called(OP_div, input, other)
    if rounding_mode not in ("floor", "trunc"):
        raise RuntimeError("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
                           f"{rounding_mode!r}")
    cdef Tensor y = quotient(input, other, rounding_mode), a = tensor_of(input), b = tensor_of(other)
    cdef DivBackward2 node
    if (a is not None and needs_node(a)) or (b is not None and needs_node(b)):
        node = new_node(DivBackward2, (rounding_mode,))
        if a is not None:
            node.dtype_codes[0] = code_of(a.array)
        if b is not None:
            node.dtype_codes[1] = code_of(b.array)
            if needs_node(b):
                save_input(node, 0, a if a is not None else number_tensor(number_array(input, code_of(y.array))))
        if a is not None and needs_node(a):
            save_input(node, 1, b if b is not None else number_tensor(number_array(other, code_of(y.array))))
        note_shapes(node, y, 2, a, b, None)
        record_all(node, y, (a, b))
    return y


@op(methods=("floor_divide",), kind="elementwise")
def floor_divide(input, other):
    """floor_divide(input, other) -> Tensor: input / other rounded down; an integer for integers.

    RuntimeError where an integer is divided by 0. Has no derivative: div(rounding_mode='floor') has one, which is 0.

    >>> import autograd_cy as ag
    >>> ag.floor_divide(ag.tensor([-7, 7]), 2)
    tensor([-4,  3])
    """
    return without_derivative("floor_divide", quotient(input, other, "floor"), tensor_of(input), tensor_of(other))


@op(methods=("remainder",), kind="elementwise")
def remainder(input, other):
    """remainder(input, other) -> Tensor: the remainder of input / other, with the sign of other.

    RuntimeError where an integer is divided by 0. The gradient for other is -floor(input / other).

    >>> import autograd_cy as ag
    >>> ag.remainder(ag.tensor([-7.0, 7.0]), 4.0)
    tensor([1., 3.])
    """
    if number_code(input) >= 0 and isinstance(other, Tensor):
        return without_derivative("remainder", unseen(OP_remainder, input, plain(other)), None, other)
    return divided(OP_remainder if number_code(other) < 0 else OP_remainder_by_number, input, other)


@op(methods=("fmod",), kind="elementwise")
def fmod(input, other):
    """fmod(input, other) -> Tensor: the remainder of input / other, with the sign of input.

    RuntimeError where an integer is divided by 0. The gradient for other is -trunc(input / other).

    >>> import autograd_cy as ag
    >>> ag.fmod(ag.tensor([-7.0, 7.0]), 4.0)
    tensor([-3.,  3.])
    """
    return divided(OP_fmod if number_code(other) < 0 else OP_fmod_by_number, input, other)


# how they are computed

cdef object without_derivative(str name, Tensor y, Tensor a, Tensor b):
    """The result of an operation, with a node that raises in backward."""
    if (a is not None and needs_node(a)) or (b is not None and needs_node(b)):
        record_all(new_node(NotImplementedBackward, (name,)), y, tuple([x for x in (a, b) if x is not None]))
    return y


cdef Tensor quotient(object input, object other, str mode):
    """The rounded quotient, not recorded."""
    return unseen(OP_floor_divide if mode == "floor" else OP_trunc_divide, plain(input), plain(other))


cdef Tensor unseen(Pointwise *row, object input, object other):
    """The result of an operation that its caller records."""
    cdef int paused = pause()
    try:
        return <Tensor?> divided(row, input, other)
    finally:
        go_on(paused)


cdef object plain(object x):
    """An operand detached from the graph."""
    return new_tensor((<Tensor> x).array) if isinstance(x, Tensor) else x


cdef object divided(Pointwise *row, object input, object other):
    """Call a row that divides. Division of integers by 0 raises an error."""
    cdef Tensor a = tensor_of(input), b = tensor_of(other)
    cdef int a_code = operand_code(a, input), b_code = operand_code(b, other), dtype_code
    cdef cnp.ndarray x, y
    if a_code < 0 or b_code < 0:
        return called(row, input, other)
    dtype_code = result_code(a_code, rank_of(a), b_code, rank_of(b))
    if dtype_code >= FLOAT16:
        return called(row, input, other)
    if dtype_code == BOOL:
        raise not_implemented_for(row, BOOL)
    y = operand_array(b, other, b_code, dtype_code)
    if cnp.PyArray_SIZE(y) and not y.all():
        raise RuntimeError(f"ZeroDivisionError ({public_name(row)}(): an integer was divided by 0)")
    if row is not OP_trunc_divide:
        return called(row, input, other)
    x = operand_array(a, input, a_code, dtype_code)
    with np.errstate(all="ignore"):
        return from_array(np.asarray(np.floor_divide(x - np.fmod(x, y), y)))


cdef object rdiv_of(object self, object other):
    """other / self, computed as PyTorch does, as reciprocal times number."""
    if isinstance(other, np.generic):
        other = other.item()
    if number_code(other) >= 0:
        return binary(OP_mul, unary(OP_reciprocal, self), other)
    result = binary(OP_div, other, self)
    return declined(RDIV, other, self) if result is NotImplemented else result


def operator_of(function):
    """A function of two arguments as an operator; NotImplemented unless both are tensors or numbers."""
    def operate(left, right):
        if number_code(left) < 0 and tensor_of(left) is None or number_code(right) < 0 and tensor_of(right) is None:
            return declined_by(function, left, right)
        return function(left, right)
    declare_rule(operate, COMPOSITE)
    return operate


def __rdiv__(self, other):
    """__rdiv__(other) -> Tensor: other / self, under the name of Python 2's operator."""
    return other / self if isinstance(other, Tensor) else rdiv_of(self, other)


fill_operator(RDIV, "div", rdiv_of)
extend("__rdiv__", __rdiv__)
declare_rule(__rdiv__, COMPOSITE)
extend("__lshift__", operator_of(OPS["bitwise_left_shift"].function))
extend("__rshift__", operator_of(OPS["bitwise_right_shift"].function))
extend("__mod__", operator_of(remainder))
extend("__floordiv__", operator_of(floor_divide))
