"""glu: one half of a tensor times the sigmoid of the other."""

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport new_array, sizes_of, strided_view
from autograd_cy._core.arrays.dtypes cimport FLOAT32, code_of, is_half
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport as_tensor, needs_node, new_node, record, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.loops cimport evaluate
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise
from autograd_cy._core.ops.pointwise.pointwise cimport forward, row_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat


cdef Pointwise *OP_gated = row_of("gated")


cdef cnp.ndarray half_of(cnp.ndarray x, int axis, int k):
    """The first half of an array (k = 0), or the second."""
    cdef npy_intp[64] dims
    cdef int j
    for j in range(cnp.PyArray_NDIM(x)):
        dims[j] = cnp.PyArray_DIM(x, j)
    dims[axis] //= 2
    return strided_view(x, cnp.PyArray_BYTES(x) + k * dims[axis] * cnp.PyArray_STRIDE(x, axis), cnp.PyArray_NDIM(x), dims,
                        cnp.PyArray_STRIDES(x))


cdef int check_sizes(cnp.ndarray x, cnp.ndarray g, int axis) except -1:
    """RuntimeError if ndarray.resize(), which counts no write, changed the input."""
    cdef cnp.ndarray half
    if cnp.PyArray_NDIM(x) == cnp.PyArray_NDIM(g):
        half = half_of(x, axis, 0)
        if cnp.PyArray_SAMESHAPE(half, g):
            return 0
    raise RuntimeError(f"GluBackward0: the memory of a saved tensor was resized, to {list(sizes_of(x))}")


@cython.final
cdef class GluBackward0(Node):
    """Its constants: the dimension as it was given, and from the front."""

    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef tuple constant_names(self):
        return ("dim", None)

    cdef object vjp_array(self, object gradient, int i, Request *request):
        cdef cnp.ndarray g = <cnp.ndarray> gradient, x = saved_array(self, 0)
        cdef int axis = self.constants[1], dtype_code = code_of(g)
        if (dtype_code < FLOAT32 or code_of(x) != dtype_code
                or OP_gated.derivative[1].kernels[dtype_code - FLOAT32].loop == NULL):
            return Node.vjp_array(self, g, i, request)
        check_sizes(x, g, axis)
        cdef cnp.ndarray first = half_of(x, axis, 0), second = half_of(x, axis, 1)
        cdef cnp.ndarray out = new_array(dtype_code, cnp.PyArray_NDIM(x), cnp.PyArray_DIMS(x))
        cdef PyObject *read[3]
        read[0], read[1], read[2] = <PyObject *> g, <PyObject *> second, NULL
        evaluate(&OP_gated.derivative[0].kernels[dtype_code - FLOAT32], read, 2, dtype_code, half_of(out, axis, 0))
        read[1], read[2] = <PyObject *> first, <PyObject *> second
        evaluate(&OP_gated.derivative[1].kernels[dtype_code - FLOAT32], read, 3, dtype_code, half_of(out, axis, 1))
        return out

    cdef object vjp(self, object g, int i):
        first, second = self.halves()
        if is_half(code_of((<Tensor> g).array)):
            g = g.float()
        y = cat([OP_gated.derivative[k].rule(g, first, second, None, None) for k in range(2)], self.constants[1])
        return y.to(unpack(self, 0).dtype)

    cdef object jvp(self, tuple tangents):
        first, second = self.halves()
        t, u = (<object> tangents[0]).chunk(2, self.constants[1])
        y = OP_gated.derivative[0].rule(t, first, second, None, None)
        y = y + OP_gated.derivative[1].rule(u, first, second, None, None)
        return y.to(unpack(self, 0).dtype)

    cdef object halves(self):
        """The halves of the input; float16 as float32."""
        x = unpack(self, 0)
        return (x.float() if is_half(code_of((<Tensor> x).array)) else x).chunk(2, self.constants[1])


@op(namespace="nn.functional", batch=COMPOSITE)
def glu(input, dim: int = -1):
    """glu(input, dim=-1) -> Tensor: the first half along `dim` times the sigmoid of the second.

    RuntimeError for an odd size. Source: Dauphin et al., "Language modeling with gated convolutional networks" (2016).

    >>> import autograd_cy as ag
    >>> ag.nn.functional.glu(ag.tensor([4.0, 2.0, 0.0, 0.0]))
    tensor([2., 1.])
    """
    cdef Tensor x = as_tensor(input, "glu")
    cdef int rank = cnp.PyArray_NDIM(x.array), axis
    if rank == 0:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    axis = wrap_dim(dim, rank)
    cdef Py_ssize_t size = cnp.PyArray_DIM(x.array, axis)
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {size}")
    if x.batched:
        return input.narrow(axis, 0, size // 2) * input.narrow(axis, size // 2, size // 2).sigmoid()
    cdef cnp.ndarray first = half_of(x.array, axis, 0), second = half_of(x.array, axis, 1)
    cdef PyObject *halves[2]
    halves[0], halves[1] = <PyObject *> first, <PyObject *> second
    cdef Tensor y = new_tensor(forward(OP_gated, halves, code_of(x.array), None))
    if not needs_node(x):
        return y
    cdef Node node = new_node(GluBackward0, (dim, axis))
    save_input(node, 0, x)
    return record(node, y, x)
