"""Views of a part of a tensor, and their transposes."""

from autograd_cy._core.graph.tensor cimport Tensor

cdef Tensor row_view(Tensor x, int dim, Py_ssize_t index)
cdef Tensor part(Tensor x, int dim, Py_ssize_t start, Py_ssize_t end, Py_ssize_t step)
cdef int check_row(Py_ssize_t index, int dim, Py_ssize_t size) except -1
cdef int unpack_slice(object index, Py_ssize_t *start, Py_ssize_t *end, Py_ssize_t *step) except -1
