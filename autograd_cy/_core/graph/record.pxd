"""Whether and how an operation is recorded in the graph."""

from autograd_cy._core.graph.accumulate_grad cimport connect
from autograd_cy._core.graph.nans cimport check_result
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime.modes cimport current_mode
from autograd_cy._core.runtime.state cimport DETECT_NAN

cdef bint needs_node(Tensor x) except -1
cdef bint any_wanted(object tensors) except -1
cdef Tensor record(Node node, Tensor y, Tensor a)
cdef Tensor record2(Node node, Tensor y, Tensor a, Tensor b)
cdef object record_all(Node node, object outputs, object inputs)

cdef inline int record_first(Node node, Tensor y, int n, Tensor a, Tensor b, Tensor c) except -1:
    """Record `y`, computed from the first n of a, b and c (None: not a tensor)."""
    cdef int mode = current_mode()
    if mode & ~DETECT_NAN:
        record_all(node, y, (a, b, c)[:n])
        return 0
    connect_operand(node, a)
    if n > 1:
        connect_operand(node, b)
    if n > 2:
        connect_operand(node, c)
    enter(node, y)
    if mode:
        check_result(node, y, a, b, c)
    return 0

cdef inline int connect_operand(Node node, Tensor x) except -1:
    return node.add_edge(None, 0) if x is None else connect(node, x)

cdef inline int enter(Node node, Tensor y) except -1:
    """Make `y` the node's output."""
    y.grad_fn = node
    y.needs_grad = True
    return 0

cdef int show(str name, object outputs, tuple inputs) except -1
cdef object shown(str name, object outputs, tuple inputs)
cdef Node new_node(object node_class, tuple constants)
cdef Tensor record_linear(object node_class, tuple constants, Tensor x, object array)
cdef Tensor record_view(object node_class, tuple constants, Tensor x, object array)
