"""The types of named tuples that operations return: `max`, `sort` and so on (facade)."""

from ._core.ops import return_types as _types

_names = {name: value for name, value in vars(_types).items() if hasattr(value, "_fields")}
globals().update(_names)
__all__ = list(_names)
