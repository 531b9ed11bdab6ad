"""Places of NaN, and the stacks that recorded nodes."""

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

# in nans.pyx
cdef Py_ssize_t first_nan(cnp.ndarray array) except -2
cdef int check_result(Node node, Tensor y, Tensor a, Tensor b, Tensor c) except -1
cdef int check_results(Node node, object outputs, object inputs) except -1
cdef object gradient_error(Node node, Tensor g, int i, bint of_zeros)

# in anomaly.pyx
cdef int note_trace(Node node, object outputs, object inputs, int mode) except -1
cdef int report(object error, Node node) except -1
cdef int check_roots_for_nan(tuple roots, tuple seeds, int mode) except -1
