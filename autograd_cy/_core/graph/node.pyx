"""Node: one recorded operation, with edges to the nodes of its inputs.

A subclass defines `vjp(g, i)`, the gradient for its i-th input on Tensors, and `jvp(tangents)`. If an array kernel is faster
it also defines `vjp_array(g, i, request)`, which may add its result to an array in the same pass, and
`vjp_samples(g, i, request)` for a batch of incoming gradients on an unbatched graph. The incoming gradient `g` is a single
value for a node with one output. For several outputs it is a list, with None for outputs that got no gradient.

NOTE [Edges to leaves]
The edge to a leaf leads to its AccumulateGrad, of which at most one is alive. Making it for an operation that is recorded and
dropped would be wasted work, so an inline edge holds the leaf itself until the node is needed (by the engine or
next_functions).
"""

from collections import OrderedDict
from functools import partial

import numpy as np

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport dense_copy, sizes_of
from autograd_cy._core.arrays.conversions cimport number_behind
from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of
from autograd_cy._core.graph.saved cimport OUTPUT_SLOT, freed_error, unpack
from autograd_cy._core.graph.saved_tensor cimport handle_of, release_handles
from autograd_cy._core.graph.tensor cimport (
    Tensor, TensorExtras, extend, extras_of_tensor, has_extras, make_current, new_tensor)
from autograd_cy._core.graph.zeros cimport all_zero, zeroed
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport (
    FREE_THREADED, Hold, ask_for, hold, is_unique, is_unset, let_go, load_int, may_be_asked_for, peek_pointer, set_once,
    store_int, store_pointer)
from autograd_cy._core.runtime.lifetime cimport (
    NODE, Destructor, Link, Spares, begin_death, drop_all, end_life, hide, lay_aside, owner_of, release, revived, watch)
from autograd_cy._core.runtime.location cimport described, here
from autograd_cy._core.runtime.own cimport NODES, declare_store, declared_store
from autograd_cy._core.runtime.state cimport ThreadState, thread_state

from autograd_cy._core.runtime.argument_errors import wrong_self
from autograd_cy._core.runtime.handle import register
from autograd_cy._core.runtime.lifetime import refuse_new

cnp.import_array()

cdef extern from "Python.h":
    void PyErr_Fetch(PyObject **type, PyObject **value, PyObject **traceback)
    void PyErr_Restore(PyObject *type, PyObject *value, PyObject *traceback)

cdef unsigned long long LEAF_SEQUENCE = <unsigned long long> -1

cdef dict linear_operations = {}        # class of nodes -> an operation that is linear in its one tensor


def declare_linear(node_class, function):
    """Declare that the operation recorded by nodes of a class (or a subclass) is linear in its one tensor."""
    linear_operations[node_class] = function


cdef dict known_outputs = {}            # class of nodes -> function of a node and the number of an output


def declare_outputs(node_class, function):
    """function(node, i) returns (sizes, dtype) of an output of such a node, or None if it does not know them."""
    known_outputs[node_class] = function


added_to_parts = set()                  # classes of nodes that add their gradient to a part of the addend


def declare_added_to_part(node_class):
    """Declare that nodes of a class may add their gradient to a part of the sum so far, which keeps a -0.0 elsewhere."""
    added_to_parts.add(node_class)


cdef object linear_operation(Node node):
    """The operation that the node recorded if it was declared linear, else None."""
    for cls in type(node).__mro__:
        if cls in linear_operations:
            return linear_operations[cls]
    return None


cdef class Node:
    """One recorded operation. Only operations make nodes; `tensor.grad_fn` leads to it.

    >>> import autograd_cy as ag
    >>> (ag.ones(1, requires_grad=True) * 2).grad_fn
    <MulBackward0>
    """

    def __cinit__(self):
        hide(&self.link)
        enter_life(self)

    def __init__(self):
        raise TypeError(f"cannot create '{type(self).__name__}' instances: operations make them")

    # methods that a subclass defines

    cdef object vjp(self, object g, int i):
        """The gradient for input `i`, a Tensor or None, computed by operations (recorded under create_graph)."""
        raise NotImplementedError(f"the derivative for '{self.name()}' is not implemented")

    cdef object jvp(self, tuple tangents):
        """The output's tangent (a tuple for several) from the inputs' tangents, None where there is none.

        A linear operation is its own derivative. For others it is derived from `vjp` (double_vjp.pyx): NotImplemented.
        """
        operation = linear_operation(self)
        return NotImplemented if operation is None else operation(tangents[0], *self.arguments())

    cdef object vjp_of_zeros(self, object g, int i):
        """`vjp`, but a 0 in `g` contributes 0: case 2 of NOTE [Zeros that stay].

        A subclass knows which entries of `g` an entry of the gradient comes from. By default each may come from all.
        """
        return zeroed(self.vjp(g, i), all_zero(g if type(g) is list else [g]))

    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found):
        """Like `vjp_of_zeros`, for tangents: `found` is the result of `jvp` or of its substitute."""
        zeros = all_zero(tangents)
        return tuple([zeroed(t, zeros) for t in found])

    cdef tuple arguments(self):
        """The arguments of a linear operation besides its tensor."""
        return self.constants

    cdef object vjp_array(self, object g, int i, Request *request):
        """The gradient for input `i` as an array, not recorded; `g` is an array, or a list of arrays for several outputs.

        By default `vjp` computes it. A kernel that can add its result to the addend in the same pass does so and sets
        `added`. It writes the sum to the addend if that `is_ours`, else over `g` if permitted and `g` has the addend's shape
        and dtype, else to a new array.
        """
        cdef object result
        if type(g) is list:
            result = self.vjp([None if item is None else new_tensor(item) for item in g], i)
        else:
            result = self.vjp(new_tensor(g), i)
        return None if result is None else (<Tensor> result).array

    cdef object vjp_samples(self, cnp.ndarray g, int i, Request *request):
        """`vjp_array` for a gradient with samples along its first dimension, which the saved tensors lack.

        None if there is no kernel: then `vjp` computes it by batching rules.
        """
        return None

    cdef tuple vjps(self, object g):
        """The gradients for all inputs; a `joint` node computes them in one call."""
        cdef int i
        return tuple([None if self.next_node(i) is None else self.vjp(g, i) for i in range(self.n_edges)])

    def __call__(self, *gradients):
        """node(*gradients) -> Tensor or tuple: the gradients for the inputs, from one gradient (or None) for each output."""
        cdef Hold section
        cdef tuple results
        check_gradients(self, gradients)
        if not self.joint and gradients.count(None) == len(gradients):
            results = (None,) * self.n_edges
        else:
            hold(&section, <PyObject *> self)
            try:
                results = self.vjps(gradients[0] if self.n_outputs == 1 else list(gradients))
            finally:
                let_go(&section)
        return results[0] if len(results) == 1 else results

    cdef tuple saved_names(self):
        """The names (`self`, `other`, `result`) of the saved slots 0, 1, 2."""
        return ()

    cdef tuple constant_names(self):
        return ()

    # saved tensors

    cdef int release_saved(self) except -1:
        """Release the saved tensors, as a backward does unless it retains the graph."""
        if self.saves:
            if self.kinds[0] >= HANDLE or self.kinds[1] >= HANDLE or self.kinds[2] >= HANDLE:
                release_handles(self)
            self.released = True
            self.saved0 = None
            self.saved1 = None
            self.saved2 = None
            self.kinds[0] = self.kinds[1] = self.kinds[2] = NOTHING
            self.counter = None
            if self.extras is not None:
                (<NodeExtras> self.extras).tangents = None
        return 0

    cdef int forget_common(self) except -1:
        """Clear values shared by the gradients of one backward, because it failed and the next may differ."""
        return 0

    def __getattr__(self, str name):
        cdef Hold section
        if not name.startswith(("_saved_", "_raw_saved_")):
            raise no_attribute(self, name)
        hold(&section, <PyObject *> self)
        try:
            return saved_attribute(self, name)
        finally:
            let_go(&section)

    def __dir__(self):
        if not isinstance(self, Node):
            raise wrong_self(self, Node)
        names = ["_saved_" + name for name in (*self.saved_names(), *self.constant_names()) if name]
        names += ["_raw_saved_" + name for name in self.saved_names() if name]
        return sorted({*object.__dir__(self), *names})

    # edges

    cdef Node next_node(self, int i):
        """The node that edge `i` leads to, or None."""
        if i < 3 and load_int(&self.leaf_edges) & (1 << i):
            return self.leaf_node(i)
        if i == 0:
            return <Node> self.next0
        if i == 1:
            return <Node> self.next1
        if i == 2:
            return <Node> self.next2
        return <Node> (<tuple> (<NodeExtras> self.extras).edges[i - 3])[0]

    cdef Node leaf_node(self, int i):
        """Replace the leaf by its AccumulateGrad."""
        cdef Hold section
        if not FREE_THREADED:
            return resolved(self, i)
        hold(&section, <PyObject *> self)
        try:
            return resolved(self, i)
        finally:
            let_go(&section)

    cdef int next_number(self, int i) noexcept:
        return self.numbers[i] if i < 3 else (<tuple> (<NodeExtras> self.extras).edges[i - 3])[1]

    cdef int add_edge(self, object target, int number) except -1:
        """Append an edge to output `number` of a node (None for an input that needs no gradient)."""
        cdef int i = self.n_edges
        cdef NodeExtras extras
        if i < 3:
            self.numbers[i] = number
        if i == 0:
            self.next0 = target
        elif i == 1:
            self.next1 = target
        elif i == 2:
            self.next2 = target
        else:
            extras = extras_of(self)
            if extras.edges is None:
                extras.edges = []
            extras.edges.append((target, number))
        self.n_edges = i + 1
        return 0

    @property
    def next_functions(self):
        """The nodes that this one's gradients go to: ((Node or None, input number), ...).

        >>> import autograd_cy as ag
        >>> x = ag.tensor(1.0, requires_grad=True)
        >>> (x * 2.0).grad_fn.next_functions
        ((<AccumulateGrad>, 0), (None, 0))
        """
        cdef int i
        return tuple([(self.next_node(i), self.next_number(i)) for i in range(self.n_edges)])

    def name(self):
        """The name of the operation: `MulBackward0`."""
        return type(self).__name__

    @property
    def location(self):
        """Where the operation was called: 'file.py:12, in train'; an empty string if unknown."""
        return described(self.code, self.instruction)

    @property
    def metadata(self):
        """A dict for the user's own data."""
        cdef NodeExtras extras = extras_of(self)
        if is_unset(metadata_slot(extras)):
            set_once(extras, metadata_slot(extras), {})
        return extras.metadata

    @property
    def _input_metadata(self):
        """For each output of the operation the shape, dtype and device of its gradient.

        NotImplementedError for an output that the node's data don't determine, unless its tensor's `grad_fn` was read, which
        notes it.
        """
        cdef int i
        return tuple([metadata_of_output(self, i) for i in range(self.n_outputs)])

    def register_hook(self, hook):
        """register_hook(hook) -> RemovableHandle: hook(grad_inputs, grad_outputs) is called after the node ran.

        If it returns a tuple, this replaces grad_inputs.
        """
        if not isinstance(self, Node):
            raise wrong_self(self, Node)
        cdef NodeHooks hooks = hooks_of(self)
        if is_unset(post_hooks_slot(hooks)):
            set_once(hooks, post_hooks_slot(hooks), OrderedDict())
        return register(hooks.post_hooks, hook)

    def register_prehook(self, hook):
        """register_prehook(hook) -> RemovableHandle: hook(grad_outputs) is called before the node runs.

        If it returns a tuple, this replaces grad_outputs.
        """
        if not isinstance(self, Node):
            raise wrong_self(self, Node)
        cdef NodeHooks hooks = hooks_of(self)
        if is_unset(pre_hooks_slot(hooks)):
            set_once(hooks, pre_hooks_slot(hooks), OrderedDict())
        return register(hooks.pre_hooks, hook)

    def _register_hook_dict(self, tensor):
        """_register_hook_dict(tensor): the hooks in tensor._backward_hooks run before the node."""
        if not isinstance(self, Node):
            raise wrong_self(self, Node)
        if not isinstance(tensor, Tensor):
            raise TypeError("_register_hook_dict expected a variable")
        hooks = tensor._backward_hooks
        if hooks is not None:
            self.register_prehook(partial(run_hooks, hooks, (<Tensor> tensor).output_number))

    def _sequence_nr(self):
        if not isinstance(self, Node):
            raise wrong_self(self, Node)
        return self.sequence_number

    def _set_sequence_nr(self, unsigned long long number):
        if not isinstance(self, Node):
            raise wrong_self(self, Node)
        self.sequence_number = number

    def __repr__(self):
        return f"<{self.name()}>"

    def __reduce__(self):
        raise TypeError(f"cannot pickle '{self.name()}' object: a recorded graph is not serializable")


cdef object saved_attribute(Node node, str name):
    """`_saved_*` or `_raw_saved_*`, with the node's lock held."""
    if name.startswith("_saved_"):
        name = name[7:]
        if name in node.saved_names():
            value = unpack(node, node.saved_names().index(name))
            if value is not None and (<Tensor> value).is_number:
                return saved_number((<Tensor> value).array, node.saved_names().index(name) < node.n_edges)
            return value
        if name in node.constant_names():
            if node.released:
                raise freed_error(node)
            return node.constants[node.constant_names().index(name)]
        saved, found, dim = name.partition("_sym_argsize_")
        if found and saved in node.saved_names() and dim.removeprefix("minus_").isdigit():
            sizes = unpack(node, node.saved_names().index(saved)).shape
            return sizes[-int(dim[6:]) if dim.startswith("minus_") else int(dim)]
        name = "_saved_" + name
    elif name.startswith("_raw_saved_") and name[11:] in node.saved_names():
        return handle_of(node, node.saved_names().index(name[11:]))
    raise no_attribute(node, name)


cdef object no_attribute(Node node, str name):
    return AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


cdef int check_gradients(Node node, tuple gradients) except -1:
    """Refuse gradients that no rule can read: rules expect a Tensor, or a list with one for each output."""
    cdef int i
    if len(gradients) != node.n_outputs:
        raise TypeError(f"expected {node.n_outputs} arguments, got {len(gradients)} instead: {node.name()} takes a gradient "
                        "for each output")
    for i in range(node.n_outputs):
        if gradients[i] is not None and not isinstance(gradients[i], Tensor):
            raise TypeError(f"argument {i} is not a Variable: {node.name()} takes Tensors or None, not "
                            f"{type(gradients[i]).__name__}")
    return 0


cdef int note_output(Node node, Tensor y) except -1:
    """Keep shape and dtype of an output for `_input_metadata`."""
    cdef NodeExtras extras = extras_of(node)
    if is_unset(outputs_slot(extras)):
        set_once(extras, outputs_slot(extras), {})
    extras.outputs[y.output_number] = (y.shape, y.dtype)
    return 0


cdef object make_metadata = None        # function of shape and dtype; the facade sets it


def run_hooks(hooks, int output, tuple gradients):
    """The gradients after a dict of hooks on one of them ran."""
    g = gradients[output]
    for hook in list(hooks.values()):
        result = hook(g)
        if result is not None:
            g = result
    return gradients[:output] + (g,) + gradients[output + 1:]


def set_metadata_function(function):
    global make_metadata
    make_metadata = function


cdef object metadata_like(object shape, object dtype):
    return make_metadata(shape, dtype)


def like_output(Node node, int i):
    """(sizes, dtype) of an output, if the node's data determine them; else None."""
    if type(node) is AccumulateGrad:
        return leaf_of(node).shape, leaf_of(node).dtype
    for cls in type(node).__mro__:
        found = known_outputs[cls](node, i) if cls in known_outputs else None
        if found is not None:
            return found
    return like_array(<cnp.ndarray> node.saved2) if i == 0 and node.kinds[OUTPUT_SLOT] == OUTPUT else None


def like_array(cnp.ndarray array):
    """(sizes, dtype) of an array."""
    return sizes_of(array), dtype_of(code_of(array))


cdef object metadata_of_output(Node node, int i):
    cdef object noted
    cdef object outputs = held_at(outputs_slot(<NodeExtras> node.extras)) if has_node_extras(node) else None
    if outputs is not None:
        noted = outputs.get(i)
        if noted is not None:
            return metadata_like(noted[0], noted[1])
    noted = like_output(node, i)
    if noted is not None:
        return metadata_like(noted[0], noted[1])
    raise NotImplementedError(f"_input_metadata of output {i} of {node.name()} is known only if the tensor that it computed "
                              "was asked for its grad_fn")


cdef object saved_number(cnp.ndarray array, bint as_tensor):
    """A number as users see it: itself, or a 0-d tensor of Python's precision if the operand may be a tensor."""
    cdef object number = number_behind(array), wide = np.asarray(number)
    if not as_tensor:
        return number
    return new_tensor(wide if wide.dtype.kind != "u" else dense_copy(array))


cdef Destructor compiled_dealloc = NULL
cdef Spares spares              # of all threads; without a GIL each thread has its own
spares.n = 0

cdef extern from *:
    """
    #define hooks_slot(holder) ((PyObject **) &(holder)->hooks)
    #define leaf_behind(node) ((node)->saved0)
    #define accumulator_slot(leaf) (&(leaf)->accumulator)
    #define table_slot(node) ((void **) &(node)->__pyx_vtab)
    #define weak_references(node) ((node)->__weakref__)
    #define clear_plain_data(node) \
        memset(&(node)->sequence_number, 0, (char *) ((node) + 1) - (char *) &(node)->sequence_number)
    """
    PyObject **hooks_slot(NodeExtras extras) noexcept
    PyObject **leaf_hooks_slot "hooks_slot"(TensorExtras extras) noexcept
    PyObject *leaf_behind(Node node) noexcept
    PyObject **accumulator_slot(Tensor leaf) noexcept
    void **table_slot(Node node)
    void *weak_references(Node node)
    void clear_plain_data(Node node)

cdef extern from "Python.h":
    ctypedef struct TypeObject "PyTypeObject":
        Destructor tp_dealloc
        Py_ssize_t tp_basicsize
        unsigned long tp_flags
    TypeObject *Py_TYPE(PyObject *)
    void Py_SET_TYPE(PyObject *, PyTypeObject *)
    unsigned long Py_TPFLAGS_HEAPTYPE


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


cdef inline Spares *spares_here() noexcept:
    return <Spares *> declared_store(NODES) if FREE_THREADED else &spares


cdef void empty_store(void *store) noexcept:
    drop_all(<Spares *> store, compiled_dealloc)


def drop_spares():
    """drop_spares(): free the spare nodes (without a GIL, this thread's)."""
    drop_all(spares_here(), compiled_dealloc)


cdef int enter_life(Node node) noexcept:
    cdef ThreadState *state = thread_state()
    watch(&node.link, NODE)
    node.sequence_number = state.sequence_nr
    state.sequence_nr += 1
    node.n_outputs = 1
    node.code = here(&node.instruction)
    return 0


cdef void *method_table(Node node) noexcept:
    return table_slot(node)[0]


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


@cython.final
cdef class NodeExtras:
    pass


@cython.final
cdef class NodeHooks:
    pass


cdef NodeExtras extras_of(Node node):
    if is_unset(extras_slot(node)):
        set_once(node, extras_slot(node), NodeExtras.__new__(NodeExtras))
    return <NodeExtras> node.extras


cdef int note_output_sizes(Node node, int number, tuple sizes) except -1:
    """Note an output's original sizes before it is resized: gradients must still have the original sizes."""
    extras_of(node).output_sizes = (number, sizes)
    return 0


cdef int check_output_sizes(Node node, object g) except -1:
    """Refuse a gradient whose sizes differ from those noted by `note_output_sizes`."""
    cdef int number = (<NodeExtras> node.extras).output_sizes[0]
    cdef tuple sizes = (<NodeExtras> node.extras).output_sizes[1]
    if type(g) is list:
        g = g[number]
    if g is not None and tuple(g.shape) != sizes:
        raise RuntimeError(f"{node.name()} got an invalid gradient at index {number} - got {list(g.shape)} but expected shape "
                           f"compatible with {list(sizes)}")
    return 0


cdef NodeHooks hooks_of(Node node):
    """The hooks of a node, made on demand. A leaf's hooks live with the leaf, which outlives its node."""
    if type(node) is AccumulateGrad:
        return hooks_of_tensor(leaf_of(node))
    cdef NodeExtras extras = extras_of(node)
    if is_unset(hooks_slot(extras)):
        set_once(extras, hooks_slot(extras), NodeHooks.__new__(NodeHooks))
    return extras.hooks


cdef NodeHooks hooks_of_tensor(Tensor tensor):
    """The hooks object on which the tensor's own hooks are registered."""
    make_current(tensor)
    if tensor.grad_fn is not None:
        return hooks_of(tensor.grad_fn)
    cdef TensorExtras extras = extras_of_tensor(tensor)
    if is_unset(leaf_hooks_slot(extras)):
        set_once(extras, leaf_hooks_slot(extras), NodeHooks.__new__(NodeHooks))
    return <NodeHooks> extras.hooks


cdef NodeHooks existing_hooks_of_leaf(Tensor leaf):
    """The hooks kept on a leaf for its node, or None."""
    return <NodeHooks> held_at(leaf_hooks_slot(leaf.extras)) if has_extras(leaf) else None


cdef NodeHooks existing_hooks(Node node):
    """The hooks of a node, or None."""
    if type(node) is AccumulateGrad:
        return existing_hooks_of_leaf(leaf_of(node))
    return <NodeHooks> held_at(hooks_slot(<NodeExtras> node.extras)) if has_node_extras(node) else None


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


def place_of(Tensor self):
    """The node of the operation that computed the tensor, None for a leaf."""
    make_current(self)
    if self.grad_fn is not None:
        note_output(self.grad_fn, self)
    return self.grad_fn


def refuse_place(Tensor self, value=None):
    raise AttributeError("attribute 'grad_fn' of 'autograd_cy.Tensor' objects is not writable; detach() gives a tensor "
                         "without it")


def drop_place(Tensor self, value):
    """The setter of _grad_fn: None detaches the tensor in place."""
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    (<object> self).detach_()


def keep_place(self):
    raise RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!")


extend("grad_fn", property(place_of, refuse_place, refuse_place))
extend("_grad_fn", property(place_of, drop_place, keep_place))

cdef Node _probe = Node.__new__(Node)
if owner_of(&_probe.link) != <PyObject *> _probe:
    raise ImportError("Node.link is not where lifetime.owner_of expects it")
compiled_dealloc = (<TypeObject *> Node).tp_dealloc
(<TypeObject *> Node).tp_dealloc = free_node
declare_store(NODES, sizeof(Spares), empty_store)
(<TypeObject *> AccumulateGrad).tp_dealloc = free_accumulator
