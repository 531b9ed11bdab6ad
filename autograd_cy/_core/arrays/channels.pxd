"""Arrays (N, C, ...) with channels last in memory."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum:
    NARROW = 4          # channels: up to this many, copies to C order and back beat vectors that are mostly empty

cdef bint has_channels_last(cnp.ndarray x) noexcept
cdef cnp.ndarray in_format(cnp.ndarray array, bint channels_last)
cdef cnp.ndarray in_c_order(cnp.ndarray array, int dtype_code)
cdef cnp.ndarray channels_at_end(cnp.ndarray array)
cdef cnp.ndarray channels_second(cnp.ndarray array)
cdef int show_channels_last(cnp.ndarray array) except -1
cdef cnp.ndarray new_in_format(int dtype_code, tuple sizes, bint channels_last)
cdef cnp.ndarray in_type_and_order(cnp.ndarray array, int dtype_code)
