"""The modes of the current context: a thread's `mode` is a cached copy of them.

NOTE [Modes in contexts]
A mode belongs to the context (`contextvars`) in which it was set: one asyncio task doesn't see another's modes. Reading a
ContextVar in each operation would be too slow, so:
  1. Setting a mode stores a Setting in the context, and the resulting bits in the thread's `mode`;
  2. While any Setting of the thread lives (in a context, or in a copy that a task holds), IN_CONTEXT stays in `mode`. So
     `mode == 0` means that no mode is set in any context of this thread, and the usual path needs no other test;
  3. With IN_CONTEXT, `current_mode` first checks whether the thread has entered or left a context since, and then reads
     the current context's Setting;
  4. A Setting made by another thread is ignored: a new thread records, even if it runs in a copy of a context
     (asyncio.to_thread), as in PyTorch;
  5. The core switches modes for the duration of a call (`enter_modes`, `leave_modes`): until it ends, Settings made before the
     call are ignored and those made within it count. This stores nothing in the context;
  6. A mode also ends if there is no memory for a new state of the context: the Setting is then set to the previous values;
  7. Two modes have stacks of values: the saved-tensor hooks, and the guards with or without checksums. These are stored in the
     Setting, too. A mode that ends keeps values that were pushed within it and last longer;
  8. Inference mode implies that nothing is recorded and no tangents are computed. `own` keeps the modes as they were set, for
     is_grad_enabled().
"""

cimport cython
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from autograd_cy._core.runtime.free_threading cimport add_int, add_number, add_size, load_number, peek_size

cdef extern from "Python.h":
    object PyContextVar_New(const char *name, PyObject *default)
    int PyContextVar_Get(PyObject *variable, PyObject *default, PyObject **value)
    object PyContextVar_Set(object variable, object value)
    PyObject *PyThreadState_GetDict()
    void PyErr_Clear()

cdef extern from *:
    """
    /* 3.11 to 3.13 count a thread's context changes; in other versions the variable is read each time. */
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


inference_settings = 0

cdef object variable = PyContextVar_New("autograd_cy.modes", NULL)
cdef unsigned long long settings_made = 0


@cython.final
cdef class ThreadSettings:
    """The number of live Settings of a thread. Referred to by them and by the thread's dict."""
    cdef Py_ssize_t alive


@cython.final
cdef class Setting:
    """The modes of a context, its value of `variable`. Immutable (except in case 6), since copies of the context share it."""
    cdef int modes
    cdef tuple hooks, guards                # stacks: (the innermost value, the stack around it), or None
    cdef unsigned long long number          # a serial number
    cdef ThreadSettings thread
    cdef object outer                       # the value before the core's call within which this one was set

    def __dealloc__(self):
        if self.thread is not None:
            add_size(&self.thread.alive, -1)
        if self.modes & INFERENCE:
            add_int(&inference_settings, -1)


cdef int ask(ThreadState *state) noexcept:
    """`mode`, updated from the context if necessary, without the bits that no operation needs."""
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
    if state.thread != this_thread():           # another Python thread on the same system thread
        state.thread = this_thread()
        state.settings = <void *> settings_of_thread()
    state.version = context_version()
    if state.settings == NULL or peek_size(<size_t *> &(<ThreadSettings> state.settings).alive) == 0:
        state.mode &= ~IN_CONTEXT
    else:
        state.mode |= IN_CONTEXT
    apply(state, modes_of(state, setting))


cdef bint counts(ThreadState *state, object setting) noexcept:
    """Whether it was set in this thread, and within the core's running call (if there is one)."""
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
    """Set the thread's modes to `modes`, and derive the others."""
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
    """Switch modes on and off in this context. Returns the argument for `restore_modes`."""
    return change(own_modes() & ~off | on, stack_of(SAVED_HOOKS), stack_of(GUARDED))


cdef object change(int modes, tuple hooks, tuple guards):
    """Store a new Setting in the context. Returns the previous value."""
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
    except MemoryError:                     # the value may have been set although its token failed
        become(setting, before, stack_of(SAVED_HOOKS), stack_of(GUARDED))
        setting = None
        synchronize(state)
        raise
    setting = None
    synchronize(state)
    return previous


cdef tuple stack_of(int bit):
    """The values of a mode in this context, (the innermost, the outer stack); None if the mode is off."""
    if not own_modes() & bit:
        return None
    cdef object setting = value_here()
    return stack_in(setting, bit)


cdef tuple stack_in(object setting, int bit):
    if type(setting) is not Setting:
        return None
    return (<Setting> setting).hooks if bit == SAVED_HOOKS else (<Setting> setting).guards


cdef int set_stack(int bit, tuple stack) except -1:
    """Set the values of a mode; None turns it off."""
    cdef int modes = own_modes() & ~bit | (0 if stack is None else bit)
    if bit == SAVED_HOOKS:
        change(modes, stack, stack_of(GUARDED))
    else:
        change(modes, stack_of(SAVED_HOOKS), stack)
    return 0


cdef int push_value(int bit, object value) except -1:
    """Push a value of a mode."""
    return set_stack(bit, (value, stack_of(bit)))


cdef int pop_value(int bit, str name) except -1:
    """Pop the innermost value of a mode; `name` is the mode's name for the error."""
    cdef tuple stack = stack_of(bit)
    cdef int modes = own_modes() & ~bit
    if stack is None:
        raise RuntimeError(f"{name}: the end of a block that was not entered, or was left already")
    stack = <tuple> stack[1]
    if stack is not None:
        modes |= bit
    # no tuple of both, for which there may be no memory
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
    """The thread's ThreadSettings, made on demand."""
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
    """Undo `swap_modes`; `previous` is its result."""
    restore(thread_state(), previous)


def leave_mode(manager, error_type, error, traceback):
    """`__exit__` of a mode. Compiled, because a Python frame may need memory that isn't there."""
    restore(thread_state(), manager._previous)
    manager._previous = None


cdef int restore(ThreadState *state, object previous) except -1:
    """Restore the modes of `previous`; modes with values stay as they are."""
    cdef tuple hooks = stack_of(SAVED_HOOKS), guards = stack_of(GUARDED)
    cdef int modes
    if hooks is stack_in(previous, SAVED_HOOKS) and guards is stack_in(previous, GUARDED):
        put_back(state, previous)
        synchronize(state)
        return 0
    modes = modes_of(state, previous) & ~(SAVED_HOOKS | GUARDED)
    return replace(modes | own_modes() & (SAVED_HOOKS | GUARDED), hooks, guards)


cdef int modes_of(ThreadState *state, object setting) noexcept:
    """The modes that a value of the variable sets in this thread."""
    return (<Setting> setting).modes if counts(state, setting) else state.base


cdef void put_back(ThreadState *state, object previous) noexcept:
    """Restore `previous` as the variable's value: case 6 of NOTE [Modes in contexts]."""
    try:
        PyContextVar_Set(variable, previous)
    except MemoryError:
        setting = value_here()
        if setting is not previous and counts(state, setting):
            become(<Setting> setting, modes_of(state, previous), stack_in(previous, SAVED_HOOKS), stack_in(previous, GUARDED))


cdef void become(Setting setting, int modes, tuple hooks, tuple guards) noexcept:
    """Change the contents of a Setting."""
    if setting.modes & INFERENCE:
        add_int(&inference_settings, -1)
    setting.modes, setting.hooks, setting.guards = modes, hooks, guards
    if setting.modes & INFERENCE:
        add_int(&inference_settings, 1)


cdef Extent enter_modes(int on, int off) noexcept:
    """Switch modes on and off until `leave_modes`: case 5 of NOTE [Modes in contexts]."""
    cdef ThreadState *state = thread_state()
    cdef Extent extent
    cdef int modes = own_modes() & ~off | on
    extent.mode, extent.base, extent.since = state.mode, state.base, state.since
    state.base, state.since = modes, load_number(&settings_made)
    apply(state, modes)
    return extent


cdef void leave_modes(Extent extent) noexcept:
    """Restore the thread's modes."""
    cdef ThreadState *state = thread_state()
    cdef bint in_context = (state.mode | extent.mode) & IN_CONTEXT
    cdef object setting = value_here() if in_context else None
    cdef bint unended = counts(state, setting)      # set within the core's call and not undone
    state.base, state.since = extent.base, extent.since
    state.mode = extent.mode
    state.own = state.base
    if unended:
        put_back(state, (<Setting> setting).outer)
    setting = None                                  # it must no longer count as alive
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
    """is_forward_enabled() -> bool: whether an open dual level would compute tangents.

    It is also False while the thread sees none of the open levels, as in forward and jvp of a Function.
    """
    cdef ThreadState *state = thread_state()
    if own_modes() & (INFERENCE | NO_FORWARD):
        return False
    return state.dual_levels == NULL or state.mode & FORWARD_AD != 0


def are_on(int modes):
    """Whether all these modes are set in this context."""
    return own_modes() & modes == modes
