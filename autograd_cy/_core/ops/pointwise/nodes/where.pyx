"""where: a choice between two tensors. Formulas of the elementwise table use it, so it is below them in the layering."""

import warnings

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport assigned
from autograd_cy._core.arrays.dtypes cimport BOOL, UINT8, code_of, dtype_of, result_code
from autograd_cy._core.graph.node cimport save_input, unpack
from autograd_cy._core.graph.record cimport as_tensor, needs_node, operand_array, operand_code, rank_of, record_all, tensor_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.loops cimport chosen
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import elementwise
from autograd_cy._core.ops.registry import op


@cython.final
cdef class WhereBackward0(PointwiseNode):
    cdef tuple saved_names(self):
        return ("condition", None, None)

    cdef object vjp(self, object g, int i):
        condition = unpack(self, 0)
        return unbroadcast_tensor(self, where(condition, g, 0) if i == 0 else where(condition, 0, g), i)

    cdef object jvp(self, tuple tangents):
        a, b = tangents
        return where(unpack(self, 0), 0 if a is None else a, 0 if b is None else b)


def batched_where(call, *args, **kwargs):
    """The form with three arguments is elementwise. The form with one has an output shape that depends on values."""
    if len(args) + len(kwargs) == 1:
        raise RuntimeError("vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
                           "where() of a condition alone.")
    return elementwise(call, *args, **kwargs)


@op(methods=("where",), kind="elementwise", batch=batched_where)
def where(condition, input=None, other=None):
    """where(condition, input, other) -> Tensor: input where condition is true, else other; all three are broadcast.

    As a method, the tensor is `input`: x.where(condition, other). where(condition) alone returns the indices of nonzero
    elements: a tuple with a tensor for each dimension.

    >>> import autograd_cy as ag
    >>> ag.where(ag.tensor([True, False]), ag.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    if input is None and other is None:
        return places(as_tensor(condition, "where").array)
    if isinstance(input, Tensor) and code_of((<Tensor> input).array) == BOOL and not (
            isinstance(condition, Tensor) and code_of((<Tensor> condition).array) == BOOL):
        condition, input = input, condition
    cdef Tensor c = as_tensor(condition, "where")
    if code_of(c.array) == UINT8:
        warnings.warn("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
                      "version of PyTorch. Use a boolean condition instead.", UserWarning, stacklevel=2)
        c = c.to(dtype_of(BOOL))
    elif code_of(c.array) != BOOL:
        raise RuntimeError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {c.dtype}")
    if isinstance(input, np.generic):
        input = input.item()
    if isinstance(other, np.generic):
        other = other.item()
    cdef Tensor a = tensor_of(input), b = tensor_of(other)
    cdef int a_code = operand_code(a, input), b_code = operand_code(b, other)
    if a_code < 0 or b_code < 0:
        raise TypeError(f"where(): expected Tensors or numbers, not {type(input).__name__} and {type(other).__name__}")
    cdef int dtype_code = result_code(a_code, rank_of(a), b_code, rank_of(b))
    if a is None and (type(input) is complex or not -128 <= input <= 127):
        assigned(input, dtype_code)         # raises if the type can't hold it
    if b is None and (type(other) is complex or not -128 <= other <= 127):
        assigned(other, dtype_code)
    cdef cnp.ndarray x = operand_array(a, input, a_code, dtype_code), y = operand_array(b, other, b_code, dtype_code)
    cdef Tensor result = new_tensor(chosen(c.array, x, y, dtype_code))
    cdef WhereBackward0 node
    if (a is not None and needs_node(a)) or (b is not None and needs_node(b)):
        node = WhereBackward0.__new__(WhereBackward0)
        node.dtype_codes[0] = a_code
        node.dtype_codes[1] = b_code
        save_input(node, 0, c)
        note_shapes(node, result, 2, a, b, None)
        record_all(node, result, (a, b))
    return result


cdef tuple places(cnp.ndarray condition):
    """The indices of nonzero elements, a tensor for each dimension."""
    return tuple([new_tensor(np.ascontiguousarray(numbers)) for numbers in np.nonzero(np.atleast_1d(condition))])
