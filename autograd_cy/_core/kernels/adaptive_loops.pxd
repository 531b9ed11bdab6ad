"""Loops of optimizers that divide by what gradients were like: Adam and those after it."""

from autograd_cy._core.kernels.update_rules cimport Rule

cdef Rule *adaptive_rules() noexcept
