"""The handle of a registered hook, and hooks of pickled tensors (facade)."""

import warnings
from typing import TypeVar

from .._core.graph.record import hooks_of_kind as _hooks_of_kind
from .._core.graph.tensor import Tensor
from .._core.runtime.handle import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

_Hook = TypeVar("_Hook")


def unserializable_hook(f: _Hook) -> _Hook:
    """``unserializable_hook(f)`` marks a hook that may be lost in pickling without a warning; returns it.

    >>> import autograd_cy as ag
    >>> import pickle
    >>> @ag.utils.hooks.unserializable_hook
    ... def hook(g):
    ...     print(g)
    >>> x = ag.ones(1, requires_grad=True)
    >>> handle = x.register_hook(hook)
    >>> pickle.loads(pickle.dumps(x))
    tensor([1.], requires_grad=True)
    """
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Tensor) -> None:
    """``warn_if_has_hooks(tensor)`` warns of each hook on the tensor, as hooks are not serialized.

    >>> import autograd_cy as ag
    >>> ag.utils.hooks.warn_if_has_hooks(ag.ones(1))
    """
    for hook in (_hooks_of_kind(tensor, "tensor") or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized. If this is expected, you can decorate the "
                "function with @autograd_cy.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=3,
            )
