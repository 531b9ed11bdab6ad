"""Kernels of the gradients of reductions: f(x, c, s)."""

from autograd_cy._core.arrays.dtypes cimport NCODES
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef Kernel[NCODES] DEVIATING       # (x - c) * s
cdef Kernel[NCODES] SIGNED          # sgn(x) * s, of real numbers
cdef Kernel[NCODES] EXPONENTIAL     # exp(x - c) * s, of real numbers

cdef cnp.ndarray divided(cnp.ndarray g, cnp.ndarray y, double divisor)
