"""Whether several threads walk a backward: case 6 of NOTE [Parallel walk], and the settings of users."""

from contextvars import ContextVar

from cpython.object cimport PyObject

cimport autograd_cy._core.engine.engine as engine
from autograd_cy._core.engine.engine cimport SEEN, GraphTask, close_node, run, run_node, take_latest
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.runtime.free_threading cimport (
    Hold, add_int, hold, let_go, load_int, peek_int, store_int, store_pointer)
from autograd_cy._core.runtime.state cimport (
    BATCHED, FORWARD_AD, ONE_THREAD, OP_HOOKS, ThreadState, current_mode, own_modes, thread_state)

engine.run_in_parallel = NULL

cdef int usual_threads = 1          # set_num_interop_threads
cdef int n_extents = 0              # number of entered parallel_backward blocks, in all contexts
cdef object threads_here = ContextVar("autograd_cy parallel_backward", default=0)


cdef int run_or_share(GraphTask task) except -1:
    """`engine.run`, which switches to several threads when that pays: case 6 of NOTE [Parallel walk]."""
    cdef int most = engine_threads() if load_int(&n_extents) else peek_int(&usual_threads)
    cdef ThreadState *state = thread_state()
    cdef Py_ssize_t n = 0
    cdef Node node
    cdef Cost *cost
    cdef bint looks = True
    cdef double start, since = 0.0
    if (most == 1 or own_modes() & ONE_THREAD or task.recorded or task.level is not None or task.watched & SEEN
            or current_mode() & (FORWARD_AD | BATCHED | OP_HOOKS)):
        return run(task)
    if pace_now() is not None:
        return walk_together(task, state, most)
    if is_short(record_of(task)):
        return run(task)
    while task.ready.size:
        if task.ready.size > 1 and looks:
            node = <Node> task.ready.items[0].node
            cost = cost_of(task, node)
            if is_long(cost, node):
                note_length(record_of(task), False)
                if gains(record_of(task)):
                    return walk_together(task, state, most)
                looks = False
                since = now()
            elif is_timed(cost, n):
                start = now()
                take_latest(task, state, &n)
                run_node(task, node)
                close_node(state)
                note_time(cost, now() - start)
                continue
        take_latest(task, state, &n)
        run_node(task, task.node)
        close_node(state)
    task.node = None
    state.node = NULL
    if looks:
        note_length(record_of(task), True)
    else:
        note_walk(record_of(task), False, now() - since, 0.0)
    return 0


cdef int look_for_help() noexcept:
    """Set or clear the engine's hook for several threads, depending on whether any are enabled."""
    cdef Hold section
    cdef bint wanted
    hold(&section, <PyObject *> threads_here)       # the last thread to come here sees all extents
    wanted = peek_int(&usual_threads) > 1 or load_int(&n_extents) > 0
    store_pointer(<void **> &engine.run_in_parallel, <void *> run_or_share if wanted else NULL)
    let_go(&section)
    return 0


def set_engine_threads(int n):
    """set_engine_threads(n): the number of threads of a backward, unless parallel_backward sets another."""
    store_int(&usual_threads, n)
    look_for_help()


def engine_threads():
    """engine_threads() -> int: the number of threads of a backward in this context."""
    return threads_here.get() or peek_int(&usual_threads)


def enter_parallel(int n):
    """enter_parallel(n) -> token: use n threads for a backward in this context, until leave_parallel(token)."""
    token = threads_here.set(n)
    add_int(&n_extents, 1)
    look_for_help()
    return token


def leave_parallel(token):
    """leave_parallel(token): undo enter_parallel."""
    add_int(&n_extents, -1)
    look_for_help()
    threads_here.reset(token)
