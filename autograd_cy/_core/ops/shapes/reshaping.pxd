"""Other shapes of the same elements: reshapes, transposes, and other views of a whole tensor."""

from autograd_cy._core.graph.tensor cimport Tensor

# in shape.pyx
cdef object zeros_or(object g, object like)

# in overlaps.pyx
cdef Tensor overlapped(Tensor windows, tuple sizes, int d, Py_ssize_t step)

# in other_views.pyx
cdef tuple all_of(object first, tuple others)
