"""Reductions of arrays along some dimensions (knows no Tensor).

NOTE [Reducing]
A reduction walks its input with a loop of two operands (add, maximum). The result is its first operand and its output, with
stride 0 along the reduced dimensions. NumPy's loops handle that case. Floats have our own loops over the last two dimensions
at once (`plane_loops`), also for sums of absolute values and squares. Along a run they are as exact as a pairwise sum; if
very many runs or strided elements go into one result (`deep_sum`), it is kept in double until the end. Such sums view
complex numbers as pairs of floats.
"""

import numpy as np

from libc.string cimport memcpy

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, cast, dense_copy, new_array, strided_view, typed_view
from autograd_cy._core.arrays.dtypes cimport (
    BFLOAT16, COMPLEX128, COMPLEX64, FLOAT32, FLOAT64, ITEMSIZE, LONGDOUBLE, NCODES, code_of, dtype, dtype_of, is_half,
    to_complex, to_real)
from autograd_cy._core.kernels.loops cimport Kernel, Walk, borrow, call_part, set_operand
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef int make_reducer(Reducer *reducer, object ufunc, object identity) except -1:
    """Borrow the ufunc's loops; `identity(dtype)` is the result for no elements."""
    cdef int dtype_code
    cdef dtype d
    cdef bytes item
    borrow(reducer.kernels, ufunc, lambda dtype_code: dtype_code)
    for dtype_code in range(NCODES):
        d = dtype_of(dtype_code)
        if d is not None:
            item = item_of(identity, d)
            memcpy(reducer.identity[dtype_code], <const char *> item, ITEMSIZE[dtype_code])
    return 0


cdef bytes item_of(object identity, dtype d):
    """`identity(kind)` as the bytes of an element; for bfloat16, the upper half of a float32."""
    if d.dtype_code == BFLOAT16:
        single = np.array(identity(np.dtype("float32")), "float32")
        return (single.view("uint32") >> 16).astype("uint16").tobytes()
    return np.array(identity(d.numpy_dtype), d.numpy_dtype).tobytes()


def lowest(kind):
    """The least value of a NumPy dtype."""
    return np.iinfo(kind).min if kind.kind in "iu" else False if kind.kind == "b" else -np.inf


def highest(kind):
    """The greatest value of a NumPy dtype."""
    return np.iinfo(kind).max if kind.kind in "iu" else True if kind.kind == "b" else np.inf


cdef void set_planes(Reducer *reducer, How how, Reducer *merging) noexcept:
    """Give the reducer our own loops."""
    cdef int dtype_code
    reducer.merging = merging
    reducer.wide = wide_loop(how)
    for dtype_code in range(NCODES):
        reducer.planes[dtype_code] = plane_loop(how, dtype_code)


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
    """Reduce the array along `dims`, in its own type; see NOTE [Reducing]."""
    cdef Walk walk
    cdef npy_intp[MAX_DIMS] sizes
    cdef cnp.ndarray result
    cdef int axis, own = 0, dtype_code = code_of(array), kept = dtype_code
    cdef bint along
    if dtype_code == LONGDOUBLE and reducer.merging != reducer:
        return reduced(&SUM, np.asarray(np.absolute(array) if reducer == &SUM_OF_SIZES else np.square(array)), dims, keepdim)
    if not cnp.PyArray_ISALIGNED(array):
        array = dense_copy(array)
    walk.ndim = cnp.PyArray_NDIM(array)
    if dtype_code == FLOAT32 and reducer.wide != NULL and is_as_large(array, thresholds.deep_sum):
        kept = kept_code(dtype_code, walk.ndim, cnp.PyArray_DIMS(array), dims, cnp.PyArray_IS_C_CONTIGUOUS(array))
    result = new_array(kept, reduced_shape(array, dims, keepdim, sizes), sizes)
    fill(result, reducer.identity[kept], ITEMSIZE[kept])
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
    walk_along(&walk, reducer, dtype_code, kept)
    return result if kept == dtype_code else narrowed(result, dtype_code)


cdef inline bint is_as_large(cnp.ndarray array, npy_intp size) noexcept:
    """Whether an array has at least so many elements."""
    cdef npy_intp count = 1
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(array)):
        count *= cnp.PyArray_DIM(array, axis)
    return count >= size


cdef int walk_along(Walk *walk, Reducer *reducer, int dtype_code, int kept) except -1:
    """Call the reducer's borrowed loop on each run, or our own on each plane; results have the type `kept`."""
    cdef Reducer *merging = reducer.merging
    cdef Planes planes = Planes(reducer.planes[dtype_code], &reducer.kernels[dtype_code])
    cdef Planes last = Planes(merging.planes[kept], &merging.kernels[kept])
    cdef Reduction reduction = Reduction(call_planes, &planes, call_planes, &last, kept, &merging.identity[kept][0])
    if kept != dtype_code:
        planes.loop = reducer.wide
    if merging != reducer or kept != dtype_code:
        planes.borrowed = NULL
    return share_reduction(walk, 3, &reduction)


cdef int sum_along(Walk *walk, int n, Part part, void *data, int kept) except -1:
    """Call a part that adds to its last operand, of type `kept`."""
    cdef Planes planes = Planes(SUM.planes[kept], &SUM.kernels[kept])
    cdef Reduction reduction = Reduction(part, data, call_planes, &planes, kept, &SUM.identity[kept][0])
    return share_reduction(walk, n, &reduction)


cdef int kept_code(int dtype_code, int ndim, const npy_intp *sizes, Dims dims, bint in_order) noexcept:
    """The type in which sums along `dims` are kept until they are complete: float64 for deep ones of float32.

    `in_order`: trailing summed dimensions are one run.
    """
    cdef npy_intp depth = 1
    cdef int axis
    if dtype_code != FLOAT32:
        return dtype_code
    for axis in range(ndim - 1, -1, -1):
        if not dims >> axis & 1:
            in_order = False
        elif not in_order:
            depth *= sizes[axis]
    return FLOAT64 if depth >= thresholds.deep_sum else dtype_code


cdef cnp.ndarray narrowed(cnp.ndarray array, int dtype_code):
    """A float64 result cast to `dtype_code`, which is float64 or float32."""
    cdef cnp.ndarray result
    cdef const double *source
    cdef float *data
    cdef npy_intp i
    if code_of(array) == dtype_code:
        return array
    result = new_array(dtype_code, cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array))
    source, data = <const double *> cnp.PyArray_DATA(array), <float *> cnp.PyArray_DATA(result)
    for i in range(cnp.PyArray_SIZE(array)):
        data[i] = <float> source[i]
    return result


cdef cnp.ndarray pairs_of(cnp.ndarray array):
    """A view of complex numbers as real ones, with a last dimension of two."""
    cdef npy_intp[MAX_DIMS + 1] shape
    cdef npy_intp[MAX_DIMS + 1] strides
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    for axis in range(ndim):
        shape[axis], strides[axis] = cnp.PyArray_DIM(array, axis), cnp.PyArray_STRIDE(array, axis)
    shape[ndim], strides[ndim] = 2, cnp.PyArray_ITEMSIZE(array) // 2
    return typed_view(array, cnp.PyArray_BYTES(array), (<dtype> dtype_of(to_real(code_of(array)))).numpy_dtype, ndim + 1,
                      shape, strides)


cdef cnp.ndarray numbers_of(cnp.ndarray pairs):
    """The inverse for dense pairs, as a new array."""
    cdef cnp.ndarray numbers = new_array(to_complex(code_of(pairs)), cnp.PyArray_NDIM(pairs) - 1, cnp.PyArray_DIMS(pairs))
    memcpy(cnp.PyArray_DATA(numbers), cnp.PyArray_DATA(pairs), cnp.PyArray_NBYTES(pairs))
    return numbers


cdef void call_planes(Walk *walk, int n, void *called) noexcept nogil:
    """Call the loop for planes, whose elements are runs; without one, the borrowed loop."""
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
    """Set up a walk through an array and two others that are broadcast to its shape."""
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
    """Sort the dimensions by the input's strides, smallest last."""
    cdef int k, axis, operand
    for k in range(1, walk.ndim):
        axis = k
        while axis > 0 and abs(walk.strides[1][axis - 1]) < abs(walk.strides[1][axis]):
            walk.shape[axis - 1], walk.shape[axis] = walk.shape[axis], walk.shape[axis - 1]
            for operand in range(3):
                walk.strides[operand][axis - 1], walk.strides[operand][axis] = (
                    walk.strides[operand][axis], walk.strides[operand][axis - 1])
            axis -= 1


cdef cnp.ndarray total_of(cnp.ndarray array, int dtype_code, Dims dims, bint keepdim):
    """The sum in the type `dtype_code`; float16 is summed in float32."""
    if is_half(dtype_code):
        return cast(total_of(array, FLOAT32, dims, keepdim), dtype_code)
    if code_of(array) != dtype_code:
        array = cast(array, dtype_code)
    if dtype_code == COMPLEX64 and is_deep_in_pairs(array, dims):
        return numbers_of(reduced(&SUM, pairs_of(array), dims, keepdim))
    return reduced(&SUM, array, dims, keepdim)


cdef bint is_deep_in_pairs(cnp.ndarray array, Dims dims) noexcept:
    """Whether a complex sum is deep and excludes the last dimension, along which NumPy itself sums pairwise."""
    cdef int ndim = cnp.PyArray_NDIM(array)
    return (0 < ndim < MAX_DIMS and not dims >> (ndim - 1) & 1
            and kept_code(FLOAT32, ndim, cnp.PyArray_DIMS(array), dims, False) == FLOAT64)


cdef cnp.ndarray expanded(cnp.ndarray g, tuple sizes, Dims dims):
    """A view of a reduced array in the original sizes, with stride 0 along `dims`."""
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


cdef cnp.ndarray mean_of(cnp.ndarray array, int dtype_code, Dims dims, bint keepdim):
    """The mean in the type `dtype_code`; float16 is computed in float32."""
    cdef cnp.ndarray result
    if is_half(dtype_code):
        return cast(mean_of(array, FLOAT32, dims, keepdim), dtype_code)
    result = total_of(array, dtype_code, dims, keepdim)
    divide_by(result, count_along(array, dims))
    return result


cdef int reduced_shape(cnp.ndarray array, Dims dims, bint keepdim, npy_intp *sizes) noexcept:
    """Write the sizes of the array reduced along `dims`; return their number."""
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
    """The number of elements that are reduced to one."""
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
    """array /= divisor, for a dense floating-point or complex array that we own."""
    cdef int dtype_code = code_of(array)
    cdef npy_intp n = cnp.PyArray_SIZE(array) * (2 if dtype_code >= COMPLEX64 else 1)
    if dtype_code == FLOAT32 or dtype_code == COMPLEX64:
        divide_all(<float *> cnp.PyArray_DATA(array), n, <float> divisor)
    elif dtype_code == FLOAT64 or dtype_code == COMPLEX128:
        divide_all(<double *> cnp.PyArray_DATA(array), n, divisor)
    elif dtype_code == LONGDOUBLE:
        np.divide(array, np.longdouble(divisor), out=array)
    else:
        array[...] = cast(array, FLOAT32) / np.float32(divisor)
    return 0
