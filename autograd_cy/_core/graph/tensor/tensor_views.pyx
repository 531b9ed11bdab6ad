"""Tensors that share memory: their version, and the links of views to their base."""

from autograd_cy._core.graph.memory cimport count_named, count_unnamed
from autograd_cy._core.runtime.free_threading cimport load_long
from autograd_cy._core.runtime.state cimport INFERENCE, NO_GRAD, REPLAY_VIEWS, ThreadState, ask, thread_state


cdef long version_of(Tensor tensor) noexcept:
    return 0 if tensor.counter is None else load_long(&tensor.counter.version)


cdef void bump_version(Tensor tensor):
    """Count a write without naming an operation."""
    if not tensor.inference:
        count_unnamed(tensor.version_counter())


cdef int count_write(Tensor tensor, str operation) except -1:
    """Count a write, and note the operation and the user's code; a write through a view is noted as partial."""
    if not tensor.inference:
        count_named(tensor.version_counter(), tensor.array, has_extras(tensor) and tensor.extras.base is not None,
                    operation)
    return 0


cdef void share_version(Tensor source, Tensor alias):
    """Let a view or detached alias share the version counter of its source."""
    alias.inference = source.inference
    if not source.inference:
        alias.counter = source.version_counter()


cdef int link_view(Tensor source, Tensor view, int creation=IN_GRAD_MODE) except -1:
    """Make `view`, which shares memory with `source`, a view of it, or of its base if it is a view."""
    cdef TensorExtras extras = TensorExtras.__new__(TensorExtras), own = source.extras if has_extras(source) else None
    cdef ThreadState *state = thread_state()
    cdef int mode
    share_version(source, view)
    if source.inference:                        # it counts no writes, and operations on it are not recorded
        view.grad_fn, view.needs_grad = None, False
        return 0
    if state.mode:
        mode = ask(state)
        if mode & (NO_GRAD | INFERENCE):
            creation = IN_INFERENCE if mode & INFERENCE else IN_NO_GRAD
    if own is not None and own.base is not None:
        extras.base = own.base
        extras.creation = creation if creation != IN_GRAD_MODE else own.creation
        if own.is_dual:
            seldom_of(extras).dual = source
        elif own.seldom is not None and own.seldom.dual is not None:
            seldom_of(extras).dual = own.seldom.dual
    else:
        extras.base = source
        extras.creation = creation
    extras.current = load_long(&view.counter.version)
    extras.tangent_version = extras.current
    if view.extras is not None:                 # it already has a tangent
        extras.tangents = view.extras.tangents
    view.extras = extras
    if state.mode & REPLAY_VIEWS:
        note_replay(source, view)
    return 0


cdef int note_replay(Tensor source, Tensor view) except -1:
    """Under _force_original_view_tracking(), keep on a view the nodes between it and its base."""
    cdef tuple before = ()
    if view.extras.base is not source:
        if source.extras.seldom is None or source.extras.seldom.replay is None:
            return 0
        before = source.extras.seldom.replay
    if view.grad_fn is not None and view.extras.creation == IN_GRAD_MODE:
        seldom_of(view.extras).replay = (*before, (type(view.grad_fn), view.grad_fn.constants))
    return 0
