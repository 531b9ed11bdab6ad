"""The gradient of the largest or the smallest element, which equal ones share."""

from autograd_cy._core.kernels.reduction_loops cimport Dims
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray shared_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray y, Dims dims, bint finds_nan)
