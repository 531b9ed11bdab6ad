"""Sums over planes and rows of strided arrays, variances, extremes, and the gradients of reductions."""

from cpython.object cimport PyObject
from libc.float cimport DBL_EPSILON, DBL_MIN, FLT_EPSILON, FLT_MIN
from libc.math cimport sqrt

from autograd_cy._core.arrays.dtypes cimport NCODES
from autograd_cy._core.kernels.loops cimport Kernel, Loop, Part
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in runs.pyx and plane_loops.pyx
ctypedef fused real:
    float
    double

cdef enum How:
    ADD
    ADD_SIZES                       # |x|
    ADD_SQUARES
    MULTIPLY
    TAKE_LARGEST
    TAKE_SMALLEST

cdef struct Run:                    # the last dimension of a walk
    npy_intp size
    npy_intp[3] strides
    Kernel *borrowed                # for reductions neither along nor across contiguous runs

cdef double row_total(const real *x, npy_intp n) noexcept nogil
cdef double row_dot(const real *x, const real *y, npy_intp n) noexcept nogil

# in partials.pyx

cdef struct Reduction:      # `part` reduces a walk, `last` the partial results
    Part part
    void *data
    Part last
    void *last_data
    int dtype_code
    const char *identity    # the initial value of partial results

# in reduction_loops.pyx
ctypedef unsigned long long Dims    # a set of dimensions, one bit each

cdef struct Reducer:                # a loop of two operands that reduces
    Kernel[NCODES] kernels
    Loop[NCODES] planes             # our own for the last two dimensions, or NULL
    Loop wide                       # the loop from float32 to float64 results, or NULL
    char[NCODES][16] identity       # the result for no elements, in each type
    Reducer *merging                # for partial results

cdef struct Planes:                 # how to reduce a walk plane by plane: `loop` takes runs, its data is the Run
    Loop loop
    Kernel *borrowed                # instead of `loop`, if that is NULL

cdef Reducer SUM, PRODUCT, LARGEST, SMALLEST, ANY_TRUE, ALL_TRUE
cdef Reducer SUM_OF_SIZES, SUM_OF_SQUARES        # of float32 and float64

cdef cnp.ndarray reduced(Reducer *reducer, cnp.ndarray array, Dims dims, bint keepdim)
cdef cnp.ndarray pairs_of(cnp.ndarray array)
cdef cnp.ndarray total_of(cnp.ndarray array, int dtype_code, Dims dims, bint keepdim)
cdef cnp.ndarray mean_of(cnp.ndarray array, int dtype_code, Dims dims, bint keepdim)
cdef cnp.ndarray expanded(cnp.ndarray array, tuple sizes, Dims dims)
cdef int divide_by(cnp.ndarray array, double divisor) except -1
cdef Py_ssize_t count_along(cnp.ndarray array, Dims dims) noexcept
cdef int reduced_shape(cnp.ndarray array, Dims dims, bint keepdim, npy_intp *sizes) noexcept
cdef tuple reduced_sizes(cnp.ndarray array, Dims dims, bint keepdim)

# in extended_loops.pyx
cdef cnp.ndarray extended_softmax(cnp.ndarray array, int dim, bint logarithmic)
cdef cnp.ndarray extended_softmax_gradient(cnp.ndarray g, cnp.ndarray y, int dim, bint logarithmic)
cdef cnp.ndarray extended_log_of_sum(cnp.ndarray array, tuple axes)
cdef tuple extended_extremes(cnp.ndarray array, int dim, bint largest)
cdef cnp.ndarray extended_logcumsumexp(cnp.ndarray array, int dim)
cdef bint extended_between(const long double *x, cnp.npy_intp n, long double least, long double most) noexcept nogil

# in variance_loops.pyx

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
cdef void sums_of_deviations(
    const real *x, npy_intp n, real center, double *sums) noexcept nogil

# in broadcast_sums.pyx
cdef cnp.ndarray sum_to(cnp.ndarray array, int ndim, const npy_intp *dims)
cdef bint overlaps_shifted(cnp.ndarray array, cnp.ndarray out) noexcept
cdef bint is_worth_fusing(cnp.ndarray g) noexcept
cdef cnp.ndarray evaluate_added(Kernel *kernel, PyObject **arrays, int n, int dtype_code, cnp.ndarray addend, cnp.ndarray out)
cdef cnp.ndarray evaluate_sum(Kernel *kernel, PyObject **arrays, int n, int ndim, const npy_intp *dims)

# in reduction_gradients.pyx
cdef Kernel[NCODES] DEVIATING       # (x - c) * s
cdef Kernel[NCODES] SIGNED          # sgn(x) * s, of real numbers
cdef Kernel[NCODES] EXPONENTIAL     # exp(x - c) * s, of real numbers

cdef cnp.ndarray divided(cnp.ndarray g, cnp.ndarray y, double divisor)

# in extreme_gradients.pyx
cdef cnp.ndarray shared_gradient(cnp.ndarray g, cnp.ndarray x, cnp.ndarray y, Dims dims, bint finds_nan)
