"""Variances along some dimensions, in two passes and without an array for the deviations (knows no Tensor).

The first pass gives the means. The second sums the deviations from them and their squares; the sum of deviations corrects
the means' rounding errors (Chan, Golub, LeVeque, "Algorithms for computing the sample variance", 1983). Rows are summed LANES
at a time, columns VARIANCE_COLUMNS at a time, so that no step depends on the one before. Sums of blocks are added in double.
"""

from libc.math cimport INFINITY, fabs, frexp, hypot, ldexp, sqrt

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, cast, dense_copy, new_array, new_zeros
from autograd_cy._core.arrays.dtypes cimport COMPLEX128, COMPLEX64, FLOAT32, LONGDOUBLE, code_of, is_half, to_real
from autograd_cy._core.kernels.loops cimport Walk, copy_strided
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


# Declares the float and double versions that Cython generates from fused functions.
cdef extern from *:
    """
    #include "clones.h"
    #undef DECLARE_CLONED
    #define DECLARE_CLONED(real, fuse) \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_sums_of_deviations(real const *, npy_intp, real, double *); \\
        AUTOGRAD_CY_CLONED static void fuse##autograd_cy_add_deviations( \\
            char const *, npy_intp, npy_intp, npy_intp, real const *, real *, real *);
    DECLARE_CLONED(float, __pyx_fuse_0)
    DECLARE_CLONED(double, __pyx_fuse_1)
    """

cdef enum:
    VARIANCE_BLOCK = 512    # elements summed lane by lane before the lanes are added
    VARIANCE_COLUMNS = 256  # columns summed together ...
    VARIANCE_ROWS = 64      # ... over so many rows, before they are added in double
    COPIED = 4              # rows of strided columns that are copied at once


# rows

cdef void deviations_of_run "autograd_cy_sums_of_deviations"(
        const real *x, npy_intp n, real center, double *sums) noexcept nogil:
    """The sum of x - center, and of its square."""
    cdef real[LANES] first, second
    cdef real d
    cdef npy_intp i, k, size
    sums[0] = sums[1] = 0
    while n > 0:
        size = min(n, <npy_intp> VARIANCE_BLOCK)
        i = 0
        for k in range(LANES):
            first[k] = second[k] = 0
        while i + LANES <= size:
            for k in range(LANES):
                d = x[i + k] - center
                first[k] = first[k] + d
                second[k] = second[k] + d * d
            i += LANES
        for k in range(size - i):
            d = x[i + k] - center
            first[k] = first[k] + d
            second[k] = second[k] + d * d
        sums[0] += folded(&first[0])
        sums[1] += folded(&second[0])
        x += size
        n -= size


cdef void sums_of_deviations(const real *x, npy_intp n, real center, double *sums) noexcept nogil:
    deviations_of_run(x, n, center, sums)


cdef inline void add_row(const char *x, npy_intp n, npy_intp stride, real center, double *totals) noexcept nogil:
    """Add the sums of a row to its totals; strided elements are copied block by block."""
    cdef real[VARIANCE_BLOCK] block
    cdef double[2] sums
    cdef npy_intp size = n
    while n > 0:
        if stride == sizeof(real):
            deviations_of_run(<const real *> x, n, center, &sums[0])
        else:
            size = min(n, <npy_intp> VARIANCE_BLOCK)
            copy_strided(<char *> &block[0], sizeof(real), x, stride, size, sizeof(real))
            deviations_of_run(<const real *> &block[0], size, center, &sums[0])
        totals[0] += sums[0]
        totals[1] += sums[1]
        x += size * stride
        n -= size


# scales

cdef double lost_scale(const real *x, npy_intp count, npy_intp stride, npy_intp size, double mean, double eps,
                       double *variance) noexcept nogil:
    """1 / sqrt(variance + eps) of `count` runs, `stride` elements apart, whose squares leave the range of the type."""
    cdef double deviation = scaled_deviation(x, count, stride, size, mean)
    variance[0] = deviation * deviation
    return 1 / hypot(deviation, sqrt(eps))


cdef double scaled_deviation(const real *x, npy_intp count, npy_intp stride, npy_intp size, double mean) noexcept nogil:
    """The standard deviation, from deviations that are divided by a power of two near the largest one."""
    cdef double largest = 0, total = 0, d, scale
    cdef npy_intp k, i
    cdef int exponent
    for k in range(count):
        for i in range(size):
            largest = max(largest, fabs(x[k * stride + i] - mean))
    if not 0 < largest < INFINITY:
        return largest - largest + mean * 0
    frexp(largest, &exponent)
    scale = ldexp(1, exponent - 1)
    for k in range(count):
        for i in range(size):
            d = (x[k * stride + i] - mean) / scale
            total += d * d
    return sqrt(total / <double> (count * size)) * scale


# columns

cdef void add_deviations "autograd_cy_add_deviations"(
        const char *x, npy_intp rows, npy_intp stride, npy_intp width, const real *centers, real *first,
        real *second) noexcept nogil:
    """The sums of columns over a few rows, `stride` bytes apart."""
    cdef const real *p
    cdef const real *q
    cdef real c, d
    cdef npy_intp row = 0, j
    for j in range(width):
        first[j] = second[j] = 0
    while row + 2 <= rows:
        p = <const real *> x
        q = <const real *> (x + stride)
        for j in range(width):
            c = p[j] - centers[j]
            d = q[j] - centers[j]
            first[j] = first[j] + (c + d)
            second[j] = second[j] + (c * c + d * d)
        x += 2 * stride
        row += 2
    if row < rows:
        p = <const real *> x
        for j in range(width):
            d = p[j] - centers[j]
            first[j] = first[j] + d
            second[j] = second[j] + d * d


cdef inline void add_columns(char **args, npy_intp rows, npy_intp stride, npy_intp width, const npy_intp *strides,
                             real kind) noexcept nogil:
    """Add the sums of at most VARIANCE_COLUMNS columns to their totals; rows are `stride` bytes apart."""
    cdef real[VARIANCE_COLUMNS] centers, first, second
    cdef real[COPIED * VARIANCE_COLUMNS] block
    cdef const char *x = args[1]
    cdef double *totals
    cdef npy_intp row = 0, count, j, k
    cdef bint dense = strides[1] == sizeof(real)
    copy_strided(<char *> &centers[0], sizeof(real), args[0], strides[0], width, sizeof(real))
    while row < rows:
        count = min(rows - row, <npy_intp> (VARIANCE_ROWS if dense else COPIED))
        if dense:
            add_deviations(x, count, stride, width, <const real *> &centers[0], &first[0], &second[0])
        else:
            for k in range(count):
                copy_strided(<char *> &block[k * VARIANCE_COLUMNS], sizeof(real), x + k * stride, strides[1], width,
                             sizeof(real))
            add_deviations(<const char *> &block[0], count, VARIANCE_COLUMNS * sizeof(real), width, <const real *> &centers[0],
                           &first[0], &second[0])
        for j in range(width):
            totals = <double *> (args[2] + j * strides[2])
            totals[0] += first[j]
            totals[1] += second[j]
        x += count * stride
        row += count


# arrays

cdef inline void add_plane(char **args, npy_intp rows, const npy_intp *strides, Run *run, real kind) noexcept nogil:
    """Add a plane's two sums to the totals (complex128: the two sums). The operands are centers, elements, totals."""
    cdef char *own[3]
    cdef npy_intp row, start, k
    cdef bint along = strides[2] == 0 and strides[0] == 0       # whether rows add to the same totals
    if run.strides[2] == 0 and run.strides[0] == 0:
        for row in range(rows):
            add_row(args[1] + row * strides[1], run.size, run.strides[1], (<real *> (args[0] + row * strides[0]))[0],
                    <double *> (args[2] + row * strides[2]))
        return
    for row in range(1 if along else rows):
        start = 0
        while start < run.size:
            for k in range(3):
                own[k] = args[k] + row * strides[k] + start * run.strides[k]
            add_columns(own, rows if along else 1, strides[1], min(run.size - start, <npy_intp> VARIANCE_COLUMNS), run.strides,
                        kind)
            start += VARIANCE_COLUMNS


cdef void add_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    add_plane(args, dims[0], strides, <Run *> data, <float> 0)


cdef void add_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    add_plane(args, dims[0], strides, <Run *> data, <double> 0)


cdef cnp.ndarray deviation_sums(cnp.ndarray array, cnp.ndarray centers):
    """For each center, the sum of the deviations from it, and of their squares, as one complex128 number."""
    cdef cnp.ndarray x = array if cnp.PyArray_ISALIGNED(array) else dense_copy(array)
    cdef cnp.ndarray totals = new_zeros(COMPLEX128, cnp.PyArray_NDIM(centers), cnp.PyArray_DIMS(centers))
    cdef Planes planes = Planes(add_f64, NULL)
    cdef Planes last = Planes(NULL, &SUM.kernels[COMPLEX128])
    cdef Reduction reduction = Reduction(call_planes, &planes, call_planes, &last, COMPLEX128, &SUM.identity[COMPLEX128][0])
    cdef Walk walk
    if code_of(x) == FLOAT32:
        planes.loop = add_f32
    set_reduction(&walk, centers, x, totals)
    share_reduction(&walk, 3, &reduction)
    return totals


cdef inline double squares(const double *sums, double n) noexcept nogil:
    """The sum of the squared deviations from the mean, at least 0; a nan stays."""
    cdef double total = sums[1] - sums[0] * sums[0] / n
    return 0 if total < 0 else total


cdef void finish(const double *sums, const double *others, real *out, npy_intp size, double n, double freedom,
                 bint root) noexcept nogil:
    """The variances. `others` are the sums of imaginary parts, or NULL."""
    cdef npy_intp i
    cdef double value
    for i in range(size):
        value = squares(sums + 2 * i, n)
        if others != NULL:
            value += squares(others + 2 * i, n)
        value /= freedom
        out[i] = <real> (sqrt(value) if root else value)


cdef cnp.ndarray variance_of(cnp.ndarray array, Dims dims, bint keepdim, double freedom, bint root):
    """The variance or its root, of floats or complex numbers; float16 is computed in float32."""
    cdef int dtype_code = code_of(array)
    if is_half(dtype_code):
        return cast(variance_of(cast(array, FLOAT32), dims, keepdim, freedom, root), dtype_code)
    if dtype_code == LONGDOUBLE:
        axes = tuple([axis for axis in range(cnp.PyArray_NDIM(array)) if dims >> axis & 1])
        return extended_variance(array, axes, freedom, root).reshape(reduced_sizes(array, dims, keepdim))
    cdef cnp.ndarray centers = mean_of(array, dtype_code, dims, True), sums, others = None, result
    cdef npy_intp[MAX_DIMS] sizes
    cdef const double *second = NULL
    cdef double n = count_along(array, dims)
    if dtype_code >= COMPLEX64:
        dtype_code = to_real(dtype_code)
        others = deviation_sums(array.imag, centers.imag)
        array, centers = array.real, centers.real
        second = <const double *> cnp.PyArray_DATA(others)
    sums = deviation_sums(array, centers)
    result = new_array(dtype_code, reduced_shape(array, dims, keepdim, sizes), sizes)
    if dtype_code == FLOAT32:
        finish(<const double *> cnp.PyArray_DATA(sums), second, <float *> cnp.PyArray_DATA(result),
               cnp.PyArray_SIZE(result), n, freedom, root)
    else:
        finish(<const double *> cnp.PyArray_DATA(sums), second, <double *> cnp.PyArray_DATA(result),
               cnp.PyArray_SIZE(result), n, freedom, root)
    return result
