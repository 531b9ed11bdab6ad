"""The serial order of a task's nodes and of the gradients that arrive at each."""

from cpython.object cimport PyObject

from autograd_cy._core.engine.graph_task cimport GraphTask
from autograd_cy._core.engine.ready_queue cimport ReadyQueue
from autograd_cy._core.graph.node cimport Node

cdef struct Place:                  # of a node
    Py_ssize_t edges                # index of its first turn
    int next_turn                   # the turn of the gradient that is added next
    bint done
    PyObject *early                 # owned: a dict of gradients that arrived before their turn, or NULL

cdef class Plan:
    cdef Py_ssize_t size
    cdef Place *places              # by rank
    cdef int *turns                 # for each wanted edge, how many gradients arrive at its target before it
    cdef Py_ssize_t first_open      # the lowest rank of a node that has not run
    cdef int n_parked               # number of nodes that wait for their turn at a target

    cdef int make(self, GraphTask task) except -1
    cdef int go_through(self, GraphTask task, ReadyQueue *queue) except -1
    cdef int finish(self, Py_ssize_t rank) noexcept
    cdef int put_aside(self, Place *place, int turn, object what) except -1
    cdef object take_early(self, Place *place)
    cdef list unpark(self)
