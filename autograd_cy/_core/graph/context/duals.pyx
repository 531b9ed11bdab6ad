"""The open dual levels, and a tensor's tangents at each.

NOTE [Dual levels]
  1. Levels nest: in jvp(jvp(f)) the level that was opened last is the innermost. A tensor may have a tangent at each; the
     tangent at an inner level is a tensor that may have tangents at the outer ones. A tangent is thus the coefficient of one
     epsilon, and its tangents are coefficients of the others, so levels are never confused.
  2. An operation computes its result's tangents from the outermost level inwards. During one level it sees only
     the outer levels (`see_up_to`): the rule's own operations propagate those tangents, without infinite recursion.
  3. A closed level never comes back: its number is not reused, and lookups skip its tangents. Levels belong to the thread
     that opened them; in other threads they count as closed.
  4. The tangent passed to make_dual() stays the user's: an in-place operation on the dual tensor, or on a view of it, writes
     into it (`write_given`) unless it takes part in a graph. So no other tensor may use that memory for its tangent: a second
     dual and results of operations get a copy (`dual_of`, `of_its_own`).
  5. A tangent has no tangent at its own level, and neither has its gradient: primals that the operations of a rule save lose
     theirs (primals.pyx). PyTorch keeps some of them, so some such gradients have tangents there and some don't.
"""

cimport cython
from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc

from autograd_cy._core.runtime.free_threading cimport add_long_long
from autograd_cy._core.runtime.state cimport FORWARD_AD, INFERENCE, NO_FORWARD, ThreadState, own_modes, thread_state

cdef enum:
    MOST_LEVELS = 64                # the bits of `hidden`

cdef struct Levels:                 # the open levels of a thread; allocated while there are any
    int depth
    bint zero_norms                 # case 3 of NOTE [Norms of 0]
    long long numbers[MOST_LEVELS]  # outermost first

cdef long long levels_opened = 0    # in all threads


@cython.final
@cython.freelist(64)
cdef class Tangent:
    pass


def open_dual_level():
    """Open a dual level, which propagates tangents from now on. Returns its serial number."""
    cdef ThreadState *state = thread_state()
    cdef Levels *levels = <Levels *> state.dual_levels
    cdef long long number = add_long_long(&levels_opened, 1)
    cdef object opened = number             # allocated before the level opens
    if levels == NULL:
        levels = new_levels()
    elif levels.depth == MOST_LEVELS:
        raise RecursionError(f"more than {MOST_LEVELS} dual levels within each other")
    state.dual_levels = <void *> levels
    levels.numbers[levels.depth] = number
    state.hidden_levels &= ~((<unsigned long long> 1) << levels.depth)
    levels.depth += 1
    if own_modes() & (INFERENCE | NO_FORWARD):
        state.hidden |= FORWARD_AD
    else:
        state.mode |= FORWARD_AD
    return opened


cdef Levels *new_levels() except NULL:
    cdef Levels *levels = <Levels *> PyMem_RawMalloc(sizeof(Levels))
    if levels == NULL:
        raise MemoryError()
    levels.depth = 0
    levels.zero_norms = False
    return levels


cdef void note_zero_norm() noexcept:
    """Note that a norm is 0 while dual levels are open."""
    cdef ThreadState *state = thread_state()
    if state.dual_levels != NULL:
        (<Levels *> state.dual_levels).zero_norms = True


cdef bint any_zero_norm() noexcept:
    cdef ThreadState *state = thread_state()
    return state.dual_levels != NULL and (<Levels *> state.dual_levels).zero_norms


cdef inline int depth_of(ThreadState *state) noexcept:
    return 0 if state.dual_levels == NULL else (<Levels *> state.dual_levels).depth


cdef inline long long number_of(ThreadState *state, int k) noexcept:
    return (<Levels *> state.dual_levels).numbers[k]


def close_dual_level():
    """Close the innermost dual level and forget its tangents."""
    cdef ThreadState *state = thread_state()
    cdef Levels *levels = <Levels *> state.dual_levels
    if levels == NULL:
        raise RuntimeError("Dual level must be a positive number: exit_dual_level() without enter_dual_level()")
    levels.depth -= 1
    if levels.depth == 0:
        state.dual_levels = NULL
        PyMem_RawFree(levels)
    if not dual_level():
        state.mode &= ~FORWARD_AD
        state.hidden &= ~FORWARD_AD


def enter_level(_manager):
    """`__enter__` of dual_level. Compiled, because a Python frame may need memory that isn't there."""
    open_dual_level()
    return 0


def leave_level(_manager, error_type, error, traceback):
    """`__exit__` of dual_level."""
    close_dual_level()


def dual_depth():
    """dual_depth() -> int: the number of dual levels that are open in this thread."""
    return depth_of(thread_state())


cdef DualLevels visible_levels() noexcept:
    cdef ThreadState *state = thread_state()
    return DualLevels(state.hidden_levels, depth_of(state), state.mode & FORWARD_AD)


cdef bint is_visible(DualLevels levels, int k) noexcept:
    """Whether the thread sees the k-th of the levels."""
    return not levels.hidden >> k & 1


cdef void see_up_to(DualLevels levels, int n) noexcept:
    """Let the thread see only the n outermost of the levels that it saw."""
    cdef ThreadState *state = thread_state()
    cdef unsigned long long others = 0 if n == MOST_LEVELS else ~(<unsigned long long> 0) << n
    state.hidden_levels = levels.hidden | others
    state.mode &= ~FORWARD_AD
    if dual_level():
        state.mode |= levels.mode


cdef void see_again(DualLevels levels) noexcept:
    """Undo see_up_to()."""
    cdef ThreadState *state = thread_state()
    state.hidden_levels = levels.hidden
    state.mode = state.mode & ~FORWARD_AD | levels.mode


cdef long long dual_level() noexcept:
    """The number of the innermost level that the thread sees; 0 if there is none."""
    cdef ThreadState *state = thread_state()
    cdef int k = depth_of(state) - 1
    while k >= 0:
        if not state.hidden_levels >> k & 1:
            return number_of(state, k)
        k -= 1
    return 0


cdef bint is_visible_number(long long level) noexcept:
    """Whether the thread sees the level with that number."""
    cdef ThreadState *state = thread_state()
    cdef int k
    for k in range(depth_of(state)):
        if number_of(state, k) == level:
            return not state.hidden_levels >> k & 1
    return False


cdef Tangent entry_in(Tangent tangents, long long level):
    """The entry of a level among the tangents, or None."""
    while tangents is not None and tangents.level > level:
        tangents = tangents.outer
    return tangents if tangents is not None and tangents.level == level else None


cdef object tangent_in(Tangent tangents, long long level):
    """The tangent at a level, or None."""
    cdef Tangent entry = entry_in(tangents, level)
    return None if entry is None else entry.value


cdef Tangent with_tangent(Tangent tangents, long long level, object value, bint given=False):
    """The tangents with `value` at that level (None: none there); closed levels are left out."""
    if tangents is not None and tangents.level > level:
        return one_more(with_tangent(tangents.outer, level, value, given), tangents.level, tangents.value, tangents.given)
    while tangents is not None and (tangents.level == level or not is_open(tangents.level)):
        tangents = tangents.outer
    return tangents if value is None else one_more(tangents, level, value, given)


cdef Tangent one_more(Tangent outer, long long level, object value, bint given):
    cdef Tangent result
    if not is_open(level):
        return outer
    result = Tangent.__new__(Tangent)
    result.outer, result.level, result.value, result.given = outer, level, value, given
    return result


cdef bint is_open(long long level) noexcept:
    cdef ThreadState *state = thread_state()
    cdef int k
    for k in range(depth_of(state)):
        if number_of(state, k) == level:
            return True
    return False
