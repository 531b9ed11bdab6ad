"""The order of arrays' dimensions in memory, which results and copies keep (knows no Tensor).

NOTE [Layouts of results]
  1. The result of an elementwise operation has its dimensions in the same order in memory as its operands, as in PyTorch
     (and NumPy): `x.t() + 1` has the strides of x.t(). So it is computed in one run, and backward as well.
  2. It is dense and owns its memory. Of strides that repeat or skip elements, or are negative, only the order counts.
  3. To order two dimensions, the first operand that is not broadcast along either decides. If their strides are equal, the
     smaller dimension comes later, else they stay in order (PyTorch's TensorIterator).
  4. clone(), conversions and operands that are converted keep the order, contiguous() doesn't.
  5. Indexing with tensors lays its result out as an elementwise operation on the tensor, with its indexed dimensions
     expanded, and on the indices. flip() and index_put() keep the order, masked_fill() doesn't.
  6. `.grad` has the layout of its leaf, or C order if the leaf's elements don't fill their memory. Results of operations
     that are not elementwise are in C order, unless NOTE [Channels last] says otherwise, and so is a number to the power
     of a tensor.
  7. Dimensions of size 1 get the strides of a dense tensor: only memory formats depend on them.
"""

from autograd_cy._core.arrays.dtypes cimport BOOL, COMPLEX64, code_of, is_half
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef bint find_order(int ndim, const npy_intp *sizes, const npy_intp *strides, int n, int *order) noexcept nogil:
    """Sort the dimensions by stride, the largest first. Returns whether they were in that order.

    `strides` holds MAX_DIMS strides for each of `n` operands, 0 where an operand is broadcast.
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
    """Whether to swap two dimensions: 1 yes, -1 no, 0 undecided; case 3."""
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
    """A new dense array with its dimensions in that order, not initialized."""
    cdef cnp.ndarray array = new_array(dtype_code, ndim, sizes)
    lay_out(array, order)
    return array


cdef cnp.ndarray copy_in_order(cnp.ndarray array, int dtype_code):
    """A dense copy in that type that keeps the order of dimensions. From complex to real, it takes the real part."""
    cdef npy_intp[MAX_DIMS] strides
    cdef int[MAX_DIMS] order
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    cdef cnp.ndarray copy
    if cnp.PyArray_IS_C_CONTIGUOUS(array):
        copy = dense_copy(array) if code_of(array) == dtype_code else cast(array, dtype_code)
        if cnp.PyArray_SIZE(array) == 0:
            keep_strides(array, copy)
        return copy
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


cdef int keep_strides(cnp.ndarray array, cnp.ndarray copy) except -1:
    """Give a copy without elements the strides, counted in elements."""
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(array)):
        cnp.PyArray_STRIDES(copy)[axis] = (cnp.PyArray_STRIDE(array, axis) // cnp.PyArray_ITEMSIZE(array)
                                           * cnp.PyArray_ITEMSIZE(copy))
    return 0


def axes_in_memory(cnp.ndarray array):
    """axes_in_memory(array) -> list: its dimensions in the memory order of a copy of it, the outermost first."""
    cdef npy_intp[MAX_DIMS] strides
    cdef int[MAX_DIMS] order
    cdef int axis, ndim = cnp.PyArray_NDIM(array)
    for axis in range(ndim):
        strides[axis] = cnp.PyArray_STRIDE(array, axis)
    find_order(ndim, cnp.PyArray_DIMS(array), strides, 1, order)
    return [order[axis] for axis in range(ndim)]
