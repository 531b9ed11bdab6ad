"""The cost of nodes, and which walks are faster with several threads: case 6 of NOTE [Parallel walk] in parallel_walk.pyx."""

from cpython.object cimport PyObject

from autograd_cy._core.engine.engine cimport GraphTask, notes_of
from autograd_cy._core.graph.node cimport AccumulateGrad, Node, Scratch, existing_hooks, has_hooks
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.free_threading cimport Spin, spin, unspin

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
    LONG = 20_000                   # nanoseconds from which another thread pays
    SURE = 4                        # minimum number of timings of a kind of node ...
    SAMPLED = 64                    # ... then one in this many nodes is timed
    RETRIED = 16                    # one in this many walks takes the slower way

cdef extern from "fork_lock.h":
    Spin lock "autograd_cy_lock"    # protects the tables, which all threads share, where there is no GIL
    void watch_forks "autograd_cy_watch_forks"()

watch_forks()

cdef Cost[KINDS] costs
cdef Record[RECORDS] records


cdef double now() noexcept nogil:
    return autograd_cy_now()


cdef double thread_time() noexcept nogil:
    return autograd_cy_thread_time()


cdef Cost *cost_of(GraphTask task, Node node) noexcept:
    """The entry for nodes of this class with gradients of about this size."""
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
    spin(&lock)
    if cost.node_class != node_class or cost.size != size:
        cost[0] = Cost(node_class, size, 0, 0.0)
    unspin(&lock)
    return cost


cdef bint is_long(Cost *cost, Node node) noexcept:
    """Whether such a node is worth another thread: it took long before, or it runs user code that was never timed.

    A leaf's gradient is added with the GIL held, so another thread would not help.
    """
    cdef Cost known = state_of(cost)
    if type(node) is AccumulateGrad and known.size < HOOKED:
        return False
    return known.nanoseconds >= LONG if known.seen else node.joint != 0 or known.size >= HOOKED


cdef Cost state_of(Cost *cost) noexcept:
    cdef Cost known
    spin(&lock)
    known = cost[0]
    unspin(&lock)
    return known


cdef bint is_timed(Cost *cost, long n) noexcept:
    """Whether to time the walk's node number `n`."""
    return n % SAMPLED == 0 or state_of(cost).seen < SURE


cdef int note_time(Cost *cost, double nanoseconds) noexcept:
    spin(&lock)
    cost.nanoseconds += (nanoseconds - cost.nanoseconds) / (4 if cost.seen >= 4 else cost.seen + 1)
    cost.seen += 1
    if cost.seen == SAMPLED:
        cost.seen = SURE
    unspin(&lock)
    return 0


cdef int note_bound(Cost *cost, double nanoseconds) noexcept:
    """Note an upper bound of a node's time: its thread may have waited for others."""
    cdef Cost known = state_of(cost)
    if known.seen == 0 or nanoseconds < known.nanoseconds:
        note_time(cost, nanoseconds)
    return 0


cdef Record *record_of(GraphTask task) noexcept:
    """The entry for walks of graphs like this one."""
    cdef void *root_class = Py_TYPE(<PyObject *> <Node> task.roots[0])
    cdef Record *record = &records[((<size_t> root_class >> 4) + <size_t> task.n_visited * 31) % RECORDS]
    spin(&lock)
    if record.root_class != root_class or record.nodes != task.n_visited:
        record[0] = Record(root_class, task.n_visited, 0, 0, 0, 0, 0.0, 0.0)
    unspin(&lock)
    return record


cdef bint is_short(Record *record) noexcept:
    """Whether no long node is expected, because recent walks had none. Some walks check again."""
    cdef bint short = False
    spin(&lock)
    if record.short_walks >= SURE:
        record.looks += 1
        short = record.looks % RETRIED != 0
    unspin(&lock)
    return short


cdef void note_length(Record *record, bint short) noexcept:
    """Note that a walk had no long node (`short`), or is about to run one."""
    spin(&lock)
    record.short_walks = record.short_walks + 1 if short else 0
    unspin(&lock)


cdef bint gains(Record *record) noexcept:
    """Whether the next such walk should use several threads."""
    cdef bint gains = True
    spin(&lock)
    if record.doubtful:
        record.walks += 1
        gains = record.alone != 0 and (record.together < 1.1 * record.alone) == (record.walks % RETRIED != 0)
    unspin(&lock)
    return gains


cdef int note_walk(Record *record, bint together, double nanoseconds, double processor) noexcept:
    """Note the time of a walk and, if it used several threads (`together`), its processor time."""
    spin(&lock)
    if not together:
        record.alone += (nanoseconds - record.alone) / (4 if record.alone else 1)
    else:
        record.together += (nanoseconds - record.together) / (4 if record.together else 1)
        # processor time close to elapsed time: one thread worked at a time, as when all need the GIL
        record.doubtful = 0.75 * nanoseconds < processor < 1.15 * nanoseconds
    unspin(&lock)
    return 0
