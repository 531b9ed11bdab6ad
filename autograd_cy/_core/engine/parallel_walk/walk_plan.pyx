"""The serial order of a task's nodes and of the gradients that arrive at each.

It is found by simulating the rest of the task without computing anything: the same heap, fed in the same order, gives the
same result even if numbers are equal or in no topological order. A node's place in the order, its rank, is stored in
`waiting` of the task's scratch, which is unused once the walk has begun.
"""

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.string cimport memcpy

from autograd_cy._core.engine.engine cimport GraphTask, leads_on, notes_of
from autograd_cy._core.engine.ready_queue cimport Ready, ReadyQueue, free_queue, pop, push
from autograd_cy._core.graph.node cimport Node, Scratch, target_of


@cython.final
cdef class Plan:
    def __dealloc__(self):
        cdef Py_ssize_t k
        if self.places != NULL:
            for k in range(self.size):
                Py_XDECREF(self.places[k].early)
        PyMem_Free(self.places)
        PyMem_Free(self.turns)

    cdef int make(self, GraphTask task) except -1:
        """Find the order of the remaining nodes."""
        cdef ReadyQueue queue
        cdef Py_ssize_t k, n_edges = 0
        cdef Node node
        cdef Scratch *scratch
        for k in range(task.n_visited):
            node = <Node> task.visited[k]
            if task.reaches(node):              # it has not run yet
                scratch = notes_of(task, node)
                scratch.waiting = scratch.dependencies
                n_edges += node.n_edges
        self.places = <Place *> PyMem_Calloc(task.n_visited + 1, sizeof(Place))
        self.turns = <int *> PyMem_Malloc((n_edges + 1) * sizeof(int))
        if self.places == NULL or self.turns == NULL:
            raise MemoryError("no memory to plan a walk")
        queue.items = <Ready *> PyMem_Malloc((task.ready.size + 1) * sizeof(Ready))
        if queue.items == NULL:
            raise MemoryError("no memory to plan a walk")
        memcpy(queue.items, task.ready.items, task.ready.size * sizeof(Ready))
        queue.size, queue.room = task.ready.size, task.ready.size + 1
        try:
            self.go_through(task, &queue)
        finally:
            free_queue(&queue)
        return 0

    cdef int go_through(self, GraphTask task, ReadyQueue *queue) except -1:
        """Give each node its rank, and each wanted edge its turn."""
        cdef Py_ssize_t edges = 0
        cdef Node node, target
        cdef Scratch *scratch
        cdef int i
        while queue.size:
            node = <Node> pop(queue)
            notes_of(task, node).waiting = <int> self.size
            self.places[self.size].edges = edges
            self.size += 1
            for i in range(node.n_edges):
                target = target_of(node, i)
                if target is not None and leads_on(task, target):
                    scratch = notes_of(task, target)
                    self.turns[edges + i] = scratch.dependencies - scratch.waiting
                    scratch.waiting -= 1
                    if scratch.waiting == 0:
                        push(queue, target.sequence_number, <PyObject *> target)
            edges += node.n_edges
        return 0

    cdef int finish(self, Py_ssize_t rank) noexcept:
        """Note that a node has run or failed."""
        self.places[rank].done = True
        while self.first_open < self.size and self.places[self.first_open].done:
            self.first_open += 1
        return 0

    cdef int put_aside(self, Place *place, int turn, object what) except -1:
        """Keep something for a later turn: (output number, gradient), or a node that may not run before."""
        cdef dict early
        if place.early == NULL:
            early = {}
            Py_INCREF(early)
            place.early = <PyObject *> early
        (<dict> place.early)[turn] = what
        if isinstance(what, Node):
            self.n_parked += 1
        return 0

    cdef object take_early(self, Place *place):
        """Take out what was kept for the current turn, or None."""
        cdef object what = None
        if place.early != NULL:
            what = (<dict> place.early).pop(place.next_turn, None)
            if isinstance(what, Node):
                self.n_parked -= 1
        return what

    cdef list unpark(self):
        """Take out the nodes that were put aside, because their turns will never come."""
        cdef list found = []
        cdef Py_ssize_t k
        for k in range(self.size):
            if self.places[k].early != NULL:
                for turn, what in list((<dict> self.places[k].early).items()):
                    if isinstance(what, Node):
                        found.append(what)
                        del (<dict> self.places[k].early)[turn]
        self.n_parked = 0
        return found
