"""Nodes of operations whose results are weighted sums of neighbouring elements: average pooling, interpolation."""

cimport cython

from autograd_cy._core.batching.batched cimport BatchedTensor, batched
from autograd_cy._core.graph.node cimport Node, Request
from autograd_cy._core.graph.record cimport needs_node, new_node, record
from autograd_cy._core.graph.saved cimport save_input, unpack
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.taps cimport Taps, tapped
from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()


cdef class TapsNode(Node):
    """Its constants begin with the matrices along the last dimensions. Its gradient is that of the transposed matrices."""

    cdef object vjp_array(self, object g, int i, Request *request):
        self.check()
        return tapped(<cnp.ndarray> g, turned(self.constants[0]))

    cdef object vjp(self, object g, int i):
        self.check()
        return weighed(TapsBackward0, (turned(self.constants[0]),), g)

    cdef object jvp(self, tuple tangents):
        return weighed(TapsBackward0, (self.constants[0],), tangents[0])

    def check(self):
        """Nothing reads an input that was saved, but a changed one is an error in PyTorch, too."""
        if self.saves:
            unpack(self, 0)


@cython.final
cdef class TapsBackward0(TapsNode):
    """Of a gradient."""


cdef tuple turned(tuple taps):
    return tuple([(<Taps> along).transposed() for along in taps])


cdef Tensor weighed(object node_class, tuple constants, Tensor x, object saved=None):
    """The last dimensions of `x` multiplied by constants[0]; `saved` is kept by the node."""
    cdef BatchedTensor samples
    cdef Tensor y
    cdef Node node
    if x.batched:
        samples = <BatchedTensor> x
        return batched(weighed(node_class, constants, samples.value), samples.level)
    y = new_tensor(tapped(x.array, <tuple> constants[0]))
    if not needs_node(x):
        return y
    node = new_node(node_class, constants)
    if saved is not None:
        save_input(node, 0, <Tensor> saved)
    return record(node, y, x)
