"""The stack of saved-tensor hooks: which of them pack what a node saves.

The mode SAVED_HOOKS says no more than that there may be one (`levels`); nobody looks here without it.
"""

cimport cython

from contextvars import ContextVar

from autograd_cy._core.levels cimport Level, around, pop_level, push_level, top_level
from autograd_cy._core.state cimport SAVED_HOOKS


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
    push_level(innermost, pair, SAVED_HOOKS)


def pop_hooks():
    """Take back the last push_hooks()."""
    pop_level(innermost)


def disable_hooks(str message):
    """Refuse hooks from now on with that text (None: allow them again); returns the text that counted before."""
    previous = refusal.get()
    if message is not None and top_level(innermost) is not None:
        raise RuntimeError(message)
    refusal.set(message)
    return previous


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
