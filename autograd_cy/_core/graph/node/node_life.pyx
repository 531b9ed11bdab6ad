"""Birth and death of nodes: spares that are used again, and freeing without recursion."""

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, hold, is_unique, let_go, store_pointer
from autograd_cy._core.runtime.state cimport (
    NODE, NODES, Destructor, Link, Spares, ThreadState, begin_death, declare_store, declared_store, drop_all, end_life, here,
    lay_aside, owner_of, release, revived, thread_state, watch)

from autograd_cy._core.runtime.state import refuse_new

cdef Destructor compiled_dealloc = NULL
cdef Spares spares              # of all threads; without a GIL each thread has its own
spares.n = 0

cdef extern from *:
    """
    #define link_of(node) (&(node)->link)
    #define leaf_behind(node) ((node)->saved0)
    #define accumulator_slot(leaf) (&(leaf)->accumulator)
    #define table_slot(node) ((void **) &(node)->__pyx_vtab)
    #define weak_references(node) ((node)->__weakref__)
    #define clear_plain_data(node) \
        memset(&(node)->sequence_number, 0, (char *) ((node) + 1) - (char *) &(node)->sequence_number)
    """
    Link *link_of(Node node) noexcept
    PyObject *leaf_behind(Node node) noexcept
    PyObject **accumulator_slot(Tensor leaf) noexcept
    void **table_slot(Node node)
    void *weak_references(Node node)
    void clear_plain_data(Node node)

cdef extern from "Python.h":
    void PyErr_Fetch(PyObject **type, PyObject **value, PyObject **traceback)
    void PyErr_Restore(PyObject *type, PyObject *value, PyObject *traceback)
    ctypedef struct TypeObject "PyTypeObject":
        Destructor tp_dealloc
        Py_ssize_t tp_basicsize
        unsigned long tp_flags
    TypeObject *Py_TYPE(PyObject *)
    void Py_SET_TYPE(PyObject *, PyTypeObject *)
    unsigned long Py_TPFLAGS_HEAPTYPE


cdef int enter_life(Node node) noexcept:
    cdef ThreadState *state = thread_state()
    watch(&node.link, NODE)
    node.sequence_number = state.sequence_nr
    state.sequence_nr += 1
    node.n_outputs = 1
    node.code = here(&node.instruction)
    return 0


cdef Node make_node(PyTypeObject *node_class, void *table):
    """A new node of a compiled class without its own fields.

    It is a spare or a new plain Node, whose type and table of cdef methods (`method_table`) are replaced. The class must have
    Node's size: a compiled subclass that adds no attributes, such as the rows of the elementwise table.
    """
    cdef Node node
    cdef PyObject *spare = revived(spares_here())
    if spare != NULL:
        node = <Node> spare
        clear_plain_data(node)
        enter_life(node)
    else:
        node = Node.__new__(Node)
    Py_SET_TYPE(<PyObject *> node, node_class)
    table_slot(node)[0] = table
    return node


cdef void *method_table(Node node) noexcept:
    return table_slot(node)[0]


# death

cdef void free_node(PyObject *self) noexcept:
    """tp_dealloc of all nodes: passes on the targets of its edges, and keeps the rest as a spare.

    See NOTE [Freeing without recursion] and NOTE [Spares] in lifetime.pyx. A node with its own fields is freed as Cython
    does it. A `__dealloc__` would do the same more slowly: Cython saves the current exception around it, and calls it through
    the deallocation function of each base.
    """
    begin_death(self, &(<Node> self).link, NODE, weak_references(<Node> self))
    hand_edges_over(<Node> self)
    if not is_plain(Py_TYPE(self)):
        end_life(self, compiled_dealloc)
        return
    empty(<Node> self)
    lay_aside(self, spares_here(), compiled_dealloc)


cdef bint is_plain(TypeObject *type) noexcept:
    """Whether objects of a node class have the layout of plain Nodes."""
    return (type.tp_basicsize == (<TypeObject *> Node).tp_basicsize and not type.tp_flags & Py_TPFLAGS_HEAPTYPE)


cdef int empty(Node node) noexcept:
    """Release all fields of a dying node; each one is None afterwards."""
    if node.next0 is not None:
        node.next0 = None
    if node.next1 is not None:
        node.next1 = None
    if node.next2 is not None:
        node.next2 = None
    if node.saved0 is not None:
        node.saved0 = None
    if node.saved1 is not None:
        node.saved1 = None
    if node.saved2 is not None:
        node.saved2 = None
    if node.counter is not None:
        node.counter = None
    if node.shapes is not None:
        node.shapes = None
    if node.constants is not None:
        node.constants = None
    if node.extras is not None:
        node.extras = None
    if node.code is not None:
        node.code = None
    return 0


cdef int hand_edges_over(Node node) noexcept:
    cdef Link *link
    if node.next0 is not None and not node.leaf_edges & 1 and is_unique(<PyObject *> node.next0):
        link = &(<Node> node.next0).link
        Py_INCREF(node.next0)
        node.next0 = None
        release(link)
    if node.next1 is not None and not node.leaf_edges & 2 and is_unique(<PyObject *> node.next1):
        link = &(<Node> node.next1).link
        Py_INCREF(node.next1)
        node.next1 = None
        release(link)
    if node.next2 is not None and not node.leaf_edges & 4 and is_unique(<PyObject *> node.next2):
        link = &(<Node> node.next2).link
        Py_INCREF(node.next2)
        node.next2 = None
        release(link)
    if node.extras is not None and (<NodeExtras> node.extras).edges is not None:
        release_edges((<NodeExtras> node.extras).edges)


cdef void release_edges(list edges) noexcept:
    """`hand_edges_over` for the edges in `extras`.

    A pending exception, which may be the reason for the node's death, is saved first: a list must not be emptied under one.
    Edges are not popped, because a shrinking list allocates memory.
    """
    cdef Py_ssize_t k
    cdef Link *link
    cdef PyObject *node
    cdef PyObject *kind = NULL
    cdef PyObject *value = NULL
    cdef PyObject *traceback = NULL
    cdef tuple edge
    PyErr_Fetch(&kind, &value, &traceback)
    for k in range(len(edges) - 1, -1, -1):
        edge = <tuple> edges[k]
        edges[k] = None
        node = <PyObject *> edge[0]
        if edge[0] is None:
            continue
        link = &(<Node> node).link
        Py_INCREF(<object> node)
        edge = None
        if is_unique(node):
            release(link)
        else:
            Py_DECREF(<object> node)
    edges.clear()
    PyErr_Restore(kind, value, traceback)


cdef void free_accumulator(PyObject *self) noexcept:
    """tp_dealloc of AccumulateGrad: clear the leaf's pointer first. Other threads may ask for the node until then."""
    cdef PyObject *leaf = leaf_behind(<Node> self)
    cdef Hold section
    if leaf != <PyObject *> None:
        hold(&section, leaf)
        if accumulator_slot(<Tensor> leaf)[0] == self:
            store_pointer(<void **> accumulator_slot(<Tensor> leaf), NULL)
        let_go(&section)
    free_node(self)


# spares

cdef inline Spares *spares_here() noexcept:
    return <Spares *> declared_store(NODES) if FREE_THREADED else &spares


cdef void empty_store(void *store) noexcept:
    drop_all(<Spares *> store, compiled_dealloc)


def drop_spares():
    """drop_spares(): free the spare nodes (without a GIL, this thread's)."""
    drop_all(spares_here(), compiled_dealloc)


# classes

def finish_class(node_class):
    """Let only operations make objects of a compiled node class and its subclasses.

    Objects without their own fields are then freed by `free_node` directly.
    """
    for subclass in node_class.__subclasses__():
        finish_class(subclass)
    if not (<TypeObject *> node_class).tp_flags & Py_TPFLAGS_HEAPTYPE:
        refuse_new(node_class)
    if is_plain(<TypeObject *> node_class):
        (<TypeObject *> node_class).tp_dealloc = free_node if node_class is not AccumulateGrad else free_accumulator


if owner_of(link_of(<Node> None)) != <PyObject *> None:      # only an address is computed
    raise ImportError("Node.link is not where lifetime.owner_of expects it")
compiled_dealloc = (<TypeObject *> Node).tp_dealloc
(<TypeObject *> Node).tp_dealloc = free_node
(<TypeObject *> AccumulateGrad).tp_dealloc = free_accumulator
declare_store(NODES, sizeof(Spares), empty_store)
