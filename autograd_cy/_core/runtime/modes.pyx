"""The modes of the current context: a thread's `mode` is a cached copy of them.

NOTE [Modes in contexts]
A mode belongs to the context (`contextvars`) in which it was set: one asyncio task doesn't see what another one set. To ask
a ContextVar for each operation would be too slow, so:
  1. whoever sets a mode puts a Setting into the context, and what follows from it into the thread's `mode`;
  2. as long as any Setting of the thread lives (in a context, or in a copy that a task holds), IN_CONTEXT stays in `mode`. So
     `mode == 0` says that no mode is set in any context of this thread, and the usual path asks for nothing else;
  3. with IN_CONTEXT, whoever asks (`current_mode`) first looks whether the thread has entered or left a context since, and
     then reads the Setting of the one it is in;
  4. a Setting that another thread made doesn't count: a new thread records, also one that runs in a copy of a context
     (asyncio.to_thread), as in PyTorch;
  5. the core switches modes for the time of a call (`enter_modes`, `leave_modes`): then the Settings made before don't count,
     those made within do, until it ends. Nothing is put into the context for that;
  6. a mode also ends if there is no memory for a new state of the context: then the Setting says what the one before said;
  7. two modes have values, one around the other: the saved-tensor hooks, and the guards with or without checksums. They stand
     in the Setting, too, and a mode that ends takes nothing from those that were entered within it and last longer;
  8. inference mode implies that nothing is recorded and that no tangents are carried. `own` keeps what was set, for
     is_grad_enabled().
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from autograd_cy._core.runtime.free_threading cimport add_int, add_number, add_size, load_number, peek_size
from autograd_cy._core.runtime.state cimport (
    ANOMALY, ANY_LAYOUT, CONTEXT_MODES, DETECT_NAN, FORWARD_AD, GUARDED, INFERENCE, IN_CONTEXT, KEEP_NAN, KEEP_ZEROS,
    NO_FORWARD, NO_GRAD, ONE_THREAD, REPLAY_VIEWS, SAVED_HOOKS, ThreadState, thread_state)

cdef extern from "Python.h":
    object PyContextVar_New(const char *name, PyObject *default)
    int PyContextVar_Get(PyObject *variable, PyObject *default, PyObject **value)
    object PyContextVar_Set(object variable, object value)
    PyObject *PyThreadState_GetDict()
    void PyErr_Clear()

cdef extern from *:
    """
    /* 3.11 to 3.13 count how often a thread changed its context; elsewhere the variable is asked each time. */
    #define autograd_cy_thread() PyThreadState_GetID(PyThreadState_Get())
    #if PY_VERSION_HEX < 0x030E0000
    #define autograd_cy_is_current(state) (PyThreadState_Get()->context_ver == (state)->version && \
                                           PyThreadState_Get()->id == (state)->thread)
    #define autograd_cy_context_version() (PyThreadState_Get()->context_ver)
    #else
    #define autograd_cy_is_current(state) 0
    #define autograd_cy_context_version() 0
    #endif
    """
    unsigned long long this_thread "autograd_cy_thread" ()
    bint is_current "autograd_cy_is_current" (ThreadState *state) noexcept
    unsigned long long context_version "autograd_cy_context_version" ()

cdef dict bits = {
    "NO_GRAD": NO_GRAD, "INFERENCE": INFERENCE, "ANOMALY": ANOMALY, "KEEP_NAN": KEEP_NAN, "DETECT_NAN": DETECT_NAN,
    "KEEP_ZEROS": KEEP_ZEROS, "ONE_THREAD": ONE_THREAD, "REPLAY_VIEWS": REPLAY_VIEWS, "ANY_LAYOUT": ANY_LAYOUT,
    "NO_FORWARD": NO_FORWARD}


cdef int _nowhere = 0
inference_settings = &_nowhere

cdef object variable = PyContextVar_New("autograd_cy.modes", NULL)
cdef unsigned long long settings_made = 0


@cython.final
cdef class ThreadSettings:
    """How many Settings of a thread live. Held by them and by the thread's dict."""
    cdef Py_ssize_t alive


@cython.final
cdef class Setting:
    """The modes of a context, its value of `variable`. Not to be changed: copies of the context share it. (But: case 6.)"""
    cdef int modes
    cdef tuple hooks, guards                # stacks: (the innermost value, the stack around it), or None
    cdef unsigned long long number          # in the order of their making
    cdef ThreadSettings thread
    cdef object outer                       # the value from before the core's call within which this one was set

    def __dealloc__(self):
        if self.thread is not None:
            add_size(&self.thread.alive, -1)
        if self.modes & INFERENCE:
            add_int(inference_settings, -1)


cdef int ask(ThreadState *state) noexcept:
    """`mode`, brought in line with the context if need be, without the bits that no operation minds."""
    if state.mode & IN_CONTEXT and not is_current(state):
        synchronize(state)
    return state.mode & ~ASIDE


cdef int own_modes() noexcept:
    """The context's modes as they were set."""
    current_mode()
    return thread_state().own


cdef void synchronize(ThreadState *state) noexcept:
    """Read the modes from the context."""
    cdef object setting = value_here()
    if state.thread != this_thread():           # another thread of Python on this one of the system
        state.thread = this_thread()
        state.settings = <void *> settings_of_thread()
    state.version = context_version()
    if state.settings == NULL or peek_size(<size_t *> &(<ThreadSettings> state.settings).alive) == 0:
        state.mode &= ~IN_CONTEXT
    else:
        state.mode |= IN_CONTEXT
    apply(state, modes_of(state, setting))


cdef bint counts(ThreadState *state, object setting) noexcept:
    """Whether it was set in this thread, and within the core's call that is going on (if there is one)."""
    return (type(setting) is Setting and <void *> (<Setting> setting).thread == state.settings
            and (<Setting> setting).number > state.since)


cdef object value_here():
    """The value of the variable in this context, or None."""
    cdef PyObject *found = NULL
    if PyContextVar_Get(<PyObject *> variable, NULL, &found) < 0:
        PyErr_Clear()
        return None
    if found == NULL:
        return None
    value = <object> found
    Py_DECREF(value)
    return value


cdef PyObject *settings_of_thread() noexcept:
    """The ThreadSettings of this thread, or NULL. Borrowed: the thread's dict holds it."""
    cdef PyObject *entries = PyThreadState_GetDict()
    if entries == NULL:
        return NULL
    found = (<dict> entries).get("autograd_cy.modes")
    return <PyObject *> found if type(found) is ThreadSettings else NULL


cdef void apply(ThreadState *state, int modes) noexcept:
    """Make `modes` those of the thread, with what follows from them."""
    cdef int mode = state.mode & ~CONTEXT_MODES
    state.own = modes
    if modes & INFERENCE:
        modes |= NO_GRAD
    if modes & (INFERENCE | NO_FORWARD):
        state.hidden |= mode & FORWARD_AD
        mode &= ~FORWARD_AD
    else:
        mode |= state.hidden
        state.hidden = 0
    state.mode = mode | modes


def mode_bit(str name):
    """The bit of a mode, for swap_modes and are_on."""
    return bits[name]


def swap_modes(int on, int off):
    """Switch modes on and off in this context. Returns what `restore_modes` takes to undo it."""
    return change(own_modes() & ~off | on, stack_of(SAVED_HOOKS), stack_of(GUARDED))


cdef object change(int modes, tuple hooks, tuple guards):
    """Put a new Setting into the context. Returns the value from before."""
    cdef ThreadState *state = thread_state()
    cdef int before = own_modes()
    cdef object previous = value_here()
    cdef Setting setting = Setting.__new__(Setting)
    setting.thread = counted_settings(state)
    add_size(&setting.thread.alive, 1)
    setting.outer = (<Setting> previous).outer if counts(state, previous) else previous
    setting.number = add_number(&settings_made, 1)
    become(setting, modes, hooks, guards)
    try:
        PyContextVar_Set(variable, setting)
    except MemoryError:                     # it may be set all the same, for want of a token
        become(setting, before, stack_of(SAVED_HOOKS), stack_of(GUARDED))
        setting = None
        synchronize(state)
        raise
    setting = None
    synchronize(state)
    return previous


cdef tuple stack_of(int bit):
    """The values of a mode in this context, (the innermost, the stack around it); None if the mode is off."""
    if not own_modes() & bit:
        return None
    cdef object setting = value_here()
    return stack_in(setting, bit)


cdef tuple stack_in(object setting, int bit):
    if type(setting) is not Setting:
        return None
    return (<Setting> setting).hooks if bit == SAVED_HOOKS else (<Setting> setting).guards


cdef int set_stack(int bit, tuple stack) except -1:
    """Give a mode these values; with None it is off."""
    cdef int modes = own_modes() & ~bit | (0 if stack is None else bit)
    if bit == SAVED_HOOKS:
        change(modes, stack, stack_of(GUARDED))
    else:
        change(modes, stack_of(SAVED_HOOKS), stack)
    return 0


cdef int push_value(int bit, object value) except -1:
    """Enter a mode with a value."""
    return set_stack(bit, (value, stack_of(bit)))


cdef int pop_value(int bit, str name) except -1:
    """Leave a mode's innermost value; `name` is that of the mode."""
    cdef tuple stack = stack_of(bit)
    cdef int modes = own_modes() & ~bit
    if stack is None:
        raise RuntimeError(f"{name}: the end of a block that was not entered, or was left already")
    stack = <tuple> stack[1]
    if stack is not None:
        modes |= bit
    # no tuple of both: there may be no memory for it
    if bit == SAVED_HOOKS:
        return replace(modes, stack, stack_of(GUARDED))
    return replace(modes, stack_of(SAVED_HOOKS), stack)


cdef int replace(int modes, tuple hooks, tuple guards) except -1:
    """`change`, at the end of a mode: case 6 of NOTE [Modes in contexts]."""
    cdef ThreadState *state = thread_state()
    try:
        change(modes, hooks, guards)
    except MemoryError:
        setting = value_here()
        if not counts(state, setting):
            raise
        become(<Setting> setting, modes, hooks, guards)
        synchronize(state)
    return 0


cdef ThreadSettings counted_settings(ThreadState *state):
    """The thread's ThreadSettings, made if there is none yet."""
    cdef PyObject *found = settings_of_thread()
    cdef ThreadSettings settings
    if found == NULL:
        settings = ThreadSettings.__new__(ThreadSettings)
        (<dict> PyThreadState_GetDict())["autograd_cy.modes"] = settings
        found = <PyObject *> settings
    state.settings = <void *> found
    state.thread = this_thread()
    return <ThreadSettings> found


def restore_modes(previous):
    """Undo what `swap_modes` did; `previous` is what it returned."""
    restore(thread_state(), previous)


def leave_mode(manager, error_type, error, traceback):
    """`__exit__` of a mode. Compiled: no frame of Python's is needed, for which there may be no memory."""
    restore(thread_state(), manager._previous)
    manager._previous = None


cdef int restore(ThreadState *state, object previous) except -1:
    """Make the modes those of `previous`; the modes with values stay as they are."""
    cdef tuple hooks = stack_of(SAVED_HOOKS), guards = stack_of(GUARDED)
    cdef int modes
    if hooks is stack_in(previous, SAVED_HOOKS) and guards is stack_in(previous, GUARDED):
        put_back(state, previous)
        synchronize(state)
        return 0
    modes = modes_of(state, previous) & ~(SAVED_HOOKS | GUARDED)
    return replace(modes | own_modes() & (SAVED_HOOKS | GUARDED), hooks, guards)


cdef int modes_of(ThreadState *state, object setting) noexcept:
    """What a value of the variable says in this thread."""
    return (<Setting> setting).modes if counts(state, setting) else state.base


cdef void put_back(ThreadState *state, object previous) noexcept:
    """Make `previous` the variable's value again: case 6 of NOTE [Modes in contexts]."""
    try:
        PyContextVar_Set(variable, previous)
    except MemoryError:
        setting = value_here()
        if setting is not previous and counts(state, setting):
            become(<Setting> setting, modes_of(state, previous), stack_in(previous, SAVED_HOOKS), stack_in(previous, GUARDED))


cdef void become(Setting setting, int modes, tuple hooks, tuple guards) noexcept:
    """Let a Setting say this."""
    if setting.modes & INFERENCE:
        add_int(inference_settings, -1)
    setting.modes, setting.hooks, setting.guards = modes, hooks, guards
    if setting.modes & INFERENCE:
        add_int(inference_settings, 1)


cdef Extent enter_modes(int on, int off) noexcept:
    """Switch modes on and off for the time of a call, until `leave_modes`: case 5 of NOTE [Modes in contexts]."""
    cdef ThreadState *state = thread_state()
    cdef Extent extent
    cdef int modes = own_modes() & ~off | on
    extent.mode, extent.base, extent.since = state.mode, state.base, state.since
    state.base, state.since = modes, load_number(&settings_made)
    apply(state, modes)
    return extent


cdef void leave_modes(Extent extent) noexcept:
    """Give the thread the modes that it had."""
    cdef ThreadState *state = thread_state()
    cdef bint in_context = (state.mode | extent.mode) & IN_CONTEXT
    cdef object setting = value_here() if in_context else None
    cdef bint unended = counts(state, setting)      # what the code within the core's call has set and left so
    state.base, state.since = extent.base, extent.since
    state.mode = extent.mode
    state.own = state.base
    if unended:
        put_back(state, (<Setting> setting).outer)
    setting = None                                  # it counts as alive no longer
    if in_context:
        synchronize(state)


def is_grad_enabled():
    """is_grad_enabled() -> bool: whether operations are recorded in this thread and context.

    >>> import autograd_cy as ag
    >>> ag.is_grad_enabled()
    True
    """
    return not own_modes() & NO_GRAD


def is_inference_mode_enabled():
    """is_inference_mode_enabled() -> bool: whether the results of operations are inference tensors.

    >>> import autograd_cy as ag
    >>> with ag.inference_mode():
    ...     ag.is_inference_mode_enabled()
    True
    """
    return own_modes() & INFERENCE != 0


def is_forward_enabled():
    """is_forward_enabled() -> bool: whether tangents would be carried along at an open dual level.

    False also while the thread sees none of the levels that are open, as in forward and jvp of a Function.
    """
    cdef ThreadState *state = thread_state()
    if own_modes() & (INFERENCE | NO_FORWARD):
        return False
    return state.dual_levels == NULL or state.mode & FORWARD_AD != 0


def are_on(int modes):
    """Whether all these modes were set in this context."""
    return own_modes() & modes == modes
