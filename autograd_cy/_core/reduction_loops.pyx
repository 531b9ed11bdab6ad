"""Arrays reduced along some of their dimensions (knows no Tensor).

NOTE [Reducing]
A reduction walks its input with a loop of two operands (add, maximum) that sees the result as first operand and as
output, with stride 0 along the reduced dimensions. NumPy's loops know that case. Floats have loops of our own, over the
last two dimensions at once (`plane_loops`), also for sums of what is computed of each element.
"""

import numpy as np

from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.buffers cimport cast, dense_copy, new_array, strided_view
from autograd_cy._core.dtypes cimport (
    COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, ITEMSIZE, NCODES, code_of, dtype, dtype_of)
from autograd_cy._core.loops cimport MAX_DIMS, Kernel, Walk, borrow, call_part, set_operand
from autograd_cy._core.partials cimport Reduction, fill, share_reduction
from autograd_cy._core.plane_loops cimport (
    ADD, ADD_SIZES, ADD_SQUARES, MULTIPLY, TAKE_LARGEST, TAKE_SMALLEST, How, Run, plane_loop, real)

cnp.import_array()

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


cdef void set_planes(Reducer *reducer, How how, Reducer *merging) noexcept:
    """Give the reducer our own loops."""
    cdef int code
    reducer.merging = merging
    for code in range(NCODES):
        reducer.planes[code] = plane_loop(how, code)


make_reducer(&SUM, np.add, lambda kind: 0)
make_reducer(&PRODUCT, np.multiply, lambda kind: 1)
make_reducer(&LARGEST, np.maximum, lowest)
make_reducer(&SMALLEST, np.minimum, highest)
make_reducer(&ANY_TRUE, np.logical_or, lambda kind: 0)
make_reducer(&ALL_TRUE, np.logical_and, lambda kind: 1)
set_planes(&SUM, ADD, &SUM)
set_planes(&PRODUCT, MULTIPLY, &PRODUCT)
set_planes(&LARGEST, TAKE_LARGEST, &LARGEST)
set_planes(&SMALLEST, TAKE_SMALLEST, &SMALLEST)
set_planes(&SUM_OF_SIZES, ADD_SIZES, &SUM)
set_planes(&SUM_OF_SQUARES, ADD_SQUARES, &SUM)
ANY_TRUE.merging, ALL_TRUE.merging = &ANY_TRUE, &ALL_TRUE


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
    cdef Reducer *merging = reducer.merging
    cdef Planes planes = Planes(reducer.planes[code], &reducer.kernels[code])
    cdef Planes last = Planes(merging.planes[code], &merging.kernels[code])
    cdef Reduction reduction = Reduction(call_planes, &planes, call_planes, &last, code, &merging.identity[code][0])
    if merging != reducer:
        planes.borrowed = NULL
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


cdef void set_reduction(Walk *walk, cnp.ndarray first, cnp.ndarray array, cnp.ndarray total) noexcept:
    """Walk through an array, and through two that are broadcast to its shape."""
    cdef int axis
    walk.ndim = cnp.PyArray_NDIM(array)
    for axis in range(walk.ndim):
        walk.shape[axis] = cnp.PyArray_DIM(array, axis)
    set_operand(walk, 0, first)
    set_operand(walk, 1, array)
    set_operand(walk, 2, total)
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        sort_by_stride(walk)


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
