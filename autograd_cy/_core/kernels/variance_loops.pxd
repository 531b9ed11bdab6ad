"""Loops of variances."""

cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.kernels.borrowed cimport real
from autograd_cy._core.kernels.reduction_loops cimport Dims

cdef enum:
    LANES = 32              # more than the compiler unrolls before it vectorizes
    BLOCK = 512             # elements that are summed lane by lane before the lanes are put together
    COLUMNS = 256           # columns that are summed together ...
    ROWS = 64               # ... over so many rows, before they are added in double


cdef inline double folded(real *lanes) noexcept nogil:
    """The sum of LANES numbers, which are written over."""
    cdef npy_intp k
    for k in range(16):
        lanes[k] = lanes[k] + lanes[k + 16]
    for k in range(8):
        lanes[k] = lanes[k] + lanes[k + 8]
    for k in range(4):
        lanes[k] = lanes[k] + lanes[k + 4]
    return (<double> lanes[0] + <double> lanes[2]) + (<double> lanes[1] + <double> lanes[3])


cdef inline void add_sums(const real[::1] g, const real[::1] x, bint weighed, real center, double *sums) noexcept nogil:
    """Add to two sums those of x - center, or (`weighed`) of g, and of x - center times that: of at most BLOCK elements."""
    cdef real[LANES] first, second
    cdef real d, a
    cdef npy_intp i = 0, k
    for k in range(LANES):
        first[k] = second[k] = 0
    while i + LANES <= x.shape[0]:
        for k in range(LANES):
            d = x[i + k] - center
            a = g[i + k] if weighed else d
            first[k] = first[k] + a
            second[k] = second[k] + a * d
        i += LANES
    for k in range(x.shape[0] - i):
        d = x[i + k] - center
        a = g[i + k] if weighed else d
        first[k] = first[k] + a
        second[k] = second[k] + a * d
    sums[0] += folded(first)
    sums[1] += folded(second)


cdef cnp.ndarray variance_of(cnp.ndarray array, Dims dims, bint keepdim, double freedom, bint root)
