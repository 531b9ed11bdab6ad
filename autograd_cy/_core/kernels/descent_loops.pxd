"""Loops of optimizers that step along the gradient: SGD, ASGD, Rprop."""

from autograd_cy._core.kernels.update_rules cimport Rule

cdef Rule *descent_rules() noexcept
