"""Hooks on newly recorded nodes.

The hooks belong to the context, so one asyncio task doesn't see another's nodes. While a thread has entered any hook, its mode
has the bit NODE_HOOKS; without that bit recording does no extra work.
"""

from _thread import _local
from contextvars import ContextVar

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.runtime.state cimport NODE_HOOKS, ThreadState, thread_state

creation_hooks_here = ContextVar("autograd_cy creation hooks", default=())       # outermost first
entered = _local()                  # `count`: the number of open blocks in this thread


def enter_creation_hook(hook):
    """Call hook(node) for each node that this thread records; returns the token for `leave_creation_hook`."""
    token = creation_hooks_here.set((*creation_hooks_here.get(), hook))
    entered.count = getattr(entered, "count", 0) + 1
    thread_state().mode |= NODE_HOOKS
    return token


def leave_creation_hook(token):
    """Remove the hook of that token."""
    entered.count -= 1
    if entered.count == 0:
        thread_state().mode &= ~NODE_HOOKS
    creation_hooks_here.reset(token)


cdef int announce(Node node) except -1:
    """Call the hooks with a node that has its edges and saved tensors; nodes that hooks record are not announced."""
    cdef ThreadState *state = thread_state()
    state.mode &= ~NODE_HOOKS
    try:
        for hook in creation_hooks_here.get():
            hook(node)
    finally:
        if getattr(entered, "count", 0):
            state.mode |= NODE_HOOKS
    return 0
