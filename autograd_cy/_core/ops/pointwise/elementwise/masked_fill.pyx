"""Elements replaced where a mask is true; also in place."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport fitting, in_type, sizes_of
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, code_of, dtype, long_word
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport (
    as_tensor, as_type, needs_node, new_node, number_code, operand_code, record_all, shape_of, tensor_argument, tensor_of)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.loops cimport chosen
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.writes.inplace cimport check_memory

from autograd_cy._core.batching.rules import elementwise
from autograd_cy._core.ops.pointwise.nodes import where
from autograd_cy._core.ops.registry import inplace_op, op


cdef class MaskedFill(Node):
    """Constants: the sizes of the input, and the type of the value."""

    cdef tuple saved_names(self):
        return ("mask", None, None)

    cdef object vjp(self, object g, int i):
        mask = unpack(self, 0)
        if i == 0:
            return masked_fill(g, mask, 0).sum_to_size(self.constants[0])
        return as_type(g.where(mask, 0).sum(), <dtype> self.constants[1])


@cython.final
cdef class MaskedFillBackward0(MaskedFill):
    """The value is a number."""


@cython.final
cdef class MaskedFillBackward1(MaskedFill):
    """The value is a tensor."""


def batched_masked_fill(call, input, mask, value):
    """If the value differs between samples, it is chosen elementwise."""
    if not call.is_batched(value):
        return elementwise(call, input, mask, value)
    if value.ndim:
        call.on_sample(input, mask, value)              # raises the error
    return where(mask, value.to(input.dtype), input)


@op(methods=("masked_fill",), batch=batched_masked_fill)
def masked_fill(input, mask, value):
    """masked_fill(input, mask, value) -> Tensor: a copy of input with `value`, a number or 0-d tensor, where mask is true.

    The mask, a bool tensor, and the input are broadcast to each other. Masked elements of the input get a gradient of 0.

    >>> import autograd_cy as ag
    >>> ag.masked_fill(ag.tensor([1.0, 2.0]), ag.tensor([True, False]), 9.0)
    tensor([9., 2.])
    """
    cdef Tensor x = as_tensor(input, "masked_fill"), m = tensor_argument(mask, "masked_fill", "mask", 2), y
    cdef Tensor v = value if isinstance(value, Tensor) else None, given = tensor_of(value)
    cdef Node node
    if code_of(m.array) != BOOL:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {long_word(code_of(m.array))}")
    if v is not None and cnp.PyArray_NDIM(v.array):
        raise RuntimeError("masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                           f"{cnp.PyArray_NDIM(v.array)} dimension(s).")
    if v is None and (operand_code(given, value) < 0 or (given is not None and cnp.PyArray_NDIM(given.array))):
        raise TypeError(f"masked_fill(): argument 'value' (position 2) must be Tensor or Number, not {type(value).__name__}")
    if isinstance(value, np.generic):
        value = value.item()
    number = v.array if v is not None else fitting(value, code_of(x.array)) if number_code(value) >= 0 else value
    if np.iscomplexobj(number) and code_of(x.array) < COMPLEX64:
        raise RuntimeError(f"value cannot be converted to type {long_word(code_of(x.array))} without overflow")
    y = new_tensor(filled(x.array, m.array, number))
    if needs_node(x) or (v is not None and needs_node(v)):
        node = new_node(MaskedFillBackward0 if v is None else MaskedFillBackward1,
                        (shape_of(x), None if v is None else v.dtype))
        save_input(node, 0, m)
        record_all(node, y, (x,) if v is None else (x, v))
    return y


cdef cnp.ndarray filled(cnp.ndarray array, cnp.ndarray mask, object number):
    """A copy in C order with the number where the mask is true."""
    if cnp.PyArray_SAMESHAPE(array, mask) and cnp.PyArray_ISCARRAY_RO(array) and cnp.PyArray_ISCARRAY_RO(mask):
        return chosen(mask, in_type(np.asarray(number), code_of(array)), array, code_of(array))
    result = np.array(np.broadcast_to(array, broadcast(array, mask)), order="C")
    np.copyto(result, number, where=mask, casting="unsafe")
    return result


cdef tuple broadcast(cnp.ndarray a, cnp.ndarray b):
    try:
        return np.broadcast_shapes(sizes_of(a), sizes_of(b))
    except ValueError:
        raise RuntimeError(f"masked_fill(): input of size {list(sizes_of(a))} and mask of size {list(sizes_of(b))} can't be "
                           "broadcast to each other") from None


def masked_fill_(Tensor self, mask, value):
    """masked_fill_(mask, value) -> Tensor: masked_fill() written into the tensor's own memory."""
    if isinstance(mask, Tensor) and not (<Tensor> mask).batched:
        check_memory(self.array, (<Tensor> mask).array)
    return in_place("masked_fill_", masked_fill, self, (mask, value))


inplace_op(masked_fill_, masked_fill)
