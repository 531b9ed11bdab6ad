"""Settings that belong to a context (`contextvars`), and a mode bit of the thread that says that there may be one.

Each thread and each asyncio task has its own, and a task starts with those of the context in which it was made. The bit
stays as long as a Level of the thread lives, also in the copy of a context that a task holds: who sees the bit looks into
the context, and without it nobody does.
"""

from _thread import _local as ThreadLocal         # `threading` is imported by those who start threads

cimport cython

from autograd_cy._core.runtime.state cimport SAVED_HOOKS, thread_state

cdef object local = ThreadLocal()


@cython.final
cdef class ThreadLevels:
    pass


@cython.final
@cython.no_gc_clear
cdef class Level:
    def __dealloc__(self):
        if self.bit == SAVED_HOOKS:
            self.thread.hooks -= 1
        elif self.bit:
            self.thread.guards -= 1


cdef ThreadLevels levels_of_thread():
    cdef object found = getattr(local, "levels", None)
    if found is None:
        found = local.levels = ThreadLevels.__new__(ThreadLevels)
    return <ThreadLevels> found


cdef int push_level(object variable, object value, int bit) except -1:
    """Put a value on top of those that the variable has in this context, and set the mode."""
    cdef ThreadLevels thread = levels_of_thread()
    cdef Level level = Level.__new__(Level)
    level.value, level.outer, level.thread = value, variable.get(), thread
    try:
        variable.set(level)
    except MemoryError:         # it may be set all the same, for want of a token
        level.ended = True
        raise
    level.bit = bit
    if bit == SAVED_HOOKS:
        thread.hooks += 1
    else:
        thread.guards += 1
    thread_state().mode |= bit
    return 0


cdef int pop_level(object variable) except -1:
    """Take the value on top off; the mode ends with the last Level."""
    cdef ThreadLevels thread = levels_of_thread()
    cdef Level level = top_level(variable)
    cdef int bit
    if level is None:
        raise RuntimeError(f"{variable.name}: the end of a block that was not entered, or was left already")
    bit = level.bit
    try:
        variable.set(level.outer)
    except MemoryError:         # it may be set all the same; else it stays where it is, and nobody minds it
        if variable.get() is level:
            level.ended = True
    level = None
    if (thread.hooks if bit == SAVED_HOOKS else thread.guards) == 0:
        thread_state().mode &= ~bit
    return 0


cdef int return_to_level(object variable, Level level, int bit) except -1:
    """Put a Level that was on top there again, whatever came or went since."""
    cdef ThreadLevels thread = levels_of_thread()
    variable.set(level)
    if thread.hooks if bit == SAVED_HOOKS else thread.guards:
        thread_state().mode |= bit
    else:
        thread_state().mode &= ~bit
    return 0


cdef Level top_level(object variable):
    cdef Level level = <Level> variable.get()
    return around(level) if level is not None and level.ended else level


cdef Level around(Level level):
    """The next one outwards, or None."""
    level = level.outer
    while level is not None and level.ended:
        level = level.outer
    return level
