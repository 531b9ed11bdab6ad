"""Views in the graph: their nodes after a write, and which writes are refused."""

from autograd_cy._core.arrays.region cimport Region
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class AsStridedBackward0(Node):
    pass


cdef tuple geometry(Region region)
cdef bint is_view_of_another(Tensor x) noexcept
cdef Tensor tangent_base(Tensor x)
cdef object refusal(Tensor view, bint indirect)
cdef Tensor take(Tensor whole, Region region)
cdef Tensor embed_part(Tensor part, Region region)
cdef Tensor replace_part(Tensor whole, Tensor part, Region region)
