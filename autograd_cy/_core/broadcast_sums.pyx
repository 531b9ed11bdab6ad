"""Sums over the dimensions along which an operand was broadcast: of an array, or of what a kernel makes of several.

The sum of a kernel's results needs no array for them: the kernel is called for BLOCK elements at a time, which are added
up while they are in the cache. The total is seen as the last operand, with stride 0 where it is summed. In the same way
a kernel's results are added to an array.
"""

from cpython.object cimport PyObject
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.buffers cimport cast, dense_copy, new_zeros
from autograd_cy._core.dtypes cimport FLOAT16, FLOAT32, FLOAT64, code_of
from autograd_cy._core.loops cimport (
    MAX_OPERANDS, Kernel, Walk, adding_kernel, broadcast_shape, evaluate, is_flat, set_operand, set_operands)
from autograd_cy._core.plane_loops cimport real, row_total
from autograd_cy._core.reduction_loops cimport SUM, set_reduction, sum_along, walk_along
from autograd_cy._core.region cimport spans_meet
from autograd_cy._core.thresholds cimport thresholds

cnp.import_array()

cdef enum:
    BLOCK = 1024            # elements of a kernel's results (half as many complex numbers) that are summed while in the cache


cdef cnp.ndarray sum_to(cnp.ndarray array, int ndim, const npy_intp *dims):
    """The sum over those dimensions along which an array of shape `dims` was broadcast to the shape of `array`."""
    cdef Walk walk
    cdef cnp.ndarray total
    cdef int code = code_of(array)
    if code == FLOAT16:
        return cast(sum_to(cast(array, FLOAT32), ndim, dims), FLOAT16)
    total = new_zeros(code, ndim, dims)
    if not cnp.PyArray_ISALIGNED(array):
        array = dense_copy(array)
    set_reduction(&walk, total, array, total)
    walk_along(&walk, &SUM, code)
    return total


# sums of a kernel's results

cdef struct Fused:
    Kernel *kernel
    int n                   # its operands, without the result
    Kernel *adding          # of the type, and its size
    npy_intp itemsize


cdef bint is_worth_fusing(cnp.ndarray g) noexcept:
    """Whether `evaluate_sum` is the faster way for results of the shape and type of g."""
    cdef int code = code_of(g), last = cnp.PyArray_NDIM(g) - 1
    return (FLOAT32 <= code <= FLOAT64 and cnp.PyArray_SIZE(g) >= thresholds.fused_work and cnp.PyArray_DIM(g, last) >= thresholds.fused_run)


cdef cnp.ndarray evaluate_sum(Kernel *kernel, PyObject **arrays, int n, int ndim, const npy_intp *dims):
    """What `sum_to` gives for a kernel's results on `n` broadcast arrays of float32 or float64."""
    cdef Walk walk
    cdef Fused fused = Fused(kernel, n, NULL, 0)
    cdef Kernel summing = Kernel(sum_blocks_f64, &fused)
    cdef int code = code_of(<cnp.ndarray> arrays[0])
    cdef cnp.ndarray total = new_zeros(code, ndim, dims)
    broadcast_shape(&walk, arrays, n)
    _copies = set_operands(&walk, arrays, n)
    set_operand(&walk, n, total)
    if code == FLOAT32:
        summing.loop = sum_blocks_f32
    sum_along(&walk, n + 1, &summing, code)
    return total


cdef inline void fill_block(Fused *fused, char **args, npy_intp start, npy_intp length, const npy_intp *strides, char *block,
                            npy_intp itemsize) noexcept nogil:
    """The kernel's results for `length` elements of a run, from `start` on."""
    cdef char *own[MAX_OPERANDS]
    cdef npy_intp[MAX_OPERANDS] steps
    cdef int k, n = fused.n
    for k in range(n):
        own[k] = args[k] + start * strides[k]
        steps[k] = strides[k]
    own[n] = block
    steps[n] = itemsize
    fused.kernel.loop(own, &length, steps, fused.kernel.data)


cdef inline void sum_blocks(char **args, npy_intp size, const npy_intp *strides, Fused *fused, real kind) noexcept nogil:
    """A run: of totals that lie apart, or of one."""
    cdef real[BLOCK] block
    cdef double total = 0
    cdef npy_intp start = 0, length, i
    cdef int n = fused.n
    while start < size:
        length = min(size - start, <npy_intp> BLOCK)
        fill_block(fused, args, start, length, strides, <char *> &block[0], sizeof(real))
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


# a kernel's results, added to an array

cdef cnp.ndarray evaluate_added(Kernel *kernel, PyObject **arrays, int n, int code, cnp.ndarray addend, cnp.ndarray out):
    """The kernel's results on `n` arrays plus the addend, which has their shape and type.

    Written to `out`, which may be the addend (a `.grad`, to which other threads may add, too: the GIL is kept) or one of the
    arrays, or (None) to a new array. None if `out` shares memory with an array otherwise than element by element: what is
    written would then be read again.
    """
    cdef Fused fused = Fused(kernel, n, adding_kernel(code), cnp.PyArray_ITEMSIZE(addend))
    cdef Kernel adding = Kernel(add_blocks, &fused)
    cdef PyObject *operands[MAX_OPERANDS]
    cdef int k
    for k in range(n):
        operands[k] = arrays[k]
        if out is not None and overlaps_shifted(<cnp.ndarray> arrays[k], out):
            return None
    operands[n] = <PyObject *> addend
    return evaluate(&adding, operands, n + 1, code, out, out is addend)


cdef bint overlaps_shifted(cnp.ndarray array, cnp.ndarray out) noexcept:
    """Whether two arrays may share memory, and not each element with the one in the same place."""
    if is_flat(array) and is_flat(out) and cnp.PyArray_BYTES(array) == cnp.PyArray_BYTES(out):
        return not cnp.PyArray_SAMESHAPE(array, out)
    return spans_meet(array, out)


cdef void add_blocks(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    """A run of the kernel's operands, the addend and the sum."""
    cdef Fused *fused = <Fused *> data
    cdef double[BLOCK] block
    cdef char *own[3]
    cdef npy_intp[3] steps
    cdef npy_intp start = 0, length
    cdef int n = fused.n
    own[1] = <char *> &block[0]
    steps[0], steps[1], steps[2] = strides[n], fused.itemsize, strides[n + 1]
    while start < dims[0]:
        length = min(dims[0] - start, <npy_intp> sizeof(block) // fused.itemsize)
        fill_block(fused, args, start, length, strides, own[1], fused.itemsize)
        own[0] = args[n] + start * strides[n]
        own[2] = args[n + 1] + start * strides[n + 1]
        fused.adding.loop(own, &length, steps, fused.adding.data)
        start += length
