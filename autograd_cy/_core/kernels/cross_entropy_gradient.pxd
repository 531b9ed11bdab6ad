"""The loops of cross_entropy's backward over dense arrays."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef int put_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray target, cnp.ndarray weight, long long ignore_index,
                      cnp.ndarray kept, bint each, double divisor, cnp.ndarray addend, cnp.ndarray out) except -1
