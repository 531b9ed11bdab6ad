"""What holds for all operations while a function is recorded: the graph of its calls can't change it (facade)."""

from typing import Any

import numpy as np

from ..._core.arrays.dtypes import get_default, set_default
from ..._core.graph.tensor import array_of, from_array
from ..._functional.queries import get_default_device, set_default_device
from ..._random import Generator
from ..._random.streams import default_generator
from ...utils._pytree import tree_leaves

__all__ = ["Settings"]


class Settings:
    """The default dtype and device, and where each generator's stream is, as one call leaves them for the next."""

    def __init__(self) -> None:
        self._dtype, self._device = get_default(), get_default_device()
        self._states: dict[Generator, np.ndarray] = {default_generator: _state_of(default_generator)}
        self._starts = dict(self._states)

    def before_call(self, arguments: Any) -> None:
        """Check that the function changed nothing since the last call; there may be generators among the arguments."""
        self.check()
        for x in tree_leaves(arguments):
            if isinstance(x, Generator) and x not in self._states:
                self._states[x] = self._starts[x] = _state_of(x)

    def after_call(self) -> None:
        """The numbers that an operation drew are drawn by its node, too."""
        for generator in self._states:
            self._states[generator] = _state_of(generator)

    def check(self) -> None:
        """NotImplementedError if something changed since the last call."""
        if get_default() is not self._dtype:
            raise self._refusal("changes the default dtype, as by set_default_dtype()")
        if get_default_device() != self._device:
            raise self._refusal("changes the default device, as by set_default_device()")
        if any((_state_of(generator) != state).any() for generator, state in self._states.items()):
            raise self._refusal("changes the state of random numbers, as by manual_seed()")

    def _refusal(self, what: str) -> NotImplementedError:
        return NotImplementedError(f"functionalize(): the function {what}, which its graph can't do: call that outside")

    def restore(self) -> None:
        """Put back what there was before the first call."""
        set_default(self._dtype)
        set_default_device(self._device)
        for generator, state in self._starts.items():
            generator.set_state(from_array(state.copy()))


def _state_of(generator: Generator) -> np.ndarray:
    return array_of(generator.get_state())
