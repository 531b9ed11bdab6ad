"""Elements written where index tensors point."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef int check_places_apart(Tensor target, tuple indices, object values, bint accumulate) except -1
cpdef index_put_(Tensor self, indices, values, accumulate=*)
