"""What the reductions share: sets of dimensions, borrowed loops along them, the families of nodes.

NOTE [Reducing]
A reduction walks its input with a loop of two operands (add, maximum) that sees the result as first operand and as
output, with stride 0 along the reduced dimensions. NumPy's loops know that case, and sum pairwise.
"""

import numpy as np

from libc.string cimport memcpy
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.buffers cimport cast, dense_copy, new_array, strided_view
from autograd_cy._core.dtypes cimport (
    COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, ITEMSIZE, NCODES, code_of, dtype, dtype_of, is_differentiable)
from autograd_cy._core.loops cimport MAX_DIMS, Walk, borrow, call_along
from autograd_cy._core.node cimport Node
from autograd_cy._core.record cimport is_wanted, new_node, record, shape_of, wrap_dim
from autograd_cy._core.saved cimport save_input, save_output, unpack
from autograd_cy._core.tensor cimport Tensor

from autograd_cy._core.tensor import legacy_names

cnp.import_array()

ctypedef fused real:
    float
    double


# dimensions

cdef Dims dims_of(object dim, int ndim, str operation) except? 0:
    """The dimensions that `dim` names: an int or a sequence of them; all for None and for an empty sequence."""
    cdef Dims dims = 0, bit
    if dim is None:
        return all_dims(ndim)
    if not isinstance(dim, (tuple, list)):
        return (<Dims> 1) << one_dim(dim, ndim, operation)
    for item in dim:
        bit = (<Dims> 1) << one_dim(item, ndim, operation)
        if dims & bit:
            raise RuntimeError(f"dim {wrap_dim(item, ndim)} appears multiple times in the list of dims")
        dims |= bit
    return dims if dims else all_dims(ndim)


cdef inline Dims all_dims(int ndim) noexcept:
    return (<Dims> -1) >> (MAX_DIMS - ndim) if ndim else 0


cdef int one_dim(object dim, int ndim, str operation) except -1:
    """The one dimension that `dim` names, counted from the front."""
    if type(dim) is not int and (isinstance(dim, bool) or not hasattr(dim, "__index__")):
        raise TypeError(f"{operation}() received an invalid combination of arguments: argument 'dim' must be int, "
                        f"not {type(dim).__name__}")
    return wrap_dim(dim, ndim)


cdef tuple dim_tuple(Dims dims):
    cdef int d
    return tuple([d for d in range(MAX_DIMS) if dims >> d & 1])


cdef Py_ssize_t count_along(cnp.ndarray array, Dims dims) noexcept:
    """How many elements are reduced to one."""
    cdef Py_ssize_t count = 1
    cdef int axis
    for axis in range(cnp.PyArray_NDIM(array)):
        if dims >> axis & 1:
            count *= cnp.PyArray_DIM(array, axis)
    return count


# arrays

cdef cnp.ndarray reduced(Reducer *reducer, cnp.ndarray array, Dims dims, bint keepdim):
    """The array reduced along `dims`, in its own type; see NOTE [Reducing]."""
    cdef Walk walk
    cdef npy_intp[MAX_DIMS] sizes
    cdef cnp.ndarray result
    cdef int axis, own = 0, n = 0, code = code_of(array)
    cdef bint along
    if not cnp.PyArray_ISALIGNED(array):
        array = dense_copy(array)
    walk.ndim = cnp.PyArray_NDIM(array)
    for axis in range(walk.ndim):
        along = dims >> axis & 1
        if not along or keepdim:
            sizes[n] = 1 if along else cnp.PyArray_DIM(array, axis)
            n += 1
    result = new_array(code, n, sizes)
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
    call_along(&walk, 3, &reducer.kernels[code])
    return result


cdef void fill(cnp.ndarray array, const char *item, int itemsize) noexcept:
    cdef char *data = cnp.PyArray_BYTES(array)
    cdef npy_intp i
    for i in range(cnp.PyArray_SIZE(array)):
        memcpy(data + i * itemsize, item, itemsize)


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


cdef object with_kept(object x, tuple sizes, Dims dims):
    """The same for a Tensor: reshaped, so that it broadcasts."""
    cdef int axis, ndim = cnp.PyArray_NDIM((<Tensor> x).array)
    if ndim == 0 or ndim == len(sizes):
        return x
    return x.reshape(tuple([1 if dims >> axis & 1 else sizes[axis] for axis in range(len(sizes))]))


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


# types

cdef object in_type(object x, int code):
    """A Tensor in the type `code`; of a complex one in a real type, the real part."""
    cdef int own = code_of((<Tensor> x).array)
    if own == code:
        return x
    return (x.real if own >= COMPLEX64 > code else x).to(dtype_of(code))


cdef str type_word(int code):
    """The name that PyTorch's messages have for a type: `Long`."""
    return legacy_names[(<dtype> dtype_of(code)).name]


# nodes

cdef class Reduction(Node):
    pass


cdef class WeightedReduction(Reduction):
    """The node of a reduction that saved its input as `self`."""

    cdef object weights(self):
        raise NotImplementedError

    cdef object rule(self, object g, int i):
        return in_type(self.spread(g) * self.weights(), self.code0)

    cdef object jvp(self, tuple tangents):
        return in_type(self.group_sum(self.weights().conj() * tangents[0]), self.code1)

    cdef object group_sum(self, object values):
        """The sums of values of the input's shape."""
        return values.sum(self.constants[0], self.constants[1])

    cdef object spread(self, object values):
        """Values of the output's shape in one that broadcasts to the input's."""
        cdef tuple sizes = shape_of(<Tensor> unpack(self, 0))
        return with_kept(values, sizes, dims_of(self.constants[0], len(sizes), self.name()))


cdef Tensor enter_reduction(object node_class, tuple constants, Tensor x, Tensor y, int saves):
    """Enter y, a reduction of x; the caller has made sure that this is wanted."""
    cdef Node node
    if not is_differentiable(code_of(y.array)):
        raise RuntimeError(f"Autograd not support dtype: {type_word(code_of(y.array))}")
    node = new_node(node_class, constants)
    node.code0 = code_of(x.array)
    node.code1 = code_of(y.array)
    if saves & SAVES_INPUT:
        save_input(node, 0, x)
    if saves & SAVES_OUTPUT:
        save_output(node, y)
    return record(node, y, x)


# the loops

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
