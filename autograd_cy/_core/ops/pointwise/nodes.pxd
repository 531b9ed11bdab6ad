"""The nodes that elementwise operations share, and where()."""

from cpython.object cimport PyObject, PyTypeObject

from autograd_cy._core.arrays.dtypes cimport KERNEL_CODES, NCODES
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.runtime cimport numpy_api as cnp

# in pointwise_node.pyx
ctypedef object (*Rule)(object g, object a, object b, object c, object y)

cdef enum:          # what a formula reads
    A = 1
    B = 2
    C = 4
    Y = 8

cdef enum:
    SAME_TYPE
    TRUTH
    REAL_PART

cdef struct Formula:        # the derivative for one input
    Kernel[KERNEL_CODES] kernels    # from float32 on; NULL: the rule computes it
    int operands
    bint identity           # the gradient passes through unchanged
    Rule rule
    Rule complex_rule

cdef struct Pointwise:      # one row of the table
    const char *name
    int arity
    int result
    bint inexact            # integers become floats
    bint holomorphic        # the gradient is conj(F(conj(g))), else F(g)
    int edges               # of the node: scalar operands of an operation have none
    bint opmath             # float16 and bfloat16 take a scalar second operand as float32
    bint wide               # derivatives of float16 and bfloat16 are computed in float32
    Kernel[2] half          # for float16 and bfloat16 without a loop in `forward`, if all operands are of that type
    Kernel[NCODES] forward
    Formula[3] derivative
    PyTypeObject *node_type  # NULL: not differentiable
    void *methods           # of the node type

cdef class PointwiseNode(Node):
    cdef object derivative(self, object g, int i)


cdef object unbroadcast_tensor(PointwiseNode node, Tensor g, int i)
cdef Tensor with_constants(Tensor result, tuple constants)

cdef int keep_shapes(PointwiseNode node, Tensor y, Tensor a, Tensor b, Tensor c) except -1


cdef inline int note_shapes(PointwiseNode node, Tensor y, int arity, Tensor a, Tensor b, Tensor c) except -1:
    """Store the shapes of the inputs that were broadcast."""
    if arity == 1:
        return 0
    if ((a is None or cnp.PyArray_SAMESHAPE(a.array, y.array)) and (b is None or cnp.PyArray_SAMESHAPE(b.array, y.array))
            and (c is None or cnp.PyArray_SAMESHAPE(c.array, y.array))):
        return 0
    return keep_shapes(node, y, a, b, c)

# in length_node.pyx

cdef class LengthNode(PointwiseNode):
    pass

# in loss_node.pyx

cdef enum:
    NONE = 0
    MEAN = 1
    SUM = 2


cdef class LossNode(PointwiseNode):
    cdef object whole(self, object g)
    cdef object reduced(self, object t)


cdef Tensor record_loss(Pointwise *row, cnp.ndarray losses, PyObject **arrays, Tensor a, Tensor b, Tensor c, int reduction,
                        tuple constants)
