"""Tensor's type object: its name, its `__dict__`, and the methods that operations and the Python layer attach."""

from autograd_cy._core.graph.tensor cimport Tensor


cdef dict facade                # special methods that Tensor delegates, by name; set by the Python layer
cpdef extend(str name, value)
cdef int open_type() except -1
cdef object written_by(str name, Tensor self, object other)
