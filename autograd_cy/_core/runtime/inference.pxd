"""Operations that inference tensors refuse."""

from autograd_cy._core.runtime.modes cimport current_mode
from autograd_cy._core.runtime.state cimport INFERENCE

cdef inline bint in_inference_mode() noexcept:
    return current_mode() & INFERENCE != 0

cdef int check_write(bint inference, str operation) except -1
cdef object save_error(object node)
cdef object version_error()
cdef object flag_error()
