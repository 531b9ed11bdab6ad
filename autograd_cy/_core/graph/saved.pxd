"""The inputs and outputs that a node saves."""

from cpython.object cimport PyObject

from autograd_cy._core.graph.node cimport Node, SlotKind
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum:
    OUTPUT_SLOT = 2                 # where an output is saved

cdef int save_input(Node node, int slot, Tensor tensor) except -1
cdef int save_number(Node node, int slot, Tensor number) except -1
cdef int save_output(Node node, Tensor tensor) except -1
cdef int save_elsewhere(Node node, cnp.ndarray before, Tensor tensor) except -1
cdef object unpack(Node node, int slot)
cdef cnp.ndarray saved_array(Node node, int slot)
cdef cnp.ndarray saved_like(Node node, int slot, cnp.ndarray g)
cdef bint take(Node node, int slot, PyObject *array) except -1
cdef object slot_value(Node node, int slot)
cdef int fill_slot(Node node, int slot, SlotKind kind, object value) except -1
cdef object freed_error(Node node)
cdef object stale_error(Node node, Tensor tensor, long expected)
cdef int give_place(Node node, Tensor output, int number) except -1
cdef int give_tangent(Node node, Tensor output) except -1

cdef int keep_tangents(Node node, tuple tangents, long long level) except -1

# the tangents of a node's outputs (of those that are not None), from the inputs' tangents
ctypedef tuple (*TangentsOf)(Node node, tuple tangents, tuple outputs)
cdef TangentsOf tangents_of         # engine/node_tangents.pyx sets it
