"""Sums over the dimensions along which an operand was broadcast: of an array, or of what a kernel makes of several.

The sum of a kernel's results needs no array for them: the kernel is called for BLOCK elements at a time, which are added
up while they are in the cache. The total is seen as the last operand, with stride 0 where it is summed.
"""

from cpython.object cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.buffers cimport cast, dense_copy, new_zeros
from autograd_cy._core.dtypes cimport FLOAT16, FLOAT32, FLOAT64, code_of
from autograd_cy._core.loops cimport MAX_OPERANDS, Kernel, Walk, broadcast_shape, call_along, set_operand, set_operands
from autograd_cy._core.reduction_loops cimport SUM, real, row_total, sort_by_stride, walk_along

cnp.import_array()

cdef enum:
    BLOCK = 1024
    LARGE = 4096            # elements from which on a kernel's results are summed block by block ...
    LONG = 128              # ... if its runs are that long


cdef cnp.ndarray sum_to(cnp.ndarray array, int ndim, const npy_intp *dims):
    """The sum over those dimensions along which an array of shape `dims` was broadcast to the shape of `array`."""
    cdef Walk walk
    cdef cnp.ndarray total
    cdef int axis, code = code_of(array)
    if code == FLOAT16:
        return cast(sum_to(cast(array, FLOAT32), ndim, dims), FLOAT16)
    total = new_zeros(code, ndim, dims)
    if not cnp.PyArray_ISALIGNED(array):
        array = dense_copy(array)
    walk.ndim = cnp.PyArray_NDIM(array)
    for axis in range(walk.ndim):
        walk.shape[axis] = cnp.PyArray_DIM(array, axis)
    set_operand(&walk, 0, total)
    set_operand(&walk, 1, array)
    set_operand(&walk, 2, total)
    if not cnp.PyArray_IS_C_CONTIGUOUS(array):
        sort_by_stride(&walk)
    walk_along(&walk, &SUM, code)
    return total


# sums of a kernel's results

cdef struct Fused:
    Kernel *kernel
    int n                   # its operands, without the result


cdef bint is_worth_fusing(cnp.ndarray g) noexcept:
    """Whether `evaluate_sum` is the faster way for results of the shape and type of g."""
    cdef int code = code_of(g), last = cnp.PyArray_NDIM(g) - 1
    return (FLOAT32 <= code <= FLOAT64 and cnp.PyArray_SIZE(g) >= LARGE and cnp.PyArray_DIM(g, last) >= LONG)


cdef cnp.ndarray evaluate_sum(Kernel *kernel, PyObject **arrays, int n, int ndim, const npy_intp *dims):
    """What `sum_to` gives for a kernel's results on `n` broadcast arrays of float32 or float64."""
    cdef Walk walk
    cdef Fused fused = Fused(kernel, n)
    cdef Kernel summing = Kernel(sum_blocks_f64, &fused)
    cdef int code = code_of(<cnp.ndarray> arrays[0])
    cdef cnp.ndarray total = new_zeros(code, ndim, dims)
    broadcast_shape(&walk, arrays, n)
    _copies = set_operands(&walk, arrays, n, total)
    if code == FLOAT32:
        summing.loop = sum_blocks_f32
    call_along(&walk, n + 1, &summing)
    return total


cdef inline void sum_blocks(char **args, npy_intp size, const npy_intp *strides, Fused *fused, real kind) noexcept nogil:
    """A run: of totals that lie apart, or of one."""
    cdef real[BLOCK] block
    cdef char *own[MAX_OPERANDS]
    cdef npy_intp[MAX_OPERANDS] steps
    cdef double total = 0
    cdef npy_intp start = 0, length, i
    cdef int k, n = fused.n
    for k in range(n):
        steps[k] = strides[k]
    steps[n] = sizeof(real)
    while start < size:
        length = min(size - start, <npy_intp> BLOCK)
        for k in range(n):
            own[k] = args[k] + start * strides[k]
        own[n] = <char *> &block[0]
        fused.kernel.loop(own, &length, steps, fused.kernel.data)
        if strides[n] == 0:
            total += row_total(<const real *> &block[0], length)
        else:
            for i in range(length):
                (<real *> (args[n] + (start + i) * strides[n]))[0] += block[i]
        start += length
    if strides[n] == 0:
        (<real *> args[n])[0] = <real> (<double> (<real *> args[n])[0] + total)


cdef void sum_blocks_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    sum_blocks(args, dims[0], strides, <Fused *> data, <float> 0)


cdef void sum_blocks_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    sum_blocks(args, dims[0], strides, <Fused *> data, <double> 0)
