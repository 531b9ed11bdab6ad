"""The sparse gradients of tables (facade)."""

from typing import Any

from .._layout import sparse_coo
from ._pattern import Pattern
from ._tensor import from_values


def table_gradient(numbers: Any, rows: Any, n: int) -> Any:
    """The sum of rows (m, width) at their numbers (m), in n rows."""
    indices = numbers.detach().long().reshape(1, -1).clone()  # who reads the gradient may write to the numbers
    return from_values(rows, Pattern(sparse_coo, (indices,), (n, *rows.shape[1:]), False))
