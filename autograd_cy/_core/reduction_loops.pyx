"""Arrays reduced along some of their dimensions (knows no Tensor).

NOTE [Reducing]
A reduction walks its input with a loop of two operands (add, maximum) that sees the result as first operand and as
output, with stride 0 along the reduced dimensions. NumPy's loops know that case. Sums and products of floats have loops
of their own, over the last two dimensions at once: along contiguous runs they keep LANES results at a time, and across
them they take four runs at a time. That is faster, and errors grow as slowly as in NumPy's pairwise sum.
"""

import numpy as np

from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.buffers cimport cast, dense_copy, new_array, strided_view
from autograd_cy._core.dtypes cimport (
    COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, ITEMSIZE, NCODES, code_of, dtype, dtype_of)
from autograd_cy._core.loops cimport MAX_DIMS, Kernel, Walk, borrow, call_part
from autograd_cy._core.partials cimport Reduction, fill, share_reduction

cnp.import_array()

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_CLONED static double __pyx_fuse_0autograd_cy_row_total(float const *, npy_intp);
    AUTOGRAD_CY_CLONED static double __pyx_fuse_1autograd_cy_row_total(double const *, npy_intp);
    AUTOGRAD_CY_CLONED static double __pyx_fuse_0autograd_cy_row_dot(float const *, float const *, npy_intp);
    AUTOGRAD_CY_CLONED static double __pyx_fuse_1autograd_cy_row_dot(double const *, double const *, npy_intp);
    AUTOGRAD_CY_CLONED static void __pyx_fuse_0autograd_cy_sum_columns(float *, char const *, npy_intp, npy_intp, npy_intp);
    AUTOGRAD_CY_CLONED static void __pyx_fuse_1autograd_cy_sum_columns(double *, char const *, npy_intp, npy_intp, npy_intp);
    """

cdef enum:
    LANES = 32
    BLOCK = 1024            # elements that are reduced lane by lane before the lanes are put together
    COLUMNS = 2048


# loops

cdef inline real combined(real a, real b, bint product) noexcept nogil:
    return a * b if product else a + b


cdef inline real reduce_block(const real *x, npy_intp n, bint product) noexcept nogil:
    """The sum or product of n contiguous elements."""
    cdef real[LANES] lanes
    cdef real r0, r1, r2, r3
    cdef npy_intp i = 0, k
    r0 = r1 = r2 = r3 = 1 if product else 0
    if n >= LANES:
        for k in range(LANES):
            lanes[k] = x[k]
        i = LANES
        while i + LANES <= n:
            for k in range(LANES):
                lanes[k] = combined(lanes[k], x[i + k], product)
            i += LANES
        for k in range(16):
            lanes[k] = combined(lanes[k], lanes[k + 16], product)
        for k in range(8):
            lanes[k] = combined(lanes[k], lanes[k + 8], product)
        r0 = combined(lanes[0], lanes[4], product)
        r1 = combined(lanes[1], lanes[5], product)
        r2 = combined(lanes[2], lanes[6], product)
        r3 = combined(lanes[3], lanes[7], product)
    while i + 4 <= n:
        r0 = combined(r0, x[i], product)
        r1 = combined(r1, x[i + 1], product)
        r2 = combined(r2, x[i + 2], product)
        r3 = combined(r3, x[i + 3], product)
        i += 4
    while i < n:
        r0 = combined(r0, x[i], product)
        i += 1
    return combined(combined(r0, r2, product), combined(r1, r3, product), product)


cdef inline double reduce_row(const real *x, npy_intp n, bint product) noexcept nogil:
    """The same for many elements: block by block, so that errors don't grow with n."""
    cdef double result = 1 if product else 0
    cdef npy_intp size
    while n > 0:
        size = min(n, <npy_intp> BLOCK)
        result = combined(result, <double> reduce_block(x, size, product), product)
        x += size
        n -= size
    return result


cdef double row_total "autograd_cy_row_total"(const real *x, npy_intp n) noexcept nogil:
    return reduce_row(x, n, False)


cdef double row_dot "autograd_cy_row_dot"(const real *x, const real *y, npy_intp n) noexcept nogil:
    """The sum of the products of 2 * n contiguous elements."""
    cdef real[LANES] lanes
    cdef double total = 0
    cdef npy_intp i, k, size
    while n > 0:
        size = min(n, <npy_intp> BLOCK)
        i = 0
        for k in range(LANES):
            lanes[k] = 0
        while i + LANES <= size:
            for k in range(LANES):
                lanes[k] = lanes[k] + x[i + k] * y[i + k]
            i += LANES
        for k in range(size - i):
            lanes[k] = lanes[k] + x[i + k] * y[i + k]
        total += reduce_block(&lanes[0], LANES, False)
        x += size
        y += size
        n -= size
    return total


cdef inline void reduce_columns(real *out, const char *x, npy_intp rows, npy_intp stride, npy_intp n,
                                bint product) noexcept nogil:
    """out = out + x[0] + x[1] + ...: rows of n contiguous elements, four at a time; short enough to stay in the cache."""
    cdef const real *p0
    cdef const real *p1
    cdef const real *p2
    cdef const real *p3
    cdef npy_intp row = 0, k
    while row + 4 <= rows:
        p0 = <const real *> (x + row * stride)
        p1 = <const real *> (x + (row + 1) * stride)
        p2 = <const real *> (x + (row + 2) * stride)
        p3 = <const real *> (x + (row + 3) * stride)
        for k in range(n):
            out[k] = combined(out[k], combined(combined(p0[k], p1[k], product), combined(p2[k], p3[k], product), product),
                              product)
        row += 4
    while row < rows:
        p0 = <const real *> (x + row * stride)
        for k in range(n):
            out[k] = combined(out[k], p0[k], product)
        row += 1


cdef void sum_columns "autograd_cy_sum_columns"(
        real *out, const char *x, npy_intp rows, npy_intp stride, npy_intp n) noexcept nogil:
    reduce_columns(out, x, rows, stride, n, False)


cdef inline void reduce_plane(char **args, npy_intp rows, const npy_intp *strides, Run *run, real kind,
                              bint product) noexcept nogil:
    """Reduce `rows` runs, each as `run` says: along contiguous runs, across them, or (NumPy's loop) any other way."""
    cdef npy_intp row, start = 0, size, n = run.size
    cdef char *operands[3]
    cdef const real *x
    cdef real *out
    if run.strides[1] == sizeof(real) and run.strides[0] == 0:
        for row in range(rows):
            x = <const real *> (args[1] + row * strides[1])
            out = <real *> (args[0] + row * strides[0])
            out[0] = <real> combined(<double> out[0], reduce_row(x, n, True) if product else row_total(x, n), product)
    elif run.strides[1] == sizeof(real) and run.strides[0] == sizeof(real) and strides[0] == 0:
        while start < n:
            size = min(n - start, <npy_intp> COLUMNS)
            x = <const real *> args[1] + start
            if product:
                reduce_columns(<real *> args[0] + start, <const char *> x, rows, strides[1], size, True)
            else:
                sum_columns(<real *> args[0] + start, <const char *> x, rows, strides[1], size)
            start += COLUMNS
    else:
        for row in range(rows):
            operands[0] = operands[2] = args[0] + row * strides[0]
            operands[1] = args[1] + row * strides[1]
            run.borrowed.loop(operands, &n, run.strides, run.borrowed.data)


cdef void sum_f32 "autograd_cy_sum_f32"(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, <Run *> data, <float> 0, False)


cdef void sum_f64 "autograd_cy_sum_f64"(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, <Run *> data, <double> 0, False)


cdef void product_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, <Run *> data, <float> 0, True)


cdef void product_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    reduce_plane(args, dims[0], strides, <Run *> data, <double> 0, True)


cdef int make_reducer(Reducer *reducer, object ufunc, object identity) except -1:
    """Borrow the ufunc's loops; `identity(dtype)` is what nothing reduces to."""
    cdef int code
    cdef bytes item
    borrow(reducer.kernels, ufunc, lambda code: code)
    for code in range(NCODES):
        kind = (<dtype> dtype_of(code)).numpy_dtype
        item = np.array(identity(kind), kind).tobytes()
        memcpy(reducer.identity[code], <const char *> item, ITEMSIZE[code])
    return 0


def lowest(kind):
    """The least value of a NumPy dtype."""
    return np.iinfo(kind).min if kind.kind in "iu" else False if kind.kind == "b" else -np.inf


def highest(kind):
    """The greatest value of a NumPy dtype."""
    return np.iinfo(kind).max if kind.kind in "iu" else True if kind.kind == "b" else np.inf


make_reducer(&SUM, np.add, lambda kind: 0)
make_reducer(&PRODUCT, np.multiply, lambda kind: 1)
make_reducer(&LARGEST, np.maximum, lowest)
make_reducer(&SMALLEST, np.minimum, highest)
make_reducer(&ANY_TRUE, np.logical_or, lambda kind: 0)
make_reducer(&ALL_TRUE, np.logical_and, lambda kind: 1)
SUM.planes[FLOAT32], SUM.planes[FLOAT64] = sum_f32, sum_f64
PRODUCT.planes[FLOAT32], PRODUCT.planes[FLOAT64] = product_f32, product_f64


# arrays

cdef cnp.ndarray reduced(Reducer *reducer, cnp.ndarray array, Dims dims, bint keepdim):
    """The array reduced along `dims`, in its own type; see NOTE [Reducing]."""
    cdef Walk walk
    cdef npy_intp[MAX_DIMS] sizes
    cdef cnp.ndarray result
    cdef int axis, own = 0, code = code_of(array)
    cdef bint along
    if not cnp.PyArray_ISALIGNED(array):
        array = dense_copy(array)
    walk.ndim = cnp.PyArray_NDIM(array)
    result = new_array(code, reduced_shape(array, dims, keepdim, sizes), sizes)
    fill(result, reducer.identity[code], ITEMSIZE[code])
    walk.data[0] = walk.data[2] = cnp.PyArray_BYTES(result)
    walk.data[1] = cnp.PyArray_BYTES(array)
    for axis in range(walk.ndim):
        along = dims >> axis & 1
        walk.shape[axis] = cnp.PyArray_DIM(array, axis)
        walk.strides[1][axis] = cnp.PyArray_STRIDE(array, axis)
        walk.strides[0][axis] = walk.strides[2][axis] = 0 if along else cnp.PyArray_STRIDE(result, own)
        own += keepdim or not along
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        sort_by_stride(&walk)
    walk_along(&walk, reducer, code)
    return result


cdef int walk_along(Walk *walk, Reducer *reducer, int code) except -1:
    """Call the reducer's loop on each run, or its own loop for planes on each two dimensions."""
    cdef Planes planes = Planes(reducer.planes[code], &reducer.kernels[code])
    cdef Reduction reduction = Reduction(call_planes, &planes, call_planes, &planes, code, &reducer.identity[code][0])
    return share_reduction(walk, 3, &reduction)


cdef int sum_along(Walk *walk, int n, Kernel *kernel, int code) except -1:
    """Call a kernel that adds to its last operand on each run."""
    cdef Planes planes = Planes(SUM.planes[code], &SUM.kernels[code])
    cdef Reduction reduction = Reduction(call_part, kernel, call_planes, &planes, code, &SUM.identity[code][0])
    return share_reduction(walk, n, &reduction)


cdef void call_planes(Walk *walk, int n, void *called) noexcept nogil:
    """Call a loop for planes, if there is one: what it sees as elements are the runs."""
    cdef Planes *planes = <Planes *> called
    cdef Run run
    cdef Kernel kernel = Kernel(planes.loop, &run)
    cdef int operand
    if planes.loop == NULL:
        call_part(walk, 3, planes.borrowed)
        return
    run.size = 1
    run.strides[0] = run.strides[1] = run.strides[2] = 0
    run.borrowed = planes.borrowed
    if walk.ndim > 0:
        walk.ndim -= 1
        run.size = walk.shape[walk.ndim]
        for operand in range(3):
            run.strides[operand] = walk.strides[operand][walk.ndim]
    call_part(walk, 3, &kernel)


cdef void sort_by_stride(Walk *walk) noexcept:
    """Put the dimensions in the order in which the input lies in memory, the closest elements last."""
    cdef int k, axis, operand
    for k in range(1, walk.ndim):
        axis = k
        while axis > 0 and abs(walk.strides[1][axis - 1]) < abs(walk.strides[1][axis]):
            walk.shape[axis - 1], walk.shape[axis] = walk.shape[axis], walk.shape[axis - 1]
            for operand in range(3):
                walk.strides[operand][axis - 1], walk.strides[operand][axis] = (
                    walk.strides[operand][axis], walk.strides[operand][axis - 1])
            axis -= 1


cdef cnp.ndarray total_of(cnp.ndarray array, int code, Dims dims, bint keepdim):
    """The sum in the type `code`; float16 is summed in float32."""
    if code == FLOAT16:
        return cast(total_of(array, FLOAT32, dims, keepdim), FLOAT16)
    return reduced(&SUM, array if code_of(array) == code else cast(array, code), dims, keepdim)


cdef cnp.ndarray expanded(cnp.ndarray g, tuple sizes, Dims dims):
    """A reduced array seen in the sizes that it was reduced from: a view with stride 0 along `dims`."""
    cdef npy_intp[MAX_DIMS] shape
    cdef npy_intp[MAX_DIMS] strides
    cdef int axis, own = 0, ndim = len(sizes)
    cdef bint along, kept = cnp.PyArray_NDIM(g) == ndim
    for axis in range(ndim):
        along = dims >> axis & 1
        shape[axis] = sizes[axis]
        strides[axis] = 0 if along else cnp.PyArray_STRIDE(g, own)
        own += kept or not along
    return strided_view(g, cnp.PyArray_BYTES(g), ndim, shape, strides)


cdef cnp.ndarray mean_of(cnp.ndarray array, int code, Dims dims, bint keepdim):
    """The mean in the type `code`; float16 is computed in float32."""
    cdef cnp.ndarray result
    if code == FLOAT16:
        return cast(mean_of(array, FLOAT32, dims, keepdim), FLOAT16)
    result = total_of(array, code, dims, keepdim)
    divide_by(result, count_along(array, dims))
    return result


cdef int reduced_shape(cnp.ndarray array, Dims dims, bint keepdim, npy_intp *sizes) noexcept:
    """Writes the sizes of the array reduced along `dims`; returns how many there are."""
    cdef int axis, n = 0
    cdef bint along
    for axis in range(cnp.PyArray_NDIM(array)):
        along = dims >> axis & 1
        if not along or keepdim:
            sizes[n] = 1 if along else cnp.PyArray_DIM(array, axis)
            n += 1
    return n


cdef tuple reduced_sizes(cnp.ndarray array, Dims dims, bint keepdim):
    """The sizes of the array reduced along `dims`."""
    cdef int axis
    return tuple([1 if dims >> axis & 1 else cnp.PyArray_DIM(array, axis) for axis in range(cnp.PyArray_NDIM(array))
                  if keepdim or not dims >> axis & 1])


cdef Py_ssize_t count_along(cnp.ndarray array, Dims dims) noexcept:
    """How many elements are reduced to one."""
    cdef Py_ssize_t count = 1
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(array)):
        if dims >> axis & 1:
            count *= cnp.PyArray_DIM(array, axis)
    return count


cdef void divide_all(real *data, npy_intp n, real divisor) noexcept nogil:
    cdef npy_intp i
    for i in range(n):
        data[i] = data[i] / divisor


cdef int divide_by(cnp.ndarray array, double divisor) except -1:
    """array /= divisor, for a dense array of floats or complex numbers that is ours."""
    cdef int code = code_of(array)
    cdef npy_intp n = cnp.PyArray_SIZE(array) * (2 if code >= COMPLEX64 else 1)
    if code == FLOAT32 or code == COMPLEX64:
        divide_all(<float *> cnp.PyArray_DATA(array), n, <float> divisor)
    elif code == FLOAT64 or code == COMPLEX128:
        divide_all(<double *> cnp.PyArray_DATA(array), n, divisor)
    else:
        array[...] = cast(array, FLOAT32) / np.float32(divisor)
    return 0
