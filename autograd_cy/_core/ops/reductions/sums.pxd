"""Sums over dimensions, and what follows from them: means, products, variances, norms."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.reduction_loops cimport Dims
from autograd_cy._core.runtime cimport numpy_api as cnp

# in reduction_node.pyx

cdef enum:
    SAVES_NOTHING = 0
    SAVES_INPUT = 1
    SAVES_OUTPUT = 2


cdef class Reduction(Node):
    """`constants` begin with the dimensions (a tuple or an int; None: all) and keepdim; dtype_codes are the types of
    input and output."""


cdef class WeightedReduction(Reduction):
    """Its gradient is the output's times `weights`, which have the input's shape."""

    cdef object weights(self)
    cdef object group_sum(self, object values)
    cdef object spread(self, object values)


cdef class FusedReduction(WeightedReduction):
    """A kernel computes its gradient: f(x, c, s) of the input and of two arrays in the shape of the output."""

    cdef Kernel *kernel(self, int dtype_code) except? NULL
    cdef tuple operands(self, cnp.ndarray x, cnp.ndarray g, Dims dims)


cdef Dims dims_of(object dim, int ndim, str operation) except? 0
cdef int one_dim(object dim, int ndim, str operation) except -1
cdef tuple dim_tuple(Dims dims)
cdef object in_type(object x, int dtype_code)
cdef int sum_code(cnp.ndarray array, object wanted) except -1
cdef bint may_need_gradient(Tensor x) except -1
cdef Tensor record_reduction(object node_class, tuple constants, Tensor x, Tensor y, int saves)

# in scaling.pyx
cdef bint in_range(cnp.ndarray totals) noexcept
cdef bint fourth_powers_fit(cnp.ndarray totals) noexcept
cdef bint values_fit(cnp.ndarray array) except -1
cdef object scales_of(object ends)
