"""Products of matrices and vectors, alone and added to another tensor."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor

# in mm.pyx

cdef class Bilinear(Node):
    cdef object of(self, object a, object b)


cdef class MatrixProduct(Bilinear):
    cdef bint transposed(self)
    cdef object gradient_array(self, object g, int i)
    cdef object gradient(self, object g, int i)


cdef Tensor product_of_matrices(Tensor a, Tensor b, bint transposed)
cdef Tensor sum_with_product(Tensor c, Tensor a, Tensor b, object beta, object alpha, bint transposed)
cdef object sum_of_terms(object a, object b)
cdef int save_operands(Node node, Tensor a, Tensor b, bint wanted_a, bint wanted_b) except -1
cdef int check_not_bool(Tensor a, Tensor b, str kernel) except -1

# in linalg.pyx
cdef Tensor product_of_batches(Tensor a, Tensor b)
cdef Tensor matrix_times_vector(Tensor a, Tensor v)
cdef Tensor inner_product(Tensor u, Tensor v)
