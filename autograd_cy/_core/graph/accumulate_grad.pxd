"""AccumulateGrad, the node of a leaf, and the edges that lead to nodes of leaves."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor


cdef class AccumulateGrad(Node):
    pass                            # the leaf is in `saved0`, so it has Node's size


cdef inline Tensor leaf_of(Node node):
    return <Tensor> node.saved0


ctypedef int (*Accumulate)(Tensor leaf, object g, bint recorded) except -1
cdef Accumulate accumulate      # input_buffer.pyx sets it

cdef AccumulateGrad accumulator_of(Tensor leaf)
cdef Node resolved(Node node, int i)
cpdef Node gradient_node(Tensor tensor)
cdef int connect(Node node, Tensor source) except -1
