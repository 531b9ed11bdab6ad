"""Cumulative sums, products, extremes and logsumexp along one dimension."""

from autograd_cy._core.kernels.plane_loops cimport ADD, MULTIPLY
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray accumulated(cnp.ndarray array, int dim, int how, bint backwards)
cdef cnp.ndarray product_gradient(cnp.ndarray x, cnp.ndarray g, int dim)
cdef tuple running_extremes(cnp.ndarray array, int dim, bint largest)
cdef cnp.ndarray sums_at(cnp.ndarray g, cnp.ndarray places, int dim)
cdef cnp.ndarray running_logsumexp(cnp.ndarray array, int dim)
cdef cnp.ndarray logsumexp_gradient(cnp.ndarray x, cnp.ndarray y, cnp.ndarray g, int dim)
