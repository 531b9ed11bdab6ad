"""The levels of vmap that are open in a thread: one for each running call of vmap."""

cimport cython
from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.graph.context cimport dual_level
from autograd_cy._core.runtime.free_threading cimport add_long_long
from autograd_cy._core.runtime.state cimport BATCHED, ThreadState, thread_state

cdef long long levels_opened = 0


@cython.final
cdef class BatchLevel:
    """One call of vmap: its batch size and its rule for random operations."""

    def __init__(self):
        raise TypeError("cannot create 'BatchLevel' instances: vmap opens them")


cdef BatchLevel current_level():
    """The innermost level that is open in this thread, or None."""
    cdef ThreadState *state = thread_state()
    return None if state.batch_level == NULL else <BatchLevel> state.batch_level


cdef bint is_open_here(BatchLevel level) noexcept:
    """Whether the level is open in this thread."""
    cdef void *outer = thread_state().batch_level
    while outer != NULL:
        if outer == <void *> level:
            return True
        outer = NULL if (<BatchLevel> outer).outer is None else <void *> (<BatchLevel> outer).outer
    return False


def open_level(Py_ssize_t size, str randomness):
    """open_level(size, randomness) -> BatchLevel: open a level inside the open ones."""
    cdef ThreadState *state = thread_state()
    cdef BatchLevel level = BatchLevel.__new__(BatchLevel)
    level.size, level.randomness, level.outer = size, randomness, current_level()
    level.number = add_long_long(&levels_opened, 1)
    level.is_open = True
    Py_INCREF(level)                    # the reference that the thread's state holds
    state.batch_level = <void *> level
    state.mode |= BATCHED
    return level


def close_level(BatchLevel level):
    """close_level(level): close a level; RuntimeError unless it is the innermost one of this thread."""
    cdef ThreadState *state = thread_state()
    if state.batch_level != <void *> level:
        raise RuntimeError("vmap: levels are closed in the thread that opened them, the inner ones first")
    level.is_open = False
    state.batch_level = <void *> level.outer if level.outer is not None else NULL
    if level.outer is None:
        state.mode &= ~BATCHED
    Py_DECREF(level)


cpdef list open_levels():
    """open_levels() -> list: the open levels that are not hidden, the innermost one first."""
    cdef list levels = []
    cdef BatchLevel level = current_level()
    while level is not None:
        if not level.hidden:
            levels.append(level)
        level = level.outer
    return levels


def levels_from(BatchLevel level):
    """levels_from(level) -> list: that level and the levels inside it."""
    return [inner for inner in open_levels() if inner.number >= level.number]


def shared_arguments(list levels):
    """shared_arguments(levels) -> tuple: inputs of running transforms that are not batched at one of the levels.

    Only transforms inside the innermost visible dual level count.
    """
    cdef BatchLevel level
    cdef list found = []
    for level in levels:
        if level.unbatched and 0 < dual_level() <= level.dual:
            found += level.arguments
    return tuple(found)


@cython.final
cdef class DifferentiatedWithin:
    """DifferentiatedWithin(arguments): active while a transform differentiates by tensors not batched at a level.

    arguments: those tensors, for each level. Results computed from them get one gradient per sample where they meet tensors
    that are batched at the level.
    """
    cdef dict arguments

    def __init__(self, dict arguments):
        self.arguments = arguments

    def __enter__(self):
        cdef BatchLevel level
        for level, tensors in self.arguments.items():
            if level.unbatched == 0:
                level.dual, level.arguments = dual_level(), []
            level.unbatched += 1
            level.arguments += tensors

    def __exit__(self, error_type, error, traceback):
        cdef BatchLevel level
        for level, tensors in self.arguments.items():
            level.unbatched -= 1
            del level.arguments[len(level.arguments) - len(tensors):]


@cython.final
cdef class HiddenLevels:
    """HiddenLevels(levels): a context in which these levels count as not open, for code that computes on all samples.

    Otherwise a transform in a batching rule or a backward would treat all samples as one sample.
    """
    cdef list levels

    def __init__(self, list levels):
        self.levels = levels

    def __enter__(self):
        for level in self.levels:
            (<BatchLevel> level).hidden += 1

    def __exit__(self, error_type, error, traceback):
        for level in self.levels:
            (<BatchLevel> level).hidden -= 1
