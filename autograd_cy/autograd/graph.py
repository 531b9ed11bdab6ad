"""The graph in view: nodes and their hooks (facade)."""

from .._core import hooks
from .._core.node import Node
from ..utils.hooks import RemovableHandle

__all__ = ["Node", "register_hook", "register_prehook"]


def add_hook(table, hook):
    """Enter a hook in a table and return its handle."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    handle = RemovableHandle(table)
    table[handle.id] = hook
    return handle


def register_hook(node, hook):
    """``node.register_hook(hook)``: hook(grad_inputs, grad_outputs) is called after the node ran; it may replace grad_inputs."""
    return add_hook(hooks.post_hooks(node), hook)


def register_prehook(node, hook):
    """``node.register_prehook(hook)``: hook(grad_outputs) is called before the node runs; it may replace them."""
    return add_hook(hooks.pre_hooks(node), hook)
