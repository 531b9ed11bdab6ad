"""A hook on several tensors (facade)."""

import functools
from collections.abc import Callable, Iterable
from typing import Any, Self

from .._core.engine.engine import task_notes, will_execute
from .._core.graph.node import gradient_node
from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public

MODES = ("all", "any")


class MultiHandle:
    """Removes a hook from all of its tensors: by ``remove()``, or at the end of ``with handle:``."""

    def __init__(self, handles: Iterable[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


@public
def register_multi_grad_hook(tensors: Iterable[Tensor], fn: Callable[..., Any], *, mode: str = "all") -> MultiHandle:
    """``register_multi_grad_hook(tensors, fn, mode='all')`` calls fn once in each backward; returns a handle.

    'all': fn(gradients) when all tensors that this backward reaches have their gradient; the list has None for the
    others. 'any': fn(gradient) with the first one. fn must not change the gradients; its result is ignored.
    ValueError for another mode, AssertionError for a tensor that requires no gradient (under 'any' it is left out).

    >>> import autograd_cy as ag
    >>> a, b = ag.ones(1, requires_grad=True), ag.ones(1, requires_grad=True)
    >>> handle = ag.autograd.graph.register_multi_grad_hook([a, b], lambda gradients: print(gradients))
    >>> (a * 2 + b * 3).backward()
    [tensor([2.]), tensor([3.])]
    """
    if mode not in MODES:
        raise ValueError(f"Expects mode to be one of {MODES} but got {mode}")
    if not callable(fn):
        raise TypeError(f"a hook must be callable, not {type(fn).__name__}")
    tensors = tuple(tensors)
    if mode == "any":
        hook = _hook_for_any(fn)
        return MultiHandle([tensor.register_hook(hook) for tensor in tensors if tensor.requires_grad])
    for position, tensor in enumerate(tensors):
        if not tensor.requires_grad:
            raise AssertionError(f"Expected gradient function to be set: tensor {position} doesn't require gradient")
    gathering = _Gathering(tensors, fn)
    return MultiHandle([tensor.register_hook(gathering.hook_of(i)) for i, tensor in enumerate(tensors)])


def _hook_for_any(fn: Callable[[Tensor], Any]) -> Callable[[Tensor], None]:
    @functools.wraps(fn)
    def hook(grad: Tensor) -> None:
        notes = task_notes()
        if hook not in notes:
            notes[hook] = True
            fn(grad)

    return hook


class _Gathering:
    """The hooks of one call in mode 'all'; each backward notes the gradients so far and the number still to come."""

    def __init__(self, tensors: Iterable[Tensor], fn: Callable[[list[Tensor | None]], Any]) -> None:
        self.nodes = [gradient_node(tensor) for tensor in tensors]
        self.fn = fn

    def hook_of(self, position: int) -> Callable[[Tensor], None]:
        @functools.wraps(self.fn)
        def hook(grad: Tensor) -> None:
            self.take(position, grad)

        return hook

    def take(self, position: int, grad: Tensor) -> None:
        notes = task_notes()
        if self not in notes:
            notes[self] = [[None] * len(self.nodes), sum(map(will_execute, self.nodes))]
        note = notes[self]
        note[0][position] = grad
        note[1] -= 1
        if note[1] == 0:
            self.fn(note[0])
