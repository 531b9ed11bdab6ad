"""Where in the user's code an operation was called."""

from cpython.object cimport PyObject

cdef object here(int *instruction)
cdef int frames_here(PyObject **codes, int *instructions, int most) noexcept
cdef tuple place_of(object code, int instruction)
cdef str described(object code, int instruction)
cdef str PACKAGE                # the folder of autograd_cy
