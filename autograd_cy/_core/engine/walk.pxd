"""The walk: it runs the ready nodes of a task, the latest recorded first."""

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject

from autograd_cy._core.engine.graph_task cimport SIGNAL_INTERVAL, GraphTask
from autograd_cy._core.engine.ready_queue cimport pop
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.saved_hooks cimport put_hooks_back
from autograd_cy._core.runtime.state cimport ThreadState

cdef int run(GraphTask task) except -1
cdef int run_as_events(GraphTask task) except -1
cdef int run_node(GraphTask task, Node node) except -1
cdef object taken_out(GraphTask task, Node node, bint *needed, bint *watched)


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


cdef inline int give_up_saved(GraphTask task, Node node) except -1:
    """Release the saved tensors of a node that has run."""
    node.release_saved()
    node.freed_by = task.number
    return 0
