"""New uninitialized memory. With deterministic algorithms it is filled with NaN, or the largest integer."""

from typing import Any

import numpy as np

from . import dtypes


class Filling:
    """Whether such memory is filled: both flags must be True."""

    is_deterministic = False  # use_deterministic_algorithms()
    is_wanted = True  # utils.deterministic.fill_uninitialized_memory

    @classmethod
    def set_wanted(cls, mode: bool) -> None:
        """set_wanted(mode) -> sets `is_wanted`; RuntimeError unless it is a bool."""
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
        cls.is_wanted = mode


def empty(shape: Any, dtype: Any, make: Any = np.empty) -> np.ndarray:
    """empty(shape, dtype) -> an uninitialized array from `make`, filled if `Filling` says so."""
    array = make(shape, dtype)
    if Filling.is_deterministic and Filling.is_wanted:
        array.fill(_mark(array.dtype))
    return array


def _mark(dtype: np.dtype) -> Any:
    kind = dtypes.convert(dtype)
    if kind.is_floating_point or kind.is_complex:
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max
