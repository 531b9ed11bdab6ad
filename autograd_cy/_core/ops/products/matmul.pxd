"""Products of matrices and vectors, alone and added to another tensor."""

from autograd_cy._core.graph.node cimport Node

# in mm.pyx

cdef class Bilinear(Node):
    cdef object of(self, object a, object b)


cdef class MatrixProduct(Bilinear):
    cdef bint transposed(self)
    cdef object gradient_array(self, object g, int i)
    cdef object gradient(self, object g, int i)
