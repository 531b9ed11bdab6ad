"""Loops of optimizers: each passes once over a parameter, its gradient and the state of that parameter."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    KEPT = 3            # state arrays of a parameter, at most
    SCALARS = 3         # state scalars of a parameter
    OPTIONS = 10        # the user's options
    NUMBERS = 12        # constants of a loop, computed from options and scalars

# Advances the scalars by one step and computes the numbers. `fresh`: the parameter had no state yet.
ctypedef void (*Prepare)(const double *options, double *scalars, double *numbers, bint fresh) noexcept nogil
# p: the parameter; g: its gradient; a, b, c: state arrays, or NULL.
ctypedef void (*Loop32)(float *p, const float *g, float *a, float *b, float *c, const double *numbers,
                        npy_intp n) noexcept nogil
ctypedef void (*Loop64)(double *p, const double *g, double *a, double *b, double *c, const double *numbers,
                        npy_intp n) noexcept nogil

# Whether a step with these numbers changes no bit of a parameter where its gradient is 0.
ctypedef bint (*LeavesZeros)(const double *numbers, bint is_float64) noexcept nogil


cdef class Rule:
    """How an optimizer updates a parameter: its name and its loops."""
    cdef readonly str name
    cdef Prepare prepare
    cdef Loop32 loop32
    cdef Loop64 loop64
    cdef LeavesZeros leaves_zeros       # NULL: never


cdef dict RULES     # by name
