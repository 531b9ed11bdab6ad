"""Systems of linear equations, and the decompositions that solve them: Cholesky, LU, LDL."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

# in matrix.pyx

cdef class Decomposition(Node):
    cdef object output(self, int k)


cdef tuple record_outputs(Node node, tuple outputs, Tensor x)
cdef list gradients_of(object g, int n)
cdef object plus(object a, object b)
cdef Tensor matrix_argument(object value, str operation, bint square)
cdef int check_matrix(Tensor x, str operation, str name, bint square) except -1
cdef int check_not_integers(Tensor x, str operation) except -1
cdef int check_inexact(Tensor x, str operation) except -1
cdef object ufunc(str name, object public)
cdef object converged(str operation, str name, object public, object array, str values)
cdef tuple first_failure(object info)
cdef int check_finite(str operation, object finite, str failure) except -1
cdef tuple empty_factors(object array)
cdef object svd_arrays(object array, bint full)
cdef object svd_values(object array)
cdef object eigh_arrays(object array, str UPLO)
cdef object eigh_values(object array, str UPLO)
cdef object adjoint_of(object x)
cdef object lower(object x, int k)
cdef object upper_part(object x, int k)
cdef object on_diagonal(object d)
cdef object with_diagonal(object x, object value)
cdef object unbroadcast(object g, tuple sizes)
cdef object real_type_of(cnp.ndarray array)
cdef Tensor dense(object array)
cdef Tensor columns_first(object array)
