"""The stack of saved-tensor hooks: which of them pack what a node saves.

The mode SAVED_HOOKS says no more than that there may be one (`levels`); nobody looks here without it.
"""

cimport cython

from contextvars import ContextVar

from cpython.ref cimport Py_DECREF, Py_INCREF

from autograd_cy._core.runtime.levels cimport Level, around, pop_level, push_level, return_to_level, top_level
from autograd_cy._core.runtime.state cimport SAVED_HOOKS, ThreadState, thread_state


@cython.final
cdef class HookPair:
    def __init__(self, pack, unpack, bint with_node=False, bint composes=False):
        self.pack, self.unpack = pack, unpack
        self.with_node, self.composes = with_node, composes


cdef object innermost = ContextVar("saved_tensors_hooks", default=None)
cdef object refusal = ContextVar("disable_saved_tensors_hooks", default=None)


def push_hooks(HookPair pair):
    """Let a pair pack what is saved from now on; RuntimeError, with the text that was given, while hooks are disabled."""
    if refusal.get() is not None:
        raise RuntimeError(refusal.get())
    note_hooks()
    push_level(innermost, pair, SAVED_HOOKS)


def pop_hooks():
    """Take back the last push_hooks(); RuntimeError if there is none."""
    note_hooks()
    pop_level(innermost)


def leave_hooks(_manager, error_type, error, traceback):
    """`__exit__` of saved_tensors_hooks: see leave_mode."""
    pop_hooks()


def top_hooks():
    """The pair of functions that was pushed last, or None."""
    cdef Level level = top_level(innermost)
    return None if level is None else ((<HookPair> level.value).pack, (<HookPair> level.value).unpack)


def refused_by():
    """The text with which hooks are refused, or None."""
    return refusal.get()


def disable_hooks(str message or None):
    """Refuse hooks from now on with that text (None: allow them again); returns the text that counted before."""
    previous = refusal.get()
    if message is not None and top_level(innermost) is not None:
        raise RuntimeError(message)
    note_hooks()
    refusal.set(message)
    return previous


cdef int note_hooks() except -1:
    """What a node's hooks or its Function change of all this, in backward, ends with the node: keep what it is before."""
    cdef ThreadState *state = thread_state()
    if state.graph_task != NULL and state.hooks_before == NULL:
        before = (innermost.get(), refusal.get())
        Py_INCREF(before)
        state.hooks_before = <void *> before
    return 0


cdef int put_hooks_back(void *before) except -1:
    """Undo what happened since `note_hooks`, which kept `before`; takes that reference over."""
    cdef tuple kept = <tuple> before
    Py_DECREF(kept)
    if innermost.get() is not kept[0]:
        return_to_level(innermost, <Level> kept[0], SAVED_HOOKS)
    if refusal.get() is not kept[1]:
        refusal.set(kept[1])
    return 0


cdef tuple active_pairs():
    """The pairs that apply, the innermost first: that one, and those around it as long as they compose."""
    cdef Level level = top_level(innermost)
    cdef HookPair pair
    cdef list pairs = []
    while level is not None:
        pair = <HookPair> level.value
        if pair.pack is None:
            break
        pairs.append(pair)
        if not pair.composes:
            break
        level = around(level)
    return tuple(pairs)


cdef object packed_by(HookPair pair, object data, object node, object slot):
    return pair.pack(data, node, slot) if pair.with_node else pair.pack(data)


cdef object unpacked_by(HookPair pair, object data, object node, object slot):
    return pair.unpack(data, node, slot) if pair.with_node else pair.unpack(data)
