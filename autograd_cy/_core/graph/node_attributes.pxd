"""What a node shows: its saved values, shapes and dtypes of its outputs, and itself as `Tensor.grad_fn`."""

from autograd_cy._core.graph.node cimport Node


cdef object saved_attribute(Node node, str name)
cdef object no_attribute(Node node, str name)
cdef object metadata_of_output(Node node, int i)
cdef object metadata_like(object shape, object dtype)
