"""Hooks on the nodes that are recorded: who made which, and within what.

The hooks are the context's, so one asyncio task doesn't see the nodes of another. As long as a thread has entered any of them
its mode has the bit NODE_HOOKS: without it nothing is recorded otherwise than it would be.
"""

from _thread import _local
from contextvars import ContextVar

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.runtime.state cimport NODE_HOOKS, ThreadState, thread_state

hooks_here = ContextVar("autograd_cy creation hooks", default=())       # the outermost first
entered = _local()                  # `count`: how many blocks of this thread have not ended


def enter_creation_hook(hook):
    """Let hook(node) be called for each node that this thread records; returns what `leave_creation_hook` takes."""
    token = hooks_here.set((*hooks_here.get(), hook))
    entered.count = getattr(entered, "count", 0) + 1
    thread_state().mode |= NODE_HOOKS
    return token


def leave_creation_hook(token):
    """Take the hook of that token away."""
    entered.count -= 1
    if entered.count == 0:
        thread_state().mode &= ~NODE_HOOKS
    hooks_here.reset(token)


cdef int announce(Node node) except -1:
    """Call the hooks with a node whose edges and saved tensors are there; what they record themselves is not announced."""
    cdef ThreadState *state = thread_state()
    state.mode &= ~NODE_HOOKS
    try:
        for hook in hooks_here.get():
            hook(node)
    finally:
        if getattr(entered, "count", 0):
            state.mode |= NODE_HOOKS
    return 0
