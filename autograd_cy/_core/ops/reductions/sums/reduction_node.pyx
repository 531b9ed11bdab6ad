"""Shared by the reductions: sets of dimensions, and the families of nodes."""

from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, cast, is_flat, is_large, sizes_of
from autograd_cy._core.arrays.dtypes cimport (
    COMPLEX64, FLOAT16, FLOAT32, INT64, as_dtype, code_of, dtype_of, is_differentiable, is_half, to_real, type_word)
from autograd_cy._core.graph.memory cimport zeroed
from autograd_cy._core.graph.node cimport Node, Request, linear_operation, save_input, save_output, saved_array, take, unpack
from autograd_cy._core.graph.record cimport has_tangent, new_node, record, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, wants_grad
from autograd_cy._core.kernels.loops cimport evaluate
from autograd_cy._core.kernels.reduction_loops cimport evaluate_added, expanded, reduced_shape
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.state cimport FORWARD_AD, NO_GRAD, current_mode

from autograd_cy._core.runtime.once import warn_of_lost_imaginary_part


# dimensions

cdef Dims dims_of(object dim, int ndim, str operation) except? 0:
    """The dimensions in `dim`, an int or a sequence; all for None and for an empty sequence."""
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
    """The dimension `dim`, counted from the front."""
    if type(dim) is not int and (isinstance(dim, bool) or not hasattr(dim, "__index__")):
        raise TypeError(f"{operation}() received an invalid combination of arguments: argument 'dim' must be int, "
                        f"not {type(dim).__name__}")
    return wrap_dim(dim, ndim)


cdef tuple dim_tuple(Dims dims):
    cdef int d
    return tuple([d for d in range(MAX_DIMS) if dims >> d & 1])


cdef object with_kept(object x, tuple sizes, Dims dims):
    """A reduced Tensor reshaped to broadcast to the sizes before the reduction."""
    cdef int axis, ndim = cnp.PyArray_NDIM((<Tensor> x).array)
    if ndim == 0 or ndim == len(sizes):
        return x
    return x.reshape(tuple([1 if dims >> axis & 1 else sizes[axis] for axis in range(len(sizes))]))


# types

cdef object in_type(object x, int dtype_code):
    """A Tensor in the type `dtype_code`. From complex to real, it takes the real part."""
    cdef int own = code_of((<Tensor> x).array)
    if own == dtype_code:
        return x
    return (x.real if own >= COMPLEX64 > dtype_code else x).to(dtype_of(dtype_code))


cdef int type_in(cnp.ndarray array, object wanted) except -1:
    """The type to compute in: `wanted`, or by default the array's. Warns if imaginary parts are lost."""
    cdef int dtype_code = code_of(array)
    cdef int asked = dtype_code if wanted is None else as_dtype(wanted).dtype_code
    if dtype_code >= COMPLEX64 > asked:
        warn_of_lost_imaginary_part()
    return asked


cdef int sum_code(cnp.ndarray array, object wanted) except -1:
    """The type of a sum or product: `wanted`, or by default the input's, int64 for integers and bools."""
    cdef int dtype_code = type_in(array, wanted)
    return INT64 if wanted is None and dtype_code < FLOAT16 else dtype_code


# nodes

cdef class Reduction(Node):

    cdef object jvp(self, tuple tangents):
        """A linear reduction is applied to the tangent, in the type of the result."""
        operation = linear_operation(self)
        if operation is None:
            return NotImplemented
        return operation(tangents[0], *self.arguments(), dtype=dtype_of(self.dtype_codes[1]))


cdef class WeightedReduction(Reduction):
    """The node of a reduction that saved its input as `self`."""

    cdef object weights(self):
        raise NotImplementedError

    cdef object vjp(self, object g, int i):
        return in_type(self.spread(g) * self.weights(), self.dtype_codes[0])

    cdef object jvp(self, tuple tangents):
        return in_type(self.group_sum(self.weights().conj() * tangents[0]), self.dtype_codes[1])

    cdef object vjp_of_zeros(self, object g, int i):
        return zeroed(self.vjp(g, i), self.spread(g == 0))

    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found):
        terms = zeroed(self.weights().conj() * tangents[0], tangents[0] == 0)
        return (in_type(self.group_sum(terms), self.dtype_codes[1]),)

    cdef object group_sum(self, object values):
        """The sums of values in the input's shape."""
        return values.sum(self.constants[0], self.constants[1])

    cdef object spread(self, object values):
        """Reshape values of the output's shape to broadcast to the input's."""
        cdef tuple sizes = shape_of(<Tensor> unpack(self, 0))
        return with_kept(values, sizes, dims_of(self.constants[0], len(sizes), self.name()))


cdef class FusedReduction(WeightedReduction):

    cdef Kernel *kernel(self, int dtype_code) except? NULL:
        """The kernel for inputs of a type. If it is NULL or has no loop, `weights` are multiplied instead."""
        return NULL

    cdef tuple operands(self, cnp.ndarray x, cnp.ndarray g, Dims dims):
        """(c, s), in the output's shape (with or without the reduced dimensions); c has the type of x, s the type of g.

        None if the kernel would lose more accuracy than the product of `weights` and g.
        """
        raise NotImplementedError

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef cnp.ndarray addend
        cdef object result
        if request.addend != NULL:
            # g can't be overwritten: it has another shape, or each element is read several times
            addend = <cnp.ndarray> request.addend
            result = fused_gradient(self, <cnp.ndarray> g, addend, addend if request.is_ours else None, False)
            if result is not None:
                request.added = True
                return result
        result = fused_gradient(self, <cnp.ndarray> g, None, None, request.may_consume)
        return Node.vjp_array(self, g, i, request) if result is None else result


cdef cnp.ndarray fused_gradient(FusedReduction node, cnp.ndarray gradient, cnp.ndarray addend, cnp.ndarray out, bint once):
    """The gradient by the node's kernel, plus an optional addend; None if there is no such kernel.

    `once`: it may be written over the input (NOTE [Gradient ownership], case 5). float16 is computed in float32.
    """
    cdef cnp.ndarray x = saved_array(node, 0), g = gradient, c, s
    cdef Dims dims = dims_of(node.constants[0], cnp.PyArray_NDIM(x), "")
    cdef int dtype_code = node.dtype_codes[0]
    cdef PyObject *operands[3]
    cdef tuple found
    if is_half(dtype_code) and is_half(code_of(g)) and addend is None:
        x, g, dtype_code, once = cast(x, FLOAT32), cast(g, FLOAT32), FLOAT32, False
    cdef Kernel *kernel = node.kernel(dtype_code)
    if kernel == NULL or kernel.loop == NULL or to_real(dtype_code) != code_of(g) or not fits(g, x, dims, node.constants[1]):
        return None
    if addend is not None and (code_of(addend) != dtype_code or not cnp.PyArray_SAMESHAPE(addend, x)):
        return None
    found = node.operands(x, g, dims)
    if found is None:
        return None
    c, s = found
    c, s = spread_over(c, x, dims), spread_over(s, x, dims)
    operands[0], operands[1], operands[2] = <PyObject *> x, <PyObject *> c, <PyObject *> s
    if addend is not None:
        return evaluate_added(kernel, operands, 3, dtype_code, addend, out)
    if once and is_large(x) and is_flat(x) and take(node, 0, operands[0]):
        out = x
    out = evaluate(kernel, operands, 3, dtype_code, out)
    return out if dtype_code == node.dtype_codes[0] else cast(out, node.dtype_codes[0])


cdef bint fits(cnp.ndarray g, cnp.ndarray x, Dims dims, bint keepdim) noexcept:
    """Whether `g` has the shape of x reduced: ndarray.resize(), which counts no write, may have changed x's shape."""
    cdef npy_intp[MAX_DIMS] sizes
    cdef int axis, ndim = reduced_shape(x, dims, keepdim, sizes)
    if cnp.PyArray_NDIM(g) != ndim:
        return False
    for axis in range(ndim):
        if cnp.PyArray_DIM(g, axis) != sizes[axis]:
            return False
    return True


cdef cnp.ndarray spread_over(cnp.ndarray values, cnp.ndarray x, Dims dims):
    """Values of the output's shape, expanded to the shape of x; a single value as it is."""
    return values if cnp.PyArray_NDIM(values) == 0 else expanded(values, sizes_of(x), dims)


cdef bint may_need_gradient(Tensor x) except -1:
    """Whether results of a tensor must be differentiable. Otherwise they are only recorded for hooks."""
    cdef int mode = current_mode()
    return not mode & NO_GRAD and wants_grad(x) or mode & FORWARD_AD and has_tangent(x)


cdef Tensor record_reduction(object node_class, tuple constants, Tensor x, Tensor y, int saves):
    """Record y, a reduction of x; the caller has checked that this is needed."""
    cdef Node node
    if not is_differentiable(code_of(y.array)) and may_need_gradient(x):
        raise RuntimeError(f"Autograd not support dtype: {type_word(code_of(y.array))}")
    node = new_node(node_class, constants)
    node.dtype_codes[0] = code_of(x.array)
    node.dtype_codes[1] = code_of(y.array)
    if saves & SAVES_INPUT:
        save_input(node, 0, x)
    if saves & SAVES_OUTPUT:
        save_output(node, y)
    return record(node, y, x)
