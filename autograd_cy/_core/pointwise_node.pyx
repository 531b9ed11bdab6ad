"""The node of elementwise operations: evaluates the derivatives of its row, and fits gradients to the inputs."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
cimport numpy as cnp
from numpy cimport npy_intp

from autograd_cy._core.broadcast_sums cimport evaluate_sum, is_worth_fusing, sum_to
from autograd_cy._core.buffers cimport cast, is_owned
from autograd_cy._core.dtypes cimport COMPLEX64, FLOAT32, code_of, dtype_of
from autograd_cy._core.loops cimport evaluate
from autograd_cy._core.node cimport Node
from autograd_cy._core.saved cimport saved_array, unpack
from autograd_cy._core.tensor cimport Tensor

cnp.import_array()


cdef class PointwiseNode(Node):
    """A recorded elementwise operation: one class for all rows, with a subclass for each name."""

    cdef object vjp(self, object gradient, int i, bint reuse):
        cdef Pointwise *row = <Pointwise *> self.op
        cdef Formula *formula = &row.derivative[i]
        cdef cnp.ndarray g = <cnp.ndarray> gradient
        cdef cnp.ndarray out = None
        cdef int code = code_of(g)
        if formula.identity:
            out = g
        elif (code < FLOAT32 or formula.kernels[code - FLOAT32].loop == NULL
                or row.result == REAL_PART and self.code0 >= COMPLEX64):
            return Node.vjp(self, g, i, reuse)
        else:
            out = evaluate_formula(self, formula, g, code, i, g if reuse and is_owned(g) else None)
        return fitted(self, out, i)

    cdef object rule(self, object g, int i):
        cdef Pointwise *row = <Pointwise *> self.op
        cdef bint turned = row.holomorphic and cnp.PyArray_ISCOMPLEX((<Tensor> g).array)
        cdef object result = self.derivative(g.conj() if turned else g, i)
        return fitted_tensor(self, result.conj() if turned else result, i)

    cdef object derivative(self, object g, int i):
        """The formula of input `i` on Tensors."""
        cdef Formula *formula = &(<Pointwise *> self.op).derivative[i]
        cdef Rule rule = formula.complex_rule if cnp.PyArray_ISCOMPLEX((<Tensor> g).array) else formula.rule
        return rule(g, unpack(self, 0) if formula.operands & A else None,
                    unpack(self, 1) if formula.operands & B else None,
                    unpack(self, 2) if formula.operands & C else None,
                    unpack(self, 2) if formula.operands & Y else None)

    cdef object jvp(self, tuple tangents):
        cdef Pointwise *row = <Pointwise *> self.op
        cdef object total = None
        for i, t in enumerate(tangents):
            if t is not None:
                if row.result == REAL_PART and cnp.PyArray_ISCOMPLEX((<Tensor> t).array):
                    term = (unpack(self, 0).sgn().conj() * t).real
                else:
                    term = self.derivative(t, i)
                total = term if total is None else total + term
        return total


cdef cnp.ndarray evaluate_formula(PointwiseNode node, Formula *formula, cnp.ndarray g, int code, int i, cnp.ndarray out):
    """The formula's kernel on the incoming gradient and on what it reads of the saved arrays.

    If input `i` was broadcast and the arrays are large, the result is summed already.
    """
    cdef PyObject *arrays[5]
    cdef npy_intp[64] dims
    cdef cnp.ndarray saved
    cdef int n = 1, slot, k, ndim = shape_before(node, i, dims)
    arrays[0] = <PyObject *> g
    try:
        for slot in range(4):
            if formula.operands & (1 << slot):
                saved = saved_array(node, slot if slot < 3 else 2)
                if code_of(saved) != code:
                    saved = cast(saved, code)
                Py_INCREF(saved)            # another thread may give up what the node saved
                arrays[n] = <PyObject *> saved
                n += 1
        if ndim >= 0 and is_worth_fusing(g):
            return evaluate_sum(&formula.kernels[code - FLOAT32], arrays, n, ndim, dims)
        return evaluate(&formula.kernels[code - FLOAT32], arrays, n, code, out)
    finally:
        for k in range(1, n):
            Py_DECREF(<object> arrays[k])


cdef inline int shape_before(PointwiseNode node, int i, npy_intp *dims) except -2:
    """The shape of input `i` and its length, or -1 if that is the shape of the output."""
    return -1 if node.shapes is None else noted_shape(<tuple> (<tuple> node.shapes)[i], dims)


cdef int noted_shape(tuple shape, npy_intp *dims) except -2:
    cdef int axis
    if shape is None:
        return -1
    for axis in range(len(shape)):
        dims[axis] = shape[axis]
    return len(shape)


cdef object fitted(PointwiseNode node, cnp.ndarray g, int i):
    """A gradient of the output's shape and type in those of input `i`: summed along what was broadcast."""
    cdef npy_intp[64] dims
    cdef int ndim = shape_before(node, i, dims), code = node.code0 if i == 0 else node.code1 if i == 1 else node.code2
    if ndim >= 0 and not has_shape(g, ndim, dims):
        g = sum_to(g, ndim, dims)
    return g if code_of(g) == code else cast(g, code)


cdef bint has_shape(cnp.ndarray array, int ndim, const npy_intp *dims) noexcept:
    cdef int axis
    if cnp.PyArray_NDIM(array) != ndim:
        return False
    for axis in range(ndim):
        if cnp.PyArray_DIM(array, axis) != dims[axis]:
            return False
    return True


cdef object fitted_tensor(PointwiseNode node, Tensor g, int i):
    """The same by recorded operations."""
    cdef int code = node.code0 if i == 0 else node.code1 if i == 1 else node.code2
    cdef object result = g
    if node.shapes is not None and (<tuple> node.shapes)[i] is not None:
        result = result.sum_to_size((<tuple> node.shapes)[i])
    if code_of(g.array) == code:
        return result
    if cnp.PyArray_ISCOMPLEX(g.array) and code < COMPLEX64:
        result = result.real
    return result.to(dtype_of(code))


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
    """The result, whose node (if there is one) shows what it was called with."""
    if result.grad_fn is not None:
        result.grad_fn.constants = constants
    return result
