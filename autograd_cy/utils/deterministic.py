"""Filling of uninitialized memory, under the name of torch.utils.deterministic (facade).

``fill_uninitialized_memory`` is True by default. With it, under ``use_deterministic_algorithms(True)``, `empty()` and similar
functions fill new memory with NaN, or integers with the largest number.

>>> import autograd_cy as ag
>>> ag.use_deterministic_algorithms(True)
>>> ag.empty(2), ag.empty(2, dtype=ag.uint8)
(tensor([nan, nan]), tensor([255, 255], dtype=torch.uint8))
>>> ag.use_deterministic_algorithms(False)
"""

import sys
from types import ModuleType

from .._core.arrays.unset import Filling as _Filling
from .._core.runtime.entry import public as _public

__all__ = ["fill_uninitialized_memory"]

fill_uninitialized_memory: bool  # a property of the class below


class _Deterministic(ModuleType):
    """The class of this module, which makes a setting its attribute."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether uninitialized memory is filled; RuntimeError unless a bool is assigned."""
        return _Filling.is_wanted

    @fill_uninitialized_memory.setter
    @_public
    def fill_uninitialized_memory(self, mode: bool) -> None:
        _Filling.set_wanted(mode)


sys.modules[__name__].__class__ = _Deterministic
