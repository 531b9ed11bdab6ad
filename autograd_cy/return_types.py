"""The types of named tuples that operations return: `max`, `sort` and so on (facade)."""

from ._core.ops import return_types as _types

_names = {name: getattr(_types, name) for name in _types.FIELDS}
globals().update(_names)
__all__ = list(_names)
