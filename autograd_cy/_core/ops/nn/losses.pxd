"""Code shared by loss functions."""

from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.pointwise.loss_node cimport MEAN, NONE, SUM
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef int reduction_of(object reduction, object size_average, object reduce) except -1
cdef object reduced(object losses, int reduction)
cdef int check_real(Tensor x, str kernel) except -1
cdef cnp.ndarray number(double value, int dtype_code)
cdef tuple of_one_shape(Tensor x, Tensor y)
cdef object weighted(object losses, object weight, int how)
