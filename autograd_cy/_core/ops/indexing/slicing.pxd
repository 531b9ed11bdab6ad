"""Views of a part of a tensor, copies of views, and views that take the place of their tensor."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor

# in slicing.pyx
cdef Tensor row_view(Tensor x, int dim, Py_ssize_t index)
cdef Tensor part(Tensor x, int dim, Py_ssize_t start, Py_ssize_t end, Py_ssize_t step)
cdef int check_row(Py_ssize_t index, int dim, Py_ssize_t size) except -1
cdef int unpack_slice(object index, Py_ssize_t *start, Py_ssize_t *end, Py_ssize_t *step) except -1

# in view_copy_node.pyx

cdef class ViewCopy(Node):
    pass
