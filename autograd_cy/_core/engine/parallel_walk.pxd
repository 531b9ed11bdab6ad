"""A backward by several threads."""

from cpython.object cimport PyObject

from autograd_cy._core.engine.engine cimport GraphTask
from autograd_cy._core.engine.ready_queue cimport ReadyQueue
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.runtime.state cimport ThreadState

# in engine_pool.pyx

cdef class Job:
    cdef int depth                  # the number of tasks around it
    cdef int coming                 # threads that were called but have not started

    cdef bint wants_help(self) noexcept
    cdef int help(self) except -1

# in node_costs.pyx

cdef struct Cost:
    void *node_class
    int size                        # bit length of the incoming gradient's number of bytes; more for nodes with hooks
    int seen                        # number of times it was timed
    double nanoseconds              # a running mean

cdef struct Record:
    void *root_class
    Py_ssize_t nodes
    int doubtful                    # several threads used only one thread's processor time
    unsigned walks                  # number of walks while it is doubtful
    unsigned short_walks            # consecutive walks without a long node
    unsigned looks                  # walks while they are expected to be short
    double alone, together          # nanoseconds

# in walk_plan.pyx

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

# in crew.pyx
cdef inline unsigned long long key_of(Py_ssize_t rank) noexcept:
    """The heap's key of a rank: the heap gives the largest key first."""
    return ~<unsigned long long> rank


cdef inline Py_ssize_t lowest_rank(GraphTask task) noexcept:
    """The rank of the next ready node."""
    return <Py_ssize_t> ~task.ready.items[0].sequence_number


cdef class Turn:
    """A node that waits until all nodes before it have run."""
    cdef Py_ssize_t rank
    cdef object lock
    cdef bint has_come


cdef class Crew(Job):
    cdef GraphTask task
    cdef Plan plan
    cdef ThreadState state          # a worker's initial state
    cdef object context
    cdef int most                   # maximum number of threads
    cdef int inside                 # number of threads that take part now
    cdef int running                # number of running nodes
    cdef int blocked                # number of these that wait for their turn
    cdef Py_ssize_t limit           # nodes of this rank and above don't start
    cdef object error
    cdef Node failed
    cdef dict ranks                 # of the running nodes
    cdef list turns                 # the Turns of waiting nodes
    cdef object lock                # the caller sleeps on it
    cdef bint asleep
    cdef double processor           # time of all threads, in nanoseconds
    cdef object pace                # the function from `set_pace` when the walk began

    cdef bint wants_help(self) noexcept
    cdef bint has_work(self) noexcept
    cdef int help(self) except -1
    cdef bint enter(self, ThreadState *state) noexcept
    cdef void leave(self, unsigned long long sequence_nr, double processor) noexcept
    cdef int run_ready(self, ThreadState *state, bint is_caller) except -1
    cdef Node begin_next(self, Py_ssize_t *rank)
    cdef int end(self, Node node, Py_ssize_t rank) except -1
    cdef int run_alone(self, Node node, Place *place) except -1
    cdef int evaluate(self, Node node, Place *place) except -1
    cdef int start(self, Node node, Py_ssize_t rank, bint last) except -1
    cdef int call_help(self) except -1
    cdef int wake_caller(self) except -1
    cdef int settle(self) except -1
    cdef int call_turn(self, Turn turn) except -1
    cdef int wait_for_turn(self, Py_ssize_t rank) except -1
    cdef int await_turn(self, Py_ssize_t rank) except -1
    cdef int note_error(self, error, Node node, Py_ssize_t rank) except -1
    cdef int lead(self, ThreadState *state) except -1
    cdef int call_all(self) except -1
    cdef bint is_over(self) except -1
    cdef int sleep(self) except -1
