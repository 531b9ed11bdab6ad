"""Birth and death of nodes: spares that are used again, and freeing without recursion."""

from cpython.object cimport PyTypeObject

from autograd_cy._core.graph.node cimport Node


cdef int enter_life(Node node) noexcept
cdef Node make_node(PyTypeObject *node_class, void *table)
cdef void *method_table(Node node) noexcept
