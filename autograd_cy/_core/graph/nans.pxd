"""Searching for NaN and reporting its origin."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef Py_ssize_t first_nan(cnp.ndarray array) except -2
cdef int check_result(Node node, Tensor y, Tensor a, Tensor b, Tensor c) except -1
cdef int check_results(Node node, object outputs, object inputs) except -1
cdef object gradient_error(Node node, Tensor g, int i, bint of_zeros)
cdef int check_root(object root, object seed, int position) except -1
cdef str place_of(cnp.ndarray array, Py_ssize_t position)
cdef str describe(object value)
