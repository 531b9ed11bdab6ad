"""The position of a view in the memory of its base."""

from autograd_cy._core.runtime cimport numpy_api as cnp


cdef class Region:
    cdef tuple base_sizes           # of the base; strides and offsets in bytes, offsets from the base's lowest byte
    cdef tuple base_strides
    cdef Py_ssize_t base_offset
    cdef Py_ssize_t extent          # from the base's first byte to its last
    cdef object base_type           # NumPy dtypes
    cdef bint dense                 # the base is dense and in order
    cdef readonly tuple sizes       # of the view
    cdef readonly tuple strides
    cdef readonly Py_ssize_t offset
    cdef object type

    cdef cnp.ndarray taken(self, cnp.ndarray whole)
    cdef cnp.ndarray embedded(self, cnp.ndarray part)
    cdef cnp.ndarray replaced(self, cnp.ndarray whole, cnp.ndarray part)
    cdef tuple copied(self, cnp.ndarray whole)
    cdef cnp.ndarray part_of(self, cnp.ndarray memory)
    cdef Region of_each(self, Py_ssize_t n)


cdef Region region_of(cnp.ndarray base, cnp.ndarray view)
cdef bint lies_inside(cnp.ndarray base, cnp.ndarray view) noexcept
cdef int measure(cnp.ndarray array, Py_ssize_t *below, Py_ssize_t *above) noexcept
cdef bint repeats_places(cnp.ndarray array) noexcept
cdef bint is_dense(cnp.ndarray array) noexcept
cdef bint spans_meet(cnp.ndarray a, cnp.ndarray b) noexcept
cdef bint share_memory(cnp.ndarray a, cnp.ndarray b) noexcept
cdef bint overlaps_in_part(cnp.ndarray a, cnp.ndarray b) noexcept
cdef bint may_meet(cnp.ndarray array, size_t address, tuple sizes, tuple strides, object type)
