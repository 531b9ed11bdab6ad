"""The node of a base that was written through a view."""

from autograd_cy._core.arrays.region cimport Region
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor


cdef class CopySlices(Node):
    cdef Node function          # the operation's own node, as if its result were a separate tensor
    cdef Region region
    cdef int position           # of the view among the inputs of `function`
    cdef int check(self) except -1


cdef CopySlices copy_slices(Tensor base, Region region, Node function, int position)
