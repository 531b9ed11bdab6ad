"""The engine: it walks the graph backwards (knows nodes, edges and gradients; no operation, no dtype).

A task counts the edges into each node reachable from the roots. It then runs nodes that have all of their gradients, the
latest recorded first, and adds their results to the buffers of their targets. Nothing is recursive.
"""

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport is_ours, keep_spare
from autograd_cy._core.arrays.row_zeros cimport forget_rows
from autograd_cy._core.batching.batched cimport BatchedTensor, at_level_or_expanded, batched, level_of
from autograd_cy._core.batching.levels cimport BatchLevel, current_level, open_levels
from autograd_cy._core.batching.rules cimport sample_of, stacked
from autograd_cy._core.engine.backward_arguments cimport check_inputs, check_roots, named, target_node, target_number
from autograd_cy._core.engine.freed cimport history_of, note_backward
from autograd_cy._core.engine.graph_task cimport (
    DETECTING, KEEPING, SEEN, SIGNAL_INTERVAL, GraphTask, as_seen, count_running, current_task, end_claim, finished, leads_on,
    new_task, notes_of)
from autograd_cy._core.engine.input_buffer cimport accumulate, add_gradient, as_leaf_asks, vjp_into_buffer, vjp_into_grad
from autograd_cy._core.engine.leaf_updates cimport update_held, update_leaf
from autograd_cy._core.engine.ready_queue cimport pop, push
from autograd_cy._core.graph.anomaly cimport check_roots_for_nan, report
from autograd_cy._core.graph.duals cimport any_zero_norm
from autograd_cy._core.graph.hooks cimport (
    keep_retained, retain_grad, run_post_hooks, run_pre_hooks, run_tensor_hooks)
from autograd_cy._core.graph.layouts cimport is_sparse, sparse_type
from autograd_cy._core.graph.nans cimport first_nan, gradient_error
from autograd_cy._core.graph.node cimport (
    BOXED, HANDLE, AccumulateGrad, Node, NodeExtras, NodeHooks, Request, Scratch, check_output_sizes, existing_hooks,
    has_hooks, has_node_extras, held_at, leaf_of, post_accumulate_slot, post_hooks_slot, pre_hooks_slot, retained_slot,
    target_of, tensor_hooks_slot)
from autograd_cy._core.graph.op_hooks cimport is_logged, observe_end, observe_start
cimport autograd_cy._core.graph.saved as saved_module
from autograd_cy._core.graph.saved_hooks cimport put_hooks_back
from autograd_cy._core.graph.saved_tensor cimport unpacks
from autograd_cy._core.graph.tensor cimport Tensor, has_extras
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.events cimport ENGINE, Span, begin_named, begin_node, end, note_what_followed, recorders_on
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, hold, is_unset, let_go, load_pointer, peek_pointer
from autograd_cy._core.runtime.modes cimport Extent, current_mode, enter_modes, leave_modes, own_modes
from autograd_cy._core.runtime.recursion cimport check_room, deepest_backward, has_room
from autograd_cy._core.runtime.reentry cimport in_fresh_thread
from autograd_cy._core.runtime.state cimport (
    ANOMALY, BATCHED, DETECT_NAN, FORWARD_AD, KEEP_NAN, KEEP_ZEROS, NO_GRAD, OP_HOOKS, ThreadState, thread_state)

from autograd_cy._core.graph.samples import SampleTakenForAll

cnp.import_array()

cdef extern from "Python.h":
    PyObject *Py_TYPE "(PyObject *) Py_TYPE"(PyObject *) noexcept

cdef enum:
    NESTED_IN_ONE_THREAD = 20       # nested backward continues in a fresh thread at each multiple of this depth
    MOST_NOTES = 100                # notes that nested backwards add to an exception
    MOST_FRAMES = 500               # of a traceback through many nested backwards


cdef int deliver(GraphTask task, Node node, int output, object g) except -1:
    """Deliver a gradient (or None) to a node, which becomes ready with its last one."""
    cdef Scratch *scratch = notes_of(task, node)
    if g is not None:
        add_gradient(scratch, node, output, g, task.recorded)
    scratch.dependencies -= 1
    if scratch.dependencies == 0:
        push(&task.ready, node.sequence_number, <PyObject *> node)
    return 0


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


cdef inline int take_latest(GraphTask task, ThreadState *state, Py_ssize_t *n) except -1:
    """Take the node that was recorded last; sometimes check for signals."""
    n[0] += 1
    if n[0] % SIGNAL_INTERVAL == 0:
        PyErr_CheckSignals()
    task.node = <Node> pop(&task.ready)
    state.node = <void *> task.node
    return 0


cdef inline int close_node(ThreadState *state) except -1:
    """Restore the saved-tensor hooks that the node changed."""
    cdef void *changed
    if state.hooks_before != NULL:
        changed, state.hooks_before = state.hooks_before, NULL
        put_hooks_back(changed)
    return 0


cdef int run_callbacks(GraphTask task) except -1:
    """Call the callbacks queued for the end; they may queue more."""
    while task.callbacks:
        task.callbacks.pop(0)()
    return 0


cdef int run_node(GraphTask task, Node node) except -1:
    """Run a node and, if the task frees the graph, release its saved tensors; returns 1 if it computed gradients."""
    cdef Hold section
    if not FREE_THREADED:
        return evaluate(task, node)
    hold(&section, <PyObject *> node)
    try:
        return evaluate(task, node)
    finally:
        let_go(&section)


cdef inline int evaluate(GraphTask task, Node node) except -1:
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


cdef inline object taken_out(GraphTask task, Node node, bint *needed, bint *watched):
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


cdef inline int give_up_saved(GraphTask task, Node node) except -1:
    """Release the saved tensors of a node that has run."""
    node.release_saved()
    node.freed_by = task.number
    return 0


cdef inline Node find_wanted(GraphTask task, Node node, int *i):
    """The target of the first wanted edge from `i` on, which sets `i` to that edge; None if there is none."""
    cdef Node target
    while i[0] < node.n_edges:
        target = target_of(node, i[0])
        if target is not None and leads_on(task, target):
            return target
        i[0] += 1
    return None


cdef int propagate(GraphTask task, Node node, PyObject *incoming) except -1:
    """Compute and deliver the gradients of a node's inputs one by one. Takes over a reference to the incoming one."""
    cdef int i = 0, following
    cdef Node target = find_wanted(task, node, &i), next_target
    cdef object result, g = <object> incoming
    Py_DECREF(g)
    while target is not None:
        following = i + 1
        next_target = find_wanted(task, node, &following)
        result = None if g is None else gradient_for(task, node, i, g, next_target is None, target)
        if next_target is None:
            keep_spare(<PyObject *> g)
            g = None            # so that the caller of deliver has the only reference to the result, even if it is `g`
        deliver(task, target, node.next_number(i), result)
        keep_spare(<PyObject *> result)
        result = None
        i, target = following, next_target
    return 0


cdef object gradient_for(GraphTask task, Node node, int i, object g, bint last, Node target):
    """The gradient for input `i`; None if there is none, or if it was already added at the target.

    The caller holds one reference to `g`. Only the last gradient of a node may be added to a `.grad` directly: an earlier one
    can still fail.
    """
    cdef Request request
    cdef Scratch *scratch
    if task.recorded:
        return vjp_of_tensors(node, g, i)
    if (task.mixed or sparse_type != NULL) and holds_tensor(g):
        return gradient_of_mixed(task, node, g, i)
    request = Request(last and is_ours(<PyObject *> g), not task.keep_graph, NULL, False, False)
    if task.level is not None:
        return gradient_of_samples(task, node, g, i, &request)
    scratch = notes_of(task, target)
    if scratch.buffer != NULL:
        return vjp_into_buffer(scratch, node, i, g, &request)
    if (last and type(target) is AccumulateGrad and scratch.dependencies == 1 and not scratch.captured
            and existing_hooks(target) is None and task.held is None):
        return vjp_into_grad(leaf_of(target), node, i, g, &request)
    return node.vjp_array(g, i, &request)


cdef bint holds_tensor(object g) except -1:
    """Whether a gradient, or one of several, is a batched or sparse Tensor rather than an array."""
    if type(g) is not list:
        return isinstance(g, Tensor)
    for part in g:
        if isinstance(part, Tensor):
            return True
    return False


cdef object gradient_of_mixed(GraphTask task, Node node, object g, int i):
    """The gradient for input `i`, computed by operations on tensors, some of them batched or sparse."""
    result = vjp_of_tensors(node, [as_seen(task, part) for part in g] if type(g) is list else as_seen(task, g), i)
    return as_array(task, result)


cdef object gradient_of_samples(GraphTask task, Node node, object g, int i, Request *request):
    """The gradient for input `i`, for all samples at the task's level: case 5 of NOTE [Batching]."""
    cdef object result
    if type(g) is list:
        return as_array(task, vjp_of_tensors(node, [as_seen(task, part) for part in g], i))
    result = node.vjp_samples(<cnp.ndarray> g, i, request)
    return result if result is not None else as_array(task, vjp_of_tensors(node, as_seen(task, g), i))


cdef object as_array(GraphTask task, object x):
    """The inverse of `as_seen`."""
    if x is None:
        return None
    if is_sparse(x):
        return x
    if task.level is None:
        return x if (<Tensor> x).batched else (<Tensor> x).array
    return (<Tensor> at_level_or_expanded(<Tensor> x, task.level)).array


cdef object vjp_of_tensors(Node node, object g, int i):
    """node.vjp(g, i), computed sample by sample if the node has no batching rule for it."""
    if sparse_type != NULL:
        g = strided(g)
    try:
        return node.vjp(g, i)
    except SampleTakenForAll:
        return vjp_by_samples(node, g, i, False)


cdef object strided(object g):
    """Make sparse gradients dense, because a node's rule can't take them: case 3 of NOTE [Sparse tensors]."""
    if type(g) is list:
        return [strided(part) for part in g]
    return g.to_dense() if is_sparse(g) else g


cdef object vjp_of_zeros(Node node, object g, int i):
    """`vjp_of_tensors` under NOTE [Zeros that stay]."""
    if sparse_type != NULL:
        g = strided(g)
    try:
        return node.vjp_of_zeros(g, i)
    except SampleTakenForAll:
        return vjp_by_samples(node, g, i, True)


cdef int propagate_searched(GraphTask task, Node node, object g) except -1:
    """`propagate` with a search for NaN. It keeps the incoming gradient and saved tensors intact, for the case of a NaN."""
    cdef int i = 0
    cdef Node target
    while (target := find_wanted(task, node, &i)) is not None:
        result = None if g is None else searched_gradient(task, node, g, i)
        deliver(task, target, node.next_number(i), result)
        keep_spare(<PyObject *> result)
        i += 1
    return 0


cdef object searched_gradient(GraphTask task, Node node, object g, int i):
    """The gradient for input `i`, checked for NaN."""
    result = vjp_of_tensors(node, g, i) if task.recorded else gradient_apart(task, node, g, i)
    if result is not None and may_have_nan(result):
        result = judged(task, node, g, i, result)
    return result


cdef object judged(GraphTask task, Node node, object g, int i, object result):
    """A gradient that may have a NaN: NaN from zeros is removed if zeros stay, other NaN refused in detection."""
    cdef tuple gradients = tuple([as_seen(task, item) for item in (g if node.n_outputs > 1 else (g,))])
    cdef object seen = as_seen(task, result)
    if task.watched & KEEPING:
        seen = with_zeros_kept(task, node, gradients, i, seen)
    if task.watched & DETECTING:
        check_gradient(node, seen, i, gradients)
    return seen if task.recorded else as_array(task, seen)


cdef bint may_have_nan(object g) except -1:
    """Whether an array or Tensor may have a NaN; batched Tensors count as if they had, sparse ones as if not."""
    if isinstance(g, Tensor):
        return (<Tensor> g).batched or (not is_sparse(g) and first_nan((<Tensor> g).array) >= 0)
    return first_nan(<cnp.ndarray> g) >= 0


cdef inline bint has_handles(Node node) noexcept:
    return node.kinds[0] >= HANDLE or node.kinds[1] >= HANDLE or node.kinds[2] >= HANDLE


cdef int propagate_together(GraphTask task, Node node, object g) except -1:
    """Compute all gradients of a node, then deliver them: for nodes with hooks, or that compute them in one call."""
    cdef PyObject *incoming
    cdef tuple results
    cdef Node target
    cdef int i = 0
    Py_INCREF(g)
    incoming = <PyObject *> g
    g = None
    results = gradients_together(task, node, incoming)
    while (target := find_wanted(task, node, &i)) is not None:
        result = results[i]
        if not task.recorded:
            result = as_array(task, result)
        deliver(task, target, node.next_number(i), result)
        i += 1
    return 0


cdef tuple gradients_together(GraphTask task, Node node, PyObject *incoming):
    """All gradients of a node as Tensors. Takes over a reference to the incoming one.

    Hooks receive Tensors. The gradients are bitwise those of `propagate` (except for NaN, if zeros stay).
    """
    cdef NodeHooks hooks = existing_hooks(node)
    cdef bint has_post_hooks = hooks is not None and bool(held_at(post_hooks_slot(hooks)))
    cdef object g = <object> incoming
    cdef tuple gradients, results
    cdef list box
    Py_DECREF(g)
    if node.n_outputs > 1 or node.joint == BOXED:
        gradients = tuple([as_seen(task, item) for item in ([None] * node.n_outputs if g is None else g)])
    else:
        gradients = (as_seen(task, g),)
    if node.joint == BOXED:
        (<list> g).clear()
    g = None
    if hooks is not None and held_at(pre_hooks_slot(hooks)):
        gradients = run_pre_hooks(hooks, gradients)
    if task.watched & SEEN:
        observe_start(node, gradients)
    if node.joint == BOXED:
        box = list(gradients)
        if not task.watched & SEEN and not has_post_hooks:
            gradients = None            # now only the list, which is the user's, refers to them
        results = node.vjps(box)
    elif node.joint:
        results = node.vjps(gradients[0] if node.n_outputs == 1 else list(gradients))
    else:
        results = each_gradient(task, node, gradients)
    hooks = existing_hooks(node)
    if hooks is not None and held_at(post_hooks_slot(hooks)):       # a hook registered meanwhile gets None for each of these
        results = run_post_hooks(hooks, results, gradients if has_post_hooks else (None,) * node.n_outputs)
        has_post_hooks = True
    if task.watched & DETECTING:
        check_gradients(node, results, None if has_post_hooks else gradients)
    if task.watched & SEEN:
        observe_end(node, results, gradients)
    return results


cdef tuple each_gradient(GraphTask task, Node node, tuple gradients):
    """The gradients of a node's inputs as Tensors, None for unwanted ones."""
    cdef ThreadState *state = thread_state()
    cdef int observed = state.mode & OP_HOOKS
    cdef list results = [None] * node.n_edges
    cdef object g
    cdef int i = 0
    if gradients.count(None) == len(gradients):
        return tuple(results)
    g = list(gradients) if node.n_outputs > 1 else gradients[0]
    if not task.recorded:
        g = [as_array(task, item) for item in g] if node.n_outputs > 1 else as_array(task, g)
        state.mode &= ~OP_HOOKS             # hide the operations that the node calls from hooks
    try:
        while find_wanted(task, node, &i) is not None:
            results[i] = vjp_of_tensors(node, g, i) if task.recorded else watched_gradient(task, node, g, i)
            if task.watched & KEEPING and results[i] is not None:
                if may_have_nan(results[i] if task.recorded else as_array(task, results[i])):
                    results[i] = with_zeros_kept(task, node, gradients, i, results[i])
            i += 1
    finally:
        state.mode |= observed
    return tuple(results)


cdef object watched_gradient(GraphTask task, Node node, object g, int i):
    """The gradient for input `i` as a Tensor, for a node with hooks."""
    return as_seen(task, gradient_apart(task, node, g, i))


cdef object gradient_apart(GraphTask task, Node node, object g, int i):
    """The gradient for input `i` as an array, computed without overwriting or consuming any memory."""
    cdef Request request = Request(False, False, NULL, False, False)
    if (task.mixed or sparse_type != NULL) and holds_tensor(g):
        return gradient_of_mixed(task, node, g, i)
    if task.level is not None:
        return gradient_of_samples(task, node, g, i, &request)
    return node.vjp_array(g, i, &request)


cdef object with_zeros_kept(GraphTask task, Node node, tuple gradients, int i, object result):
    """`result`, the gradient for input `i` as a Tensor, without NaN that comes from zeros: NOTE [Zeros that stay]."""
    kept = vjp_of_zeros(node, list(gradients) if node.n_outputs > 1 else gradients[0], i)
    return kept if task.recorded else result.where(result == result, kept)


cdef int check_gradients(Node node, tuple results, tuple gradients) except -1:
    """Refuse a NaN in a node's results; `gradients`: the incoming ones, or None if hooks may have changed the results."""
    cdef int i
    for i in range(len(results)):
        if results[i] is not None:
            check_gradient(node, <Tensor> results[i], i, gradients)
    return 0


cdef int check_gradient(Node node, Tensor result, int i, tuple gradients) except -1:
    if not is_sparse(result) and first_nan(result.array) >= 0:
        raise gradient_error(node, result, i, is_made_of_zeros(node, result, gradients, i))
    return 0


cdef bint is_made_of_zeros(Node node, Tensor result, tuple gradients, int i) except -1:
    """Whether the first NaN would vanish if zeros stayed."""
    if gradients is None or node.joint or node.freed_by:
        return False
    kept = vjp_of_zeros(node, list(gradients) if node.n_outputs > 1 else gradients[0], i)
    return kept is not None and first_nan((<Tensor> kept).array) != first_nan(result.array)


cdef object vjp_by_samples(Node node, object g, int i, bint of_zeros):
    """node.vjp(g, i), or vjp_of_zeros, for each sample of a batch separately."""
    cdef BatchLevel level = None
    cdef list results = []
    cdef Py_ssize_t k
    for x in g if type(g) is list else [g]:
        if x is not None and (<Tensor> x).batched and (level is None or level_of(<Tensor> x).number > level.number):
            level = level_of(<Tensor> x)
    if level is None:
        raise RuntimeError(f"{node.name()} took a tensor for a batched one")
    for k in range(level.size):
        parts = [sample_of(x, level, k) for x in (g if type(g) is list else [g])]
        part = parts if type(g) is list else parts[0]
        part = vjp_of_zeros(node, part, i) if of_zeros else vjp_of_tensors(node, part, i)
        results.append(sample_of(part, level, k))       # the node may have saved tensors with all samples
    return None if not results or results[0] is None else batched(stacked(results), level)


cdef object hooked(GraphTask task, Node node, object g):
    """The incoming gradient after its tensors' hooks; retained gradients are stored."""
    cdef NodeHooks hooks = existing_hooks(node)
    cdef Tensor value
    if is_unset(tensor_hooks_slot(hooks)) and is_unset(retained_slot(hooks)):
        return g
    if node.n_outputs > 1:
        return hooked_outputs(task, hooks, [None] * node.n_outputs if g is None else [as_seen(task, part) for part in g])
    value = <Tensor> run_tensor_hooks(hooks, 0, as_seen(task, g))
    return None if value is None else kept(task, hooks, 0, value)


cdef list hooked_outputs(GraphTask task, NodeHooks hooks, list gradients):
    """`hooked` for several outputs: first all hooks, in the order in which outputs got their first hook."""
    cdef Py_ssize_t i
    for output in list(held_at(tensor_hooks_slot(hooks)) or ()):
        gradients[output] = run_tensor_hooks(hooks, output, gradients[output])
    for i in range(len(gradients)):
        if gradients[i] is not None:
            gradients[i] = kept(task, hooks, i, <Tensor> gradients[i])
    return gradients


cdef object kept(GraphTask task, NodeHooks hooks, int output, Tensor value):
    keep_retained(hooks, output, value, task.recorded)
    return value if task.recorded else as_array(task, value)


cdef int capture(GraphTask task, Node node, object g) except -1:
    """Store requested gradients in the results."""
    for output, position in task.captures[node]:
        value = g[output] if type(g) is list else g
        task.results[position] = value
    return 0


cdef bint is_seen(GraphTask task, Node node) except -1:
    """Whether hooks or the log see the gradients before and after a node."""
    cdef NodeHooks hooks = existing_hooks(node)
    return task.watched & SEEN or (hooks is not None and has_node_hooks(hooks))


cdef inline bint has_node_hooks(NodeHooks hooks):
    return (bool(held_at(pre_hooks_slot(hooks))) or bool(held_at(post_hooks_slot(hooks)))
            or bool(held_at(post_accumulate_slot(hooks))))


def run_backward(*args, **kwargs):
    """run_backward(tensors, grad_tensors, keep_graph, create_graph, inputs=(), allow_unreachable, accumulate_grad)

    Walk the graph from the tensors, seeded with the gradients. With `accumulate_grad` the leaves (only `inputs`, if given) get
    their `.grad`, and the result is None. Otherwise the result is the tuple of the gradients of `inputs`.
    """
    cdef dict given = named(args, kwargs)
    return run_task(given["tensors"], given["grad_tensors"], given["keep_graph"], given["create_graph"], given["inputs"],
                    given["allow_unreachable"], given["accumulate_grad"])


cpdef object run_task(object tensors, object grad_tensors, bint keep_graph, bint create_graph, object inputs,
                      bint allow_unreachable, bint accumulate_grad, bint atomic=False):
    """run_backward() with positional arguments. `atomic`: the leaves are updated after the last node has run."""
    cdef int mode = current_mode()
    cdef GraphTask task, outer = current_task()
    check_roots(tensors, grad_tensors)
    check_inputs(inputs, accumulate_grad)
    task = new_task(outer)
    check_depth(task)
    if mode & DETECT_NAN or (mode & ANOMALY and not own_modes() & KEEP_NAN):
        task.watched = DETECTING
        check_roots_for_nan(tensors, grad_tensors, mode)
    if thread_state().mode & KEEP_ZEROS:
        task.watched |= KEEPING
    if accumulate_grad and inputs:
        for x in inputs:
            if isinstance(x, Tensor):
                retain_grad(<Tensor> x)
    cdef bint graph_of_gradients = create_graph
    if not keep_graph:
        task.number = note_backward()
    task.keep_graph = keep_graph
    task.recorded = create_graph or mode & FORWARD_AD
    if mode & FORWARD_AD and any_zero_norm() and not accumulate_grad:     # case 3 of NOTE [Norms of 0]
        task.keep_graph = graph_of_gradients = True
    if mode & BATCHED and not task.recorded:
        task.mixed = any_lifted()
        if any_batched(grad_tensors):
            task.level = None if accumulate_grad or task.mixed else only_level(grad_tensors)
            task.recorded = task.level is None
    task.accumulates = accumulate_grad
    if atomic:
        task.held = []
    task.whole = (outer is None or outer.whole) and not inputs and accumulate_grad
    if task.depth and (task.depth % NESTED_IN_ONE_THREAD == 0 or not has_room()):
        in_fresh_thread(run_from, (task, tensors, grad_tensors, graph_of_gradients, inputs))
    else:
        run_from(task, tensors, grad_tensors, graph_of_gradients, inputs)
    if accumulate_grad:
        return None
    results = finished(task, allow_unreachable)
    return results if graph_of_gradients == create_graph else without_graph(results)


cdef int check_depth(GraphTask task) except -1:
    """Refuse endless backward within backward: cases 1 and 2 of NOTE [Recursion]."""
    if task.depth == 0:
        return check_room()
    if task.depth > deepest_backward():
        raise RecursionError(
            f"maximum recursion depth exceeded: backward within backward, {deepest_backward()} levels deep. Does a hook or a "
            "Function call it without an end? (sys.setrecursionlimit() sets this limit, too)")
    return 0


cdef tuple without_graph(tuple gradients):
    """Copies, with tangents, of gradients that were recorded only for case 3 of NOTE [Norms of 0]."""
    cdef Extent extent = enter_modes(NO_GRAD, 0)
    try:
        return tuple([None if g is None else g.clone() for g in gradients])
    finally:
        leave_modes(extent)


cdef bint any_lifted() noexcept:
    """Whether gradients may become batched during this backward: case 8 of NOTE [Batching]."""
    cdef BatchLevel level = current_level()
    while level is not None:
        if level.lifted:
            return True
        level = level.outer
    return False


cdef bint any_batched(tuple gradients) except -1:
    """Whether a seed is batched."""
    for g in gradients:
        if (<Tensor> g).batched:
            return True
    return False


cdef BatchLevel only_level(tuple gradients):
    """The level at which all seeds are batched, if no other level is open; else None."""
    cdef BatchLevel level = level_of(<Tensor> gradients[0])
    for g in gradients:
        if level is None or level_of(<Tensor> g) is not level or (<BatchedTensor> g).value.batched:
            return None
    return level if open_levels() == [level] else None


cdef int shorten(object outermost) except -1:
    """Drop the middle of a long traceback: CPython 3.13 frees tracebacks by recursion that overflows small stacks."""
    cdef list frames = []
    traceback = outermost
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    if len(frames) > MOST_FRAMES:
        outermost.tb_next = frames[len(frames) - MOST_FRAMES // 2]
    return 0


cpdef object run_from(GraphTask task, tuple tensors, tuple grad_tensors, bint create_graph, tuple inputs):
    """Walk the graph with this thread's state set for the task, and restore the state afterwards."""
    cdef ThreadState *state = thread_state()
    cdef int mode = current_mode()
    cdef void *outer = state.graph_task
    cdef void *outer_node = state.node
    cdef void *outer_hooks = state.hooks_before
    cdef void *changed
    cdef Extent extent
    cdef bint recorded = recorders_on()
    cdef Run parallel
    cdef Span walk
    task.frees = not (task.keep_graph or recorded)
    _held = [target_node(x) for x in inputs]        # keeps the nodes of leaves alive
    if mode & OP_HOOKS or is_logged():                  # may raise, so before any change
        task.watched |= SEEN
    count_running(1)
    state.graph_task = <void *> task
    state.hooks_before = NULL
    extent = enter_modes(0, NO_GRAD | DETECT_NAN) if create_graph else enter_modes(NO_GRAD, DETECT_NAN)
    if recorded:
        walk = begin_named(ENGINE, "backward")
    try:
        if recorded:
            start_as_event(task, tensors, inputs)
        else:
            task.start(tensors, inputs)
        for tensor, g in zip(tensors, grad_tensors):
            if len(tensors) == 1 or leads_on(task, target_node(tensor)):        # as in PyTorch, a single root always runs
                deliver(task, target_node(tensor), target_number(tensor), g if task.recorded else as_array(task, g))
        parallel = <Run> load_pointer(<void **> &run_in_parallel)
        if recorded:
            run_as_events(task)
        elif parallel == NULL:
            run(task)
        else:
            parallel(task)
        if task.held is not None:
            update_held(task)
        if task.callbacks:
            run_callbacks(task)
    except BaseException as error:
        if task.node is not None:
            task.node.forget_common()
            if len(getattr(error, "__notes__", ())) < MOST_NOTES:
                error.add_note(f"This happened in the backward of {task.node!r}, sequence number {task.node._sequence_nr()}.")
            if mode & ANOMALY:
                report(error, task.node)
        if task.depth > NESTED_IN_ONE_THREAD:
            shorten(error.__traceback__)
        raise
    finally:
        leave_modes(extent)
        changed = state.hooks_before
        state.hooks_before = outer_hooks
        state.graph_task = outer
        state.node = outer_node
        task.clear()
        count_running(-1)
        if recorded:
            end(walk)
        if changed != NULL:
            put_hooks_back(changed)


cdef int start_as_event(GraphTask task, tuple tensors, tuple inputs) except -1:
    cdef Span span = begin_named(ENGINE, "count dependencies")
    task.start(tensors, inputs)
    end(span)
    return 0


cdef str history(Node node):
    """The part of the error for a freed node that describes the node, and the running task's path to it."""
    cdef GraphTask task = current_task()
    return history_of(node, None if task is None else task.roots)


# non-inline entry points for the parallel walk

cdef int take_next(GraphTask task, ThreadState *state, Py_ssize_t *n) except -1:
    return take_latest(task, state, n)


cdef int end_node(ThreadState *state) except -1:
    return close_node(state)


cdef object arrived(GraphTask task, Node node, bint *needed, bint *watched):
    return taken_out(task, node, needed, watched)


cdef Node next_wanted(GraphTask task, Node node, int *i):
    return find_wanted(task, node, i)


cdef int free_saved(GraphTask task, Node node) except -1:
    return give_up_saved(task, node)


saved_module.tell_history = history
