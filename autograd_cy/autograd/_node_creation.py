"""Hooks on the creation of nodes, and named regions of nodes (facade)."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from .._core.graph.record import enter_creation_hook, leave_creation_hook

_region: ContextVar[str] = ContextVar("autograd_cy region", default="")


def node_creation_hook(hook: Callable[[Any], object]) -> AbstractContextManager[None]:
    """``with node_creation_hook(hook):`` calls hook(node) for each node that this thread records; also a decorator.

    The node has its edges and saved tensors, and the caller does not have the result yet: the hook's exceptions are raised
    by the operation. Its result is ignored, and nodes that it records call no hooks. Hooks nest, the outer one is called
    first. Hooks don't see AccumulateGrad nodes, or new nodes of views after a write to the base. A write through a view
    records two nodes: of the operation, and CopySlices of the base. TypeError if it can't be called.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with ag.autograd.graph.node_creation_hook(lambda node: print(node.name())):
    ...     y = (x * 2).exp()
    MulBackward0
    ExpBackward0
    """
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    return _hooked(hook)


@contextmanager
def _hooked(hook: Callable[[Any], object]) -> Iterator[None]:
    token = enter_creation_hook(hook)
    try:
        yield
    finally:
        leave_creation_hook(token)


def region(name: str) -> AbstractContextManager[None]:
    """``with region("attention"):`` names the nodes that this thread records; also a decorator.

    ``node.metadata["region"]`` is the name, after the names of outer regions: "block/attention". memory() and draw() show
    it. TypeError if it is no str.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with ag.autograd.graph.region("block"), ag.autograd.graph.region("scale"):
    ...     y = x * 2
    >>> y.grad_fn.metadata
    {'region': 'block/scale'}
    """
    if not isinstance(name, str):
        raise TypeError(f"region(): the name must be a str, not {type(name).__name__}")
    return _named(name)


@contextmanager
def _named(name: str) -> Iterator[None]:
    around = _region.get()
    path = f"{around}/{name}" if around else name

    def note(node: Any) -> None:
        node.metadata["region"] = path

    token = _region.set(path)
    try:
        with _hooked(note):
            yield
    finally:
        _region.reset(token)
