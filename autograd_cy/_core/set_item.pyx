"""What x[...] = y means: a write through the view that the ints and slices of the index make, or index_put_ on it."""

import numpy as np

cimport numpy as cnp

from autograd_cy._core.conversions cimport assigned
from autograd_cy._core.dtypes cimport BOOL, COMPLEX64, code_of, dtype_of
from autograd_cy._core.index cimport place_of_index
from autograd_cy._core.index_put cimport index_put_
from autograd_cy._core.inference cimport check_write
from autograd_cy._core.inplace cimport check_memory, may_overlap, touches_graph
from autograd_cy._core.op_hooks cimport go_on, pause
from autograd_cy._core.operands cimport number_code
from autograd_cy._core.overrides cimport check_depth
from autograd_cy._core.overwriting cimport copy_, fill_, put, write
from autograd_cy._core.state cimport OP_HOOKS, thread_state
from autograd_cy._core.tensor cimport Tensor, extend, link_view, new_tensor

cnp.import_array()


def set_item(Tensor self, index, value):
    """self[index] = value: indices as in __getitem__; the value is broadcast and converted."""
    if touches_graph(self, value) or thread_state().mode & OP_HOOKS:
        set_recorded(self, index, value)
    else:
        set_unrecorded(self, index, value)


cdef int set_recorded(Tensor self, object index, object value) except -1:
    cdef Tensor place, source
    cdef tuple indices
    place, indices = place_of_index(self, index)
    if not isinstance(value, (Tensor, cnp.ndarray, list)) and not indices:
        check_real(place, value)
        fill_(place, new_tensor(array_of(value, code_of(place.array))))
        return 0
    source = source_for(place, value, bool(indices))
    if indices:
        index_put_(place, indices, source)
    else:
        copy_(place, source)
    return 0


cdef Tensor source_for(Tensor place, object value, bint picked):
    """The value as it is written to a place: what is done to it is part of the write."""
    cdef Tensor source = <Tensor> value if isinstance(value, Tensor) else new_tensor(array_of(value, code_of(place.array)))
    cdef int paused = pause()
    try:
        if picked:
            return (<object> source).to(dtype_of(code_of(place.array)))
        return without_leading_ones(source, cnp.PyArray_NDIM(place.array))
    finally:
        go_on(paused)


cdef Tensor without_leading_ones(Tensor source, int ndim):
    """A value may have more dimensions than the place it goes to, if these are of size 1."""
    cdef tuple sizes = np.shape(source.array)
    cdef int surplus = len(sizes) - ndim
    if surplus > 0 and sizes[:surplus] == (1,) * surplus:
        return (<object> source).reshape(sizes[surplus:])
    return source


cdef int set_unrecorded(Tensor self, object index, object value) except -1:
    cdef tuple taken, rest
    cdef Tensor part = self
    check_write(self.inference, "__setitem__")
    taken, rest = split_index(index_arrays(index, 0))
    if taken:
        part = new_tensor(self.array[taken if any([i is Ellipsis for i in taken]) else taken + (Ellipsis,)])
        link_view(self, part)
    if rest:
        put_at(part, rest, value)
    else:
        put(part, value if isinstance(value, Tensor) else array_of(value, code_of(part.array)), "__setitem__")
    return 0


cdef int check_real(Tensor target, object value) except -1:
    if np.iscomplexobj(value) and code_of(target.array) < COMPLEX64:
        raise RuntimeError(f"value cannot be converted to type {dtype_of(code_of(target.array))} without overflow")
    return 0


cdef cnp.ndarray array_of(object value, int code):
    """A value that is no Tensor as an array: a number in the type of what it goes to, which must hold it."""
    if type(value) is int and not -1 << 63 <= value < 1 << 63:
        raise ValueError(f"Overflow when unpacking long long: {value}")
    return np.asarray(value) if number_code(value) < 0 else assigned(value, code)


cdef int put_at(Tensor target, tuple index, object value) except -1:
    """target[index] = value, for arrays of numbers or masks."""
    cdef cnp.ndarray source = (<Tensor> value).array if isinstance(value, Tensor) else array_of(value, code_of(target.array))
    if code_of(source) >= COMPLEX64 and code_of(target.array) < COMPLEX64:
        if not isinstance(value, Tensor):
            check_real(target, value)
        source = source.real if code_of(target.array) != BOOL else np.asarray(source != 0)
    check_memory(target.array, source)
    if may_overlap(target.array, source):
        source = source.copy()
    write(target, source, None, "__setitem__", index)
    return 0


cdef tuple split_index(object index):
    """An index as two: first what is taken by numbers and slices, then the arrays on what is left.

    NumPy counts numbers among the arrays, and puts the arrays' dimensions first if a slice stands between; here, as in
    PyTorch, numbers select on their own.
    """
    cdef list taken = [], rest = []
    for item in index if isinstance(index, tuple) else (index,):
        if isinstance(item, list):
            item = np.asarray(item) if item else np.empty(0, np.int64)
        if isinstance(item, np.ndarray) and item.dtype == np.uint8:
            item = item.astype(bool)
        if isinstance(item, bool):
            item = np.asarray(item)
        if isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype != bool:
            item = int(item)
        if isinstance(item, np.ndarray):
            taken += [slice(None)] * (item.ndim if item.dtype == bool else 1)
            rest.append(item)
            continue
        if isinstance(item, slice) and item.step is not None and int(item.step) < 1:
            raise ValueError("step must be greater than zero")
        taken.append(item)
        if item is Ellipsis:
            rest.append(Ellipsis)
        elif item is None or isinstance(item, slice):
            rest.append(slice(None))
    return tuple(taken), tuple(rest)


cdef object index_arrays(object index, int depth):
    """An index with its Tensors replaced by their arrays."""
    if isinstance(index, Tensor):
        return (<Tensor> index).array
    check_depth(depth)
    if isinstance(index, tuple):
        return tuple([index_arrays(i, depth + 1) for i in index])
    if isinstance(index, list):
        return [index_arrays(i, depth + 1) for i in index]
    return index


extend("__setitem__", set_item)
