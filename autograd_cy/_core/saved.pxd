"""What a node keeps of its inputs and outputs."""

cimport numpy as cnp

from autograd_cy._core.node cimport Node
from autograd_cy._core.tensor cimport Tensor

cdef int save_input(Node node, int slot, Tensor tensor) except -1
cdef int save_output(Node node, Tensor tensor) except -1
cdef object unpack(Node node, int slot)
cdef cnp.ndarray saved_array(Node node, int slot)
cdef object freed_error(Node node)
