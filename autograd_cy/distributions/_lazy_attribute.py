"""Attributes of distributions that are computed at their first read (facade)."""

from typing import Any

from .utils import lazy_property


class lazy_attribute(lazy_property):
    """A lazy property for values that PyTorch computes in `__init__`: like these, it is not recomputed after ``del``."""

    def __delete__(self, instance: Any) -> None:
        self.__get__(instance)  # the error of an attribute that is deleted already
        vars(instance).pop(self.name, None)
        vars(instance).setdefault("_computed", {})[self.name] = _Deleted

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        value = super().__get__(instance, owner)
        if value is _Deleted:
            raise AttributeError(f"{type(instance).__name__!r} object has no attribute {self.name!r}")
        return value


class _Deleted:
    """In the place of a lazy attribute's value after ``del``."""
