"""Tensors that share memory: their version, and the links of views to their base."""

from autograd_cy._core.graph.tensor cimport Tensor


cdef long version_of(Tensor tensor) noexcept
cdef void bump_version(Tensor tensor)
cdef int count_write(Tensor tensor, str operation) except -1
cdef void share_version(Tensor source, Tensor alias)
cdef int link_view(Tensor source, Tensor view, int creation=*) except -1
