"""The indices of the elements on one side of a matrix's diagonal (facade). Imported when asked for."""

from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._types import dtype_of_number
from . import integer, resolve, wrap


@public
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """``tril_indices(row, col, offset=0)`` is the rows and the columns of the elements on and below a diagonal.

    >>> import autograd_cy as ag
    >>> ag.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _indices("tril_indices", row, col, offset, dtype, device)


@public
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None) -> Tensor:
    """``triu_indices(row, col, offset=0)`` is the rows and the columns of the elements on and above a diagonal.

    >>> import autograd_cy as ag
    >>> ag.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return _indices("triu_indices", row, col, offset, dtype, device)


def _indices(name: str, row: Any, col: Any, offset: Any, dtype: Any, device: Any) -> Tensor:
    wanted = resolve(dtype, device, False, default=dtype_of_number(int))
    row, col, offset = (integer(name, n, value) for n, value in (("row", row), ("col", col), ("offset", offset)))
    for what, size in (("row", row), ("col", col)):
        if size < 0:
            raise RuntimeError(f"{name}: {what} must be non-negative, got {size}")
    if wanted not in (np.int32, np.int64):
        raise NotImplementedError(f"\"{name}\" not implemented for {wanted}: indices are int32 or int64")
    offset = min(max(offset, -row), col)
    find = np.tril_indices if name == "tril_indices" else np.triu_indices
    return wrap(np.array(find(row, offset, col), wanted))
