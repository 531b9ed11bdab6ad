"""GraphTask: one call of backward() or grad()."""

from cpython.object cimport PyObject

from autograd_cy._core.batching.levels cimport BatchLevel
from autograd_cy._core.engine.ready_queue cimport ReadyQueue
from autograd_cy._core.graph.freed cimport TaskRoots
from autograd_cy._core.graph.node cimport Node, Scratch
from autograd_cy._core.runtime.free_threading cimport peek_pointer, store_pointer

cdef enum:
    SIGNAL_INTERVAL = 4096          # nodes between two checks for pending signals


cdef enum Watch:
    SEEN = 1                        # a hook on all operations or the logger sees each node run
    DETECTING = 2                   # a NaN gradient is an error
    KEEPING = 4                     # zeros stay, NOTE [Zeros that stay]


cdef class SideScratch:
    cdef Scratch scratch


cdef class GraphTask(TaskRoots):
    cdef bint keep_graph
    cdef bint frees                 # run_node releases a node's saved tensors after the node has run
    cdef bint recorded              # gradients are Tensors and may be recorded
    cdef bint mixed                 # gradients start as arrays and may become BatchedTensors: case 8 of NOTE [Batching]
    cdef BatchLevel level           # gradients are arrays with a sample dimension of this level; None: without samples
    cdef bint selective             # only nodes that lead to requested inputs run
    cdef int number                 # the number of this backward, if it frees the graph: see freed.pyx
    cdef bint accumulates           # leaves get their .grad; else requested gradients are captured
    cdef int watched                # how gradients or nodes are watched: a bitwise or of Watch
    cdef bint whole                 # neither this task nor one around it is selective: checkpoints are valid
    cdef int depth                  # the number of tasks around this one
    cdef long long id
    cdef dict captures              # Node -> [(output number, position in results), ...]
    cdef list results
    cdef dict notes                 # data that hooks keep until the task ends, or None
    cdef list held                  # of an atomic task: updates of the leaves, see leaf_updates.pyx; else None
    cdef list callbacks             # called when the last node has run, or None
    cdef dict side                  # Node -> SideScratch, for nodes claimed by another task
    cdef PyObject **visited         # borrowed
    cdef Py_ssize_t n_visited, visited_size
    cdef Py_ssize_t n_claimed       # number of visited nodes that are claimed
    cdef ReadyQueue ready
    cdef readonly Node node         # the running node, or the one that failed (in a parallel walk)
    cdef object walk                # the Walk of a parallel walk, or None
    cdef GraphTask outer            # the enclosing task, and its node that called backward (borrowed)
    cdef void *outer_node

    cdef Scratch *claim(self, Node node) except NULL
    cdef bint reaches(self, Node node) except -1
    cdef int visit(self, Node node) except -1
    cdef int clear(self) except -1
    cdef int start(self, tuple roots, tuple inputs) except -1
    cdef int count_dependencies(self) except -1
    cdef int ask_for(self, tuple inputs) except -1
    cdef int find_needed(self) except -1


cdef GraphTask current_task()
cdef object as_seen(GraphTask task, object g)
cdef GraphTask new_task(GraphTask outer)
cdef int count_running(int change) except -1
cdef int keep_for_running(tuple objects) except -1
cdef tuple finished(GraphTask task, bint allow_unreachable)

cdef inline Scratch *notes_of(GraphTask task, Node node) except NULL:
    """A task's scratch for a node that it has visited, see NOTE [Scratch]."""
    if peek_pointer(&node.scratch.task) == <void *> task:
        return &node.scratch
    return &(<SideScratch> task.side[node]).scratch

cdef inline void end_claim(Scratch *scratch) noexcept:
    """Release the claim on a node, after its buffer was taken out."""
    scratch.dependencies = scratch.waiting = 0
    scratch.needed = scratch.captured = False
    scratch.buffer = NULL
    store_pointer(&scratch.task, NULL)

cdef inline bint leads_on(GraphTask task, Node node) except -1:
    """Whether a gradient for this node is needed.

    Always, unless inputs were given: then if a requested gradient arrives here (captured) or depends on it (needed).
    """
    cdef Scratch *scratch
    if not task.selective:
        return True
    scratch = notes_of(task, node)
    return scratch.needed or scratch.captured
