"""Nodes of weighted sums of neighbouring elements: average pooling and interpolation."""

cimport cython

from autograd_cy._core.arrays.buffers cimport (
    channels_at_end, channels_second, has_channels_last, in_c_order, in_format)
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.batching.batched cimport BatchedTensor, batched
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array
from autograd_cy._core.graph.record cimport needs_node, new_node, record
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.sampling_loops cimport Taps, tapped
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class TapsNode(Node):
    """Its constants begin with the matrices along the last dimensions. The gradient uses the transposed matrices."""

    cdef object vjp_array(self, object g, int i, Request *request):
        return multiplied(<cnp.ndarray> g, turned(self.constants[0]), self.gradient_format(<cnp.ndarray> g))

    cdef object vjp(self, object g, int i):
        cdef Tensor known = <Tensor> g
        return weighed_as(TapsBackward0, (turned(self.constants[0]),), known, None, self.gradient_format(known.array))

    cdef object jvp(self, tuple tangents):
        return weighed(TapsBackward0, (self.constants[0],), tangents[0])

    cdef int gradient_format(self, cnp.ndarray g) except -1:
        """Whether the gradient gets channels last, like the saved input or else the incoming gradient."""
        return suggested(saved_array(self, 0) if self.saves else g, self.constants[0], self.saves)


@cython.final
cdef class TapsBackward0(TapsNode):
    """The node of TapsNode's gradient."""


cdef tuple turned(tuple taps):
    return tuple([(<Taps> along).transposed() for along in taps])


cdef bint suggested(cnp.ndarray x, tuple taps, bint averaged) noexcept:
    """Whether the result gets channels last; averages of volumes don't."""
    return cnp.PyArray_NDIM(x) == len(taps) + 2 and not (averaged and len(taps) == 3) and has_channels_last(x)


cdef cnp.ndarray multiplied(cnp.ndarray x, tuple taps, bint channels_last):
    """tapped(), with channels last if requested."""
    if not channels_last:
        return tapped(x, taps)
    if len(taps) == 2:
        return channels_second(tapped(channels_at_end(x), taps + (None,)))
    return in_format(tapped(in_c_order(x, code_of(x)), taps), True)


cdef Tensor weighed(object node_class, tuple constants, Tensor x, object saved=None):
    """The last dimensions of `x` multiplied by constants[0]; `saved` is kept by the node."""
    return weighed_as(node_class, constants, x, saved, suggested(x.array, constants[0], saved is not None))


cdef Tensor weighed_as(object node_class, tuple constants, Tensor x, object saved, bint channels_last):
    cdef BatchedTensor samples
    cdef Tensor y
    cdef Node node
    if x.batched:
        samples = <BatchedTensor> x
        return batched(weighed(node_class, constants, samples.value), samples.level)
    y = new_tensor(multiplied(x.array, <tuple> constants[0], channels_last))
    if not needs_node(x):
        return y
    node = new_node(node_class, constants)
    if saved is not None:
        save_input(node, 0, <Tensor> saved)
    return record(node, y, x)
