"""Whether and how an operation is recorded in the graph: the only code that checks grad mode and tangents.

An operation computes its output and calls `needs_node` for its inputs. If one needs a node, the operation makes its node,
saves what the rule needs and calls `record`.
"""

cimport cython
from cpython.object cimport PyTypeObject

from autograd_cy._core.graph.anomaly cimport check_results, note_trace
from autograd_cy._core.graph.node cimport Node, connect, refuse_inference, seal_slots
from autograd_cy._core.graph.tensor cimport Tensor, link_view, new_tensor, wants_grad
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport (
    ANOMALY, BATCHED, DETECT_NAN, FORWARD_AD, GUARDED, NO_GRAD, NODE_HOOKS, OP_HOOKS, SAVED_HOOKS, current_mode, own_modes,
    thread_state)

from autograd_cy._core.graph.samples import SampleTakenForAll
from autograd_cy._core.runtime.argument_errors import wrong_self

cdef extern from "Python.h":
    ctypedef struct TypeObject "PyTypeObject":
        object (*tp_new)(PyTypeObject *, object, void *)

cdef tuple EMPTY = ()


cdef bint needs_node(Tensor x) except -1:
    """Whether an operation on `x` must make a node."""
    cdef int mode = current_mode()
    if mode == 0:
        return wants_grad(x)
    if x.batched:
        raise sample_taken_for_all("an operation")
    if mode & OP_HOOKS or (not mode & NO_GRAD and wants_grad(x)):
        return True
    return mode & FORWARD_AD and has_tangent(x)


cdef object sample_taken_for_all(str who):
    return SampleTakenForAll(f"vmap: {who} has no batching rule for a tensor that stands for all samples of a batch. Call "
                             "it outside of vmap, with the whole batch, or for each sample by itself.")


cdef bint any_wanted(object tensors) except -1:
    for x in tensors:
        if x is not None and needs_node(<Tensor> x):
            return True
    return False


cdef int check_plain(Node node, object inputs) except -1:
    for x in inputs:
        if x is not None and (<Tensor> x).batched:
            raise sample_taken_for_all(node.name())
    return 0


cdef Tensor record(Node node, Tensor y, Tensor a):
    """Record `y` = operation(a); returns `y`."""
    record_first(node, y, 1, a, None, None)
    return y


cdef Tensor record2(Node node, Tensor y, Tensor a, Tensor b):
    """Record `y` = operation(a, b); returns `y`."""
    record_first(node, y, 2, a, b, None)
    return y


cdef object record_all(Node node, object outputs, object inputs):
    """Record one output or a tuple of outputs, computed from any number of inputs (None: not a tensor); returns them."""
    cdef int mode = current_mode()
    cdef Tensor y
    cdef int i
    if mode & BATCHED:
        check_plain(node, inputs)
    if not mode & NO_GRAD and needs_grad(inputs):
        for x in inputs:
            if x is None:
                node.add_edge(None, 0)
            else:
                connect(node, <Tensor> x)
        if mode & OP_HOOKS:
            refuse_inference(node)
        if mode & (SAVED_HOOKS | GUARDED):
            seal_slots(node)
        if type(outputs) is tuple:
            node.n_outputs = len(<tuple> outputs)
            for i in range(node.n_outputs):
                y = <Tensor> (<tuple> outputs)[i]
                y.output_number = i
                enter(node, y)
        else:
            enter(node, <Tensor> outputs)
        if mode & ANOMALY:
            note_trace(node, outputs, inputs, own_modes())
        if mode & NODE_HOOKS:
            announce(node)
    if mode & FORWARD_AD:
        set_tangents(node, outputs, inputs)
    if mode & OP_HOOKS:
        observe_forward(node, outputs, inputs)
    if mode & DETECT_NAN and (not mode & NO_GRAD or mode & FORWARD_AD):
        check_results(node, outputs, inputs)        # not for unrecorded operations, which only hooks see
    return outputs


cdef Node new_node(object node_class, tuple constants):
    """A node of that class with its constants."""
    cdef Node node = <Node> (<TypeObject *> node_class).tp_new(<PyTypeObject *> node_class, EMPTY, NULL)
    node.constants = constants
    return node


cdef Tensor record_linear(object node_class, tuple constants, Tensor x, object array):
    """Record a linear operation on one tensor whose gradient needs only constants; `array` is the result."""
    cdef Tensor y = new_tensor(<cnp.ndarray?> array)
    return record(new_node(node_class, constants), y, x) if needs_node(x) else y


cdef Tensor record_view(object node_class, tuple constants, Tensor x, object array):
    """Record a linear operation whose result is a view of `x`."""
    cdef Tensor y = record_linear(node_class, constants, x, array)
    link_view(x, y)
    return y


@cython.final
cdef class NotDifferentiable(Node):
    """The node that hooks on all operations get for one without a derivative. Never part of a graph."""

    def name(self):
        if not isinstance(self, NotDifferentiable):
            raise wrong_self(self, NotDifferentiable)
        return self.constants[0]


cdef int show(str name, object outputs, tuple inputs) except -1:
    """Call hooks on all operations for one that is never recorded."""
    if thread_state().mode & OP_HOOKS:
        observe_forward(new_node(NotDifferentiable, (name,)), outputs, inputs)
    return 0


cdef object shown(str name, object outputs, tuple inputs):
    """`show`, but returns the outputs."""
    show(name, outputs, inputs)
    return outputs
