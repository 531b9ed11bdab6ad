"""Results that are written into `out`."""

from autograd_cy._core.graph.tensor cimport Tensor

# in out_overlaps.pyx
cdef int check_overlaps(Tensor out, str rule, tuple args, dict kwargs) except -1

# in out_types.pyx
cdef int check_type(Tensor out, Tensor result, str rule, str name, tuple args, dict kwargs) except -1
cdef int check_type_of_several(Tensor out, Tensor result, str rule, str name, Py_ssize_t number) except -1
cdef object with_type_of(Tensor out, str rule, str name, tuple args, dict kwargs)

# in out_argument.pyx
cdef object call_into(object function, tuple args, dict kwargs)
