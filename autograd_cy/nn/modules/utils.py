"""Sizes given as one number or several; prefixes of state dicts (facade)."""

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that turns an iterable into a tuple, and repeats anything else n times."""

    def parse(value: Any) -> tuple[Any, ...]:
        return tuple(value) if isinstance(value, Iterable) else tuple(repeat(value, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(values: Iterable[Any], times: int) -> tuple[Any, ...]:
    """The values in reverse order, each repeated: F.pad() takes both sides of each dimension, the last one first."""
    return tuple(value for value in reversed(tuple(values)) for _ in range(times))


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """``consume_prefix_in_state_dict_if_present(state_dict, prefix)`` strips the prefix from the keys, in place.

    A module can then load the state dict of a wrapper such as DataParallel, which adds "module.". Keys without the
    prefix stay. The metadata of a state_dict() are renamed as well.

    >>> import autograd_cy as ag
    >>> state = {"module.weight": ag.ones(2), "bias": ag.zeros(1)}
    >>> ag.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    >>> list(state)
    ['bias', 'weight']
    """
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key and (key.startswith(prefix) or f"{key}." == prefix):  # the wrapped module's own key has no dot
            metadata[key[len(prefix) :]] = metadata.pop(key)
