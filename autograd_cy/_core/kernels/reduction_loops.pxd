"""Reductions of arrays along some dimensions."""

from autograd_cy._core.arrays.dtypes cimport NCODES
from autograd_cy._core.kernels.loops cimport Kernel, Loop, Part, Walk
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

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
cdef int walk_along(Walk *walk, Reducer *reducer, int dtype_code, int kept) except -1
cdef int sum_along(Walk *walk, int n, Part part, void *data, int kept) except -1
cdef int kept_code(int dtype_code, int ndim, const npy_intp *sizes, Dims dims, bint in_order) noexcept
cdef cnp.ndarray narrowed(cnp.ndarray array, int dtype_code)
cdef cnp.ndarray pairs_of(cnp.ndarray array)
cdef cnp.ndarray numbers_of(cnp.ndarray pairs)
cdef void call_planes(Walk *walk, int n, void *planes) noexcept nogil
cdef void set_reduction(Walk *walk, cnp.ndarray first, cnp.ndarray array, cnp.ndarray total) noexcept
cdef cnp.ndarray total_of(cnp.ndarray array, int dtype_code, Dims dims, bint keepdim)
cdef cnp.ndarray mean_of(cnp.ndarray array, int dtype_code, Dims dims, bint keepdim)
cdef cnp.ndarray expanded(cnp.ndarray array, tuple sizes, Dims dims)
cdef int divide_by(cnp.ndarray array, double divisor) except -1
cdef Py_ssize_t count_along(cnp.ndarray array, Dims dims) noexcept
cdef int reduced_shape(cnp.ndarray array, Dims dims, bint keepdim, npy_intp *sizes) noexcept
cdef tuple reduced_sizes(cnp.ndarray array, Dims dims, bint keepdim)
