"""Node: edges, saved tensors, hooks and life; AccumulateGrad, the node of a leaf."""

from cpython.object cimport PyObject, PyTypeObject

from autograd_cy._core.graph.memory cimport Guard, VersionCounter
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport is_unset, load_int, load_pointer
from autograd_cy._core.runtime.state cimport Link

# in node.pyx

cdef struct Scratch:
    void *task              # the GraphTask that this scratch belongs to, or NULL; see NOTE [Scratch] in graph_task.pyx
    int dependencies        # edges over which a gradient (possibly None) is still to come
    int waiting             # the same, counted down while the needed nodes are searched
    char needed             # a requested gradient depends on this node
    char captured           # the gradient that arrives here is requested
    PyObject *buffer        # owned: the sum of gradients so far (a list for several outputs), or NULL


cdef struct Request:        # what the engine permits and asks of a node that computes a gradient on arrays
    bint may_overwrite      # the incoming gradient's memory, which nothing else uses
    bint may_consume        # the saved arrays, which nothing reads after this backward
    PyObject *addend        # an array to add the gradient to, if the node can do it in one pass; or NULL
    bint is_ours            # the addend's memory may be overwritten
    bint added              # set by the node: the result is the sum


cdef enum SlotKind:         # the contents of a saved slot
    NOTHING = 0
    INPUT = 1               # a Tensor
    OUTPUT = 2              # the array of the node's own output
    HANDLE = 3              # a SavedTensor
    HANDLES = 4             # a tuple of SavedTensors


cdef enum:
    BOXED = 2               # value of `joint`: `vjps` gets a list with the only references to the gradients


cdef class Node:
    cdef Link link
    cdef object __weakref__
    cdef object next0, next1, next2         # three edges, the others are in `extras`; see NOTE [Edges to leaves]
    # saved tensors, see NOTE [Saved tensors] in saved.pyx; `kinds` tells their types
    cdef object saved0, saved1, saved2      # an AccumulateGrad has its leaf in saved0
    cdef VersionCounter counter     # of the saved output
    cdef object shapes              # of an elementwise node: shapes of the inputs that were broadcast
    cdef object constants           # other values that the gradient needs (dims, shapes), a tuple named by `constant_names`
    cdef object extras              # NodeExtras, or None: edges from the fourth on, hooks, metadata
    cdef object code                # the user's code that recorded the operation, and the instruction in it (see location.pyx)
    # plain data from here on; in a new node all zero except the first and `n_outputs`
    cdef unsigned long long sequence_number
    cdef int leaf_edges             # bit i: edge i still holds the leaf itself, not its AccumulateGrad
    cdef int[3] numbers
    cdef int n_edges
    cdef int n_outputs
    cdef int[3] versions            # versions of the saved tensors when they were saved
    cdef int freed_by               # the number of the backward that released the saved tensors
    cdef int instruction
    cdef char[3] kinds              # a SlotKind for each slot
    cdef char saves                 # the node or a user's Function saved something ...
    cdef char released              # ... and a backward released it
    cdef char joint                 # one call (`vjps`) gives all gradients, as for a user's Function; or BOXED
    # an elementwise node: its row of the table and the dtypes of its inputs
    cdef signed char[3] dtype_codes
    cdef signed char wide           # the dtype of the computation if the output was converted afterwards (else 0)
    cdef void *op
    cdef Scratch scratch            # the engine's data for the running task

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
    cdef int take_in(self, object output) except -1
    cdef Node next_node(self, int i)
    cdef Node leaf_node(self, int i)
    cdef int next_number(self, int i) noexcept
    cdef int add_edge(self, object target, int number) except -1


cdef class NodeExtras:
    cdef list edges                 # [(node, input number), ...] from the fourth on
    cdef object metadata
    cdef dict outputs               # output number -> (shape, dtype), of outputs whose `grad_fn` was read
    cdef object outer               # of a node inside a CopySlices: a weak reference to that
    cdef tuple output_sizes         # (number, sizes) of an output that out= resized, or None
    cdef dict tangents              # tangents of the inputs by level, if an output is saved and forward mode was on
    cdef NodeHooks hooks


cdef class NodeHooks:
    """The hooks of a node: callables by the id of their handle, in the order of registration (OrderedDicts, or None)."""
    cdef dict tensor_hooks          # output number -> {id: function}
    cdef dict retained              # output number -> weak reference to the tensor that retains its gradient
    cdef object pre_hooks
    cdef object post_hooks
    cdef object post_accumulate     # of a leaf


cdef object linear_operation(Node node)
cdef int note_output_sizes(Node node, int number, tuple sizes) except -1
cdef int check_output_sizes(Node node, object g) except -1
cdef NodeExtras extras_of(Node node)

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
    """Whether `extras` may be read, even if another thread is setting it."""
    return not is_unset(extras_slot(node))

# fields of hooks and extras: None until set

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

# in node_life.pyx
cdef Node make_node(PyTypeObject *node_class, void *table)
cdef void *method_table(Node node) noexcept

# in node_hooks.pyx
cdef NodeHooks hooks_of(Node node)
cdef NodeHooks existing_hooks(Node node)
cdef NodeHooks existing_hooks_of_leaf(Tensor leaf)
cdef NodeHooks hooks_of_tensor(Tensor tensor)

cdef inline bint has_hooks(Node node) noexcept:
    """Whether the node may have hooks (`existing_hooks` tells for sure)."""
    return has_node_extras(node) or type(node) is AccumulateGrad

# in accumulate_grad.pyx

cdef class AccumulateGrad(Node):
    pass                            # the leaf is in `saved0`, so it has Node's size


cdef inline Tensor leaf_of(Node node):
    return <Tensor> node.saved0


ctypedef int (*Accumulate)(Tensor leaf, object g, bint recorded) except -1
cdef Accumulate accumulate      # input_buffer.pyx sets it

cpdef Node gradient_node(Tensor tensor)
cdef int connect(Node node, Tensor source) except -1

# in saved.pyx

cdef enum:
    OUTPUT_SLOT = 2                 # where an output is saved

cdef int save_input(Node node, int slot, Tensor tensor) except -1
cdef int save_number(Node node, int slot, Tensor number) except -1
cdef int save_output(Node node, Tensor tensor) except -1
cdef int save_elsewhere(Node node, cnp.ndarray before, Tensor tensor) except -1
cdef object unpack(Node node, int slot)
cdef cnp.ndarray saved_array(Node node, int slot)
cdef cnp.ndarray saved_like(Node node, int slot, cnp.ndarray g)
cdef bint take(Node node, int slot, PyObject *array) except -1
cdef object slot_value(Node node, int slot)
cdef int fill_slot(Node node, int slot, SlotKind kind, object value) except -1
cdef object freed_error(Node node)
cdef object stale_error(Node node, Tensor tensor, long expected)
cdef int give_tangent(Node node, Tensor output) except -1

cdef int keep_tangents(Node node, tuple tangents, long long level) except -1

# the tangents of a node's outputs (of those that are not None), from the inputs' tangents
ctypedef tuple (*TangentsOf)(Node node, tuple tangents, tuple outputs)
cdef TangentsOf tangents_of         # engine/node_tangents.pyx sets it

# in saved_tensor.pyx

cdef class Packed:
    """The result of pack hooks, and the data for making a Tensor from the result of the unpack hooks."""
    cdef tuple pairs                # of hooks, in the order of packing
    cdef object data
    cdef str slot
    cdef Tensor history             # of an input: a Tensor without data at its place in the graph, with its tangents
    cdef tuple shape
    cdef int dtype_code
    cdef bint dense                 # the saved array was C-contiguous, which the operation may rely on


cdef class SavedTensor:
    """One saved tensor with its extra state: hooks, a guard, or a user's handle. A Function always uses it."""
    cdef Guard guard                # keeps the array read-only, or None
    cdef object value               # a Tensor; an array if it is an output; Packed if it has hooks
    cdef VersionCounter counter     # of an output
    cdef long version
    cdef int output_number
    cdef bint released              # the node released it
    cdef object node                # a weak reference to the node, if a user has the handle

    cdef Node owner(self)
    cdef Tensor tensor(self, Node node)
    cdef object restored(self, Node node)
    cdef int pack(self, tuple pairs, Node node, str slot, Tensor tensor, Tensor given) except -1
    cdef int release(self) except -1


cdef SavedTensor save(object tensor, Node node)
cdef int save_several(Node node, int slot, tuple tensors) except -1
cdef int seal(SavedTensor saved, Node node, str slot) except -1
cdef int refuse_inference(Node node) except -1
cdef int seal_slots(Node node) except -1
cdef bint unpacks(Node node) except -1
cdef tuple handles(Node node, tuple saved)
cdef int take_history(Tensor alias, Tensor tensor) except -1

# in node_attributes.pyx
cdef object metadata_like(object shape, object dtype)

# in freed.pyx

cdef class TaskRoots:
    """What the error for a freed node needs of a running task, a GraphTask: the nodes recorded_at which it began."""
    cdef list roots                 # they keep the graph alive


cdef int note_backward() except -1
