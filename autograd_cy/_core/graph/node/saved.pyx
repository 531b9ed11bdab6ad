"""The inputs and outputs that a node saves.

NOTE [Saved tensors]
  1. An input is kept by reference, with its version at that time.
  2. For an output only the array is kept, in slot 2, with the version and the counter: the Tensor would close a cycle
     Tensor -> grad_fn -> Tensor for each exp and tanh. Its Tensor is rebuilt on demand.
  3. Unpacking checks that the saved tensor was neither released nor written since.
  4. Extra state of one saved tensor (hooks, a guard, a handle that a user holds) is kept in a SavedTensor in the slot. Hooks
     and guards are applied last, when the node is recorded: `seal_slots`.
  5. For an output a pack hook receives a temporary Tensor, which is detached after the hook has returned: a hook that keeps
     it closes no cycle. For a packed input the node keeps its place in the graph, not its data.
  6. A changed version is harmless if all writes since then went through views that share no element with the saved
     tensor. The counter remembers the targets of the last few (`count_write`).
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport is_owned, sizes_of
from autograd_cy._core.graph.context cimport (
    DualLevels, dual_level, is_visible, see_again, see_up_to, visible_levels, with_tangent)
from autograd_cy._core.graph.memory cimport VersionCounter, was_touched
from autograd_cy._core.graph.tensor cimport (
    Seldom, Tensor, TensorExtras, extras_of_tensor, has_extras, new_tensor, type_name, version_of)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport is_unique, load_long
from autograd_cy._core.runtime.state cimport (
    ANOMALY, DEBUG, FORWARD_AD, NO_GRAD, OP_HOOKS, current_mode, described, save_error, thread_state)


cdef int save_input(Node node, int slot, Tensor tensor) except -1:
    if tensor.inference and not current_mode() & (NO_GRAD | OP_HOOKS):
        raise save_error(node)
    node.saves = True
    node.versions[slot] = version_of(tensor)
    return fill_slot(node, slot, INPUT, tensor)


cdef int save_number(Node node, int slot, Tensor number) except -1:
    """Keep a number as a 0-d tensor, so that users can read it; no backward releases it."""
    return fill_slot(node, slot, INPUT, number)


cdef int save_output(Node node, Tensor tensor) except -1:
    node.saves = True
    node.counter = tensor.version_counter()
    node.versions[OUTPUT_SLOT] = load_long(&node.counter.version)
    return fill_slot(node, OUTPUT_SLOT, OUTPUT, tensor.array)


cdef int save_elsewhere(Node node, cnp.ndarray before, Tensor tensor) except -1:
    """Replace a saved output, if it is the array `before`, by the tensor that it was copied to."""
    return save_output(node, tensor) if node.saved2 is before else 0


cdef object slot_value(Node node, int slot):
    return node.saved0 if slot == 0 else node.saved1 if slot == 1 else node.saved2


cdef int fill_slot(Node node, int slot, SlotKind kind, object value) except -1:
    node.kinds[slot] = kind
    if slot == 0:
        node.saved0 = value
    elif slot == 1:
        node.saved1 = value
    else:
        node.saved2 = value
    return 0


cdef object unpack(Node node, int slot):
    """The saved Tensor of a slot; an output is rebuilt with its place in the graph."""
    cdef object value = slot_value(node, slot)
    cdef int kind = node.kinds[slot]
    cdef Tensor output
    if kind == INPUT:
        check(node, <Tensor> value, slot)
    elif kind == OUTPUT:
        output = new_tensor(<cnp.ndarray> value)
        output.counter = node.counter
        give_place(node, output, 0)
        check(node, output, slot)
        give_tangent(node, output)
        return output
    elif kind == HANDLE:
        return (<SavedTensor> value).restored(node)
    elif node.released:
        raise freed_error(node)
    return value


cdef int give_place(Node node, Tensor output, int number) except -1:
    """Make a rebuilt output the output of `node`, or the part of a base that it was written into."""
    if not node.n_edges:                        # the node exists only for its jvp
        return 0
    if has_node_extras(node) and (<NodeExtras> node.extras).outer is not None:
        outer = (<NodeExtras> node.extras).outer()
        return 0 if outer is None else (<Node> outer).take_in(output)
    output.grad_fn, output.output_number, output.needs_grad = node, number, True
    return 0


cdef int keep_tangents(Node node, tuple tangents, long long level) except -1:
    """Keep the inputs' tangents on a node that saved its output: forward mode over its backward needs the output's tangent.

    That is recomputed from them. Keeping it directly would close a cycle, as keeping the output would.
    """
    cdef NodeExtras extras
    if node.saves:
        extras = extras_of(node)
        extras.tangents = {**(extras.tangents or {}), level: tangents}
    return 0


cdef int give_tangent(Node node, Tensor output) except -1:
    """Give a rebuilt output its tangents, if forward mode is on."""
    cdef dict kept = (<NodeExtras> node.extras).tangents if has_node_extras(node) else None
    cdef DualLevels levels
    cdef TensorExtras own
    cdef long long level
    cdef int k
    if kept is None or not current_mode() & FORWARD_AD:
        return 0
    levels = visible_levels()
    own = extras_of_tensor(output)
    outputs = tuple([output if i == output.output_number else None for i in range(node.n_outputs)])
    try:
        for k in range(levels.depth):
            see_up_to(levels, k + 1)
            level = dual_level()
            if is_visible(levels, k) and level in kept:
                see_up_to(levels, k)
                result = tangents_of(node, kept[level], outputs)
                own.tangents = with_tangent(own.tangents, level, result[output.output_number])
    finally:
        see_again(levels)
    return 0


cdef cnp.ndarray saved_array(Node node, int slot):
    """The array of a slot: `unpack` without making a Tensor."""
    cdef object value = slot_value(node, slot)
    cdef int kind = node.kinds[slot]
    if kind == OUTPUT:
        if load_long(&node.counter.version) != node.versions[slot]:
            unpack(node, slot)
        return <cnp.ndarray> value
    if kind == NOTHING:
        raise freed_error(node)
    if kind == HANDLE:
        return (<Tensor> (<SavedTensor> value).restored(node)).array
    if (<Tensor> value).counter is not None:
        check(node, <Tensor> value, slot)
    return (<Tensor> value).array


cdef bint take(Node node, int slot, PyObject *array) except -1:
    """Take an array, to which the caller has one reference, out of a slot; whether its memory is now the caller's alone.

    For a backward that releases saved tensors. If the array is referred to elsewhere or not in the slot, nothing changes.
    """
    cdef PyObject *value = <PyObject *> node.saved0 if slot == 0 else <PyObject *> node.saved1
    cdef PyObject *held
    if slot == OUTPUT_SLOT:
        value = <PyObject *> node.saved2
    held = value
    if node.kinds[slot] == INPUT:
        held = <PyObject *> (<Tensor> value).array
        if <void *> Py_TYPE(value) != <void *> Tensor or not is_unique(value):
            return False
    elif node.kinds[slot] != OUTPUT:
        return False
    if held != array:
        return False
    Py_DECREF(<object> array)           # now the slot's reference must be the only one
    alone = is_owned(array)
    Py_INCREF(<object> array)
    if alone:
        node.released = True
        if slot == OUTPUT_SLOT:
            node.counter = None
        fill_slot(node, slot, NOTHING, None)
        if DEBUG and not is_owned(array):
            raise SystemError(f"{node.name()}: an array that was taken out of slot {slot} still has another owner")
    return alone


cdef cnp.ndarray saved_like(Node node, int slot, cnp.ndarray g):
    """A saved array that had the shape of `g`; RuntimeError if ndarray.resize(), which counts no write, changed it."""
    cdef cnp.ndarray array = saved_array(node, slot)
    if not cnp.PyArray_SAMESHAPE(array, g):
        raise RuntimeError(f"{node.name()}: the memory of a saved tensor was resized, from {list(sizes_of(g))} to "
                           f"{list(sizes_of(array))}")
    return array


cdef int check(Node node, Tensor tensor, int slot) except -1:
    cdef int version = node.versions[slot]
    if version_of(tensor) != version and was_touched(tensor.counter, tensor.array, version):
        raise stale_error(node, tensor, version)
    if has_extras(tensor) and tensor.extras.seldom is not None and tensor.extras.seldom.former is not None:
        check_place(node, tensor.extras.seldom)
    return 0


cdef int check_place(Node node, Seldom seldom) except -1:
    """In backward, refuse a tensor that was detached in place after it was saved: its place in the graph has changed."""
    cdef Node former = <Node> seldom.former()
    cdef int i
    for i in range(node.n_edges if former is not None and thread_state().node != NULL else 0):
        if node.next_node(i) is former and node.next_number(i) == seldom.former_output:
            raise RuntimeError(
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(). This is not supported, "
                f"please use out-of-place `.detach()` instead. ({saver(node)}, computed by {former.name()})")
    return 0


cdef object stale_error(Node node, Tensor tensor, long expected):
    origin = ""
    if tensor.grad_fn is not None:
        origin = f", which is output {tensor.output_number} of {operation_name(tensor.grad_fn)},"
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_name(tensor)} {list(tensor.shape)}]{origin} is at version {version_of(tensor)}; expected version "
        f"{expected} instead. {hint()} {written_by(tensor.counter)}{saver(node)}; write to a clone() of it, or after "
        "backward().")


cdef str hint():
    if current_mode() & ANOMALY:
        return "Hint: the backtrace further above shows the operation that failed to compute its gradient."
    return ("Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True).")


cdef str written_by(VersionCounter counter):
    """A sentence that names the last write and its place in the code."""
    if counter is None or counter.writer is None:
        return ""
    return f"It was last written by {counter.writer}(){at(described(counter.code, counter.instruction))}. "


cdef str saver(Node node):
    return "A node had saved it" if node is None else f"{node.name()} had saved it{at(node.location)}"


cdef str at(str place):
    return f" (at {place})" if place else ""


cdef str operation_name(Node node):
    """The node's name as PyTorch's stale-save message shows it: `Exp` for ExpBackward0."""
    return node.name().partition("Backward")[0]


cdef object freed_error(Node node):
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        f"saved tensors after calling backward.{'' if node is None else ' ' + history(node)}")
