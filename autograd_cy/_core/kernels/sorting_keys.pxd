"""int64 keys that combine the order of 32-bit numbers with their places."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef cnp.ndarray sorting_keys(cnp.ndarray rows, bint descending)
cdef cnp.ndarray places_of_keys(cnp.ndarray keys)
cdef bint has_equals(cnp.ndarray rows) noexcept
