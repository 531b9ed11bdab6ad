"""RemovableHandle: what registering a hook returns (knows no node)."""

import itertools

_ids = itertools.count()



class RemovableHandle:
    """Removes a hook: ``handle.remove()``, or at the end of ``with handle:``. Removing it twice is no error."""

    def __init__(self, hooks):
        self.id = next(_ids)
        self._hooks = hooks

    def remove(self):
        """Take the hook away."""
        if self._hooks is not None:
            self._hooks.pop(self.id, None)
            self._hooks = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


def register(hooks, hook):
    """Enter a hook in a dict of hooks and return its handle."""
    if not callable(hook):
        raise TypeError(f"a hook must be callable, not {type(hook).__name__}")
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle
