"""sin and cos of doubles, several at a time: NumPy's loops call the C library for one after the other.

An element has the same bits wherever it stands. What is too large for the reduction (LIMIT) goes to the C library.
"""

from libc.math cimport cos, fabs, sin
from numpy cimport npy_intp

from autograd_cy._core.kernels.loops cimport Loop, call_flattened
from autograd_cy._core.runtime.thresholds cimport thresholds

cdef extern from *:
    """
    #include "clones.h"
    #include "elementary.h"
    AUTOGRAD_CY_CLONED static void autograd_cy_turn_block(double const *, double *, npy_intp, int);
    AUTOGRAD_CY_CLONED static npy_intp autograd_cy_any_beyond(double const *, npy_intp);
    """

cdef extern from "elementary.h" nogil:
    double turned_sin "autograd_cy_turned_sin"(double x, int quarters) noexcept
    double LIMIT "AUTOGRAD_CY_SIN_LIMIT"

cdef enum:
    BLOCK = 1024            # elements of which none, or any, is beyond the limit


cdef npy_intp any_beyond "autograd_cy_any_beyond"(const double *x, npy_intp n) noexcept nogil:
    """Whether an element is too large, infinite or NaN."""
    cdef npy_intp i, found = 0
    for i in range(n):
        found |= not fabs(x[i]) <= LIMIT
    return found


cdef void turn_block "autograd_cy_turn_block"(const double *x, double *y, npy_intp n, int quarters) noexcept nogil:
    """Elements of which none is beyond the limit."""
    cdef npy_intp i
    for i in range(n):
        y[i] = turned_sin(x[i], quarters)


cdef inline double one(double x, int quarters) noexcept nogil:
    if fabs(x) <= LIMIT:
        return turned_sin(x, quarters)
    return cos(x) if quarters else sin(x)


cdef inline void each(char **args, npy_intp n, const npy_intp *strides, int quarters) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        (<double *> (args[1] + i * strides[1]))[0] = one((<double *> (args[0] + i * strides[0]))[0], quarters)


cdef inline void in_blocks(char **args, npy_intp n, const npy_intp *strides, int quarters) noexcept nogil:
    """Contiguous elements of any size."""
    cdef char *own[2]
    cdef npy_intp start = 0, size
    while start < n:
        size = min(n - start, <npy_intp> BLOCK)
        own[0], own[1] = args[0] + start * sizeof(double), args[1] + start * sizeof(double)
        if any_beyond(<const double *> own[0], size):
            each(own, size, strides, quarters)
        else:
            turn_block(<const double *> own[0], <double *> own[1], size, quarters)
        start += size


cdef inline void quarter_turned(char **args, npy_intp n, const npy_intp *strides, int quarters, Loop itself) noexcept nogil:
    """A loop over any elements; a long run of strided ones comes back to it block by block."""
    if strides[0] == sizeof(double) and strides[1] == sizeof(double):
        in_blocks(args, n, strides, quarters)
    elif n >= thresholds.strided_run:
        call_flattened(itself, args, n, strides, 2, sizeof(double))
    else:
        each(args, n, strides, quarters)


cdef void sin_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    quarter_turned(args, dims[0], strides, 0, sin_f64)


cdef void cos_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    quarter_turned(args, dims[0], strides, 1, cos_f64)
