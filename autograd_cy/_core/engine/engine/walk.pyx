"""The walk: it runs the ready nodes of a task, the latest recorded first, until none is left. Nothing is recursive.

`run` takes a node, `evaluate_node` takes out the sum of its gradients (`taken_out`, where hooks of its tensors run) and
propagates it to the node's inputs, and so makes more nodes ready.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport forget_rows
from autograd_cy._core.graph.node cimport (
    BOXED, HANDLE, AccumulateGrad, Node, NodeExtras, NodeHooks, Scratch, check_output_sizes, existing_hooks, has_hooks,
    has_node_extras, held_at, leaf_of, retained_slot, tensor_hooks_slot, unpacks)
from autograd_cy._core.graph.record cimport keep_retained, run_tensor_hooks
from autograd_cy._core.graph.tensor cimport Tensor, has_extras
from autograd_cy._core.recording.events cimport Span, begin_node, end, note_what_followed
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, hold, is_unset, let_go, peek_pointer
from autograd_cy._core.runtime.state cimport ThreadState, thread_state

cdef extern from "Python.h":
    PyObject *Py_TYPE "(PyObject *) Py_TYPE"(PyObject *) noexcept


cdef int run(GraphTask task) except -1:
    cdef Py_ssize_t n = 0
    cdef ThreadState *state = thread_state()
    while task.ready.size:
        take_latest(task, state, &n)
        run_node(task, task.node)
        close_node(state)
    task.node = None
    state.node = NULL
    return 0


cdef int run_as_events(GraphTask task) except -1:
    """`run` while a profiler records: each node is an event."""
    cdef Py_ssize_t n = 0
    cdef ThreadState *state = thread_state()
    cdef Span span
    cdef Node node
    cdef bint has_run
    cdef Hold section
    while task.ready.size:
        take_latest(task, state, &n)
        node = task.node
        span = begin_node(Py_TYPE(<PyObject *> node), node.code, node.instruction, node.sequence_number)
        has_run = run_node(task, node)
        end(span)
        if has_run and not task.keep_graph:
            hold(&section, <PyObject *> node)
            try:
                give_up_saved(task, node)
            finally:
                let_go(&section)
            note_what_followed(span, "free saved tensors")
        close_node(state)
    task.node = None
    state.node = NULL
    return 0


cdef int run_node(GraphTask task, Node node) except -1:
    """Run a node and, if the task frees the graph, release its saved tensors; returns 1 if it computed gradients."""
    cdef Hold section
    if not FREE_THREADED:
        return evaluate_node(task, node)
    hold(&section, <PyObject *> node)
    try:
        return evaluate_node(task, node)
    finally:
        let_go(&section)


cdef inline int evaluate_node(GraphTask task, Node node) except -1:
    """`run_node`, with the node's lock held."""
    cdef PyObject *incoming
    cdef bint needed, watched
    cdef object g = taken_out(task, node, &needed, &watched)
    if not needed:
        return 0
    if type(node) is AccumulateGrad:
        if watched and is_seen(task, node):
            update_leaf(task, node, g, True)
        elif task.held is not None:
            update_leaf(task, node, g, False)
        elif g is not None:
            accumulate(leaf_of(node), g, task.recorded)
        return 0
    if node.joint == BOXED and type(g) is not list:
        g = [g] * node.n_outputs
    cdef bint together = node.joint or (has_handles(node) and unpacks(node))      # hooks that unpack may register a post hook
    if together or watched:
        if together or is_seen(task, node):
            propagate_together(task, node, g)
        else:
            propagate_searched(task, node, g)
    else:
        Py_INCREF(g)
        incoming = <PyObject *> g
        g = None
        propagate(task, node, incoming)
    if task.frees:
        give_up_saved(task, node)
    return 1


cdef inline bint has_handles(Node node) noexcept:
    return node.kinds[0] >= HANDLE or node.kinds[1] >= HANDLE or node.kinds[2] >= HANDLE


cdef object taken_out(GraphTask task, Node node, bint *needed, bint *watched):
    """The gradient of a node about to run. Ends the task's claim on it, captures the gradient, runs tensor hooks.

    `needed`: the node itself runs, too; `watched`: hooks see it, or each gradient is searched for NaN.
    """
    cdef Scratch *scratch = notes_of(task, node)
    cdef object g = None
    cdef bint captured = scratch.captured
    needed[0] = scratch.needed or not task.selective
    if scratch.buffer != NULL:
        g = <object> scratch.buffer
        Py_DECREF(g)
        scratch.buffer = NULL
    if peek_pointer(&scratch.task) == <void *> task:       # the claim ends: no more gradients arrive here
        end_claim(scratch)
        task.n_claimed -= 1
    if g is not None and type(node) is AccumulateGrad and has_extras(leaf_of(node)):
        g = as_leaf_asks(leaf_of(node), g, task.recorded or isinstance(g, Tensor))
    cdef bint hooks = has_hooks(node) and existing_hooks(node) is not None
    if has_node_extras(node) and (<NodeExtras> node.extras).output_sizes is not None:
        check_output_sizes(node, [as_seen(task, part) for part in g] if type(g) is list else as_seen(task, g))
    if captured and needed[0]:          # PyTorch then captures before the hooks, else after them
        capture(task, node, g)
    if hooks:
        if type(g) is cnp.ndarray:
            forget_rows(<cnp.ndarray> g)
        g = hooked(task, node, g)
    if captured and not needed[0]:
        capture(task, node, g)
    watched[0] = task.watched or (hooks and has_node_hooks(existing_hooks(node)))
    return g


cdef object hooked(GraphTask task, Node node, object g):
    """The incoming gradient after its tensors' hooks; retained gradients are stored."""
    cdef NodeHooks hooks = existing_hooks(node)
    cdef Tensor value
    if is_unset(tensor_hooks_slot(hooks)) and is_unset(retained_slot(hooks)):
        return g
    if node.n_outputs > 1:
        return hooked_outputs(task, hooks, [None] * node.n_outputs if g is None else [as_seen(task, part) for part in g])
    value = <Tensor> run_tensor_hooks(hooks, 0, as_seen(task, g))
    return None if value is None else kept_output(task, hooks, 0, value)


cdef list hooked_outputs(GraphTask task, NodeHooks hooks, list gradients):
    """`hooked` for several outputs: first all hooks, in the order in which outputs got their first hook."""
    cdef Py_ssize_t i
    for output in list(held_at(tensor_hooks_slot(hooks)) or ()):
        gradients[output] = run_tensor_hooks(hooks, output, gradients[output])
    for i in range(len(gradients)):
        if gradients[i] is not None:
            gradients[i] = kept_output(task, hooks, i, <Tensor> gradients[i])
    return gradients


cdef object kept_output(GraphTask task, NodeHooks hooks, int output, Tensor value):
    keep_retained(hooks, output, value, task.recorded)
    return value if task.recorded else as_array(task, value)


cdef int capture(GraphTask task, Node node, object g) except -1:
    """Store requested gradients in the results."""
    for output, position in task.captures[node]:
        value = g[output] if type(g) is list else g
        task.results[position] = value
    return 0
