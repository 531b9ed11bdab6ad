"""GraphTask: one call of backward() or grad(), and its preparation before the first node runs.

NOTE [Scratch]
A task's scratch for a node (dependencies, buffer) is stored in the node itself, so no table is needed. It belongs to the first
task that claims the node. Any other task that runs at the same time on the same graph (in another thread, or in a hook or
Function that calls backward) keeps its scratch in its own table, `side`. A task releases its claims when it ends, even by an
exception.
"""

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF

from autograd_cy._core.batching.batched cimport batched
from autograd_cy._core.engine.ready_queue cimport free_queue
from autograd_cy._core.graph.node cimport Node, Scratch, target_of
from autograd_cy._core.graph.tensor cimport new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport (
    Hold, add_int, add_long_long, claim as claim_pointer, hold, let_go, load_int, peek_pointer, store_int)
from autograd_cy._core.runtime.state cimport thread_state


cdef long long tasks = 0            # number of tasks ever made
cdef int n_running = 0              # number of running tasks, in all threads
cdef list kept = []                 # nodes cut from a graph to which running tasks may still point ...
cdef int n_kept = 0                 # ... and the length of that list
cdef object keeping = object()      # the lock of both


@cython.final
cdef class SideScratch:
    def __dealloc__(self):
        Py_XDECREF(self.scratch.buffer)


@cython.final
cdef class GraphTask:
    """One call of backward() or grad()."""

    def __cinit__(self):
        self.roots = []
        self.captures = {}
        self.results = []
        self.side = {}

    def __dealloc__(self):
        PyMem_Free(self.visited)
        free_queue(&self.ready)

    # notes on nodes, see NOTE [Scratch]

    cdef Scratch *claim(self, Node node) except NULL:
        """The scratch for a node; a node that is new to the task is claimed and appended to the visited nodes."""
        cdef SideScratch side
        cdef void *owner = peek_pointer(&node.scratch.task)
        if owner == <void *> self:
            return &node.scratch
        if owner == NULL and not (self.side and node in self.side):
            self.visit(node)
            if claim_pointer(&node.scratch.task, <void *> self):
                self.n_claimed += 1
                return &node.scratch
            self.n_visited -= 1                 # another thread's task was first
        side = <SideScratch> self.side.get(node)
        if side is None:
            side = SideScratch.__new__(SideScratch)
            self.visit(node)
            self.side[node] = side
        return &side.scratch

    cdef bint reaches(self, Node node) except -1:
        """Whether the node is reachable from the roots and has not run yet."""
        return peek_pointer(&node.scratch.task) == <void *> self or node in self.side

    cdef int visit(self, Node node) except -1:
        cdef PyObject **grown
        if self.n_visited == self.visited_size:
            self.visited_size = 2 * self.visited_size + 64
            grown = <PyObject **> PyMem_Realloc(self.visited, self.visited_size * sizeof(PyObject *))
            if grown == NULL:
                self.visited_size = self.n_visited
                raise MemoryError("no memory to walk the graph")
            self.visited = grown
        self.visited[self.n_visited] = <PyObject *> node
        self.n_visited += 1
        return 0

    cdef int clear(self) except -1:
        """Release the claims on nodes that did not run."""
        cdef Scratch *scratch
        while self.n_claimed > 0:
            self.n_visited -= 1
            scratch = &(<Node> self.visited[self.n_visited]).scratch
            if peek_pointer(&scratch.task) == <void *> self:
                self.n_claimed -= 1
                Py_XDECREF(scratch.buffer)
                end_claim(scratch)
        self.n_visited = 0
        self.side.clear()
        return 0

    # before the run

    cdef int start(self, tuple roots, tuple inputs) except -1:
        """Prepare the task, before the first node runs."""
        cdef Node node
        for x in roots:
            node = target_node(x)
            self.roots.append(node)
            self.claim(node).dependencies += 1
        self.count_dependencies()
        if inputs:
            self.ask_for(inputs)
            self.find_needed()
        elif not self.accumulates:
            self.selective = True
        return 0

    cdef int count_dependencies(self) except -1:
        """Visit all nodes reachable from the roots, and count the edges into each node."""
        cdef Py_ssize_t k = 0
        cdef Node node, target
        cdef int i
        while k < self.n_visited:
            node = <Node> self.visited[k]
            k += 1
            if k % SIGNAL_INTERVAL == 0:
                PyErr_CheckSignals()
            for i in range(node.n_edges):
                target = target_of(node, i)
                if target is not None:
                    self.claim(target).dependencies += 1
        return 0

    cdef int ask_for(self, tuple inputs) except -1:
        """Mark the inputs whose gradients are requested."""
        cdef Node node
        cdef Scratch *scratch
        cdef int position
        self.selective = True
        self.results = [None] * len(inputs)
        for position in range(len(inputs)):
            node = target_node(inputs[position])
            if not self.reaches(node):
                continue
            scratch = notes_of(self, node)
            if self.accumulates:
                scratch.needed = True
            else:
                scratch.captured = True
                self.captures.setdefault(node, []).append((target_number(inputs[position]), position))
        return 0

    cdef int find_needed(self) except -1:
        """Mark the nodes that lead to requested inputs, targets first, in reversed topological order."""
        cdef Py_ssize_t k, n = 0
        cdef list order = []
        cdef Node node, target
        cdef Scratch *scratch
        cdef int i
        for k in range(self.n_visited):
            node = <Node> self.visited[k]
            scratch = notes_of(self, node)
            scratch.waiting = scratch.dependencies
        for node in self.roots:
            scratch = notes_of(self, node)
            scratch.waiting -= 1            # the edge of the seed
            if scratch.waiting == 0:
                order.append(node)
        while n < len(order):
            node = <Node> order[n]
            n += 1
            for i in range(node.n_edges):
                target = target_of(node, i)
                if target is not None:
                    scratch = notes_of(self, target)
                    scratch.waiting -= 1
                    if scratch.waiting == 0:
                        order.append(target)
        for node in reversed(order):
            scratch = notes_of(self, node)
            for i in range(node.n_edges):
                if scratch.needed:
                    break
                target = target_of(node, i)
                if target is not None and leads_on(self, target):
                    scratch.needed = True
        return 0


cdef GraphTask current_task():
    """The innermost task that runs in this thread, or None."""
    cdef void *task = thread_state().graph_task
    return None if task == NULL else <GraphTask> task


cdef GraphTask new_task(GraphTask outer):
    """A task inside `outer`, which may be None."""
    cdef GraphTask task = GraphTask.__new__(GraphTask)
    task.id = add_long_long(&tasks, 1) - 1
    task.depth = 0 if outer is None else outer.depth + 1
    task.outer, task.outer_node = outer, thread_state().node
    return task


cdef int count_running(int change) except -1:
    """Count a task that begins (1) or ends (-1) its walk."""
    if add_int(&n_running, change) == 0 and load_int(&n_kept):
        give_up_kept()
    return 0


cdef int give_up_kept() except -1:
    """Release the kept nodes, unless a task has begun meanwhile."""
    global kept
    cdef Hold section
    cdef list given_up = []         # released after the lock, since nodes die then
    hold(&section, <PyObject *> keeping)
    if load_int(&n_running) == 0:
        given_up, kept = kept, given_up
        store_int(&n_kept, 0)
    let_go(&section)
    return 0


cdef int keep_for_running(tuple objects) except -1:
    """Keep nodes that are cut from a graph alive while tasks run that may have visited them."""
    cdef Hold section
    hold(&section, <PyObject *> keeping)
    try:
        if load_int(&n_running):
            kept.append(objects)
            store_int(&n_kept, len(kept))
    finally:
        let_go(&section)
    return 0


cdef tuple finished(GraphTask task, bint allow_unreachable):
    """The captured gradients as Tensors."""
    cdef int position
    for position in range(len(task.results)):
        g = task.results[position]
        if g is None and not allow_unreachable:
            raise RuntimeError(f"The differentiated Tensor at index {position} appears to not have been used in the graph. "
                               "Set allow_unused=True if this is the desired behavior.")
        task.results[position] = as_seen(task, g)
    return tuple(task.results)


cdef object as_seen(GraphTask task, object g):
    """A gradient as hooks, Functions and users get it: a Tensor."""
    if not isinstance(g, cnp.ndarray):
        return g
    if task.level is None:
        return new_tensor(<cnp.ndarray> g)
    return batched(new_tensor(<cnp.ndarray> g), task.level)
