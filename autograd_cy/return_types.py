"""The types of named tuples that operations return: `max`, `min` (facade)."""

from ._core.ops.return_types import max, min

__all__ = ["max", "min"]
