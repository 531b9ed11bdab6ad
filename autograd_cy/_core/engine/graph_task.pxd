"""GraphTask: one call of backward() or grad()."""

from cpython.object cimport PyObject

from autograd_cy._core.batching.levels cimport BatchLevel
from autograd_cy._core.engine.ready_queue cimport ReadyQueue
from autograd_cy._core.graph.node cimport Node, Scratch
from autograd_cy._core.runtime.free_threading cimport peek_pointer, store_pointer

cdef enum:
    SIGNAL_INTERVAL = 4096          # nodes between two looks at pending signals


cdef enum Watch:
    SEEN = 1                        # somebody sees each node run: a hook on all operations, or the logger
    DETECTING = 2                   # a gradient that is NaN is an error
    KEEPING = 4                     # zeros stay, NOTE [Zeros that stay]


cdef class SideScratch:
    cdef Scratch scratch


cdef class GraphTask:
    cdef bint keep_graph
    cdef bint frees                 # what a node saved is given up when it has run, by run_node
    cdef bint recorded              # gradients are Tensors and may be recorded
    cdef bint mixed                 # gradients start as arrays and may become BatchedTensors: case 8 of NOTE [Batching]
    cdef BatchLevel level           # gradients are arrays whose first dimension is its samples; None: there are no samples
    cdef bint selective             # only what leads to the inputs asked for
    cdef int number                 # of this backward, if it frees the graph: see freed.pyx
    cdef bint accumulates           # leaves get their .grad; else all that was asked for is captured
    cdef int watched                # who looks at each gradient or sees each node run: a Watch or several; 0: nobody
    cdef bint whole                 # neither this task nor one around it is selective: checkpoints are valid
    cdef int depth                  # how many tasks there are around this one
    cdef long long id
    cdef list roots                 # the nodes that hold the graph
    cdef dict captures              # Node -> [(output number, position in results), ...]
    cdef list results
    cdef dict notes                 # what hooks remember until the task ends, or None
    cdef list held                  # of an atomic task: what came to the leaves, see leaf_updates.pyx; else None
    cdef list callbacks             # to be called when the last node has run, or None
    cdef dict side                  # Node -> SideScratch, for nodes that another task has claimed
    cdef PyObject **visited         # borrowed
    cdef Py_ssize_t n_visited, visited_size
    cdef Py_ssize_t n_claimed       # of those visited
    cdef ReadyQueue ready
    cdef readonly Node node         # the one that runs, or (of several threads) that failed
    cdef object walk                # the Walk of several threads, or None
    cdef GraphTask outer            # the task around this one, and its node that called backward (borrowed)
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
    """The notes of a task on a node that it has claimed, see NOTE [Scratch]."""
    if peek_pointer(&node.scratch.task) == <void *> task:
        return &node.scratch
    return &(<SideScratch> task.side[node]).scratch

cdef inline void end_claim(Scratch *scratch) noexcept:
    """Let the notes in a node, whose buffer was taken out, belong to nobody."""
    scratch.dependencies = scratch.waiting = 0
    scratch.needed = scratch.captured = False
    scratch.buffer = NULL
    store_pointer(&scratch.task, NULL)

cdef inline bint leads_on(GraphTask task, Node node) except -1:
    """Whether a gradient for this node is of any use.

    Without inputs asked for, always. Else if a gradient asked for arrives here (captured) or depends on it (needed).
    """
    cdef Scratch *scratch
    if not task.selective:
        return True
    scratch = notes_of(task, node)
    return scratch.needed or scratch.captured
