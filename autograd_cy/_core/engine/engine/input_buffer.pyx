"""Summing the gradients that arrive at a node, and adding them to a leaf's `.grad`.

NOTE [Gradient ownership]
Memory may be written in place if no other code can see it. A gradient travels as a bare array (under create_graph as a
Tensor), and the code that handles it holds exactly one reference. So the gradient is ours if that is its only reference and
it is dense, writable and not a view (`is_owned`), or (except in case 6) a dense view that covers such an array (`is_ours`).
A saved tensor, a user's seed, a hooked, retained or captured gradient, and two inputs with the same array all hold further
references. Therefore:
  1. The first gradient that arrives is kept as it is.
  2. A second one is added in place to the first if that is ours, else into the second if that is ours and both are in C
     order. Otherwise the sum is a new array. So the layout of the sum doesn't depend on other references.
  3. If the first is large, the node is asked to add the second one itself, block by block in the cache (a `Request` with
     an addend): to the first if that is ours, else over its own incoming gradient by case 4 if the shapes agree (not for a
     reduction), else into a new array. The bits are those of two steps, except that adding to a part of the sum leaves a -0.0
     elsewhere unchanged, whether it is added in place or to a copy.
  4. An elementwise backward may overwrite its incoming gradient, if that is ours, for the last of its inputs.
  5. Unless the graph is retained, it may also overwrite a large saved array without other references that no later input's
     gradient reads. The node gives the array up first, so that the overwritten values are never read (`take`). cross_entropy
     does the same with its scores.
  6. A leaf without `.grad` takes over an owned array and copies any other.
  7. A leaf's `.grad` is added to in place: the Tensor stays the same and its version increases. This doesn't apply if its
     memory is read-only, unaligned or has overlapping elements. The GIL (without one, the leaf's lock) is held meanwhile,
     because another thread may add to it, too.
  8. As in case 3, a node adds a gradient to a large `.grad` itself if it is the leaf's only gradient in this backward and
     the last one that the node computes (so it can't fail later), no hook or capture needs it separately, and `.grad` shares
     no memory with operands of the node except element by element.
  9. Under create_graph nothing is written in place: the sums are operations themselves. While NaNs are searched, cases 3, 4,
     5 and 8 don't apply: each gradient is checked separately, and handling a NaN reads the incoming gradient and the saved
     tensors.
 10. A sparse gradient (NOTE [Sparse tensors]) is a Tensor, and sums with it are operations. A leaf without `.grad` takes a
     copy of it; it is added in place to a `.grad` that is sparse or dense. A dense gradient and a sparse `.grad` make a new
     dense one.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

import numpy as np

from autograd_cy._core.arrays.buffers cimport (
    confirm_rows, copy_in_order, expect_rows, forget_rows, is_large, is_ours, is_owned, repeats_places, spans_meet)
from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of
from autograd_cy._core.graph.memory cimport is_sparse
cimport autograd_cy._core.graph.node as node_module
from autograd_cy._core.graph.node cimport Node, Request, Scratch
from autograd_cy._core.graph.tensor cimport ANY_TYPE, Tensor, bump_version, new_tensor
from autograd_cy._core.kernels.loops cimport add_into, adding_kernel, copied, evaluate
from autograd_cy._core.recording.events cimport ENGINE, Span, begin_named, end, recorders_on
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, hold, let_go
from autograd_cy._core.runtime.state cimport ANY_LAYOUT, NO_GRAD, check_write, current_mode, thread_state


cdef int add_gradient(Scratch *scratch, Node node, int output, object g, bint recorded) except -1:
    """Add a gradient for one output of a node to the sum of those that have arrived."""
    cdef list several
    if node.n_outputs > 1:
        if scratch.buffer == NULL:
            several = [None] * node.n_outputs
            Py_INCREF(several)
            scratch.buffer = <PyObject *> several
        several = <list> scratch.buffer
        if several[output] is None:
            several[output] = g
        else:
            several[output] = sum_of_any(several[output], g, recorded)
        return 0
    if scratch.buffer == NULL:
        Py_INCREF(g)
        scratch.buffer = <PyObject *> g
        return 0
    return add_second(scratch, g, recorded) if not recorders_on() else add_as_event(scratch, g, recorded)


cdef int add_as_event(Scratch *scratch, object g, bint recorded) except -1:
    cdef Span span = begin_named(ENGINE, "sum gradients")
    add_second(scratch, g, recorded)
    end(span)
    return 0


cdef int add_second(Scratch *scratch, object g, bint recorded) except -1:
    """Cases 2 and 9 of NOTE [Gradient ownership]; the caller holds one reference to `g`."""
    cdef object total
    if recorded or isinstance(g, Tensor) or isinstance(<object> scratch.buffer, Tensor):
        total = sum_of_any(<object> scratch.buffer, g, recorded)
    elif is_ours(scratch.buffer):
        add_into(<cnp.ndarray> scratch.buffer, <cnp.ndarray> g)
        return 0
    elif (is_ours(<PyObject *> g) and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray> g)
          and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray> scratch.buffer)):
        add_into(<cnp.ndarray> g, <cnp.ndarray> scratch.buffer)
        total = g
    else:
        total = sum_of(<cnp.ndarray> scratch.buffer, <cnp.ndarray> g)
    return replace_buffer(scratch, total)


cdef object sum_of_any(object a, object b, bint recorded):
    """The sum of two gradients. They are Tensors if recorded, or if one is batched (case 8 of NOTE [Batching]) or sparse."""
    if recorded:
        return a + b
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return plain(
            (a if isinstance(a, Tensor) else new_tensor(<cnp.ndarray> a))
            + (b if isinstance(b, Tensor) else new_tensor(<cnp.ndarray> b)))
    return sum_of(<cnp.ndarray> a, <cnp.ndarray> b)


cdef object plain(Tensor total):
    """The array of a sum if that is dense and not batched, else the sum itself."""
    return total if total.batched or is_sparse(total) else total.array


cdef int replace_buffer(Scratch *scratch, object total) except -1:
    cdef PyObject *before = scratch.buffer
    Py_INCREF(total)
    scratch.buffer = <PyObject *> total
    Py_DECREF(<object> before)
    return 0


cdef object vjp_into_buffer(Scratch *scratch, Node node, int i, object g, Request *request):
    """The gradient for input `i`; None if there is none, or if the node added it to the buffer (case 3)."""
    cdef PyObject *total = scratch.buffer
    cdef object result
    if (type(<object> total) is cnp.ndarray and is_large(<cnp.ndarray> total)
            and cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray> total)):
        request.addend = total
        request.is_ours = is_ours(total)
    result = node.vjp_array(g, i, request)
    if not request.added:
        return result
    if <PyObject *> result != total:
        replace_buffer(scratch, result)
    return None


cdef cnp.ndarray sum_of(cnp.ndarray a, cnp.ndarray b, bint keep_gil=False):
    cdef PyObject *operands[2]
    operands[0] = <PyObject *> a
    operands[1] = <PyObject *> b
    return evaluate(adding_kernel(code_of(a)), operands, 2, code_of(a), None, keep_gil)


cdef int accumulate(Tensor leaf, object g, bint recorded) except -1:
    """Add a gradient, to which the caller holds one reference, to the leaf's `.grad`: cases 6, 7, 9 and 10."""
    cdef Hold section
    if not FREE_THREADED:
        return accumulate_held(leaf, g, recorded)
    hold(&section, <PyObject *> leaf)
    try:
        return accumulate_held(leaf, g, recorded)
    finally:
        let_go(&section)


cdef inline int accumulate_held(Tensor leaf, object g, bint recorded) except -1:
    """`accumulate`, with the leaf's lock held."""
    cdef bint ours = not recorded and is_owned(<PyObject *> g)
    cdef cnp.ndarray array = (<Tensor> g).array if recorded or is_sparse(g) else <cnp.ndarray> g
    cdef Tensor first
    if is_closed(leaf):
        return 0
    check_shape(leaf, array)
    if recorded:
        accumulate_recorded(leaf, <Tensor> g)
        return 0
    if is_sparse(g) or is_sparse(leaf.gradient):
        accumulate_sparse(leaf, g if is_sparse(g) else new_tensor(array))
        return 0
    if leaf.gradient is not None:
        check_write(leaf.gradient.inference, "AccumulateGrad")
    else:
        if takes_any_layout(leaf):
            first = new_tensor(array if ours else copied(array))
        else:
            first = new_tensor(rearranged(array, leaf.array))
        if leaf.gradient is None:           # another thread may have set it during the copy
            leaf.gradient = first
            return 0
    return add_to_grad(leaf, array, ours)


cdef int accumulate_sparse(Tensor leaf, Tensor g) except -1:
    """Case 10 of NOTE [Gradient ownership]: the gradient or the leaf's `.grad` is sparse."""
    cdef Tensor before = leaf.gradient
    if before is None:
        leaf.gradient = (<object> g).clone()
    elif is_sparse(before) and not is_sparse(g):
        leaf.gradient = g + before
    else:
        check_grad_shape(leaf, g.array)
        check_write(before.inference, "AccumulateGrad")
        (<object> before).add_(g)
    return 0


cdef int check_shape(Tensor leaf, cnp.ndarray array) except -1:
    if not cnp.PyArray_SAMESHAPE(array, leaf.array):
        raise RuntimeError(f"AccumulateGrad got a gradient of shape {list(new_tensor(array).shape)} for a leaf of shape "
                           f"{list(leaf.shape)}")
    return 0


cdef int check_grad_shape(Tensor leaf, cnp.ndarray array) except -1:
    if not cnp.PyArray_SAMESHAPE(leaf.gradient.array, array):
        raise RuntimeError(f"the leaf's .grad was given another shape: output with shape {list(leaf.gradient.shape)} doesn't "
                           f"match the broadcast shape {list(leaf.shape)} of the gradient that is to be added")
    return 0


cdef int check_accumulate(Tensor leaf, object g, bint recorded) except -1:
    """Raise the errors of `accumulate`, but change nothing."""
    cdef cnp.ndarray array = (<Tensor> g).array if recorded or is_sparse(g) else <cnp.ndarray> g
    if is_closed(leaf):
        return 0
    check_shape(leaf, array)
    if leaf.gradient is not None and not recorded:
        check_grad_shape(leaf, array)
        check_write(leaf.gradient.inference, "AccumulateGrad")
    return 0


cdef object as_leaf_asks(Tensor leaf, object g, bint recorded):
    """The gradient in the leaf's `grad_dtype`; if any dtype is allowed, in the dtype of an existing `.grad`."""
    cdef int own, dtype_code = leaf.extras.grad_code - 1
    cdef Hold section
    if dtype_code < 0:
        return g
    own = code_of((<Tensor> g).array if recorded else <cnp.ndarray> g)
    if dtype_code == ANY_TYPE - 1:
        hold(&section, <PyObject *> leaf)
        dtype_code = own if leaf.gradient is None else code_of(leaf.gradient.array)
        let_go(&section)
    if dtype_code == own:
        return g
    return (<Tensor> g).to(dtype_of(dtype_code)) if recorded else copy_in_order(<cnp.ndarray> g, dtype_code)


cdef inline bint is_closed(Tensor leaf) except -1:
    """Whether a leaf was frozen after it was used, so that it takes no gradient; raises if it is no leaf any more."""
    if leaf.grad_fn is not None:
        raise RuntimeError("leaf variable has been moved into the graph interior: it was used while it required grad, then "
                           f"frozen, and written to by {leaf.grad_fn.name()}. Write to a clone() of it.")
    return not leaf.needs_grad


cdef int add_to_grad(Tensor leaf, cnp.ndarray array, bint ours) except -1:
    """Case 7. The user may have set a `.grad` with any memory, including the gradient's own."""
    cdef cnp.ndarray memory
    check_grad_shape(leaf, array)
    if not ours and spans_meet(leaf.gradient.array, array):
        array = copied(array)
    memory = leaf.gradient.array            # another thread may have replaced it during the copy
    if code_of(memory) != code_of(array):   # the leaf's data has another dtype by now
        array = copy_in_order(array, code_of(memory))
    if takes_sums(memory):
        forget_rows(memory)
        bump_version(leaf.gradient)
        add_into(memory, array)
    else:
        leaf.gradient = new_tensor(sum_of(memory, array, True))
    return 0


cdef bint takes_sums(cnp.ndarray memory) noexcept:
    """Whether a `.grad` can be added to in place."""
    return cnp.PyArray_ISBEHAVED(memory) and not repeats_places(memory)


cdef object vjp_into_grad(Tensor leaf, Node node, int i, object g, Request *request):
    """The gradient for input `i`; None if there is none, or if the node added it to the leaf's `.grad` (case 8)."""
    cdef Hold section
    if not FREE_THREADED:
        return vjp_into_held(leaf, node, i, g, request)
    hold(&section, <PyObject *> leaf)
    try:
        return vjp_into_held(leaf, node, i, g, request)
    finally:
        let_go(&section)


cdef inline object vjp_into_held(Tensor leaf, Node node, int i, object g, Request *request):
    """`vjp_into_grad`, with the leaf's lock held."""
    cdef Tensor total = leaf.gradient
    cdef object result
    if (total is not None and is_large(total.array) and not is_closed(leaf) and not total.inference
            and cnp.PyArray_ISCARRAY(total.array)
            and code_of(total.array) == code_of(leaf.array) and cnp.PyArray_SAMESHAPE(total.array, leaf.array)):
        total.version_counter()             # before memory is written
        forget_rows(total.array)
        request.addend = <PyObject *> total.array
        request.is_ours = True
    expect_rows()
    result = node.vjp_array(g, i, request)
    if not request.added:
        if type(result) is cnp.ndarray:
            confirm_rows(result)
        return result
    bump_version(total)
    return None


cdef bint takes_any_layout(Tensor leaf) noexcept:
    """Whether a new `.grad` may be in C order: if the leaf is, or under enforce_grad_layout_policy(False)."""
    return cnp.PyArray_IS_C_CONTIGUOUS(leaf.array) or thread_state().mode & ANY_LAYOUT


cdef cnp.ndarray rearranged(cnp.ndarray array, cnp.ndarray leaf):
    """A copy with the leaf's strides."""
    copy = empty_like(leaf)
    copy[...] = array
    return copy


cdef cnp.ndarray empty_like(cnp.ndarray leaf):
    """Memory with the leaf's strides; in C order if the leaf has gaps between its elements."""
    cdef cnp.ndarray memory = np.empty_like(leaf)
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(leaf)):
        if cnp.PyArray_DIM(leaf, axis) > 1 and cnp.PyArray_STRIDE(memory, axis) != cnp.PyArray_STRIDE(leaf, axis):
            return np.empty_like(leaf, order="C")
    return memory


cdef int accumulate_recorded(Tensor leaf, Tensor g) except -1:
    """Case 9: repeat if another thread changes the leaf's `.grad` meanwhile. In a dual level alone it is case 7."""
    cdef Tensor before, after
    while True:
        before = leaf.gradient
        if before is not None:
            forget_rows(before.array)
        if before is not None and current_mode() & NO_GRAD and takes_sums(before.array):
            (<object> before).add_(g)
            return 0
        after = first_recorded(leaf, g) if before is None else before + g
        if leaf.gradient is before:
            leaf.gradient = after
            return 0


cdef Tensor first_recorded(Tensor leaf, Tensor g):
    """A recorded copy of the gradient, in the leaf's memory order if that is dense, else in C order."""
    cdef cnp.ndarray memory = None if is_sparse(g) else (
        np.empty_like(leaf.array, order="C") if thread_state().mode & ANY_LAYOUT else empty_like(leaf.array))
    cdef Tensor copy
    if memory is None:
        return g.clone()
    if not cnp.PyArray_IS_C_CONTIGUOUS(memory) or cnp.PyArray_IS_C_CONTIGUOUS(leaf.array):
        copy = new_tensor(memory)
        return (<object> copy).copy_(g)
    return g.clone() if cnp.PyArray_IS_C_CONTIGUOUS(g.array) else (<object> g).contiguous()


node_module.accumulate = accumulate
