"""Loops of variances."""

from libc.float cimport DBL_EPSILON, DBL_MIN, FLT_EPSILON, FLT_MIN
from libc.math cimport sqrt

from autograd_cy._core.kernels.plane_loops cimport real
from autograd_cy._core.kernels.reduction_loops cimport Dims
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    LANES = 32              # more than the compiler unrolls before it vectorizes


cdef inline double folded(real *lanes) noexcept nogil:
    """The sum of LANES numbers, which are overwritten."""
    cdef npy_intp k
    for k in range(16):
        lanes[k] = lanes[k] + lanes[k + 16]
    for k in range(8):
        lanes[k] = lanes[k] + lanes[k + 8]
    for k in range(4):
        lanes[k] = lanes[k] + lanes[k + 4]
    return (<double> lanes[0] + <double> lanes[2]) + (<double> lanes[1] + <double> lanes[3])


cdef double lost_scale(const real *x, npy_intp count, npy_intp stride, npy_intp size, double mean, double eps,
                       double *variance) noexcept nogil


cdef inline bint is_lost(double scale, real kind) noexcept nogil:
    """Whether squares of deviations overflowed, may have underflowed, or are nan."""
    cdef double most = FLT_EPSILON / FLT_MIN if real is float else DBL_EPSILON / DBL_MIN
    return not 0 < scale <= sqrt(most)


cdef cnp.ndarray variance_of(cnp.ndarray array, Dims dims, bint keepdim, double freedom, bint root)
cdef void sums_of_deviations "autograd_cy_sums_of_deviations"(
    const real *x, npy_intp n, real center, double *sums) noexcept nogil
