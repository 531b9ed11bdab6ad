"""The engine: functions that the serial and the parallel walk share."""

from cpython.object cimport PyObject

from autograd_cy._core.engine.graph_task cimport GraphTask
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.runtime.state cimport ThreadState

ctypedef int (*Run)(GraphTask task) except -1
cdef Run run_in_parallel        # parallel_walk.pyx sets it while several threads are enabled; else NULL

cdef int run(GraphTask task) except -1
cdef int take_next(GraphTask task, ThreadState *state, Py_ssize_t *n) except -1
cdef int run_node(GraphTask task, Node node) except -1
cdef int end_node(ThreadState *state) except -1
cdef object arrived(GraphTask task, Node node, bint *needed, bint *watched)
cdef Node next_wanted(GraphTask task, Node node, int *i)
cdef object gradient_for(GraphTask task, Node node, int i, object g, bint last, Node target)
cdef object searched_gradient(GraphTask task, Node node, object g, int i)
cdef tuple gradients_together(GraphTask task, Node node, PyObject *incoming)
cdef object as_array(GraphTask task, object x)
cdef bint is_seen(GraphTask task, Node node) except -1
cdef int free_saved(GraphTask task, Node node) except -1
