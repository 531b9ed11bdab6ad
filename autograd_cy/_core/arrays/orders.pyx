"""The order that the dimensions of arrays have in memory, kept by results and copies (knows no Tensor).

NOTE [Layouts of results]
  1. The result of an elementwise operation has its dimensions in the order in which its operands have theirs, as in PyTorch
     (and NumPy): `x.t() + 1` has the strides of x.t(). So it is computed in one run, and backward as well.
  2. It is dense and owns its memory, whatever the operands are: strides that repeat or skip elements, or go backwards, have
     an order and nothing else.
  3. Of two dimensions the first of the operands decides that is not broadcast along one of them. Where they have equal
     strides the shorter one comes later, else they stay in order (PyTorch's TensorIterator).
  4. clone(), conversions and operands that are converted keep the order, contiguous() doesn't.
  5. What index tensors pick is laid out as if it were elementwise of the tensor, with its picked dimensions expanded, and of
     the indices. flip() and index_put() keep the order, masked_fill() doesn't.
  6. `.grad` has the layout of its leaf, whatever comes; C order if the leaf's elements don't fill their memory. What else is
     no elementwise operation gives results in C order, unless NOTE [Channels last] says other, and so does a number to the
     power of a tensor.
  7. Strides along dimensions of one element are those of a dense tensor: memory formats alone depend on them.
"""

from autograd_cy._core.arrays.buffers cimport cast, dense_copy, lay_out, new_array
from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, code_of, is_half
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cnp.import_array()


cdef bint find_order(int ndim, const npy_intp *sizes, const npy_intp *strides, int n, int *order) noexcept nogil:
    """The dimensions by their strides, the largest first. Returns whether they stand in that order.

    `strides`: those of `n` operands, MAX_DIMS each, 0 where one is broadcast.
    """
    cdef int axis, k, place, side
    cdef bint in_order = True
    for axis in range(ndim):
        order[axis] = axis
    for axis in range(ndim - 2, -1, -1):
        place = axis
        for k in range(axis + 1, ndim):
            side = compare(sizes, strides, n, order[place], order[k])
            if side < 0:
                break
            if side > 0:
                order[place], order[k] = order[k], order[place]
                place = k
                in_order = False
    return in_order


cdef int compare(const npy_intp *sizes, const npy_intp *strides, int n, int outer, int inner) noexcept nogil:
    """Whether two dimensions are to change places (1), or are not (-1), or nothing tells (0): case 3."""
    cdef npy_intp a, b
    cdef int k
    for k in range(n):
        a, b = strides[k * MAX_DIMS + outer], strides[k * MAX_DIMS + inner]
        a, b = -a if a < 0 else a, -b if b < 0 else b
        if a == 0 or b == 0:
            continue
        if a != b:
            return 1 if a < b else -1
        if sizes[inner] > sizes[outer]:
            return 1
    return 0


cdef cnp.ndarray new_array_in_order(int dtype_code, int ndim, const npy_intp *sizes, const int *order):
    """A new array, dense with its dimensions in that order, not initialized."""
    cdef cnp.ndarray array = new_array(dtype_code, ndim, sizes)
    lay_out(array, order)
    return array


cdef cnp.ndarray copy_in_order(cnp.ndarray array, int dtype_code):
    """A dense copy as another type, or the same, that keeps the order; of a complex number in a real type, the real part."""
    cdef npy_intp[MAX_DIMS] strides
    cdef int[MAX_DIMS] order
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    cdef cnp.ndarray copy
    if cnp.PyArray_IS_C_CONTIGUOUS(array):
        return dense_copy(array) if code_of(array) == dtype_code else cast(array, dtype_code)
    for axis in range(ndim):
        strides[axis] = cnp.PyArray_STRIDE(array, axis)
    find_order(ndim, cnp.PyArray_DIMS(array), strides, 1, order)
    if code_of(array) >= COMPLEX64 and dtype_code < COMPLEX64 and dtype_code != BOOL:
        array = array.real
    copy = new_array_in_order(dtype_code, ndim, cnp.PyArray_DIMS(array), order)
    if is_half(dtype_code):
        cnp.PyArray_CopyInto(copy, cast(array, dtype_code))
    else:
        cnp.PyArray_CopyInto(copy, array)
    return copy


def axes_in_memory(cnp.ndarray array):
    """axes_in_memory(array) -> list: its dimensions in the order that a copy of it has them in memory, the outermost first."""
    cdef npy_intp[MAX_DIMS] strides
    cdef int[MAX_DIMS] order
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    for axis in range(ndim):
        strides[axis] = cnp.PyArray_STRIDE(array, axis)
    find_order(ndim, cnp.PyArray_DIMS(array), strides, 1, order)
    return [order[axis] for axis in range(ndim)]
