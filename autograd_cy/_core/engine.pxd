"""GraphTask: one call of backward() or grad()."""

from cpython.object cimport PyObject

from autograd_cy._core.node cimport Node, NodeHooks, Scratch
from autograd_cy._core.tensor cimport Tensor


cdef struct Ready:
    unsigned long long sequence_number
    PyObject *node                  # borrowed: the roots keep the graph alive


cdef class SideScratch:
    cdef Scratch scratch


cdef class GraphTask:
    cdef bint keep_graph
    cdef bint recorded              # gradients are Tensors and may be recorded
    cdef bint selective             # only what leads to the inputs asked for
    cdef bint accumulates           # leaves get their .grad; else all that was asked for is captured
    cdef list roots                 # the nodes that hold the graph
    cdef dict captures              # Node -> [(output number, position in results), ...]
    cdef list results
    cdef dict side                  # Node -> SideScratch, for nodes that another task has claimed
    cdef PyObject **visited         # borrowed
    cdef Py_ssize_t n_visited, visited_size
    cdef Py_ssize_t n_claimed       # of those visited
    cdef Ready *heap
    cdef Py_ssize_t n_ready, heap_size
    cdef readonly Node node         # the one that runs

    cdef Scratch *find(self, Node node) except NULL
    cdef Scratch *claim(self, Node node) except NULL
    cdef int visit(self, Node node) except -1
    cdef int count_dependencies(self) except -1
    cdef int find_needed(self) except -1
    cdef int deliver(self, Node node, int output, object g) except -1
    cdef int push(self, Node node) except -1
    cdef Node pop(self)
    cdef int run(self) except -1
    cdef int run_node(self, Node node) except -1
    cdef int propagate(self, Node node, object g) except -1
    cdef int propagate_joint(self, Node node, object g) except -1
    cdef bint leads_on(self, Node node) except -1
    cdef object hooked(self, Node node, object g)
    cdef object hooked_output(self, NodeHooks hooks, int output, object g)
    cdef int capture(self, Node node, object g) except -1
    cdef int clear(self) except -1
