"""Elementwise loops over strided arrays, NumPy's and ours, and the walk that calls them (knows no Tensor)."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport dense_copy, find_order, is_flat, new_array, new_array_in_order
from autograd_cy._core.kernels.borrowed cimport run, spaced
from autograd_cy._core.parallel.threads cimport UNIT, parallel_for, thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.state cimport DEBUG

cdef extern from *:
    """
    #include "clones.h"
    AUTOGRAD_CY_CLONED static void autograd_cy_copy_strided(char *, npy_intp, char const *, npy_intp, npy_intp, npy_intp);
    """

cdef enum:
    FLAT_BYTES = 2048       # of an operand that is copied to be contiguous


cdef cnp.ndarray evaluate(Kernel *kernel, PyObject **arrays, int n, int dtype_code, cnp.ndarray out, bint keep_gil=False):
    """Call a kernel on `n` broadcast arrays. The result is `out`, or a new array of type `dtype_code` if that is None.

    RuntimeError if shapes don't broadcast. `keep_gil`: case 6 of NOTE [Threads].
    """
    cdef char *data[MAX_OPERANDS]
    cdef npy_intp[MAX_OPERANDS] strides
    cdef cnp.ndarray widest = <cnp.ndarray> arrays[0]
    cdef cnp.ndarray array
    cdef npy_intp size
    cdef int k
    for k in range(1, n):
        if cnp.PyArray_NDIM(<cnp.ndarray> arrays[k]) > cnp.PyArray_NDIM(widest):
            widest = <cnp.ndarray> arrays[k]
    for k in range(n):
        array = <cnp.ndarray> arrays[k]
        if not is_flat(array):
            break
        if cnp.PyArray_NDIM(array) == 0:
            strides[k] = 0
        elif array is widest or cnp.PyArray_SAMESHAPE(array, widest):
            strides[k] = cnp.PyArray_ITEMSIZE(array)
        else:
            break
        data[k] = cnp.PyArray_BYTES(array)
    else:
        if out is None:
            out = new_array(dtype_code, cnp.PyArray_NDIM(widest), cnp.PyArray_DIMS(widest))
        if is_flat(out) and not (DEBUG and not cnp.PyArray_SAMESHAPE(out, widest)):
            data[n] = cnp.PyArray_BYTES(out)
            strides[n] = cnp.PyArray_ITEMSIZE(out)
            size = cnp.PyArray_SIZE(out)
            if size >= thresholds.flat_run:
                hold(arrays, n)
                call_flat(kernel, data, size, strides, n + 1, keep_gil)
                give_up(arrays, n)
            elif size > 0:
                kernel.loop(data, &size, strides, kernel.data)
            return out
    return evaluate_strided(kernel, arrays, n, dtype_code, out, keep_gil)


cdef void hold(PyObject **arrays, int n) noexcept:
    cdef int k
    for k in range(n):
        Py_INCREF(<object> arrays[k])


cdef void give_up(PyObject **arrays, int n) noexcept:
    cdef int k
    for k in range(n):
        Py_DECREF(<object> arrays[k])


cdef cnp.ndarray evaluate_strided(Kernel *kernel, PyObject **arrays, int n, int dtype_code, cnp.ndarray out, bint keep_gil):
    """Call a kernel on arrays of any shapes and strides; NOTE [Layouts of results]."""
    cdef Walk walk
    cdef int[MAX_DIMS] order
    cdef bint in_order
    broadcast_shape(&walk, arrays, n)
    _copies = set_operands(&walk, arrays, n)
    if out is not None:
        if not has_shape(&walk, out):
            raise SystemError("a result was to be written to an array of another shape")
        set_operand(&walk, n, out)
        in_order = cnp.PyArray_IS_C_CONTIGUOUS(out) or find_order(walk.ndim, walk.shape, walk.strides[n], 1, order)
    else:
        in_order = is_whole(&walk, <cnp.ndarray> arrays[0]) or find_order(walk.ndim, walk.shape, walk.strides[0], n, order)
        out = (new_array(dtype_code, walk.ndim, walk.shape) if in_order else
               new_array_in_order(dtype_code, walk.ndim, walk.shape, order))
        set_operand(&walk, n, out)
    if not in_order:
        reorder(&walk, n + 1, order)
    hold(arrays, n)
    share(&walk, n + 1, call_part, kernel, keep_gil)
    give_up(arrays, n)
    return out


cdef list set_operands(Walk *walk, PyObject **arrays, int n):
    """Enter `n` arrays, with copies of unaligned ones. Returns these copies (or None), to be held during the walk."""
    cdef list copies = None
    cdef cnp.ndarray array
    cdef int k
    for k in range(n):
        array = <cnp.ndarray> arrays[k]
        if not cnp.PyArray_ISALIGNED(array):
            array = dense_copy(array)
            if copies is None:
                copies = []
            copies.append(array)
        set_operand(walk, k, array)
    return copies


cdef inline bint is_whole(Walk *walk, cnp.ndarray array) noexcept:
    """Whether an array has the result's shape, in C order. If the first operand has, the result is in C order."""
    return cnp.PyArray_IS_C_CONTIGUOUS(array) and has_shape(walk, array)


cdef inline bint has_shape(Walk *walk, cnp.ndarray array) noexcept:
    cdef int axis
    if cnp.PyArray_NDIM(array) != walk.ndim:
        return False
    for axis in range(walk.ndim):
        if cnp.PyArray_DIM(array, axis) != walk.shape[axis]:
            return False
    return True


cdef void reorder(Walk *walk, int n, const int *order) noexcept:
    """Walk through the dimensions in that order."""
    cdef Walk before = walk[0]
    cdef int axis, k
    for axis in range(walk.ndim):
        walk.shape[axis] = before.shape[order[axis]]
        for k in range(n):
            walk.strides[k][axis] = before.strides[k][order[axis]]


cdef int broadcast_shape(Walk *walk, PyObject **arrays, int n) except -1:
    """The common shape of the arrays."""
    cdef int k, axis, offset
    cdef npy_intp size
    cdef cnp.ndarray array
    walk.ndim = 0
    for k in range(n):
        walk.ndim = max(walk.ndim, cnp.PyArray_NDIM(<cnp.ndarray> arrays[k]))
    for axis in range(walk.ndim):
        walk.shape[axis] = 1
    for k in range(n):
        array = <cnp.ndarray> arrays[k]
        offset = walk.ndim - cnp.PyArray_NDIM(array)
        for axis in range(cnp.PyArray_NDIM(array)):
            size = cnp.PyArray_DIM(array, axis)
            if size == 1 or size == walk.shape[axis + offset]:
                continue
            if walk.shape[axis + offset] != 1:
                raise RuntimeError(
                    f"The size of tensor a ({walk.shape[axis + offset]}) must match the size of tensor b ({size}) "
                    f"at non-singleton dimension {axis + offset}")
            walk.shape[axis + offset] = size
    return 0


cdef void set_operand(Walk *walk, int k, cnp.ndarray array) noexcept:
    """Enter the array's data and its strides, zero where it is broadcast."""
    cdef int offset = walk.ndim - cnp.PyArray_NDIM(array)
    cdef int axis
    walk.data[k] = cnp.PyArray_BYTES(array)
    for axis in range(walk.ndim):
        if axis < offset or (cnp.PyArray_DIM(array, axis - offset) == 1 and walk.shape[axis] != 1):
            walk.strides[k][axis] = 0
        else:
            walk.strides[k][axis] = cnp.PyArray_STRIDE(array, axis - offset)


cdef void coalesce(Walk *walk, int n) noexcept nogil:
    """Drop dimensions of size 1 and merge neighbours that every operand steps through evenly."""
    cdef int axis, k, last = -1
    cdef bint even
    for axis in range(walk.ndim):
        if walk.shape[axis] == 1:
            continue
        even = last >= 0
        if even:
            for k in range(n):
                if walk.strides[k][last] != walk.shape[axis] * walk.strides[k][axis]:
                    even = False
                    break
        if even:
            walk.shape[last] *= walk.shape[axis]
        else:
            last += 1
            walk.shape[last] = walk.shape[axis]
        for k in range(n):
            walk.strides[k][last] = walk.strides[k][axis]
    walk.ndim = last + 1


cdef struct Cut:                    # a shared walk
    Walk *walk
    int n
    Part part
    void *data
    int axis                        # along which it is cut


cdef void share(Walk *walk, int n, Part part, void *data, bint keep_gil=False) noexcept nogil:
    """Coalesce the dimensions and call `part` on the walk, or on parts of it if threads are worthwhile."""
    cdef Cut cut = Cut(walk, n, part, data, 0)
    cdef npy_intp size = 1, grain = 1
    cdef int axis
    for axis in range(walk.ndim):
        size *= walk.shape[axis]
    if size == 0:
        return
    coalesce(walk, n)
    if size < thresholds.shared_work:
        part(walk, n, data)
        return
    cut.axis = axis_to_cut(walk, n)
    if cut.axis < 0:
        parallel_for(call_whole, &cut, 1, size, 1, keep_gil)
        return
    if cut.axis == walk.ndim - 1:
        grain = thresholds.shared_run
        if walk.ndim > 1:
            grain *= max(walk.shape[cut.axis] // 4 // grain, 1)
    parallel_for(call_cut, &cut, walk.shape[cut.axis], size // walk.shape[cut.axis], grain, keep_gil)


cdef int axis_to_cut(Walk *walk, int n) noexcept nogil:
    """A dimension along which results are distinct: the first long one, else the longest; -1 if there is none."""
    cdef int axis, longest = -1
    for axis in range(walk.ndim):
        if walk.strides[n - 1][axis] != 0 and walk.shape[axis] > 1:
            if longest < 0 or walk.shape[axis] > walk.shape[longest]:
                longest = axis
            if walk.shape[axis] >= thresholds.shared_run:
                return axis
    return longest


cdef void call_whole(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Cut *cut = <Cut *> data
    cut.part(cut.walk, cut.n, cut.data)


cdef void call_cut(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """A part of a walk."""
    cdef Cut *cut = <Cut *> data
    cdef Walk walk = cut.walk[0]
    cdef int j
    walk.shape[cut.axis] = end - first
    for j in range(cut.n):
        walk.data[j] += first * walk.strides[j][cut.axis]
    cut.part(&walk, cut.n, cut.data)


cdef void call_part(Walk *walk, int n, void *called) noexcept nogil:
    """Call a kernel on each run."""
    cdef Kernel *kernel = <Kernel *> called
    cdef npy_intp[MAX_DIMS] counter
    cdef npy_intp[MAX_OPERANDS] inner
    cdef char *data[MAX_OPERANDS]
    cdef npy_intp size = 1
    cdef int axis, k, outer = walk.ndim - 1
    for axis in range(walk.ndim):
        counter[axis] = 0
    if walk.ndim > 0:
        size = walk.shape[outer]
    for k in range(n):
        inner[k] = walk.strides[k][outer] if walk.ndim > 0 else 0
    while True:
        for k in range(MAX_OPERANDS):       # not n, for which gcc calls memcpy
            data[k] = walk.data[k]
        kernel.loop(data, &size, inner, kernel.data)
        axis = outer - 1
        while axis >= 0:
            counter[axis] += 1
            for k in range(n):
                walk.data[k] += walk.strides[k][axis]
            if counter[axis] < walk.shape[axis]:
                break
            counter[axis] = 0
            for k in range(n):
                walk.data[k] -= walk.strides[k][axis] * walk.shape[axis]
            axis -= 1
        if axis < 0:
            return


cdef struct Flat:                   # a shared run
    Kernel *kernel
    char **data
    npy_intp *strides
    int n


cdef void call_flat(Kernel *kernel, char **data, npy_intp size, npy_intp *strides, int n, bint keep_gil) noexcept nogil:
    """Call the kernel on one run, or on parts of it."""
    cdef Flat flat = Flat(kernel, data, strides, n)
    cdef npy_intp itemsize = UNIT
    cdef int k
    for k in range(n):
        itemsize = max(itemsize, strides[k])
    parallel_for(call_flat_part, &flat, size, itemsize // UNIT, thresholds.shared_run, keep_gil)


cdef void call_flat_part(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef Flat *flat = <Flat *> data
    cdef char *own[MAX_OPERANDS]
    cdef npy_intp length = end - first
    cdef int j
    for j in range(flat.n):
        own[j] = flat.data[j] + first * flat.strides[j]
    flat.kernel.loop(own, &length, flat.strides, flat.kernel.data)


# strided operands for loops that are fast on contiguous ones

cdef void call_flattened(Loop loop, char **args, npy_intp n, const npy_intp *strides, int operands,
                         npy_intp itemsize) noexcept nogil:
    """Call a loop for a block of elements at a time, with copies of operands that are not contiguous.

    All have one type; the last is the result. An operand with stride 0, such as a scalar, is copied once.
    """
    cdef char[MAX_OPERANDS][FLAT_BYTES] blocks
    cdef char *own[MAX_OPERANDS]
    cdef npy_intp[MAX_OPERANDS] steps
    cdef npy_intp start = 0, size = min(n, FLAT_BYTES // itemsize)
    cdef int k, out = operands - 1
    for k in range(operands):
        steps[k] = itemsize
        if strides[k] == 0 and k != out:
            copy_strided(&blocks[k][0], itemsize, args[k], 0, size, itemsize)
    while start < n:
        size = min(n - start, FLAT_BYTES // itemsize)
        for k in range(operands):
            own[k] = args[k] + start * strides[k] if strides[k] == itemsize else &blocks[k][0]
            if strides[k] != itemsize and strides[k] != 0 and k != out:
                copy_strided(own[k], itemsize, args[k] + start * strides[k], strides[k], size, itemsize)
        loop(own, &size, steps, NULL)
        if strides[out] != itemsize:
            copy_strided(args[out] + start * strides[out], strides[out], own[out], itemsize, size, itemsize)
        start += size


cdef void copy_strided "autograd_cy_copy_strided"(char *to, npy_intp to_stride, const char *source, npy_intp stride,
                                                  npy_intp n, npy_intp itemsize) noexcept nogil:
    if itemsize == 4:
        copy_elements(<int *> to, to_stride, <const int *> source, stride, n)
    elif itemsize == 8:
        copy_elements(<long long *> to, to_stride, <const long long *> source, stride, n)
    elif itemsize == 16:
        copy_elements(<double complex *> to, to_stride, <const double complex *> source, stride, n)
    elif itemsize == 2:
        copy_elements(<short *> to, to_stride, <const short *> source, stride, n)
    else:
        copy_elements(<signed char *> to, to_stride, <const signed char *> source, stride, n)


cdef inline void copy_elements(Word *to, npy_intp to_stride, const Word *source, npy_intp stride, npy_intp n) noexcept nogil:
    if stride == 0 and to_stride == sizeof(Word):
        fill(run(to, n), source[0])
    else:
        copy_each(spaced(to, n, to_stride), spaced(source, n, stride))


cdef inline void fill(Word[::1] to, Word item) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(to.shape[0]):
        to[i] = item


cdef inline void copy_each(Word[:] to, const Word[:] source) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(to.shape[0]):
        to[i] = source[i]
