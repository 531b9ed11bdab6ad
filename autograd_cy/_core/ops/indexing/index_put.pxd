"""Elements written where index tensors point."""

from autograd_cy._core.graph.tensor cimport Tensor

cpdef index_put_(Tensor self, indices, values, accumulate=*)
