"""`requires_grad`, `.grad` and its dtype: what may be set, and what is refused."""

from autograd_cy._core.graph.tensor cimport Tensor


cdef Tensor shown_gradient(Tensor self)
cdef void set_gradient(Tensor tensor, Tensor gradient) noexcept
cdef int check_gradient(Tensor tensor, object value) except -1
cdef int set_grad_type(Tensor tensor, object value) except -1
cdef int assign_requires_grad(Tensor tensor, object value) except -1
cdef int set_requires_grad(Tensor tensor, bint value, str message) except -1
cdef str type_name(Tensor tensor)
