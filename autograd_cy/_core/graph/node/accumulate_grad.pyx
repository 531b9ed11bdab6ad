"""AccumulateGrad, the node of a leaf, and the edges that lead to nodes of leaves.

NOTE [Edges to leaves]
The edge to a leaf leads to its AccumulateGrad, of which at most one is alive. Making it for an operation that is recorded and
dropped would be wasted work, so an inline edge holds the leaf itself until the node is needed (by the engine or
next_functions).
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from autograd_cy._core.graph.tensor cimport Tensor, make_current
from autograd_cy._core.runtime.free_threading cimport (
    FREE_THREADED, Hold, ask_for, hold, let_go, may_be_asked_for, peek_pointer, store_int, store_pointer)
from autograd_cy._core.runtime.state cimport thread_state

cdef unsigned long long LEAF_SEQUENCE = <unsigned long long> -1


@cython.final
@cython.no_gc_clear
cdef class AccumulateGrad(Node):
    """Where the gradient of a leaf arrives. A leaf has at most one that is alive."""

    def __cinit__(self):
        self.sequence_number = LEAF_SEQUENCE
        self.code = None                        # no user code recorded it
        thread_state().sequence_nr -= 1         # it uses no sequence number

    def __call__(self, *gradients):
        """node(gradient): add it to the leaf's `.grad`; returns (), as there are no inputs."""
        check_gradients(self, gradients)
        if gradients[0] is not None:
            accumulate(leaf_of(self), gradients[0], True)
        return ()

    def name(self):
        return "torch::autograd::AccumulateGrad"

    def __repr__(self):
        return "<AccumulateGrad>"

    @property
    def variable(self):
        """The leaf."""
        return self.saved0


cdef AccumulateGrad accumulator_of(Tensor leaf):
    """The AccumulateGrad of a leaf: the living one, or a new one."""
    cdef Hold section
    if not FREE_THREADED:
        return living_accumulator(leaf)
    hold(&section, <PyObject *> leaf)
    try:
        return living_accumulator(leaf)
    finally:
        let_go(&section)


cdef inline AccumulateGrad living_accumulator(Tensor leaf):
    cdef AccumulateGrad node
    if leaf.accumulator != NULL and (not FREE_THREADED or ask_for(leaf.accumulator)):
        node = <AccumulateGrad> leaf.accumulator
        if FREE_THREADED:
            Py_DECREF(node)                     # the reference from `ask_for`
        return node
    node = <AccumulateGrad> AccumulateGrad.__new__(AccumulateGrad)
    may_be_asked_for(<PyObject *> node)
    node.saved0 = leaf
    store_pointer(<void **> &leaf.accumulator, <void *> node)
    return node


cdef Node resolved(Node node, int i):
    """The AccumulateGrad of the leaf in edge i, which it replaces; the node's lock is held."""
    cdef Tensor leaf
    cdef AccumulateGrad target
    if FREE_THREADED and not node.leaf_edges & (1 << i):        # another thread did it
        return node.next_node(i)
    leaf = <Tensor> (node.next0 if i == 0 else node.next1 if i == 1 else node.next2)
    target = accumulator_of(leaf)
    if FREE_THREADED and not node.leaf_edges & (1 << i):        # ... while this one waited for the leaf
        return node.next_node(i)
    if i == 0:
        node.next0 = target
    elif i == 1:
        node.next1 = target
    else:
        node.next2 = target
    store_int(&node.leaf_edges, node.leaf_edges & ~(1 << i))
    return target


cpdef Node gradient_node(Tensor tensor):
    """The node at which a tensor's gradient arrives."""
    make_current(tensor)
    return <Node> tensor.grad_fn if tensor.grad_fn is not None else accumulator_of(tensor)


cdef int connect(Node node, Tensor source) except -1:
    """Append an edge to the node where the gradient of `source` goes; see NOTE [Edges to leaves]."""
    if source.extras is not None:
        make_current(source)
    if source.grad_fn is not None:
        return node.add_edge(source.grad_fn, source.output_number)
    if not source.needs_grad:
        return node.add_edge(None, 0)
    if peek_pointer(<void **> &source.accumulator) != NULL or node.n_edges > 2:
        return node.add_edge(accumulator_of(source), 0)
    node.leaf_edges |= 1 << node.n_edges
    return node.add_edge(source, 0)
