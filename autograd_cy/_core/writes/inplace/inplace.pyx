"""Writing into a tensor's memory.

NOTE [In place]
  1. A write increments the version of the tensor and of all tensors that share its memory. A node that saved one of them
     detects that when it unpacks, see NOTE [Saved tensors].
  2. A recorded write is an operation whose first input is the tensor as it was (`previous_of`: the same memory at the old
     place in the graph). Its node becomes the tensor's (`Change`).
  3. If the tensor is a view, the node becomes part of a CopySlices, which becomes the node of the base. Views renew their
     nodes on demand: NOTE [Views].
  4. A leaf that requires grad, or a view of one, can't get a node, because its gradient belongs to the leaf itself. The write
     is refused in grad mode.
  5. Types, shapes and overlaps are checked first: a refused or failed write leaves memory, version and graph as they were,
     see NOTE [All or nothing].
  6. A rule that reads the result reads the tensor itself after the write, so a later write makes it stale.
  7. If a gradient needs the tensor's old values, the operation saves a copy, made before the write (`keep_copy`).
  8. Hooks stay with the node that the tensor had when they were registered. A retained gradient is the one of the
     tensor's latest node.
"""

import numpy as np

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport (
    check_depth, copy_in_order, dense_copy, lies_inside, overlaps_in_part, region_of, repeats_places, share_memory, spans_meet)
from autograd_cy._core.arrays.dtypes cimport check_cast, code_of, dtype, dtype_of, is_differentiable
from autograd_cy._core.graph.context cimport DualLevels, Tangent, is_visible, see_again, see_up_to, visible_levels
from autograd_cy._core.graph.memory cimport VersionCounter, prepare_write
from autograd_cy._core.graph.node cimport Node, save_elsewhere
from autograd_cy._core.graph.record cimport (
    as_type, broadcast_sizes, go_on, has_tangent, pause, set_tangent, tangent_of, tangents_now)
from autograd_cy._core.graph.tensor cimport (
    IN_GRAD_MODE, Tensor, count_write, extras_of_tensor, make_current, new_tensor, share_version, version_of, wants_grad)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, GUARDED, NO_GRAD, OP_HOOKS, SAVED_HOOKS, check_write, current_mode

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *op)

cdef enum:
    HELD = 1        # references to the previous tensor that the caller of `written` has


# which writes are recorded or refused

cdef bint is_recorded_write(Tensor target, object source, str operation) except -1:
    """Whether a write of `source` (Tensor, sequence of them, anything else) needs a node; raises if it can't have one."""
    cdef int mode = current_mode()
    if target.inference:
        check_write(True, operation)
    if touches_gradients(mode, target, source):
        if is_differentiable(code_of(target.array)):
            refuse_write(target, operation)
    elif not touches_tangents(mode, target, source):
        return mode & OP_HOOKS != 0                     # not recorded, but hooks see it
    return is_differentiable(code_of(target.array))


cdef bint touches_graph(Tensor target, object source) except -1:
    """Whether a write concerns gradients or tangents."""
    cdef int mode = current_mode()
    return touches_gradients(mode, target, source) or touches_tangents(mode, target, source)


cdef inline bint touches_gradients(int mode, Tensor target, object source) except -1:
    return not mode & NO_GRAD and (wants_grad(target) or (source is not None and any_of(source, False, 0)))


cdef inline bint touches_tangents(int mode, Tensor target, object source) except -1:
    return mode & FORWARD_AD and (has_tangent(target) or any_of(source, True, 0))


cdef bint any_of(object source, bint tangents, int depth) except -1:
    """Whether a source requires grad, or has a tangent (`tangents`)."""
    if isinstance(source, Tensor):
        return has_tangent(<Tensor> source) if tangents else wants_grad(<Tensor> source)
    if isinstance(source, (list, tuple)):
        check_depth(depth)
        for item in source:
            if any_of(item, tangents, depth + 1):
                return True
    return False


cdef int refuse_write(Tensor target, str operation) except -1:
    """Raise for a tensor that can't get a new place in the graph: case 4, and case 4 of NOTE [Views]."""
    cdef Tensor base
    if is_view_of_another(target):
        base = target.extras.base
        if target.extras.creation != IN_GRAD_MODE:
            raise refusal(target, False)
        if base.grad_fn is None and (base.needs_grad or target.needs_grad):     # or a leaf whose base was frozen
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation. "
                               f"({operation}(): write under no_grad(), or to a clone() of the leaf)")
        if not lies_inside(base.array, target.array):
            region_of(base.array, target.array)
        make_current(target)
    if target.needs_grad and target.grad_fn is None:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation. "
                           f"({operation}(): write under no_grad(), or to a clone() of it)")
    return 0


def count_writes(tuple tensors):
    """Count a write to the memory of each tensor, for writes that the core did not make."""
    for x in tensors:
        count_write(<Tensor?> x, "increment_version")


def set_versions(tuple tensors, tuple versions):
    """Set the number of writes to the memory of each tensor."""
    cdef VersionCounter counter
    for x, version in zip(tensors, versions):
        counter = (<Tensor?> x).version_counter()
        counter.version = counter.whole = version
        counter.latest = None


# how it enters the graph

cdef Tensor previous_of(Tensor target):
    """An alias of the tensor before a write: the same memory, version counter and place in the graph, but no view."""
    cdef Tensor previous = result_of(target)
    cdef Tangent tangents
    if not current_mode() & NO_GRAD:                    # else its place is never read
        make_current(target)
    if target.grad_fn is not None:
        previous.grad_fn, previous.output_number, previous.needs_grad = target.grad_fn, target.output_number, True
    if current_mode() & (SAVED_HOOKS | GUARDED):       # saved tensors go to hooks, or are locked
        keep_copy(previous)
    if current_mode() & FORWARD_AD:
        tangents = tangents_now(target)
        if tangents is not None:
            if not current_mode() & (NO_GRAD | SAVED_HOOKS | GUARDED):      # tangent rules save an alias: primals.pyx
                keep_copy(previous)
            extras_of_tensor(previous).tangents = tangents
            previous.extras.tangent_version = version_of(previous)
    return previous


cdef int keep_copy(Tensor previous) except -1:
    """Give the tensor from `previous_of` its own memory: case 7."""
    cdef long version = version_of(previous)
    previous.array = dense_copy(previous.array)
    previous.counter = None
    previous.version_counter().version = version
    return 0


cdef Tensor result_of(Tensor target):
    """A tensor on the same memory: the write's placeholder result until it is done."""
    cdef Tensor result = new_tensor(target.array)
    share_version(target, result)
    return result


cdef Tensor written(Tensor target, Tensor previous, Tensor y, str operation):
    """Write `y`, the recorded result of an operation on `previous_of(target)`, into the target, which takes y's place."""
    cdef Tensor converted
    cdef Node node = y.grad_fn
    cdef Change change
    cdef int own = code_of(target.array)
    check_cast(code_of(y.array), own)
    if not cnp.PyArray_SAMESHAPE(y.array, target.array):
        raise RuntimeError(f"output with shape {list(np.shape(target.array))} doesn't match the broadcast shape "
                           f"{list(np.shape(y.array))} ({operation}(): an in-place operation can't change the shape)")
    check_memory(target.array, None)
    converted = y if code_of(y.array) == own else as_written(y, own)
    if previous is not target and Py_REFCNT(<PyObject *> previous) > HELD:       # a node saved it
        keep_copy(previous)
    prepare_write(target.array, operation)
    change = change_of(target, converted, operation)
    assign(change, converted.array)
    if node is not None:
        save_elsewhere(node, y.array, target)           # case 6
    return target


cdef Tensor as_written(Tensor y, int dtype_code):
    """The result in the target's dtype, with the same node, which computes its gradients in the wider dtype: case 3."""
    cdef Tensor converted = new_tensor(copy_in_order(y.array, dtype_code))
    if y.grad_fn is not None:
        y.grad_fn.wide = code_of(y.array)
        converted.grad_fn, converted.output_number, converted.needs_grad = y.grad_fn, y.output_number, True
    if current_mode() & FORWARD_AD:
        convert_tangents(y, converted)
    return converted


cdef int convert_tangents(Tensor y, Tensor converted) except -1:
    """Give `converted` the tangents of `y`, in its own dtype."""
    cdef DualLevels levels = visible_levels()
    cdef Tensor t
    cdef int k
    try:
        for k in range(levels.depth):
            if is_visible(levels, k):
                see_up_to(levels, k + 1)
                t = tangent_of(y)
                if t is not None:
                    set_tangent(converted, as_part(t, dtype_of(code_of(converted.array))))
    finally:
        see_again(levels)
    return 0


cdef Tensor as_part(Tensor t, dtype wanted):
    """A tangent in another dtype, invisible to operation hooks."""
    cdef int paused = pause()
    try:
        return <Tensor> as_type(t, wanted)
    finally:
        go_on(paused)


# checks

def shares_elements(cnp.ndarray array):
    """shares_elements(array) -> bool: whether the memory of two elements overlaps."""
    return is_crowded(array)


cdef bint is_crowded(cnp.ndarray array) except -1:
    """Whether the memory of two elements overlaps."""
    cdef object places
    cdef int axis
    if not repeats_places(array):
        return False
    places = np.zeros((), np.intp)
    for axis in range(cnp.PyArray_NDIM(array)):
        places = np.add.outer(places, np.arange(cnp.PyArray_DIM(array, axis)) * cnp.PyArray_STRIDE(array, axis))
    places = np.sort(places, axis=None)
    return bool((places[1:] - places[:-1] < cnp.PyArray_ITEMSIZE(array)).any())


cdef int check_memory(cnp.ndarray target, cnp.ndarray source) except -1:
    """Refuse a target whose elements share memory, and a source that partly overlaps the target."""
    if cnp.PyArray_SIZE(target) == 0:
        return 0
    if is_crowded(target):
        raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a single "
                           "memory location. Please clone() the tensor before performing the operation.")
    if source is not None and overlaps_in_part(target, source):
        raise overlap()
    return 0


cdef int check_apart(Tensor target, tuple operands) except -1:
    """Refuse Tensors among the operands that share memory with the target, even element for element: the operation reads them
    in another order than it writes.
    """
    for x in operands:
        if isinstance(x, Tensor) and not (<Tensor> x).batched and share_memory(target.array, (<Tensor> x).array):
            raise overlap()
    return 0


cdef object overlap():
    return RuntimeError("unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                        "memory location. Please clone() the tensor before performing the operation.")


cdef int check_fits(cnp.ndarray target, cnp.ndarray source) except -1:
    """Check that the source broadcasts to exactly the target's shape."""
    cdef tuple shape, common
    if cnp.PyArray_NDIM(source) == 0 or cnp.PyArray_SAMESHAPE(target, source):
        return 0
    shape = np.shape(target)
    common = broadcast_sizes(shape, np.shape(source))
    if common != shape:
        raise RuntimeError(f"output with shape {list(shape)} doesn't match the broadcast shape {list(common)}")
    return 0


cdef bint may_overlap(cnp.ndarray target, cnp.ndarray source) noexcept:
    """Whether writing the target could change source elements that are not read yet."""
    return (cnp.PyArray_NDIM(source) > 0 or cnp.PyArray_NDIM(target) > 0) and spans_meet(target, source)
