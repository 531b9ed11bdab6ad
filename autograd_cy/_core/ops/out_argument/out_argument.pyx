"""The argument `out=` of public operations: the result is written into a given tensor (knows no operation).

Operations lack the parameter; the step of NOTE [Overrides] comes here when a call with it has failed.
"""

from autograd_cy._core.arrays.buffers cimport check_depth, copy_in_order, sizes_of
from autograd_cy._core.arrays.dtypes cimport check_cast, code_of
from autograd_cy._core.graph.node cimport note_output_sizes
from autograd_cy._core.graph.record cimport has_tangent
from autograd_cy._core.graph.tensor cimport Tensor, count_write, new_tensor, wants_grad
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport (
    FORWARD_AD, NO_GRAD, OP_HOOKS, Extent, check_write, current_mode, enter_modes, leave_modes, thread_state)
from autograd_cy._core.writes.inplace cimport check_memory

from autograd_cy._core.ops.registry import op_of
from autograd_cy._core.runtime.once import warn_user


cdef frozenset MAKES_TENSORS = frozenset((
    "empty eye full linspace logspace ones rand randint randn randperm range tril_indices triu_indices zeros").split())
cdef frozenset COUNTED = frozenset(("arange linspace logspace range").split())  # an `out` of as many elements keeps its shape


cdef object call_into(object function, tuple args, dict kwargs):
    """function(*args, **kwargs) without `out`, copied into `out`, which is returned. Refused if the call would be recorded,
    and for dual tensors."""
    cdef str name = function.__name__, rule
    cdef object out = kwargs.pop("out"), result
    cdef Extent extent
    if out is None:
        return function(*args, **kwargs)
    entry = op_of(function)
    rule = None if entry is None else entry.out
    several = isinstance(out, (tuple, list))
    for x in out if several else (out,):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__} (several results: a tuple of "
                            "Tensors)")
    if current_mode() & FORWARD_AD and any_of(has_tangent, (out, args, tuple(kwargs.values()))):
        raise NotImplementedError(f"Trying to use forward AD with {name}_out that does not support it because it is an out= "
                                  "function")
    if not current_mode() & NO_GRAD and any_of(is_wanted, (out, args, tuple(kwargs.values()))):
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
                           "the arguments requires grad. Call it without out=, or under no_grad().")
    for x in out if several else (out,):
        if (<Tensor> x).inference:
            check_write(True, name)
    if rule == "places" and kwargs.get("as_tuple"):
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    if not several:
        check_overlaps(<Tensor> out, None if entry is None else entry.overlap, args, kwargs)
        kwargs = with_type_of(<Tensor> out, rule, name, args, kwargs)
    extent = enter_modes(NO_GRAD, 0)
    try:
        result = function(*args, **kwargs)
        if isinstance(result, Tensor) and not several:
            check_type(<Tensor> out, <Tensor> result, rule, name, args, kwargs)
            return written_out(<Tensor> out, <Tensor> result, name)
        if not several or not isinstance(result, tuple) or len(out) != len(result) or not are_tensors(result):
            raise TypeError(f"{name}(): out= must have a tensor for each result, this one gives a {type(result).__name__}")
        for number, (x, y) in enumerate(zip(out, result)):
            check_type_of_several(<Tensor> x, <Tensor> y, rule, name, number)
        found = [written_out(<Tensor> x, <Tensor> y, name) for x, y in zip(out, result)]
        return result._make(found) if hasattr(result, "_make") else type(result)(found)
    finally:
        leave_modes(extent)


def into(out, Tensor result, str name):
    """into(out, result, name) -> Tensor: write the result of a creation function into `out`, and return it."""
    check_out(<Tensor?> out, name)
    if name in COUNTED and cnp.PyArray_SIZE((<Tensor> out).array) == cnp.PyArray_SIZE(result.array):
        result = (<object> result).view(out.shape)
    return written_out(<Tensor> out, result, name)


cpdef int check_out(Tensor out, str name) except -1:
    """check_out(out, name): refuse a tensor that a creation function can't write its result into."""
    cdef int mode = current_mode()
    if mode & FORWARD_AD and has_tangent(out) or not mode & NO_GRAD and wants_grad(out):
        raise RuntimeError(f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of "
                           "the arguments requires grad. Call it without out=, or under no_grad().")
    if out.inference:
        check_write(True, name)
    check_memory(out.array, None)
    return 0


cdef Tensor written_out(Tensor out, Tensor result, str name):
    """Write the result into `out`, and return it."""
    check_cast(code_of(result.array), code_of(out.array))
    thread_state().mode &= ~OP_HOOKS            # the copy is not an operation of its own
    if cnp.PyArray_SAMESHAPE(out.array, result.array):
        return <Tensor> (<object> out).copy_(result)
    if cnp.PyArray_SIZE(out.array):
        warn_of_resize(out, result, name)
        return <Tensor> resized(out, (<object> result).shape).copy_(result)
    return take_over(out, result, name)


cdef object resized(Tensor out, object sizes):
    """`out` in other sizes; under no_grad one that requires grad, too, which `resize_` refuses."""
    cdef Tensor alias = out
    if wants_grad(out):
        alias = (<object> out).detach()
    (<object> alias).resize_(sizes)
    if alias is not out:
        if out.grad_fn is not None:
            note_output_sizes(out.grad_fn, out.output_number, sizes_of(out.array))
        out.array = alias.array
    return out


cdef int warn_of_resize(Tensor out, Tensor result, str name) except -1:
    """Warn that a nonempty `out` gets another shape. Functions that make tensors of given sizes are silent."""
    sizes = list((<object> out).shape)
    if name == "arange":
        warn_user(f"The number of elements in the out tensor of shape {sizes} is {cnp.PyArray_SIZE(out.array)} which does not "
                  f"match the computed number of elements {cnp.PyArray_SIZE(result.array)}. Note that this may occur as a "
                  "result of rounding error. The out tensor will be resized to a tensor of shape "
                  f"({cnp.PyArray_SIZE(result.array)},).")
    elif name not in MAKES_TENSORS:
        warn_user(f"An output with one or more elements was resized since it had shape {sizes}, which does not match the "
                  f"required output shape {list((<object> result).shape)}. This behavior is deprecated, and in a future "
                  "PyTorch release outputs will not be resized unless they have zero elements. You can explicitly reuse an "
                  "out tensor t by resizing it, inplace, to zero elements with t.resize_(0).")
    return 0


cdef Tensor take_over(Tensor out, Tensor result, str name):
    """Move the result's memory and shape into an empty `out`: case 7 of NOTE [All or nothing]."""
    cdef Tensor fresh = new_tensor(copy_in_order(result.array, code_of(out.array)))
    (<object> fresh).copy_(result)
    if out.grad_fn is not None:
        note_output_sizes(out.grad_fn, out.output_number, sizes_of(out.array))
    count_write(out, name)
    out.array = fresh.array
    return out


cdef bint are_tensors(object results) except -1:
    for x in results:
        if not isinstance(x, Tensor):           # histogramdd() returns a tuple of edges
            return False
    return True


cdef bint is_wanted(Tensor x) except -1:
    return wants_grad(x)


cdef bint any_of(bint (*question)(Tensor) except -1, object values, int depth=0) except -1:
    """Whether the question is true of any of the tensors, also in tuples and lists."""
    check_depth(depth)
    for value in values:
        if isinstance(value, Tensor):
            if question(<Tensor> value):
                return True
        elif isinstance(value, (tuple, list)) and any_of(question, value, depth + 1):
            return True
    return False
