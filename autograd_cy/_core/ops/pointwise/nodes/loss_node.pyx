"""The node of elementwise losses: the node of their row, fused with their mean or sum.

So the gradients of the losses need no array: they are one number, which the row's kernels broadcast like any operand.
"""

from autograd_cy._core.arrays.buffers cimport dense, new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, LONGDOUBLE, code_of, is_half
from autograd_cy._core.graph.node cimport Node, Request, make_node, save_input
from autograd_cy._core.graph.record cimport needs_node, number_tensor, record_first, shape_of
from autograd_cy._core.graph.tensor cimport new_tensor


cdef class LossNode(PointwiseNode):
    """Constants: the reduction, numbers that users see, and the sizes of the losses, or None if they were not reduced."""

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef tuple sizes = self.constants[len(<tuple> self.constants) - 1]
        if sizes is None:
            return PointwiseNode.vjp_array(self, g, i, request)
        if is_half(code_of(<cnp.ndarray> g)) or code_of(<cnp.ndarray> g) == LONGDOUBLE:
            return Node.vjp_array(self, g, i, request)
        request.may_overwrite = False
        return gradient_of(self, divided(<cnp.ndarray> g, divisor(self.constants[0], sizes)), i, request)

    cdef object vjp_samples(self, cnp.ndarray g, int i, Request *request):
        sizes = self.constants[len(<tuple> self.constants) - 1]
        return PointwiseNode.vjp_samples(self, g, i, request) if sizes is None else None

    cdef object vjp(self, object g, int i):
        return PointwiseNode.vjp(self, self.whole(g), i)

    cdef object vjp_of_zeros(self, object g, int i):
        return PointwiseNode.vjp_of_zeros(self, self.whole(g), i)

    cdef object whole(self, object g):
        """The gradient of each loss."""
        cdef tuple sizes = self.constants[len(<tuple> self.constants) - 1]
        if sizes is None:
            return g
        return (g / divisor(self.constants[0], sizes) if self.constants[0] == MEAN else g).expand(sizes)

    cdef object jvp(self, tuple tangents):
        return self.reduced(PointwiseNode.jvp(self, tangents))

    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found):
        t, = PointwiseNode.jvp_of_zeros(self, tangents, found)
        return (self.reduced(t),)

    cdef object reduced(self, object t):
        if t is None or self.constants[len(<tuple> self.constants) - 1] is None:
            return t
        return t.mean() if self.constants[0] == MEAN else t.sum()


cdef double divisor(int reduction, tuple sizes) except -1:
    """The divisor of the sum of losses."""
    cdef double n = 1
    for size in sizes if reduction == MEAN else ():
        n *= size
    return n if n else 1


cdef cnp.ndarray divided(cnp.ndarray g, double number):
    """A 0-d array of float32 or float64 divided by a number."""
    cdef int dtype_code = code_of(g)
    cdef cnp.ndarray quotient = new_array(dtype_code, 0, NULL)
    g = dense(g)
    if dtype_code == FLOAT32:
        (<float *> cnp.PyArray_DATA(quotient))[0] = <float> ((<float *> cnp.PyArray_DATA(g))[0] / number)
    else:
        (<double *> cnp.PyArray_DATA(quotient))[0] = (<double *> cnp.PyArray_DATA(g))[0] / number
    return quotient


cdef Tensor record_loss(Pointwise *row, cnp.ndarray losses, PyObject **arrays, Tensor a, Tensor b, Tensor c, int reduction,
                        tuple constants):
    """The losses that the row computed, or their mean or sum, recorded as its node. Numbers among a, b and c are None."""
    cdef Tensor y = new_tensor(losses), whole = y, x
    cdef tuple operands = (a, b, c)
    cdef LossNode node
    cdef int k, needed = 0
    if reduction != NONE:
        y = (<object> whole).mean() if reduction == MEAN else (<object> whole).sum()
    for k in range(row.edges):
        x = <Tensor> operands[k]
        if x is not None and needs_node(x):
            needed |= row.derivative[k].operands
    if not needed:
        return y
    node = <LossNode> make_node(row.node_type, row.methods)
    node.op = row
    node.constants = (reduction, *constants, None if reduction == NONE else shape_of(whole))
    for k in range(row.arity):
        x = <Tensor> operands[k]
        if x is not None:
            node.dtype_codes[k] = code_of(x.array)
        if needed & (1 << k):
            save_input(node, k, number_tensor(<cnp.ndarray> arrays[k]) if x is None else x)
    note_shapes(node, whole, row.arity, a, b, c)
    # PyTorch's node has no edge for a third tensor without a gradient
    record_first(node, y, 2 if row.edges == 3 and not needs_node(c) else row.edges, a, b, c)
    return y
