"""New memory whose elements are not set: with deterministic algorithms they are NaN, or the largest integer."""

from typing import Any

import numpy as np

from . import dtypes


class Filling:
    """Whether such memory is filled: both have to be True."""

    is_deterministic = False  # use_deterministic_algorithms()
    is_wanted = True  # utils.deterministic.fill_uninitialized_memory

    @classmethod
    def set_wanted(cls, mode: bool) -> None:
        """set_wanted(mode) -> sets the second; RuntimeError for what is no bool."""
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
        cls.is_wanted = mode


def empty(shape: Any, dtype: Any, make: Any = np.empty) -> np.ndarray:
    """empty(shape, dtype) -> an array whose elements are whatever `make` leaves there, unless they are to be filled."""
    array = make(shape, dtype)
    if Filling.is_deterministic and Filling.is_wanted:
        array.fill(_mark(array.dtype))
    return array


def _mark(dtype: np.dtype) -> Any:
    kind = dtypes.convert(dtype)
    if kind.is_floating_point or kind.is_complex:
        return np.nan
    return True if dtype.kind == "b" else np.iinfo(dtype).max
