"""Where in the user's code an operation was called."""

cdef object here(int *instruction)
cdef tuple place(object code, int instruction)
cdef str described(object code, int instruction)
cdef str PACKAGE                # the folder of autograd_cy
