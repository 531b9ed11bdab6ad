"""Node: one recorded operation, and the edges to what it was computed from."""

from cpython.object cimport PyObject, PyTypeObject

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.graph.versions cimport VersionCounter
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport is_unset, load_int, load_pointer
from autograd_cy._core.runtime.lifetime cimport Link


cdef struct Scratch:
    void *task              # the GraphTask that these notes belong to, or NULL; see NOTE [Scratch] in graph_task.pyx
    int dependencies        # edges over which a gradient (or the news that there is none) is still to come
    int waiting             # the same, counted down while the needed nodes are searched
    char needed             # a gradient asked for depends on this node
    char captured           # the gradient that arrives here was asked for
    PyObject *buffer        # owned: the gradient so far (a list of them for several outputs), or NULL


cdef struct Request:        # what the engine allows a node that computes a gradient on arrays, and asks of it
    bint may_overwrite      # the memory of the incoming gradient: nobody else sees it
    bint may_consume        # what the node saved: nobody reads it after this backward
    PyObject *addend        # an array to add the gradient to, if the node can do that in one pass; or NULL
    bint is_ours            # the addend's memory may be written
    bint added              # the answer: the result is the sum


cdef enum SlotKind:         # what a saved slot holds
    NOTHING = 0
    INPUT = 1               # a Tensor
    OUTPUT = 2              # the array of the Tensor that the node computed
    HANDLE = 3              # a SavedTensor
    HANDLES = 4             # a tuple of SavedTensors


cdef enum:
    BOXED = 2               # of `joint`: `vjps` gets a list that alone holds the gradients


cdef class Node:
    cdef Link link
    cdef object __weakref__
    cdef object next0, next1, next2         # three edges, the rest in `extras`; see NOTE [Edges to leaves]
    # what was saved, see NOTE [Saved tensors] in saved.pyx; `kinds` tells what it is
    cdef object saved0, saved1, saved2      # of an AccumulateGrad, saved0 is its leaf
    cdef VersionCounter counter     # of the saved output
    cdef object shapes              # of an elementwise node: the shapes of the inputs that were broadcast
    cdef object constants           # what else the gradient needs (dims, shapes), a tuple named by `constant_names`
    cdef object extras              # NodeExtras, or None: edges from the fourth on, hooks, metadata
    cdef object code                # the user's code that recorded the operation, and where in it (see location.pyx)
    # plain data from here on, all zero in a new node but for the first and `n_outputs`
    cdef unsigned long long sequence_number
    cdef int leaf_edges             # bit i: edge i holds the leaf itself, not yet its AccumulateGrad
    cdef int[3] numbers
    cdef int n_edges
    cdef int n_outputs
    cdef int[3] versions            # of what the slots hold, when it was saved
    cdef int freed_by               # the number of the backward that gave up what was saved
    cdef int instruction
    cdef char[3] kinds              # a SlotKind for each slot
    cdef char saves                 # something was saved, in the slots or by a user's Function ...
    cdef char released              # ... and given up after a backward
    cdef char joint                 # all gradients come from one call (`vjps`), as a user's Function gives them; or BOXED
    # an elementwise node: its row of the table, the types of its inputs
    cdef signed char[3] dtype_codes
    cdef signed char wide           # the type that it was computed in, if the output was then converted (else 0)
    cdef void *op
    cdef Scratch scratch            # the engine's notes on the running task

    cdef object vjp_array(self, object g, int i, Request *request)
    cdef object vjp_samples(self, cnp.ndarray g, int i, Request *request)
    cdef object vjp(self, object g, int i)
    cdef tuple vjps(self, object g)
    cdef object vjp_of_zeros(self, object g, int i)
    cdef object jvp(self, tuple tangents)
    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found)
    cdef tuple arguments(self)
    cdef tuple saved_names(self)
    cdef tuple constant_names(self)
    cdef int release_saved(self) except -1
    cdef int forget_common(self) except -1
    cdef Node next_node(self, int i)
    cdef Node leaf_node(self, int i)
    cdef int next_number(self, int i) noexcept
    cdef int add_edge(self, object target, int number) except -1


cdef class NodeExtras:
    cdef list edges                 # [(node, input number), ...] from the fourth on
    cdef object metadata
    cdef dict outputs               # output number -> (shape, dtype), of outputs that a user had in hand
    cdef object outer               # of a node inside of a CopySlices: a weak reference to that
    cdef tuple output_sizes         # (number, sizes) of an output to which out= gave other sizes, or None
    cdef dict tangents              # of the inputs, by level, if an output is saved and forward mode was on
    cdef NodeHooks hooks


cdef class NodeHooks:
    """The hooks of a node: callables by the id of their handle, in the order of registration (OrderedDicts, or None)."""
    cdef dict tensor_hooks          # output number -> {id: function}
    cdef dict retained              # output number -> weak reference to the tensor that retains its gradient
    cdef object pre_hooks
    cdef object post_hooks
    cdef object post_accumulate     # of a leaf


cdef class AccumulateGrad(Node):
    pass                            # the leaf is in `saved0`: of Node's size, the freelist serves it


cdef inline Tensor leaf_of(Node node):
    return <Tensor> node.saved0


ctypedef int (*Accumulate)(Tensor leaf, object g, bint recorded) except -1
cdef Accumulate accumulate      # input_buffer.pyx fills it in

cdef AccumulateGrad accumulator_of(Tensor leaf)
cdef object linear_operation(Node node)
cdef int note_output_sizes(Node node, int number, tuple sizes) except -1
cdef int check_output_sizes(Node node, object g) except -1
cdef object metadata_like(object shape, object dtype)
cdef int connect(Node node, Tensor source) except -1
cpdef Node gradient_node(Tensor tensor)
cdef NodeExtras extras_of(Node node)
cdef NodeHooks hooks_of(Node node)
cdef NodeHooks existing_hooks(Node node)
cdef NodeHooks existing_hooks_of_leaf(Tensor leaf)
cdef NodeHooks hooks_of_tensor(Tensor tensor)
cdef Node make_node(PyTypeObject *node_class, void *table)
cdef void *method_table(Node node) noexcept

cdef inline Node target_of(Node node, int i):
    """The node that edge `i` leads to, or None."""
    if load_int(&node.leaf_edges) == 0:
        if i == 0:
            return <Node> node.next0
        if i == 1:
            return <Node> node.next1
    return node.next_node(i)

cdef extern from "free_threading.h":
    PyObject **extras_slot "autograd_cy_extras"(Node node) noexcept

cdef inline bint has_node_extras(Node node) noexcept:
    """Whether `extras` may be read: another thread may be making them."""
    return not is_unset(extras_slot(node))

cdef inline bint has_hooks(Node node) noexcept:
    """Whether the node may have hooks (then `existing_hooks` tells)."""
    return has_node_extras(node) or type(node) is AccumulateGrad

# what hooks and extras hold: None until it is made

cdef extern from *:
    """
    #define autograd_cy_tensor_hooks(hooks) ((PyObject **) &(hooks)->tensor_hooks)
    #define autograd_cy_retained(hooks) ((PyObject **) &(hooks)->retained)
    #define autograd_cy_pre_hooks(hooks) (&(hooks)->pre_hooks)
    #define autograd_cy_post_hooks(hooks) (&(hooks)->post_hooks)
    #define autograd_cy_post_accumulate(hooks) (&(hooks)->post_accumulate)
    #define autograd_cy_metadata(extras) (&(extras)->metadata)
    #define autograd_cy_outputs(extras) ((PyObject **) &(extras)->outputs)
    """
    PyObject **tensor_hooks_slot "autograd_cy_tensor_hooks"(NodeHooks hooks) noexcept
    PyObject **retained_slot "autograd_cy_retained"(NodeHooks hooks) noexcept
    PyObject **pre_hooks_slot "autograd_cy_pre_hooks"(NodeHooks hooks) noexcept
    PyObject **post_hooks_slot "autograd_cy_post_hooks"(NodeHooks hooks) noexcept
    PyObject **post_accumulate_slot "autograd_cy_post_accumulate"(NodeHooks hooks) noexcept
    PyObject **metadata_slot "autograd_cy_metadata"(NodeExtras extras) noexcept
    PyObject **outputs_slot "autograd_cy_outputs"(NodeExtras extras) noexcept

cdef inline object held_at(PyObject **place):
    return <object> load_pointer(<void **> place)
