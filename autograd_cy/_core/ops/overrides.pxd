"""The override protocol: calls that objects, handlers or a batch take over."""

cdef object declined(int k, object left, object right)
cdef object declined_by(object function, object left, object right)
cpdef int arm() except -1
cdef int watch(bint on) except -1
