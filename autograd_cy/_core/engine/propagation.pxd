"""Computing the gradients of a node's inputs and delivering them."""

from cpython.object cimport PyObject

from autograd_cy._core.engine.graph_task cimport GraphTask, leads_on
from autograd_cy._core.graph.node cimport Node, target_of

cdef int deliver(GraphTask task, Node node, int output, object g) except -1
cdef int propagate(GraphTask task, Node node, PyObject *incoming) except -1
cdef object gradient_for(GraphTask task, Node node, int i, object g, bint last, Node target)
cdef object gradient_apart(GraphTask task, Node node, object g, int i)
cdef object as_array(GraphTask task, object x)
cdef object vjp_of_tensors(Node node, object g, int i)
cdef object vjp_of_zeros(Node node, object g, int i)


cdef inline Node find_wanted(GraphTask task, Node node, int *i):
    """The target of the first wanted edge from `i` on, which sets `i` to that edge; None if there is none."""
    cdef Node target
    while i[0] < node.n_edges:
        target = target_of(node, i[0])
        if target is not None and leads_on(task, target):
            return target
        i[0] += 1
    return None
