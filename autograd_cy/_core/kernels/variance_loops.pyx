"""Variances of arrays along some of their dimensions, in two passes and without an array for the deviations (knows no Tensor).

The first pass gives the means, the second sums the deviations from them and their squares: the former tell by how much the
means missed, being rounded (Chan, Golub, LeVeque, "Algorithms for computing the sample variance", 1983). Rows are summed LANES
at a time, columns COLUMNS at a time, so that no loop depends on the step before; from block to block sums are added in double.
"""

from libc.math cimport sqrt
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.arrays.buffers cimport cast, dense_copy, new_array, new_zeros
from autograd_cy._core.arrays.dtypes cimport COMPLEX128, COMPLEX64, FLOAT16, FLOAT32, code_of, to_real
from autograd_cy._core.kernels.borrowed cimport matrix, plane, real, rows_apart, run
from autograd_cy._core.kernels.loops cimport MAX_DIMS, Walk
from autograd_cy._core.kernels.partials cimport Reduction, share_reduction
from autograd_cy._core.kernels.plane_loops cimport NOT_HERE, Run
from autograd_cy._core.kernels.reduction_loops cimport (
    SUM, Planes, call_planes, count_along, mean_of, reduced_shape, set_reduction)

cnp.import_array()

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_add_f32)
    AUTOGRAD_CY_FLAT_KERNEL(autograd_cy_add_f64)
    """

cdef enum:
    COPIED = 4              # rows of columns that lie apart, made contiguous at once


cdef inline void add_row(const real[:, :] x, npy_intp row, real center, double *first, double *second) noexcept nogil:
    """Add the sums of a row to its totals; elements that lie apart are made contiguous block by block."""
    cdef real[BLOCK] block
    cdef const real *elements
    cdef double[2] sums
    cdef npy_intp start = 0, size, i
    cdef bint dense = x.strides[1] == sizeof(real)
    sums[0] = sums[1] = 0
    while start < x.shape[1]:
        size = min(x.shape[1] - start, <npy_intp> BLOCK)
        elements = &x[row, start]
        if not dense:
            for i in range(size):
                block[i] = x[row, start + i]
            elements = block
        add_sums(run(elements, size), run(elements, size), False, center, sums)
        start += size
        if not dense or start == x.shape[1]:
            first[0] += sums[0]
            second[0] += sums[1]
            sums[0] = sums[1] = 0


cdef inline void sum_columns(const real[:, ::1] x, const real *centers, real *first, real *second) noexcept nogil:
    """The sums of columns over a few rows."""
    cdef real c, d
    cdef npy_intp row = 0, j, width = x.shape[1]
    for j in range(width):
        first[j] = second[j] = 0
    while row + 2 <= x.shape[0]:
        for j in range(width):
            c = x[row, j] - centers[j]
            d = x[row + 1, j] - centers[j]
            first[j] = first[j] + (c + d)
            second[j] = second[j] + (c * c + d * d)
        row += 2
    if row < x.shape[0]:
        for j in range(width):
            d = x[row, j] - centers[j]
            first[j] = first[j] + d
            second[j] = second[j] + d * d


cdef inline void add_columns(const real[:, :] centers, const real[:, :] x, double[:, :] firsts, double[:, :] seconds,
                             npy_intp row, npy_intp end, npy_intp start) noexcept nogil:
    """Add the sums of at most COLUMNS columns over some rows to the totals in the first of them."""
    cdef real[COLUMNS] means, first, second
    cdef real[COPIED * COLUMNS] block
    cdef const real *elements
    cdef npy_intp width = min(x.shape[1] - start, <npy_intp> COLUMNS), at = row, stride = x.strides[0], count, j, k
    cdef bint dense = x.strides[1] == sizeof(real)
    for j in range(width):
        means[j] = centers[row, start + j]
    while row < end:
        count = min(end - row, <npy_intp> (ROWS if dense else COPIED))
        elements = &x[row, start]
        if not dense:
            for k in range(count):
                for j in range(width):
                    block[k * COLUMNS + j] = x[row + k, start + j]
            elements, stride = block, COLUMNS * sizeof(real)
        sum_columns(rows_apart(elements, count, stride, width), means, first, second)
        for j in range(width):
            firsts[at, start + j] += first[j]
            seconds[at, start + j] += second[j]
        row += count


cdef inline void add_plane(
        const real[:, :] centers, const real[:, :] x, double[:, :] firsts, double[:, :] seconds) noexcept nogil:
    """Add to the totals those of a plane. Rows of one total each, columns of one total each, or elements."""
    cdef npy_intp row, start, rows = x.shape[0]
    cdef npy_intp step = rows if firsts.strides[0] == 0 and centers.strides[0] == 0 else 1
    if firsts.strides[1] == 0 and centers.strides[1] == 0:
        for row in range(rows):
            add_row(x, row, centers[row, 0], &firsts[row, 0], &seconds[row, 0])
        return
    row = 0
    while row < rows:
        start = 0
        while start < x.shape[1]:
            add_columns(centers, x, firsts, seconds, row, row + step, start)
            start += COLUMNS
        row += step


cdef inline void add_run(char **args, npy_intp rows, const npy_intp *strides, const Run *last, real kind) noexcept nogil:
    """`add_plane` for the centers, the elements, and the totals, pairs of double."""
    cdef double *totals = <double *> args[2]
    add_plane(plane(<real *> args[0], rows, strides[0], last.size, last.strides[0]),
              plane(<real *> args[1], rows, strides[1], last.size, last.strides[1]),
              plane(totals, rows, strides[2], last.size, last.strides[2]),
              plane(totals + 1, rows, strides[2], last.size, last.strides[2]))


cdef void add_f32 "autograd_cy_add_f32"(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    add_run(args, dims[0], strides, <const Run *> data, <float> 0)


cdef void add_f64 "autograd_cy_add_f64"(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    add_run(args, dims[0], strides, <const Run *> data, <double> 0)


# arrays

cdef cnp.ndarray deviation_sums(cnp.ndarray array, cnp.ndarray centers):
    """For each center the sum of the deviations from it, and of their squares, as one number of complex128."""
    cdef cnp.ndarray x = array if cnp.PyArray_ISALIGNED(array) else dense_copy(array)
    cdef cnp.ndarray totals = new_zeros(COMPLEX128, cnp.PyArray_NDIM(centers), cnp.PyArray_DIMS(centers))
    cdef Planes planes = Planes(add_f64, NOT_HERE, NULL)
    cdef Planes last = Planes(NULL, NOT_HERE, &SUM.kernels[COMPLEX128])
    cdef Reduction reduction = Reduction(call_planes, &planes, call_planes, &last, COMPLEX128, &SUM.identity[COMPLEX128][0])
    cdef Walk walk
    if code_of(x) == FLOAT32:
        planes.loop = add_f32
    set_reduction(&walk, centers, x, totals)
    share_reduction(&walk, 3, &reduction)
    return totals


cdef inline double squares(const double[:, ::1] sums, npy_intp i, double n) noexcept nogil:
    """The sum of the squared deviations from the mean; not less than 0, but nan where that is."""
    cdef double total = sums[i, 1] - sums[i, 0] * sums[i, 0] / n
    return 0 if total < 0 else total


cdef inline void finish(const double[:, ::1] sums, const double[:, ::1] others, real[::1] out, double n, double freedom,
                        bint root) noexcept nogil:
    """The variances; `others`: the sums of imaginary parts, or none."""
    cdef npy_intp i
    cdef double value
    for i in range(out.shape[0]):
        value = squares(sums, i, n)
        if others.shape[0] > 0:
            value += squares(others, i, n)
        value /= freedom
        out[i] = <real> (sqrt(value) if root else value)


cdef cnp.ndarray variance_of(cnp.ndarray array, Dims dims, bint keepdim, double freedom, bint root):
    """The variance, or its root, of floats or complex numbers; float16 is computed in float32."""
    cdef int dtype_code = code_of(array)
    if dtype_code == FLOAT16:
        return cast(variance_of(cast(array, FLOAT32), dims, keepdim, freedom, root), FLOAT16)
    cdef cnp.ndarray centers = mean_of(array, dtype_code, dims, True), sums, others = None, result
    cdef npy_intp[MAX_DIMS] sizes
    cdef double[:, ::1] of_sums, of_others = matrix(<double *> NULL, 0, 2)
    cdef double n = count_along(array, dims)
    if dtype_code >= COMPLEX64:
        dtype_code = to_real(dtype_code)
        others = deviation_sums(array.imag, centers.imag)
        array, centers = array.real, centers.real
        of_others = pairs(others)
    sums = deviation_sums(array, centers)
    of_sums = pairs(sums)
    result = new_array(dtype_code, reduced_shape(array, dims, keepdim, sizes), sizes)
    if dtype_code == FLOAT32:
        finish(of_sums, of_others, run(<float *> cnp.PyArray_DATA(result), cnp.PyArray_SIZE(result)), n, freedom, root)
    else:
        finish(of_sums, of_others, run(<double *> cnp.PyArray_DATA(result), cnp.PyArray_SIZE(result)), n, freedom, root)
    return result


cdef inline double[:, ::1] pairs(cnp.ndarray sums) noexcept:
    return matrix(<double *> cnp.PyArray_DATA(sums), cnp.PyArray_SIZE(sums), 2)
