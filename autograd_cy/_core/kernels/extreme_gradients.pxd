"""The gradient of a maximum or minimum, shared by equal elements."""

from autograd_cy._core.kernels.reduction_loops cimport Dims
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray shared_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray y, Dims dims, bint finds_nan)
