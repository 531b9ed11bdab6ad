"""Nodes whose gradients hooks see, or that are searched for NaN: `propagate` in two further forms.

Hooks get Tensors, so a node's gradients are all computed before the first one is delivered. The search keeps the incoming
gradient and saved tensors intact, because a NaN may have to be explained or computed again.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport keep_spare
from autograd_cy._core.graph.anomaly cimport first_nan, gradient_error
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport (
    BOXED, Node, NodeHooks, existing_hooks, held_at, post_accumulate_slot, post_hooks_slot, pre_hooks_slot)
from autograd_cy._core.graph.record cimport observe_end, observe_start, run_post_hooks, run_pre_hooks
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport OP_HOOKS, ThreadState, thread_state


cdef bint is_seen(GraphTask task, Node node) except -1:
    """Whether hooks or the log see the gradients before and after a node."""
    cdef NodeHooks hooks = existing_hooks(node)
    return task.watched & SEEN or (hooks is not None and has_node_hooks(hooks))


cdef bint has_node_hooks(NodeHooks hooks) except -1:
    return (bool(held_at(pre_hooks_slot(hooks))) or bool(held_at(post_hooks_slot(hooks)))
            or bool(held_at(post_accumulate_slot(hooks))))


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
