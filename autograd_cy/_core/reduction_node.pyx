"""What the reductions share: the sets of dimensions that arguments name, and the families of nodes."""

cimport numpy as cnp

from autograd_cy._core.dtypes cimport COMPLEX64, FLOAT16, INT64, as_dtype, code_of, dtype_of, is_differentiable, type_word
from autograd_cy._core.loops cimport MAX_DIMS
from autograd_cy._core.node cimport Node
from autograd_cy._core.record cimport new_node, record, shape_of, wrap_dim
from autograd_cy._core.saved cimport save_input, save_output, unpack
from autograd_cy._core.tensor cimport Tensor


cnp.import_array()


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


cdef object with_kept(object x, tuple sizes, Dims dims):
    """A reduced Tensor reshaped, so that it broadcasts to the sizes that it was reduced from."""
    cdef int axis, ndim = cnp.PyArray_NDIM((<Tensor> x).array)
    if ndim == 0 or ndim == len(sizes):
        return x
    return x.reshape(tuple([1 if dims >> axis & 1 else sizes[axis] for axis in range(len(sizes))]))


# types

cdef object in_type(object x, int code):
    """A Tensor in the type `code`; of a complex one in a real type, the real part."""
    cdef int own = code_of((<Tensor> x).array)
    if own == code:
        return x
    return (x.real if own >= COMPLEX64 > code else x).to(dtype_of(code))


cdef int sum_code(cnp.ndarray array, object wanted) except -1:
    """The type of a sum or product: the one asked for, else the input's, int64 for integers and bools."""
    if wanted is not None:
        return as_dtype(wanted).code
    cdef int code = code_of(array)
    return INT64 if code < FLOAT16 else code


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
