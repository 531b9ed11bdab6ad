"""Products of matrices and vectors."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef Tensor product_of_batches(Tensor a, Tensor b)
cdef Tensor matrix_times_vector(Tensor a, Tensor v)
cdef Tensor inner_product(Tensor u, Tensor v)
