"""softmax, log_softmax and logsumexp."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef int check_type(Tensor x, int dim, str operation) except -1
cdef object log_softmax_gradient(Tensor g, Tensor y, int dim)
