"""Node: one recorded operation, with edges to the nodes of its inputs.

A subclass defines `vjp(g, i)`, the gradient for its i-th input on Tensors, and `jvp(tangents)`. If an array kernel is faster
it also defines `vjp_array(g, i, request)`, which may add its result to an array in the same pass, and
`vjp_samples(g, i, request)` for a batch of incoming gradients on an unbatched graph. The incoming gradient `g` is a single
value for a node with one output. For several outputs it is a list, with None for outputs that got no gradient.
"""

from collections import OrderedDict
from functools import partial

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.graph.memory cimport all_zero, zeroed
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport FREE_THREADED, Hold, hold, is_unset, let_go, load_int, set_once
from autograd_cy._core.runtime.state cimport described, hide

from autograd_cy._core.runtime.argument_errors import wrong_self
from autograd_cy._core.runtime.handle import register


cdef dict linear_operations = {}        # class of nodes -> an operation that is linear in its one tensor


def declare_linear(node_class, function):
    """Declare that the operation recorded by nodes of a class (or a subclass) is linear in its one tensor."""
    linear_operations[node_class] = function


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

        A linear operation is its own derivative. For others it is derived from `vjp` (node_tangents.pyx): NotImplemented.
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

    cdef int take_in(self, object output) except -1:
        """Make the rebuilt output of a node within this one a part of this one's output: for a CopySlices."""
        raise SystemError(f"{self.name()} has no nodes within it")

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
