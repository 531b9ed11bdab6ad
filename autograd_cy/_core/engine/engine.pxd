"""The engine: counting edges, the walk, input buffers, gradients of leaves."""

from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject

from autograd_cy._core.batching.batched cimport BatchLevel
from autograd_cy._core.engine.ready_queue cimport ReadyQueue, pop
from autograd_cy._core.graph.context cimport put_hooks_back
from autograd_cy._core.graph.node cimport Node, Scratch, TaskRoots, target_of
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime.free_threading cimport peek_pointer, store_pointer
from autograd_cy._core.runtime.state cimport ThreadState

# in backward_arguments.pyx
cdef int check_inputs(object inputs, bint retained=*) except -1

# in graph_task.pyx

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

# in input_buffer.pyx
cdef int add_gradient(Scratch *scratch, Node node, int output, object g, bint recorded) except -1
cdef int accumulate(Tensor leaf, object g, bint recorded) except -1

# in leaf_updates.pyx
cdef int update_leaf(GraphTask task, Node node, object g, bint seen) except -1

# in propagation.pyx
cdef object gradient_for(GraphTask task, Node node, int i, object g, bint last, Node target)
cdef object as_array(GraphTask task, object x)


cdef inline Node find_wanted(GraphTask task, Node node, int *i):
    """The target of the first wanted edge from `i` on, which sets `i` to that edge; None if there is none."""
    cdef Node target
    while i[0] < node.n_edges:
        target = target_of(node, i[0])
        if target is not None and leads_on(task, target):
            return target
        i[0] += 1
    return None

# in watched.pyx
cdef bint is_seen(GraphTask task, Node node) except -1
cdef object searched_gradient(GraphTask task, Node node, object g, int i)
cdef tuple gradients_together(GraphTask task, Node node, PyObject *incoming)

# in walk.pyx
cdef int run(GraphTask task) except -1
cdef int run_node(GraphTask task, Node node) except -1
cdef object taken_out(GraphTask task, Node node, bint *needed, bint *watched)


cdef inline int take_latest(GraphTask task, ThreadState *state, Py_ssize_t *n) except -1:
    """Take the node that was recorded last; sometimes check for signals."""
    n[0] += 1
    if n[0] % SIGNAL_INTERVAL == 0:
        PyErr_CheckSignals()
    task.node = <Node> pop(&task.ready)
    state.node = <void *> task.node
    return 0


cdef inline int close_node(ThreadState *state) except -1:
    """Restore the saved-tensor hooks that the node changed."""
    cdef void *changed
    if state.hooks_before != NULL:
        changed, state.hooks_before = state.hooks_before, NULL
        put_hooks_back(changed)
    return 0


cdef inline int give_up_saved(GraphTask task, Node node) except -1:
    """Release the saved tensors of a node that has run."""
    node.release_saved()
    node.freed_by = task.number
    return 0

# in engine.pyx
ctypedef int (*Run)(GraphTask task) except -1
cdef Run run_in_parallel        # sharing.pyx sets it while several threads are enabled; else NULL

# in quotients.pyx
cdef object limit_of_quotient(Node node, object g, object y)
