"""What a node keeps of its inputs and outputs."""

from cpython.object cimport PyObject
cimport numpy as cnp

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.tensor cimport Tensor

cdef enum:
    HANDLES = 2                     # in Node.saves: some slot holds a SavedTensor

cdef int save_input(Node node, int slot, Tensor tensor) except -1
cdef int save_output(Node node, Tensor tensor) except -1
cdef object unpack(Node node, int slot)
cdef cnp.ndarray saved_array(Node node, int slot)
cdef cnp.ndarray saved_like(Node node, int slot, cnp.ndarray g)
cdef bint is_held_alone(Node node, int slot, PyObject *array)
cdef int empty_slot(Node node, int slot) except -1
cdef object slot_value(Node node, int slot)
cdef int set_slot_value(Node node, int slot, object value) except -1
cdef long slot_version(Node node, int slot) noexcept
cdef object freed_error(Node node)
cdef object stale_error(Node node, Tensor tensor, long expected)
cdef int give_place(Node node, Tensor output, int number) except -1
cdef int give_tangent(Node node, Tensor output) except -1

ctypedef str (*History)(Node node)
cdef History tell_history       # engine.pyx fills it in

ctypedef int (*EnterThroughBase)(Tensor output, Node outer) except -1
cdef EnterThroughBase enter_through_base        # copy_slices.pyx fills it in
cdef int keep_tangents(Node node, tuple tangents, long long level) except -1
cdef tuple tangents_of(Node node, tuple tangents, tuple outputs)
ctypedef tuple (*TangentsByVjp)(Node node, tuple tangents, tuple outputs)
cdef TangentsByVjp tangents_by_vjp      # engine/double_vjp.pyx fills it in
