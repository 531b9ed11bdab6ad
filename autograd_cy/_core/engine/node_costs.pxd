"""How long nodes take, and which walks gain by several threads."""

from autograd_cy._core.engine.graph_task cimport GraphTask
from autograd_cy._core.graph.node cimport Node

cdef struct Cost:
    void *node_class
    int size                        # the bits of the incoming gradient's number of bytes; more if hooks see the node
    int seen                        # how often it was timed
    double nanoseconds              # a running mean

cdef struct Record:
    void *root_class
    Py_ssize_t nodes
    int doubtful                    # several threads took the time of one
    unsigned walks                  # since that
    unsigned short_walks            # in a row that came to no long node
    unsigned looks                  # walks since they are believed to be short
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
