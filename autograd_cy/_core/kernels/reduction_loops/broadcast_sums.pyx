"""Sums over the dimensions along which an operand was broadcast: of an array, or of a kernel's results.

To sum a kernel's results without an array for them, the kernel is called for SUM_BLOCK elements at a time, which are summed
while in the cache. The total is the last operand, with stride 0 along summed dimensions. A kernel's results are added to
an array in the same way.
"""

from cpython.object cimport PyObject
from libc.string cimport memcpy

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, cast, dense_copy, is_flat, new_array, new_zeros, spans_meet
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT32, FLOAT64, code_of, is_half
from autograd_cy._core.kernels.loops cimport (
    MAX_OPERANDS, Kernel, Loop, Walk, adding_kernel, broadcast_shape, call_part, evaluate, set_operand, set_operands)
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    SUM_BLOCK = 1024        # elements of a kernel's results (half as many complex numbers) that are summed while in the cache
    RUNS = 64               # runs that are summed before they are added to their totals


cdef cnp.ndarray sum_to(cnp.ndarray array, int ndim, const npy_intp *dims):
    """The sum over the dimensions along which an array of shape `dims` was broadcast to the shape of `array`."""
    cdef Walk walk
    cdef cnp.ndarray total
    cdef npy_intp[MAX_DIMS] sizes
    cdef int dtype_code = code_of(array), kept = kept_for(array, ndim, dims)
    if is_half(dtype_code):
        return cast(sum_to(cast(array, FLOAT32), ndim, dims), dtype_code)
    if dtype_code == COMPLEX64 and kept == FLOAT64 and 0 < ndim < MAX_DIMS and dims[ndim - 1] != 1:
        memcpy(sizes, dims, ndim * sizeof(npy_intp))
        sizes[ndim] = 2
        return numbers_of(sum_to(pairs_of(array), ndim + 1, sizes))
    if dtype_code != FLOAT32:
        kept = dtype_code
    total = new_zeros(kept, ndim, dims)
    if not cnp.PyArray_ISALIGNED(array):
        array = dense_copy(array)
    set_reduction(&walk, total, array, total)
    walk_along(&walk, &SUM, dtype_code, kept)
    return narrowed(total, dtype_code)


cdef int kept_for(cnp.ndarray array, int ndim, const npy_intp *dims) noexcept:
    """The type in which to accumulate a sum of float32 (or pairs of float32) from the shape of `array` to `dims`."""
    cdef int axis, offset = cnp.PyArray_NDIM(array) - ndim
    cdef Dims summed = 0
    if cnp.PyArray_SIZE(array) < thresholds.deep_sum:
        return FLOAT32
    for axis in range(cnp.PyArray_NDIM(array)):
        if axis < offset or (dims[axis - offset] == 1 and cnp.PyArray_DIM(array, axis) != 1):
            summed |= (<Dims> 1) << axis
    return kept_code(FLOAT32, cnp.PyArray_NDIM(array), cnp.PyArray_DIMS(array), summed, cnp.PyArray_IS_C_CONTIGUOUS(array))


# sums of a kernel's results

cdef struct Fused:
    Kernel *kernel
    int n                   # its operands, without the result
    Kernel *adding          # for the type of the results
    npy_intp itemsize
    Loop summing            # the loop for planes; its data is a FusedRun

cdef struct FusedRun:       # the last dimension of a walk
    Fused *fused
    npy_intp size
    npy_intp[MAX_OPERANDS] strides


cdef bint is_worth_fusing(cnp.ndarray g) noexcept:
    """Whether `evaluate_sum` is faster for results of the shape and type of g."""
    cdef int dtype_code = code_of(g), last = cnp.PyArray_NDIM(g) - 1
    return (FLOAT32 <= dtype_code <= FLOAT64 and last >= 0 and cnp.PyArray_SIZE(g) >= thresholds.fused_work
            and cnp.PyArray_DIM(g, last) >= thresholds.fused_run)


cdef cnp.ndarray evaluate_sum(Kernel *kernel, PyObject **arrays, int n, int ndim, const npy_intp *dims):
    """`sum_to` of a kernel's results on `n` arrays of float32 or float64. The first one has the full shape."""
    cdef Walk walk
    cdef Fused fused = Fused(kernel, n, NULL, 0, sum_planes_f64)
    cdef int dtype_code = code_of(<cnp.ndarray> arrays[0]), kept = FLOAT64
    cdef cnp.ndarray total
    if dtype_code == FLOAT32:
        kept = kept_for(<cnp.ndarray> arrays[0], ndim, dims)
        fused.summing = sum_planes_f32 if kept == FLOAT32 else sum_planes_wide
    total = new_zeros(kept, ndim, dims)
    broadcast_shape(&walk, arrays, n)
    _copies = set_operands(&walk, arrays, n)
    set_operand(&walk, n, total)
    sum_along(&walk, n + 1, call_fused, &fused, kept)
    return narrowed(total, dtype_code)


cdef void call_fused(Walk *walk, int n, void *fused) noexcept nogil:
    """Call a loop for planes, whose elements are runs."""
    cdef FusedRun run
    cdef Kernel kernel = Kernel((<Fused *> fused).summing, &run)
    cdef int k
    run.fused, run.size = <Fused *> fused, 1
    if walk.ndim > 0:
        walk.ndim -= 1
        run.size = walk.shape[walk.ndim]
    for k in range(n):
        run.strides[k] = walk.strides[k][walk.ndim] if run.size > 1 else 0
    call_part(walk, n, &kernel)


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


cdef inline void add_block(char *out, npy_intp stride, const real *block, npy_intp n, bint wide) noexcept nogil:
    """Add a block to strided totals, which are double if `wide`."""
    cdef npy_intp i
    if wide:
        for i in range(n):
            (<double *> (out + i * stride))[0] += block[i]
    else:
        for i in range(n):
            (<real *> (out + i * stride))[0] += block[i]


cdef inline void sum_row(char **args, FusedRun *run, real kind, bint wide) noexcept nogil:
    """Sum a run into one total."""
    cdef real[SUM_BLOCK] block
    cdef double total = 0
    cdef npy_intp start = 0, length
    cdef char *out = args[run.fused.n]
    while start < run.size:
        length = min(run.size - start, <npy_intp> SUM_BLOCK)
        fill_block(run.fused, args, start, length, run.strides, <char *> &block[0], sizeof(real))
        total += total_of_run(<const real *> &block[0], length)
        start += length
    if wide:
        (<double *> out)[0] += total
    else:
        (<real *> out)[0] = <real> ((<real *> out)[0] + total)


cdef inline void sum_rows(char **args, npy_intp rows, const npy_intp *strides, FusedRun *run, real kind,
                          bint wide) noexcept nogil:
    """Sum runs elementwise into strided totals: RUNS runs are summed before they are added to the totals."""
    cdef real[SUM_BLOCK] block, sums
    cdef char *own[MAX_OPERANDS]
    cdef npy_intp start = 0, length, row, i
    cdef int k, n = run.fused.n
    while start < run.size:
        length = min(run.size - start, <npy_intp> SUM_BLOCK)
        for k in range(n + 1):
            own[k] = args[k]
        for row in range(rows):
            if row % RUNS == 0:
                fill_block(run.fused, own, start, length, run.strides, <char *> &sums[0], sizeof(real))
            else:
                fill_block(run.fused, own, start, length, run.strides, <char *> &block[0], sizeof(real))
                for i in range(length):
                    sums[i] = sums[i] + block[i]
            if row % RUNS == RUNS - 1 or row == rows - 1:
                add_block(args[n] + start * run.strides[n], run.strides[n], <const real *> &sums[0], length, wide)
            for k in range(n):
                own[k] += strides[k]
        start += length


cdef inline void sum_planes(char **args, npy_intp rows, const npy_intp *strides, FusedRun *run, real kind,
                            bint wide) noexcept nogil:
    cdef char *own[MAX_OPERANDS]
    cdef npy_intp row
    cdef int k, n = run.fused.n
    if run.strides[n] != 0 and strides[n] == 0:
        sum_rows(args, rows, strides, run, kind, wide)
        return
    for row in range(rows):
        for k in range(n + 1):
            own[k] = args[k] + row * strides[k]
        if run.strides[n] == 0:
            sum_row(own, run, kind, wide)
        else:
            sum_rows(own, 1, strides, run, kind, wide)


cdef void sum_planes_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    sum_planes(args, dims[0], strides, <FusedRun *> data, <float> 0, False)


cdef void sum_planes_wide(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    sum_planes(args, dims[0], strides, <FusedRun *> data, <float> 0, True)


cdef void sum_planes_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    sum_planes(args, dims[0], strides, <FusedRun *> data, <double> 0, True)


# a kernel's results, added to an array

cdef cnp.ndarray evaluate_added(Kernel *kernel, PyObject **arrays, int n, int dtype_code, cnp.ndarray addend, cnp.ndarray out):
    """The kernel's results on `n` arrays plus the addend, which has their shape and type and is in C order.

    Writes to `out` if it is in C order, else to a new array. `out` may be one of the arrays, or the addend (a `.grad`, so the
    GIL is kept: other threads may add to it). None if `out` overlaps an array other than element by element: it would read
    elements that it has overwritten.
    """
    cdef Fused fused = Fused(kernel, n, adding_kernel(dtype_code), cnp.PyArray_ITEMSIZE(addend), NULL)
    cdef Kernel adding = Kernel(add_blocks, &fused)
    cdef PyObject *operands[MAX_OPERANDS]
    cdef int k
    if out is None or not cnp.PyArray_IS_C_CONTIGUOUS(out):
        out = new_array(dtype_code, cnp.PyArray_NDIM(addend), cnp.PyArray_DIMS(addend))
    for k in range(n):
        operands[k] = arrays[k]
        if overlaps_shifted(<cnp.ndarray> arrays[k], out):
            return None
    operands[n] = <PyObject *> addend
    return evaluate(&adding, operands, n + 1, dtype_code, out, out is addend)


cdef bint overlaps_shifted(cnp.ndarray array, cnp.ndarray out) noexcept:
    """Whether two arrays may share memory other than element by element."""
    if is_flat(array) and is_flat(out) and cnp.PyArray_BYTES(array) == cnp.PyArray_BYTES(out):
        return not cnp.PyArray_SAMESHAPE(array, out)
    return spans_meet(array, out)


cdef void add_blocks(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil:
    """A run of the kernel's operands, the addend and the sum."""
    cdef Fused *fused = <Fused *> data
    cdef double[SUM_BLOCK] block
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
