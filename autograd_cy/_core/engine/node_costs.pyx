"""How long nodes take, and which walks gain by several threads: case 6 of NOTE [Parallel walk] in parallel_walk.pyx."""

from cpython.object cimport PyObject

from autograd_cy._core.engine.graph_task cimport GraphTask, notes_of
from autograd_cy._core.graph.node cimport AccumulateGrad, Node, Scratch, existing_hooks, has_hooks
from autograd_cy._core.runtime cimport numpy_api as cnp

cnp.import_array()

cdef extern from *:
    """
    #include <time.h>
    #if defined(CLOCK_MONOTONIC) && !defined(_WIN32)
    static double autograd_cy_clock(clockid_t clock) {
        struct timespec t;
        clock_gettime(clock, &t);
        return 1e9 * t.tv_sec + t.tv_nsec;
    }
    #define autograd_cy_now() autograd_cy_clock(CLOCK_MONOTONIC)
    #define autograd_cy_thread_time() autograd_cy_clock(CLOCK_THREAD_CPUTIME_ID)
    #else
    #define autograd_cy_now() (1e9 * clock() / CLOCKS_PER_SEC)
    #define autograd_cy_thread_time() 0.0
    #endif
    """
    double autograd_cy_now() noexcept nogil
    double autograd_cy_thread_time() noexcept nogil

cdef extern from "Python.h":
    void *Py_TYPE(PyObject *) noexcept

cdef enum:
    KINDS = 1024
    RECORDS = 256
    HOOKED = 64
    LONG = 20_000                   # nanoseconds that are worth another thread
    RETRIED = 16                    # one walk of so many goes the way that was slower

cdef Cost[KINDS] costs
cdef Record[RECORDS] records


cdef double now() noexcept nogil:
    return autograd_cy_now()


cdef double thread_time() noexcept nogil:
    return autograd_cy_thread_time()


cdef Cost *cost_of(GraphTask task, Node node) noexcept:
    """What is known about nodes of this class with gradients of about this size."""
    cdef Scratch *scratch = notes_of(task, node)
    cdef object g
    cdef Py_ssize_t bytes = 0
    cdef int size = 0
    cdef void *node_class = Py_TYPE(<PyObject *> node)
    cdef Cost *cost
    if scratch.buffer != NULL:
        g = <object> scratch.buffer
        if type(g) is cnp.ndarray:
            bytes = cnp.PyArray_NBYTES(<cnp.ndarray> g)
    while bytes:
        bytes >>= 1
        size += 1
    if has_hooks(node) and existing_hooks(node) is not None:
        size += HOOKED
    cost = &costs[((<size_t> node_class >> 4) * 31 + <size_t> size * 17) % KINDS]
    if cost.node_class != node_class or cost.size != size:
        cost[0] = Cost(node_class, size, 0, 0.0)
    return cost


cdef bint is_long(Cost *cost, Node node) noexcept:
    """Whether such a node is worth another thread: it took long before, or it calls a user's code, of which nothing is known.

    A leaf's gradient is added with the GIL held: nobody gains by that.
    """
    if type(node) is AccumulateGrad and cost.size < HOOKED:
        return False
    return cost.nanoseconds >= LONG if cost.seen else node.joint != 0 or cost.size >= HOOKED


cdef int note_time(Cost *cost, double nanoseconds) noexcept:
    cost.nanoseconds += (nanoseconds - cost.nanoseconds) / (4 if cost.seen >= 4 else cost.seen + 1)
    cost.seen += 1
    if cost.seen == SAMPLED:
        cost.seen = SURE
    return 0


cdef int note_bound(Cost *cost, double nanoseconds) noexcept:
    """A node took so long at most: its thread may have waited for others."""
    if cost.seen == 0 or nanoseconds < cost.nanoseconds:
        note_time(cost, nanoseconds)
    return 0


cdef Record *record_of(GraphTask task) noexcept:
    """What is known about walks of graphs like this one."""
    cdef void *root_class = Py_TYPE(<PyObject *> <Node> task.roots[0])
    cdef Record *record = &records[((<size_t> root_class >> 4) + <size_t> task.n_visited * 31) % RECORDS]
    if record.root_class != root_class or record.nodes != task.n_visited:
        record[0] = Record(root_class, task.n_visited, 0, 0, 0, 0, 0.0, 0.0)
    return record


cdef bint is_short(Record *record) noexcept:
    """Whether no long node is to be expected: there was none lately. Now and then that is not believed."""
    if record.short_walks < SURE:
        return False
    record.looks += 1
    return record.looks % RETRIED != 0


cdef bint gains(Record *record) noexcept:
    """Whether the next such walk is to be one of several threads."""
    if not record.doubtful:
        return True
    record.walks += 1
    if record.alone == 0:
        return False
    return (record.together < 1.1 * record.alone) == (record.walks % RETRIED != 0)


cdef int note_walk(Record *record, bint together, double nanoseconds, double processor) noexcept:
    """A walk took so long; together: of several threads, which took so much processor time."""
    if not together:
        record.alone += (nanoseconds - record.alone) / (4 if record.alone else 1)
        return 0
    record.together += (nanoseconds - record.together) / (4 if record.together else 1)
    # about as much processor time as time: one thread worked at a time, as where all hold the GIL
    record.doubtful = 0.75 * nanoseconds < processor < 1.15 * nanoseconds
    return 0
