"""RemovableHandle: what registering a hook returns."""

import itertools

__all__ = ["RemovableHandle"]

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
