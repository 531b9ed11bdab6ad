"""sin and cos of doubles, vectorized; NumPy's loops call the C library for each.

An element's bits don't depend on its place. Elements beyond LIMIT, the limit of the reduction, go to the C library.
"""

from libc.math cimport cos, fabs, sin

from autograd_cy._core.kernels.borrowed cimport run_f64, spaced_f64
from autograd_cy._core.kernels.loops cimport Loop, call_flattened
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    #include "clones.h"
    #include "elementary.h"
    AUTOGRAD_CY_CLONED AUTOGRAD_CY_FLAT static void autograd_cy_turn_block(double const *, double *, npy_intp, int);
    """

cdef extern from "elementary.h" nogil:
    double turned_sin "autograd_cy_turned_sin"(double x, int quarters) noexcept
    double LIMIT "AUTOGRAD_CY_SIN_LIMIT"

cdef enum:
    SINE_BLOCK = 1024            # elements that are checked together


cdef inline bint any_beyond(const double[::1] x) noexcept nogil:
    """Whether an element is too large, infinite or NaN."""
    cdef Py_ssize_t i, found = 0
    for i in range(x.shape[0]):
        found |= not fabs(x[i]) <= LIMIT
    return found


cdef inline void turn(const double[::1] x, double[::1] out, int quarters) noexcept nogil:
    """No element is beyond the limit."""
    cdef Py_ssize_t i
    for i in range(out.shape[0]):
        out[i] = turned_sin(x[i], quarters)


cdef inline double one(double x, int quarters) noexcept nogil:
    if fabs(x) <= LIMIT:
        return turned_sin(x, quarters)
    return cos(x) if quarters else sin(x)


cdef inline void turn_each(const double[:] x, double[:] out, int quarters) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(out.shape[0]):
        out[i] = one(x[i], quarters)


cdef void turn_block "autograd_cy_turn_block"(const double *x, double *out, npy_intp n, int quarters) noexcept nogil:
    if any_beyond(run_f64(x, n)):
        turn_each(run_f64(x, n), run_f64(out, n), quarters)
    else:
        turn(run_f64(x, n), run_f64(out, n), quarters)


cdef inline void quarter_turned(char **args, npy_intp n, const npy_intp *strides, int quarters, Loop itself) noexcept nogil:
    """A loop over any elements; a long strided run is copied and passed to `itself` block by block."""
    cdef npy_intp start = 0, size
    if strides[0] == sizeof(double) and strides[1] == sizeof(double):
        while start < n:
            size = min(n - start, <npy_intp> SINE_BLOCK)
            turn_block(<const double *> args[0] + start, <double *> args[1] + start, size, quarters)
            start += size
    elif n >= thresholds.strided_run:
        call_flattened(itself, args, n, strides, 2, sizeof(double))
    else:
        turn_each(spaced_f64(args[0], n, strides[0]), spaced_f64(args[1], n, strides[1]), quarters)


cdef void sin_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    quarter_turned(args, dims[0], strides, 0, sin_f64)


cdef void cos_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    quarter_turned(args, dims[0], strides, 1, cos_f64)
