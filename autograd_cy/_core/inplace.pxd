"""Writing into a tensor's memory: what may be written, and the checks before it."""

cimport numpy as cnp

from autograd_cy._core.tensor cimport Tensor

cdef int check_unrecorded(Tensor target, object source, str operation) except -1
cdef int check_cast(int code, int target_code) except -1
cdef int check_fits(cnp.ndarray target, cnp.ndarray source) except -1
cdef bint may_overlap(cnp.ndarray target, cnp.ndarray source)
cdef int check_memory(cnp.ndarray target, cnp.ndarray source) except -1
