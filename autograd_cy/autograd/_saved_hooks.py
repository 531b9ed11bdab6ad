"""Saved-tensor hooks as context managers (facade)."""

import functools
from collections.abc import Callable
from typing import Any

from .._core.graph.context import HookPair, disable_hooks, leave_hooks, push_hooks

__all__ = ["disable_saved_tensors_hooks", "save_on_cpu", "saved_tensors_hooks"]


class saved_tensors_hooks:
    """``with saved_tensors_hooks(pack, unpack):`` tensors saved for backward are kept as ``pack(tensor)``.

    Backward gets ``unpack(packed)``, which must have the saved tensor's shape. Only the innermost pair packs. With
    ``compose=True`` its result is packed by the outer pair, if it is a tensor itself. With ``with_node=True`` the functions
    are called as ``pack(tensor, node, slot)`` and ``unpack(packed, node, slot)``: ``slot`` is the name in
    ``node._saved_...``, for a Function ``"saved_tensors[0]"``, for indices ``"indices[0]"``. Writes to a packed tensor
    are not noticed. RuntimeError if hooks are disabled, TypeError if one can't be called.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> with ag.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(force=True).tobytes(), lambda b: ag.tensor(3.0)):
    ...     y = x * x
    >>> y.grad_fn._raw_saved_self.data
    b'\\x00\\x00@@'
    >>> def show(tensor, node, slot):
    ...     print(node.name(), slot)
    ...     return tensor
    >>> with ag.autograd.graph.saved_tensors_hooks(show, lambda t, node, slot: t, with_node=True):
    ...     y = x.exp()
    ExpBackward0 result
    """

    def __init__(
        self,
        pack_hook: Callable[..., Any],
        unpack_hook: Callable[..., Any],
        *,
        with_node: bool = False,
        compose: bool = False,
    ):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook
        self._with_node, self._compose = with_node, compose

    def __enter__(self) -> Any:
        for hook in (self.pack_hook, self.unpack_hook):
            if not callable(hook):
                raise TypeError(
                    "saved_tensors_hooks(): incompatible function arguments: the hooks must be callable, not "
                    f"{type(hook).__name__}"
                )
        push_hooks(HookPair(self.pack_hook, self.unpack_hook, self._with_node, self._compose))

    __exit__ = leave_hooks


class save_on_cpu(saved_tensors_hooks):
    """``with save_on_cpu():`` changes nothing: all saved tensors are in the CPU's memory.

    It exists for PyTorch's programs. As there, an outer pair of hooks does not see tensors saved inside.

    >>> import autograd_cy as ag
    >>> x = ag.tensor(3.0, requires_grad=True)
    >>> with ag.autograd.graph.save_on_cpu(pin_memory=True):
    ...     y = x * x
    >>> y.grad_fn._saved_self is x
    True
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda"):
        super().__init__(_same, _same)

    def __enter__(self) -> Any:
        push_hooks(HookPair(None, None))


def _same(tensor: Any) -> Any:
    return tensor


class disable_saved_tensors_hooks:
    """``with disable_saved_tensors_hooks(message):`` hooks are refused by a RuntimeError with that text; also a decorator.

    Active hooks are refused as well when the context is entered.

    >>> import autograd_cy as ag
    >>> with ag.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     try:
    ...         ag.autograd.graph.saved_tensors_hooks(abs, abs).__enter__()
    ...     except RuntimeError as error:
    ...         print(error)
    no hooks here
    """

    def __init__(self, error_message: str):
        self.error_message = error_message
        self._previous: list[str | None] = []

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with disable_saved_tensors_hooks(self.error_message):
                return function(*args, **kwargs)

        return decorated

    def __enter__(self) -> None:
        self._previous.append(disable_hooks(self.error_message))

    def __exit__(self, *exception: object) -> None:
        if not self._previous:
            raise RuntimeError("disable_saved_tensors_hooks: the end of a block that was not entered, or was left already")
        disable_hooks(self._previous.pop())
