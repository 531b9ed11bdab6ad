"""Assignment x[...] = y: a write through the view made by the ints and slices of the index, or index_put_ on that view."""

import numpy as np

from autograd_cy._core.arrays.buffers cimport assigned
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, code_of, dtype_of
from autograd_cy._core.graph.memory cimport prepare_write
from autograd_cy._core.graph.record cimport go_on, number_code, pause, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, wants_grad
from autograd_cy._core.ops.overwriting cimport copy_, fill_, put, real_part
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport NO_GRAD, OP_HOOKS, check_write, current_mode, thread_state
from autograd_cy._core.writes.inplace cimport (
    Change, assign, change_of, check_memory, is_view_of_another, may_overlap, refuse_write, touches_graph)

from autograd_cy._core.ops.registry import inplace_op


def set_item(Tensor self, index, value):
    """self[index] = value: indices as in __getitem__; the value is broadcast and converted."""
    cdef bint recorded
    cdef Tensor place
    cdef tuple indices
    if index is False:                      # writes nothing; PyTorch does not look at the value, either
        return
    recorded = touches_graph(self, value) or thread_state().mode & OP_HOOKS != 0
    if not recorded:
        check_write(self.inference, "__setitem__")
    elif is_view_of_another(self) and wants_grad(self) and not current_mode() & NO_GRAD:
        refuse_write(self, "__setitem__")           # refuse here: the place is a view of the base, not of self
    place, indices = place_of_index(self, index, recorded)
    if recorded:
        set_recorded(place, indices, value)
    elif indices:
        write_at(place, indices, value)
    else:
        put(place, value if isinstance(value, Tensor) else array_of(value, code_of(place.array)), "__setitem__")


cdef int set_recorded(Tensor place, tuple indices, object value) except -1:
    cdef Tensor source
    if not isinstance(value, (Tensor, cnp.ndarray, list)) and not indices:
        check_real(place, value)
        fill_(place, new_tensor(array_of(value, code_of(place.array))))
        return 0
    source = source_for(place, value, bool(indices))
    if indices:
        check_places_apart(place, indices, source, False)
    if not cnp.PyArray_SAMESHAPE(source.array, place.array) and may_overlap(place.array, source.array):
        source = (<object> source).clone()          # read the value before it is broadcast
    if indices:
        index_put_(place, indices, source)
    else:
        copy_(place, source)
    return 0


cdef Tensor source_for(Tensor place, object value, bint picked):
    """The value in the form in which it is written; converting it is part of the write."""
    cdef Tensor source = <Tensor> value if isinstance(value, Tensor) else new_tensor(array_of(value, code_of(place.array)))
    cdef int paused = pause()
    try:
        if picked:
            return (<object> source).to(dtype_of(code_of(place.array)))
        source = without_leading_ones(source, cnp.PyArray_NDIM(place.array))
        if not cnp.PyArray_SAMESHAPE(source.array, place.array):
            (<object> new_tensor(source.array)).expand(shape_of(place))     # raises the error for a misfit
        return source
    finally:
        go_on(paused)


cdef Tensor without_leading_ones(Tensor source, int ndim):
    """Drop surplus leading dimensions of size 1: a value may have more dimensions than its target."""
    cdef tuple sizes = np.shape(source.array)
    cdef int surplus = len(sizes) - ndim
    if surplus > 0 and sizes[:surplus] == (1,) * surplus:
        return (<object> source).reshape(sizes[surplus:])
    return source


cdef int check_real(Tensor target, object value) except -1:
    if np.iscomplexobj(value) and code_of(target.array) < COMPLEX64:
        raise RuntimeError(f"value cannot be converted to type {dtype_of(code_of(target.array))} without overflow")
    return 0


cdef cnp.ndarray array_of(object value, int dtype_code):
    """A value that is no Tensor as an array; a number in the target's type, which must hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is int and not -1 << 63 <= value < 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {value}")
    return np.asarray(value) if number_code(value) < 0 else assigned(value, dtype_code)


cdef int write_at(Tensor target, tuple indices, object value) except -1:
    """target[indices] = value, unrecorded, for index tensors."""
    cdef cnp.ndarray source = (<Tensor> value).array if isinstance(value, Tensor) else array_of(value, code_of(target.array))
    cdef tuple places = places_of(target.array, indices)
    cdef Change change
    if code_of(source) >= COMPLEX64 and code_of(target.array) < COMPLEX64:
        if not isinstance(value, Tensor):
            check_real(target, value)
        source = real_part(source, code_of(target.array))
    check_memory(target.array, None)
    check_places_apart(target, indices, value, False)
    if may_overlap(target.array, source):
        source = source.copy()
    source = without_leading(source)
    prepare_write(target.array, "__setitem__")
    change = change_of(target, None, "__setitem__")
    try:
        assign(change, source, places)
    except (ValueError, TypeError, IndexError) as error:
        raise explained(error, target.array, indices, source) from None
    return 0


inplace_op(set_item, methods=("__setitem__",))
