"""In-place operations composed of others, and those that don't read what they overwrite: copy_, fill_, zero_.

The latter give their target's former values a zero gradient.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport fitting
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, check_cast, code_of, dtype, dtype_of
from autograd_cy._core.graph.memory cimport prepare_write
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport (
    as_type, common_code, go_on, new_node, number_code, operand_code, pause, rank_of, record_all, shape_of, tensor_of)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport NO_GRAD, OP_HOOKS, Extent, current_mode, enter_modes, leave_modes, thread_state
from autograd_cy._core.writes.inplace cimport (
    LOOKED_AT, Change, assign, change_of, check_fits, check_memory, is_recorded_write, is_view_of_another, keep_copy,
    may_overlap, previous_of, result_of, written)

from autograd_cy._core.batching.batched import levels_of
from autograd_cy._core.batching.rules import batched_fill, elementwise, on_values, refusal_of_write
from autograd_cy._core.ops.registry import inplace_op
from autograd_cy._core.runtime.once import warn_of_lost_imaginary_part

cnp.import_array()


cdef Tensor zeros_like(Tensor g):
    return new_tensor(np.zeros(np.shape(g.array), g.array.dtype))


cdef class Overwriting(Node):
    """Input 0, the target's former values, receives zeros."""

    cdef object vjp(self, object g, int i):
        return zeros_like(<Tensor> g)

    cdef object jvp(self, tuple tangents):
        return None


@cython.final
cdef class ZeroBackward0(Overwriting):
    pass


cdef class FillWithTensor(Overwriting):
    """Fills with a 0-d tensor. Constants: its type, and the type and sizes of the result."""

    cdef object vjp(self, object g, int i):
        return zeros_like(<Tensor> g) if i == 0 else as_type(g.sum(), <dtype> self.constants[0])

    cdef object jvp(self, tuple tangents):
        _, t = tangents
        return None if t is None else as_type(t, <dtype> self.constants[1]).expand(self.constants[2])


@cython.final
cdef class FillBackward2(Overwriting):
    pass


@cython.final
cdef class FillBackward3(FillWithTensor):
    pass


@cython.final
cdef class CopyBackwards(Overwriting):

    def name(self):
        return "torch::autograd::CopyBackwards"

    def __repr__(self):
        return "<CopyBackwards>"

    cdef object vjp(self, object g, int i):
        if i == 0:
            return zeros_like(<Tensor> g)
        return as_type(g.sum_to_size(self.constants[3]), <dtype> self.constants[0])

    cdef object jvp(self, tuple tangents):
        _, t = tangents
        return None if t is None else as_type(t, <dtype> self.constants[1]).expand(self.constants[2])


# comparisons: the result is locally constant

cdef class Comparison(Overwriting):
    """Constants: the sizes and type of each other tensor. They receive zeros, too."""

    cdef object vjp(self, object g, int i):
        return zeros_like(<Tensor> g) if i == 0 else new_tensor(np.zeros(*self.constants[i - 1]))


@cython.final
cdef class EqBackward0(Comparison):
    pass


@cython.final
cdef class NeBackward0(Comparison):
    pass


@cython.final
cdef class LtBackward0(Comparison):
    pass


@cython.final
cdef class LeBackward0(Comparison):
    pass


@cython.final
cdef class GtBackward0(Comparison):
    pass


@cython.final
cdef class GeBackward0(Comparison):
    pass


@cython.final
cdef class LogicalBackward0(Comparison):
    """The node of logical_not_, logical_and_ and the like."""


cdef dict comparisons = {}          # function -> the class of the nodes of its in-place form


def records_comparison(function, node_class):
    """records_comparison(function, node_class): in_place() of the function is recorded as such a node."""
    comparisons[function] = node_class


cdef Tensor in_place(str operation, object function, Tensor target, tuple arguments):
    """Write function(target, *arguments) into the target, recorded as that function."""
    cdef bint recorded = is_recorded_write(target, arguments, operation)
    cdef Tensor previous = previous_of(target) if recorded else target
    cdef Tensor y
    cdef int paused
    if not recorded or function not in comparisons:
        try:
            y = <Tensor?> function(previous, *arguments)
        except NotImplementedError:
            if function not in comparisons:
                check_result_type(target, arguments)
            raise
        if y.batched and not set(levels_of(y)) <= set(levels_of(target)):       # numbers that differ per sample
            raise refusal_of_write(operation.removeprefix("functional_"), ())
        if is_view_of_another(target) and y.grad_fn is not None and y.grad_fn.next0 is not previous.grad_fn:
            keep_copy(previous)                 # several nodes can't become part of the base's node: record a copy instead
            return copy_(target, y)
        return written(target, previous, y, operation)
    paused = pause()
    try:
        y = <Tensor?> function(previous, *arguments).to(target.dtype)
    finally:
        go_on(paused)
    others = [x for x in arguments if isinstance(x, Tensor)]
    likes = tuple([(shape_of(x), (<Tensor> x).array.dtype) for x in others])
    record_all(new_node(comparisons[function], likes), y, (previous, *others))
    return written(target, previous, y, operation)


cdef int check_result_type(Tensor target, tuple operands) except -1:
    """Refuse operands if the target can't hold the result. This error comes before an unsupported operation's."""
    cdef int dtype_codes[8]
    cdef int ranks[8]
    cdef int count = 1
    cdef Tensor x
    dtype_codes[0], ranks[0] = code_of(target.array), rank_of(target)
    for value in operands[:7]:
        x = tensor_of(value)
        dtype_codes[count], ranks[count] = operand_code(x, value), rank_of(x)
        if dtype_codes[count] >= 0:
            count += 1
    return check_cast(common_code(dtype_codes, ranks, count), dtype_codes[0])


cdef object call_in_place(object function, tuple args, dict kwargs):
    """A call with `inplace=`: if it is true, the result is written into the input."""
    cdef bint inplace = kwargs.pop("inplace")
    target = args[0] if args else kwargs.get("input")
    if not inplace or not isinstance(target, Tensor):       # the function raises for these
        return function(*args, **kwargs)
    if not args:
        del kwargs["input"]
    return in_place(f"{function.__name__}_", lambda x: function(x, *args[1:], **kwargs), target, ())


cdef cnp.ndarray source_of(Tensor target, object value, str operation):
    """The array to write for a value (a Tensor, or anything that NumPy accepts as an array). Checks memory and types.

    A single number may be written to elements that share memory. fill_ reads its number first, and so does an assignment that
    broadcasts: the value may then lie in the target.
    """
    cdef cnp.ndarray source
    cdef bint read_first
    if isinstance(value, Tensor):
        source = (<Tensor> value).array
    else:
        if isinstance(value, np.generic):
            value = value.item()
        source = np.asarray(value) if number_code(value) < 0 else fitting(value, code_of(target.array))
        if code_of(source) >= COMPLEX64 and code_of(target.array) < COMPLEX64:
            raise RuntimeError(f"value cannot be converted to type {dtype_of(code_of(target.array))} without overflow")
    if code_of(source) >= COMPLEX64 and code_of(target.array) < COMPLEX64:
        source = real_part(source, code_of(target.array))
    if isinstance(value, Tensor) or operation not in ("fill_", "zero_"):
        read_first = operation == "fill_" or (operation == "__setitem__" and not cnp.PyArray_SAMESHAPE(target.array, source))
        check_memory(target.array, None if read_first else source)
    return source.copy() if may_overlap(target.array, source) else source


cdef cnp.ndarray real_part(cnp.ndarray source, int dtype_code):
    """Complex numbers to be written in that other type: their real parts, or whether they are not 0."""
    if dtype_code == BOOL:
        return np.asarray(source != 0)
    if cnp.PyArray_SIZE(source):
        warn_of_lost_imaginary_part()
    return source.real


cdef int put(Tensor target, object value, str operation) except -1:
    """Write a value into all of the target, unrecorded."""
    write(target, source_of(target, value, operation), None, operation)
    return 0


cdef int write(Tensor target, cnp.ndarray source, Tensor result, str operation) except -1:
    """Write the source. `result` is the operation's recorded result, which has its node already, or None."""
    prepare_write(target.array, operation)
    cdef Change change = change_of(target, result, operation)
    try:
        assign(change, source)
    except ValueError as error:
        raise misfit(target, source, operation, error) from None
    return 0


cdef object misfit(Tensor target, cnp.ndarray source, str operation, object error):
    """The error for a source that NumPy refuses to write: the shape it must have, in the words of expand() or a broadcast."""
    if operation == "__setitem__":
        (<object> new_tensor(source)).expand(shape_of(target))
    else:
        check_fits(target.array, source)
    return RuntimeError(f"{operation}(): {error}")


cdef Tensor overwrite(Tensor target, object value, object node_class, str operation):
    """Write a value into all of the target, and record it as a node of that class if needed."""
    cdef Tensor previous, result
    cdef cnp.ndarray source
    cdef bint beside
    if not is_recorded_write(target, value, operation):
        if thread_state().mode & OP_HOOKS:      # a graph is captured, and the target has integers
            return overwrite_unrecorded(target, value, node_class, operation)
        put(target, value, operation)
        return target
    source = source_of(target, value, operation)
    previous, beside = previous_of(target), current_mode() & LOOKED_AT
    result = filled_like(target, source) if beside else result_of(target)
    if isinstance(value, Tensor):
        node = new_node(node_class, ((<Tensor> value).dtype, target.dtype, shape_of(target), shape_of(value)))
        record_all(node, result, (previous, value))
    else:
        record_all(new_node(node_class, ()), result, (previous,))
    if beside:
        return written(target, previous, result, operation)
    write(target, source, result, operation)
    return target


cdef Tensor overwrite_unrecorded(Tensor target, object value, object node_class, str operation):
    cdef Extent extent = enter_modes(NO_GRAD, 0)
    try:
        return overwrite(target, value, node_class, operation)
    finally:
        leave_modes(extent)


cdef Tensor filled_like(Tensor target, cnp.ndarray source):
    """A new tensor of the target's shape and type, with the values to be written to it."""
    cdef cnp.ndarray array = np.empty(np.shape(target.array), target.array.dtype)
    cnp.PyArray_CopyInto(array, source)
    return new_tensor(array)


cpdef copy_(Tensor self, other, non_blocking=False):
    """copy_(other) -> Tensor: write the elements of `other` (broadcast, converted; or a number) into this tensor."""
    if isinstance(other, (int, float, complex)):
        other = new_tensor(np.asarray(other))
    if not isinstance(other, Tensor):
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(other).__name__}")
    check_fits(self.array, (<Tensor> other).array)
    return overwrite(self, other, CopyBackwards, "copy_")


cpdef fill_(Tensor self, value):
    """fill_(value) -> Tensor: write one number (or 0-d tensor) into all elements."""
    if isinstance(value, Tensor) and (<Tensor> value).array.ndim:
        raise RuntimeError("fill_ only supports 0-dimension value tensor but got tensor with "
                           f"{(<Tensor> value).array.ndim} dimensions.")
    return overwrite(self, value, FillBackward3 if isinstance(value, Tensor) else FillBackward2, "fill_")


def zero_(Tensor self):
    """zero_() -> Tensor: write 0 into all elements."""
    return overwrite(self, 0, ZeroBackward0, "zero_")


inplace_op(copy_, batch=elementwise)
inplace_op(fill_, batch=batched_fill)
inplace_op(zero_, batch=on_values)
