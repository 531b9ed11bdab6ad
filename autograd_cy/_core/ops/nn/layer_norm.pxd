"""Code shared by normalizations."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef void *data_of(cnp.ndarray array) noexcept
cdef int check_types(Tensor x, Tensor weight, Tensor bias, str operation, str kernel) except -1
cdef object projected(object h, object z, object scale, tuple dims)
cdef tuple standardized(object x, tuple dims, double eps, cnp.ndarray known)
cdef tuple sizes_argument(object value, str operation)
cdef int check_sizes(Tensor x, tuple sizes, Tensor weight, Tensor bias) except -1
