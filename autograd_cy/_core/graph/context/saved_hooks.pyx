"""The stack of saved-tensor hooks, which pack the tensors that nodes save. Its mode is SAVED_HOOKS."""

cimport cython

from contextvars import ContextVar

from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.runtime.state cimport SAVED_HOOKS, ThreadState, pop_value, push_value, set_stack, stack_of, thread_state


@cython.final
cdef class HookPair:
    def __init__(self, pack, unpack, bint with_node=False, bint composes=False):
        self.pack, self.unpack = pack, unpack
        self.with_node, self.composes = with_node, composes


cdef object refusal = ContextVar("disable_saved_tensors_hooks", default=None)


def push_hooks(HookPair pair):
    """Let a pair pack saved tensors from now on; RuntimeError with the given text while hooks are disabled."""
    if refusal.get() is not None:
        raise RuntimeError(refusal.get())
    note_hooks()
    push_value(SAVED_HOOKS, pair)


def pop_hooks():
    """Undo the last push_hooks(); RuntimeError if there is none."""
    note_hooks()
    pop_value(SAVED_HOOKS, "saved_tensors_hooks")


def leave_hooks(_manager, error_type=None, error=None, traceback=None):
    """`__exit__` of saved_tensors_hooks: see leave_mode."""
    pop_hooks()


def top_hooks():
    """The pair of functions pushed last, or None."""
    cdef tuple stack = stack_of(SAVED_HOOKS)
    return None if stack is None else ((<HookPair> stack[0]).pack, (<HookPair> stack[0]).unpack)


def refused_by():
    """The text of the error while hooks are disabled, or None."""
    return refusal.get()


def disable_hooks(str message or None):
    """Disable hooks, with that text for the error (None: enable them again); returns the previous text."""
    previous = refusal.get()
    if message is not None and stack_of(SAVED_HOOKS) is not None:
        raise RuntimeError(message)
    note_hooks()
    refusal.set(message)
    return previous


cdef int note_hooks() except -1:
    """In backward, keep the current state: changes by a node's hooks or its Function are undone after the node."""
    cdef ThreadState *state = thread_state()
    if state.graph_task != NULL and state.hooks_before == NULL:
        before = (stack_of(SAVED_HOOKS), refusal.get())
        Py_INCREF(before)
        state.hooks_before = <void *> before
    return 0


cdef int put_hooks_back(void *before) except -1:
    """Undo changes since `note_hooks`, which kept `before`; takes over that reference."""
    cdef tuple kept = <tuple> before
    Py_DECREF(kept)
    if stack_of(SAVED_HOOKS) is not kept[0]:
        set_stack(SAVED_HOOKS, <tuple> kept[0])
    if refusal.get() is not kept[1]:
        refusal.set(kept[1])
    return 0


cdef tuple active_pairs():
    """The active pairs, innermost first: the innermost one, and outer ones as long as the pairs compose."""
    cdef tuple stack = stack_of(SAVED_HOOKS)
    cdef HookPair pair
    cdef list pairs = []
    while stack is not None:
        pair = <HookPair> stack[0]
        if pair.pack is None:
            break
        pairs.append(pair)
        if not pair.composes:
            break
        stack = <tuple> stack[1]
    return tuple(pairs)


cdef object packed_by(HookPair pair, object data, object node, object slot):
    return pair.pack(data, node, slot) if pair.with_node else pair.pack(data)


cdef object unpacked_by(HookPair pair, object data, object node, object slot):
    return pair.unpack(data, node, slot) if pair.with_node else pair.unpack(data)
