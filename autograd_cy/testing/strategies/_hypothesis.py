"""Hypothesis, which the extra `testing` installs, and the checks of arguments that all strategies share."""

from collections.abc import Callable
from typing import Any

try:
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp
except ImportError as error:
    raise ImportError(
        'autograd_cy.testing.strategies needs Hypothesis: pip install "autograd_cy[testing]" (it was not found, or not its '
        f"part for NumPy: {error})"
    ) from error

__all__ = ["checked", "checked_number", "checked_shape", "hnp", "st", "strategy_of"]

Strategy = st.SearchStrategy[Any]


def strategy_of(value: Any, check: Callable[[Any], Any]) -> Strategy:
    """A strategy as it is, but for a check of all that it draws; the strategy of one value for anything else."""
    if isinstance(value, st.SearchStrategy):
        return value.map(check)
    return st.just(check(value))


def checked(call: str, name: str, value: Any, kind: type | tuple[type, ...], expected: str) -> Any:
    """Check the type of a value; raises with the expected one."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{call}(): {name} must be {expected}, got {value!r} of type {type(value).__name__}")
    return value


def checked_number(call: str, name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """An int between two bounds, both possible."""
    checked(call, name, value, int, "an int")
    if value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{call}(): {name} must be {bounds}, got {value}")
    return int(value)


def checked_shape(call: str, name: str, value: Any) -> tuple[int, ...]:
    """A tuple of sizes; one int is a shape of one dimension."""
    sizes = (value,) if isinstance(value, int) else value
    checked(call, name, sizes, (tuple, list), "a shape (a tuple of ints)")
    return tuple(checked_number(call, f"each size of {name}", n) for n in sizes)
