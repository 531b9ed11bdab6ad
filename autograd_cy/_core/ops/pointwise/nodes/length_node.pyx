"""The node of hypot, with its second derivative where the result is 0: NOTE [Norms of 0]."""

from autograd_cy._core.engine.engine cimport limit_of_quotient
from autograd_cy._core.graph.context cimport note_zero_norm
from autograd_cy._core.graph.node cimport saved_array, unpack


cdef class LengthNode(PointwiseNode):
    """The gradient of an input is the input times g / y."""

    cdef object vjp(self, object g, int i):
        cdef object result = PointwiseNode.vjp(self, g, i), limit = limit_of_quotient(self, g, unpack(self, 2))
        if limit is None:
            return result
        return result + unbroadcast_tensor(self, limit * unpack(self, i).to(limit.dtype), i)

    cdef object jvp(self, tuple tangents):
        if not saved_array(self, 2).all():
            note_zero_norm()                # case 3
        return PointwiseNode.jvp(self, tangents)
