"""The node of elementwise operations: evaluates the derivatives of its row, and fits gradients to the inputs."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.arrays.buffers cimport cast, is_flat, is_large
from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT32, code_of, dtype_of, is_half
from autograd_cy._core.graph.memory cimport zeroed
from autograd_cy._core.graph.node cimport Node, Request, saved_array, take, unpack
from autograd_cy._core.graph.record cimport as_type
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.loops cimport evaluate
from autograd_cy._core.kernels.reduction_loops cimport evaluate_added, evaluate_sum, is_worth_fusing, sum_to
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef class PointwiseNode(Node):
    """A recorded elementwise operation: one class for all rows, with a subclass for each name.

    The node of `where` has no row (`op`): its formulas on Tensors compute everything.
    """

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef object total
        if request.addend != NULL and can_add(self, i, <cnp.ndarray> g, <cnp.ndarray> request.addend):
            total = gradient_added(self, <cnp.ndarray> g, i, <cnp.ndarray> request.addend, request)
            request.added = total is not None
            if request.added:
                return total
        return gradient_of(self, <cnp.ndarray> g, i, request)

    cdef object vjp_samples(self, cnp.ndarray g, int i, Request *request):
        cdef Pointwise *row = <Pointwise *> self.op
        cdef int dtype_code = code_of(g)
        cdef Arrays read
        if row == NULL or self.wide or self.dtype_codes[i] != dtype_code:
            return None
        if row.derivative[i].identity:
            return unbroadcast_samples(self, g, i)
        if not has_kernel(self, i, dtype_code):
            return None
        read.n = 1
        try:
            read_saved(self, &row.derivative[i], g, dtype_code, &read)
            g = evaluate(&row.derivative[i].kernels[dtype_code - FLOAT32], read.arrays, read.n, dtype_code,
                         g if request.may_overwrite else None)
        finally:
            give_back(&read)
        return unbroadcast_samples(self, g, i)

    cdef object vjp(self, object g, int i):
        return unbroadcast_tensor(self, whole_gradient(self, g, i), i)

    cdef object vjp_of_zeros(self, object g, int i):
        if self.op == NULL:                     # `where` selects: nothing is multiplied
            return self.vjp(g, i)
        return unbroadcast_tensor(self, zeroed(whole_gradient(self, g, i), g == 0), i)

    cdef object derivative(self, object g, int i):
        """The formula of input `i` on Tensors."""
        cdef Formula *formula = &(<Pointwise *> self.op).derivative[i]
        cdef Rule rule = formula.complex_rule if cnp.PyArray_ISCOMPLEX((<Tensor> g).array) else formula.rule
        cdef object a = unpack(self, 0) if formula.operands & A else None
        cdef object b = unpack(self, 1) if formula.operands & B else None
        cdef object c = unpack(self, 2) if formula.operands & C else None
        cdef object y = unpack(self, 2) if formula.operands & Y else None
        if (<Pointwise *> self.op).wide and is_half(code_of((<Tensor> g).array)):
            found = rule(g.float(), a if a is None else a.float(), b, c, y if y is None else y.float())
            return found.to(g.dtype)
        return rule(g, a, b, c, y)

    cdef object jvp(self, tuple tangents):
        cdef object total = None
        for i, t in enumerate(tangents):
            if t is not None:
                term = tangent_term(self, t, i)
                total = term if total is None else total + term
        return as_type(total, dtype_of(self.dtype_codes[0])) if self.wide else total

    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found):
        cdef object total = None
        if self.op == NULL:
            return found
        for i, t in enumerate(tangents):
            if t is not None:
                term = zeroed(tangent_term(self, t, i), t == 0)
                total = term if total is None else total + term
        return (as_type(total, dtype_of(self.dtype_codes[0])) if self.wide else total,)


cdef inline object whole_gradient(PointwiseNode node, object g, int i):
    """The gradient for input `i` by the formula on Tensors, in the shape of the output."""
    cdef Pointwise *row = <Pointwise *> node.op
    if node.wide:
        g = as_type(g, dtype_of(node.wide))
    cdef bint conjugates = row.holomorphic and cnp.PyArray_ISCOMPLEX((<Tensor> g).array)
    cdef object result = node.derivative(g.conj() if conjugates else g, i)
    return result.conj() if conjugates else result


cdef inline object tangent_term(PointwiseNode node, object t, int i):
    """The contribution of the tangent of input `i` to the output's tangent."""
    if (<Pointwise *> node.op).result == REAL_PART and cnp.PyArray_ISCOMPLEX((<Tensor> t).array):
        return (unpack(node, 0).sgn().conj() * t).real
    return node.derivative(t, i)


cdef bint can_add(PointwiseNode node, int i, cnp.ndarray g, cnp.ndarray addend) except -1:
    """Whether the gradient for input `i` can be added to an array in one pass."""
    cdef Pointwise *row = <Pointwise *> node.op
    cdef int dtype_code = code_of(g)
    return (row != NULL and not node.wide and not row.derivative[i].identity and has_kernel(node, i, dtype_code)
            and code_of(addend) == dtype_code and cnp.PyArray_SAMESHAPE(addend, g))


cdef object gradient_added(PointwiseNode node, cnp.ndarray g, int i, cnp.ndarray addend, const Request *request):
    """The sum of the addend and the gradient of input `i`; None if it can't be written block by block."""
    cdef Formula *formula = &(<Pointwise *> node.op).derivative[i]
    cdef cnp.ndarray out = addend if request.is_ours else g if request.may_overwrite else None
    cdef int dtype_code = code_of(g)
    cdef Arrays read
    read.n = 1
    try:
        read_saved(node, formula, g, dtype_code, &read)
        return evaluate_added(&formula.kernels[dtype_code - FLOAT32], read.arrays, read.n, dtype_code, addend, out)
    finally:
        give_back(&read)


cdef object gradient_of(PointwiseNode node, cnp.ndarray g, int i, Request *request):
    """The gradient for input `i`."""
    cdef Pointwise *row = <Pointwise *> node.op
    cdef int dtype_code = code_of(g)
    if node.wide and node.wide != dtype_code:
        g, dtype_code, request.may_overwrite = cast(g, node.wide), node.wide, True
    if row != NULL and row.derivative[i].identity:
        return unbroadcast(node, g, i)
    if row != NULL and row.wide and is_half(dtype_code):
        g, dtype_code, request.may_overwrite = cast(g, FLOAT32), FLOAT32, True
    if row == NULL or not has_kernel(node, i, dtype_code):
        return Node.vjp_array(node, g, i, request)
    return unbroadcast(node, evaluate_formula(node, &row.derivative[i], g, dtype_code, i, request), i)


cdef inline bint has_kernel(PointwiseNode node, int i, int dtype_code) noexcept:
    """Whether there is a kernel for gradients of that type; otherwise the formula on Tensors computes them."""
    cdef Pointwise *row = <Pointwise *> node.op
    return (dtype_code >= FLOAT32 and row.derivative[i].kernels[dtype_code - FLOAT32].loop != NULL
            and not (row.result == REAL_PART and node.dtype_codes[0] >= COMPLEX64))


cdef cnp.ndarray evaluate_formula(PointwiseNode node, Formula *formula, cnp.ndarray g, int dtype_code, int i,
                                  const Request *request):
    """The formula's kernel applied to the incoming gradient and to the saved arrays that it reads.

    If input `i` was broadcast and the arrays are large, the result is already summed.
    """
    cdef npy_intp[64] dims
    cdef cnp.ndarray out = g if request.may_overwrite else None
    cdef int ndim = shape_before(node, i, dims)
    cdef Arrays read
    read.n = 1
    try:
        read_saved(node, formula, g, dtype_code, &read)
        if ndim >= 0 and is_worth_fusing(g):
            return evaluate_sum(&formula.kernels[dtype_code - FLOAT32], read.arrays, read.n, ndim, dims)
        if request.may_consume and out is None and is_large(g):
            out = given_up(node, &read, g, i)
        return evaluate(&formula.kernels[dtype_code - FLOAT32], read.arrays, read.n, dtype_code, out)
    finally:
        give_back(&read)


# what a kernel reads

cdef struct Arrays:
    PyObject *arrays[5]     # the incoming gradient (borrowed); then owned ones, in the order of the slots
    int slots[5]
    int n


cdef int read_saved(PointwiseNode node, Formula *formula, cnp.ndarray g, int dtype_code, Arrays *read) except -1:
    """The incoming gradient and the saved arrays that the formula reads, in its type. The caller calls give_back()."""
    cdef cnp.ndarray saved
    cdef int slot
    read.arrays[0] = <PyObject *> g
    for slot in range(4):
        if formula.operands & (1 << slot):
            saved = saved_array(node, slot if slot < 3 else 2)
            if code_of(saved) != dtype_code:
                saved = cast(saved, dtype_code)
            Py_INCREF(saved)                # another thread may release what the node saved
            read.arrays[read.n] = <PyObject *> saved
            read.slots[read.n] = slot if slot < 3 else 2
            read.n += 1
    return 0


cdef void give_back(Arrays *read) noexcept:
    cdef int k
    for k in range(1, read.n):
        Py_DECREF(<object> read.arrays[k])


cdef cnp.ndarray given_up(PointwiseNode node, Arrays *read, cnp.ndarray g, int i):
    """A saved array with g's shape and order that was read, that the gradients of later inputs don't need, and that only the
    node held.

    The node releases it: NOTE [Gradient ownership], case 5. None if there is no such array.
    """
    cdef int needed = 0, k, j
    for j in range(i + 1, node.n_edges):
        needed |= (<Pointwise *> node.op).derivative[j].operands
    if needed & Y:
        needed |= C                         # both are in slot 2
    for k in range(1, read.n):
        if not needed & (1 << read.slots[k]) and is_like(<cnp.ndarray> read.arrays[k], g):
            if take(node, read.slots[k], read.arrays[k]):
                return <cnp.ndarray> read.arrays[k]
    return None


cdef bint is_like(cnp.ndarray array, cnp.ndarray g) noexcept:
    return cnp.PyArray_SAMESHAPE(array, g) and is_flat(array) and cnp.PyArray_IS_C_CONTIGUOUS(g)


cdef inline int shape_before(PointwiseNode node, int i, npy_intp *dims) except -2:
    """The shape of input `i` and its length, or -1 if it equals the output's shape."""
    return -1 if node.shapes is None else noted_shape(<tuple> (<tuple> node.shapes)[i], dims)


cdef int noted_shape(tuple shape, npy_intp *dims) except -2:
    cdef int axis
    if shape is None:
        return -1
    for axis in range(len(shape)):
        dims[axis] = shape[axis]
    return len(shape)


cdef object unbroadcast(PointwiseNode node, cnp.ndarray g, int i):
    """Convert a gradient to the shape and type of input `i`: summed over broadcast dimensions."""
    cdef npy_intp[64] dims
    cdef int ndim = shape_before(node, i, dims), dtype_code = node.dtype_codes[i]
    if ndim >= 0 and not has_shape(g, ndim, dims):
        g = sum_to(g, ndim, dims)
    return g if code_of(g) == dtype_code else cast(g, dtype_code)


cdef object unbroadcast_samples(PointwiseNode node, cnp.ndarray g, int i):
    """`unbroadcast` for samples along the first dimension; the types are the same."""
    cdef npy_intp[64] dims, with_ones
    cdef int ndim = shape_before(node, i, dims), rank = cnp.PyArray_NDIM(g), axis
    if ndim < 0:
        return g
    with_ones[0] = cnp.PyArray_DIM(g, 0)
    for axis in range(1, rank):
        with_ones[axis] = 1 if axis < rank - ndim else dims[axis - (rank - ndim)]
    g = sum_to(g, rank, with_ones)
    return (<object> g).reshape((cnp.PyArray_DIM(g, 0),) + (<tuple> node.shapes)[i]) if rank > ndim + 1 else g


cdef bint has_shape(cnp.ndarray array, int ndim, const npy_intp *dims) noexcept:
    cdef int axis
    if cnp.PyArray_NDIM(array) != ndim:
        return False
    for axis in range(ndim):
        if cnp.PyArray_DIM(array, axis) != dims[axis]:
            return False
    return True


cdef object unbroadcast_tensor(PointwiseNode node, Tensor g, int i):
    """`unbroadcast` by recorded operations."""
    cdef int dtype_code = node.dtype_codes[i]
    cdef object result = g
    if node.shapes is not None and (<tuple> node.shapes)[i] is not None:
        result = result.sum_to_size((<tuple> node.shapes)[i])
    if code_of(g.array) == dtype_code:
        return result
    if cnp.PyArray_ISCOMPLEX(g.array) and dtype_code < COMPLEX64:
        result = result.real
    return result.to(dtype_of(dtype_code))


cdef int keep_shapes(PointwiseNode node, Tensor y, Tensor a, Tensor b, Tensor c) except -1:
    """The slow part of `note_shapes`."""
    node.shapes = (broadcast_from(a, y), broadcast_from(b, y), broadcast_from(c, y))
    return 0


cdef object broadcast_from(Tensor x, Tensor y):
    cdef int axis
    if x is None or cnp.PyArray_SAMESHAPE(x.array, y.array):
        return None
    return tuple([cnp.PyArray_DIM(x.array, axis) for axis in range(cnp.PyArray_NDIM(x.array))])


cdef Tensor with_constants(Tensor result, tuple constants):
    """The result; its node, if there is one, shows the constants to users."""
    if result.grad_fn is not None:
        result.grad_fn.constants = constants
    return result
