"""The sparse gradients of tables (facade)."""

from typing import Any

from .._types.layout import sparse_coo
from ._pattern import Pattern
from ._tensor import from_values


def sparse_gradient(indices: Any, values: Any, sizes: tuple[int, ...]) -> Any:
    """The sum of values (m, ...) at their places (dimensions, m), in a tensor of these sizes."""
    own = indices.detach().long().clone()  # users of the gradient may write to its indices
    return from_values(values, Pattern(sparse_coo, (own,), sizes, False))
