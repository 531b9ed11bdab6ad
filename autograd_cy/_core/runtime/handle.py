"""RemovableHandle: the result of registering a hook (knows no node)."""

import weakref
from _thread import allocate_lock
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

_counting = allocate_lock()


class RemovableHandle:
    """``RemovableHandle(hooks)`` removes a hook from a dict of hooks: ``handle.remove()``, or at the end of ``with handle:``.

    Removing it twice is no error. The handle keeps neither the hook nor the tensor alive. The dict must support weak
    references, like an OrderedDict; the hook must be its value for the key `handle.id`.

    >>> import autograd_cy as ag
    >>> x = ag.ones(1, requires_grad=True)
    >>> with x.register_hook(lambda g: g * 10):
    ...     (x * 2).backward()
    >>> x.grad
    tensor([20.])
    """

    next_id = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        extra = [] if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self._dicts = tuple(weakref.ref(hooks) for hooks in (hooks_dict, *extra))
        with _counting:
            self.id = RemovableHandle.next_id
            RemovableHandle.next_id += 1

    @property
    def hooks_dict_ref(self) -> Any:
        """A weak reference to the dict."""
        return self._dicts[0]

    @property
    def extra_dict_ref(self) -> tuple[Any, ...]:
        """Weak references to the dicts passed as `extra_dict`."""
        return self._dicts[1:]

    def remove(self) -> None:
        """Remove the hook."""
        for reference in self._dicts:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, int, tuple[Any, ...]]:
        hooks, *extra = (reference() for reference in self._dicts)
        return hooks, self.id, tuple(extra)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Refer to the dicts copied or pickled together with the handle; nothing is left to remove from dead ones."""
        hooks, self.id, extra = (*state, ())[:3]
        self._dicts = tuple(weakref.ref(OrderedDict() if found is None else found) for found in (hooks, *extra))
        with _counting:
            RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register(hooks: Any, hook: Callable[..., Any]) -> RemovableHandle:
    """Add a hook to a dict of hooks and return its handle."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
