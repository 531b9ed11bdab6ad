"""What the reductions share: sets of dimensions, borrowed loops along them, the families of nodes."""

cimport numpy as cnp

from autograd_cy._core.dtypes cimport NCODES
from autograd_cy._core.loops cimport Kernel
from autograd_cy._core.node cimport Node
from autograd_cy._core.tensor cimport Tensor

ctypedef unsigned long long Dims    # a set of dimensions: bit d stands for dimension d

cdef struct Reducer:                # a loop of two operands that reduces
    Kernel[NCODES] kernels
    char[NCODES][16] identity       # what nothing reduces to, in each type

cdef Reducer SUM, PRODUCT, LARGEST, SMALLEST, ANY_TRUE, ALL_TRUE

cdef enum:
    SAVES_NOTHING = 0
    SAVES_INPUT = 1
    SAVES_OUTPUT = 2


cdef class Reduction(Node):
    """`constants` begin with the dimensions (a tuple or an int; None: all) and keepdim; code0 and code1 are the types of
    input and output."""


cdef class WeightedReduction(Reduction):
    """Its gradient is the output's, times `weights` of the input's shape."""

    cdef object weights(self)
    cdef object group_sum(self, object values)
    cdef object spread(self, object values)


cdef Dims dims_of(object dim, int ndim, str operation) except? 0
cdef int one_dim(object dim, int ndim, str operation) except -1
cdef tuple dim_tuple(Dims dims)
cdef Py_ssize_t count_along(cnp.ndarray array, Dims dims) noexcept
cdef cnp.ndarray reduced(Reducer *reducer, cnp.ndarray array, Dims dims, bint keepdim)
cdef cnp.ndarray total_of(cnp.ndarray array, int code, Dims dims, bint keepdim)
cdef cnp.ndarray expanded(cnp.ndarray g, tuple sizes, Dims dims)
cdef object with_kept(object x, tuple sizes, Dims dims)
cdef int divide_by(cnp.ndarray array, double divisor) except -1
cdef object in_type(object x, int code)
cdef str type_word(int code)
cdef Tensor enter_reduction(object node_class, tuple constants, Tensor x, Tensor y, int saves)
