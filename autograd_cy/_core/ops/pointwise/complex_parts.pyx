"""Complex numbers from real and imaginary parts, or from length and angle; the angle; conjugates that are copies."""

import numpy as np

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.arrays.buffers cimport copy_in_order
from autograd_cy._core.arrays.dtypes cimport (
    COMPLEX64, FLOAT16, FLOAT32, FLOAT64, code_of, dtype_of, to_complex, to_inexact, type_word)
from autograd_cy._core.graph.memory cimport zeroed
from autograd_cy._core.graph.node cimport Node, save_input, save_output, unpack
from autograd_cy._core.graph.record cimport (
    as_tensor, broadcast_sizes, needs_node, new_node, record, record_all, shape_of, tensor_argument)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.ops.pointwise.nodes cimport Pointwise, PointwiseNode, note_shapes, unbroadcast_tensor
from autograd_cy._core.ops.pointwise.pointwise cimport forward, row_of, unary
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.ops.pointwise.nodes import where
from autograd_cy._core.ops.registry import inplace_op, op

cnp.import_array()

cdef Pointwise *OP_conj_physical_of = row_of("conj_physical_of")
cdef Pointwise *OP_angle_of_real = row_of("angle_of_real")


@cython.final
cdef class AngleBackward0(Node):
    """For a real tensor it is 0: the angle jumps at 0, and is constant elsewhere."""

    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef object vjp(self, object g, int i):
        x = unpack(self, 0)
        if not x.is_complex():
            return new_tensor(np.zeros_like((<Tensor> g).array))
        return where(x == 0, 0, g * 1j / where(x == 0, 1, x).conj())

    cdef object jvp(self, tuple tangents):
        x, t = unpack(self, 0), tangents[0]
        if not x.is_complex():
            return new_tensor(np.zeros_like((<Tensor> t).array))
        return where(x == 0, 0, t / where(x == 0, 1, x)).imag


@cython.final
cdef class ComplexBackward0(PointwiseNode):
    cdef object vjp(self, object g, int i):
        return unbroadcast_tensor(self, g.imag if i else g.real, i)

    cdef object jvp(self, tuple tangents):
        a, b = tangents
        return complex(b * 0 if a is None else a, a * 0 if b is None else b)


@cython.final
cdef class PolarBackward0(PointwiseNode):
    """Saves the angle for the gradient of `abs`: the result doesn't determine it where `abs` is 0 or negative."""

    cdef tuple saved_names(self):
        return (None, None, "result")

    cdef object vjp(self, object g, int i):
        return unbroadcast_tensor(self, part_of(self, g, i), i)

    cdef object vjp_of_zeros(self, object g, int i):
        return unbroadcast_tensor(self, zeroed(part_of(self, g, i), g == 0), i)

    cdef object jvp(self, tuple tangents):
        return sum_of([whole_of(self, t, i) for i, t in enumerate(tangents) if t is not None])

    cdef tuple jvp_of_zeros(self, tuple tangents, tuple found):
        return (sum_of([zeroed(whole_of(self, t, i), t == 0) for i, t in enumerate(tangents) if t is not None]),)


cdef object direction(PolarBackward0 node, int i):
    """The derivative of the output with respect to its length (0) or its angle."""
    if i:
        return unpack(node, 2) * 1j
    b = unpack(node, 1)
    return polar(b.new_ones(()), b)


cdef object part_of(PolarBackward0 node, object g, int i):
    return (g.conj() * direction(node, i)).real


cdef object whole_of(PolarBackward0 node, object t, int i):
    return t * direction(node, i)


cdef object sum_of(list terms):
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]


@op(methods=("angle",), kind="elementwise")
def angle(input):
    """angle(input) -> Tensor: the angle of complex numbers, in radians; of real ones 0 or pi.

    The gradient for a real tensor is 0, and so is the gradient at 0.

    >>> import autograd_cy as ag
    >>> ag.angle(ag.tensor([1 + 1j, -2 + 0j]))
    tensor([0.7854, 3.1416])
    """
    cdef Tensor x = as_tensor(input, "angle"), y
    cdef int dtype_code = code_of(x.array)
    cdef Node node
    cdef cnp.ndarray array = copy_in_order(x.array, to_inexact(dtype_code))
    cdef PyObject *arrays[1]
    arrays[0] = <PyObject *> array
    if dtype_code >= COMPLEX64:
        with np.errstate(all="ignore"):
            y = new_tensor(np.asarray(np.arctan2((<object> array).imag, (<object> array).real)))
    else:
        y = new_tensor(forward(OP_angle_of_real, arrays, code_of(array), None))
    if needs_node(x):
        node = new_node(AngleBackward0, None)
        save_input(node, 0, x)
        return record(node, y, x)
    return y


@op(kind="elementwise")
def complex(real, imag):
    """complex(real, imag) -> Tensor: complex numbers from real and imaginary parts, both float32 or both float64.

    >>> import autograd_cy as ag
    >>> ag.complex(ag.tensor([1.0]), ag.tensor([2.0]))
    tensor([1.+2.j])
    """
    cdef Tensor a = as_tensor(real, "complex"), b = tensor_argument(imag, "complex", "imag", 2)
    check_parts(a, b, "complex")
    with np.errstate(all="ignore"):
        array = np.empty(np.broadcast(a.array, b.array).shape, dtype_of(to_complex(code_of(a.array))).numpy_dtype)
        array.real, array.imag = a.array, b.array
    return recorded(ComplexBackward0, new_tensor(array), a, b, False)


@op(kind="elementwise")
def polar(abs, angle):
    """polar(abs, angle) -> Tensor: complex numbers from lengths and angles in radians, both float32 or both float64.

    >>> import autograd_cy as ag
    >>> ag.polar(ag.tensor([2.0]), ag.tensor([0.0]))
    tensor([2.+0.j])
    """
    cdef Tensor a = as_tensor(abs, "polar"), b = tensor_argument(angle, "polar", "angle", 2)
    check_parts(a, b, "polar")
    with np.errstate(all="ignore"):
        array = np.empty(np.broadcast(a.array, b.array).shape, dtype_of(to_complex(code_of(a.array))).numpy_dtype)
        array.real, array.imag = a.array * np.cos(b.array), a.array * np.sin(b.array)
    return recorded(PolarBackward0, new_tensor(array), a, b, True)


cdef int check_parts(Tensor a, Tensor b, str name) except -1:
    cdef int left = code_of(a.array), right = code_of(b.array)
    for dtype_code in (left, right):
        if dtype_code < FLOAT16 or dtype_code > FLOAT64:
            raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {type_word(left)} and "
                               f"{type_word(right)}")
    if left != right:
        raise RuntimeError(f"Expected object of scalar type {type_word(left)} but got scalar type {type_word(right)} for "
                           "second argument")
    if left < FLOAT32:
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for 'Half' ({name}() is not implemented for tensors of "
                                  f"type {dtype_of(left)})")
    broadcast_sizes(shape_of(a), shape_of(b))
    return 0


cdef Tensor recorded(object node_class, Tensor y, Tensor a, Tensor b, bint saves_result):
    cdef PointwiseNode node
    if needs_node(a) or needs_node(b):
        node = new_node(node_class, None)
        node.dtype_codes[0], node.dtype_codes[1] = code_of(a.array), code_of(b.array)
        if saves_result and needs_node(a):
            save_input(node, 1, b)
        if saves_result and needs_node(b):
            save_output(node, y)
        note_shapes(node, y, 2, a, b, None)
        record_all(node, y, (a, b))
    return y


# PyTorch's operations for lazy conjugates, which don't exist here

@op(methods=("conj_physical",), kind="elementwise")
def conj_physical(input):
    """conj_physical(input) -> Tensor: the complex conjugate; a real tensor itself.

    >>> import autograd_cy as ag
    >>> ag.conj_physical(ag.tensor([1 + 2j]))
    tensor([1.-2.j])
    """
    return unary(OP_conj_physical_of, input) if cnp.PyArray_ISCOMPLEX(as_tensor(input, "conj_physical").array) else input


@op(methods=("resolve_conj",), kind="elementwise")
def resolve_conj(input):
    """resolve_conj(input) -> Tensor: the tensor itself: conjugates are computed at once.

    >>> import autograd_cy as ag
    >>> ag.resolve_conj(ag.tensor([1 + 2j]).conj())
    tensor([1.-2.j])
    """
    return as_tensor(input, "resolve_conj")


@op(methods=("resolve_neg",), kind="elementwise")
def resolve_neg(input):
    """resolve_neg(input) -> Tensor: the tensor itself: nothing is negated later.

    >>> import autograd_cy as ag
    >>> ag.resolve_neg(-ag.tensor([1.0]))
    tensor([-1.])
    """
    return as_tensor(input, "resolve_neg")


def conj_physical_(Tensor self):
    """conj_physical_() -> Tensor: conj_physical() written into the tensor's own memory."""
    return in_place("conj_physical_", conj_physical, self, ()) if cnp.PyArray_ISCOMPLEX(self.array) else self


inplace_op(conj_physical_, conj_physical)
