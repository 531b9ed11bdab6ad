"""The cost of nodes, and which walks are faster with several threads."""

from autograd_cy._core.engine.graph_task cimport GraphTask
from autograd_cy._core.graph.node cimport Node

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

cdef double now() noexcept nogil
cdef double thread_time() noexcept nogil
cdef Cost *cost_of(GraphTask task, Node node) noexcept
cdef bint is_long(Cost *cost, Node node) noexcept
cdef bint is_timed(Cost *cost, long n) noexcept
cdef int note_time(Cost *cost, double nanoseconds) noexcept
cdef int note_bound(Cost *cost, double nanoseconds) noexcept
cdef Record *record_of(GraphTask task) noexcept
cdef bint is_short(Record *record) noexcept
cdef void note_length(Record *record, bint short) noexcept
cdef bint gains(Record *record) noexcept
cdef int note_walk(Record *record, bint together, double nanoseconds, double processor) noexcept
