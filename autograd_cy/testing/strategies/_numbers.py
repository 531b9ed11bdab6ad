"""Dtypes, and numbers of a dtype."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..._core.arrays.dtypes import all_dtypes, convert, dtype
from ._hypothesis import checked, st

KINDS = ("floating", "complex", "integer", "bool")
LIMIT = 10  # of absolute values
STEPS = 1024  # of floating-point numbers between two integers


def dtypes(kinds: str | Sequence[str] = KINDS) -> st.SearchStrategy[dtype]:
    """``dtypes(kinds)`` draws dtypes that tensors have, of kinds "floating", "complex", "integer", "bool" (one, or several).

    bfloat16 is among them if ml_dtypes is installed; uint16, uint32, uint64 and longdouble are not: not all operations
    take them.
    They shrink to float64, or to the widest of the first kind: complex128, int64. ValueError for other kinds or none.

    >>> from autograd_cy.testing.strategies import dtypes
    >>> from hypothesis import find
    >>> find(dtypes(), lambda dtype: True), find(dtypes("complex"), lambda dtype: dtype.itemsize < 16)
    (torch.float64, torch.complex64)
    """
    names = [kinds] if isinstance(kinds, str) else list(checked("dtypes", "kinds", kinds, (tuple, list), "a str or several"))
    if not names or not set(names) <= set(KINDS):
        raise ValueError(f"dtypes(): kinds must be some of {', '.join(map(repr, KINDS))}, got {kinds!r}")
    found = [d for d in reversed(all_dtypes()) if serves(d)]
    return st.sampled_from([d for name in KINDS if name in names for d in found if kind_of(d) == name])


def serves(d: dtype) -> bool:
    """Whether all operations take the dtype, and there are tensors of it: of bfloat16 if ml_dtypes is installed."""
    return bool(find_spec("ml_dtypes")) if d.name == "bfloat16" else d.name not in ("uint16", "uint32", "uint64", "longdouble")


def kind_of(d: dtype) -> str:
    return "floating" if d.is_floating_point else "complex" if d.is_complex else "bool" if d.name == "bool" else "integer"


_DTYPES = (str, type, np.dtype)


def checked_dtype(call: str, value: Any) -> dtype:
    try:
        return value if isinstance(value, dtype) else convert(np.dtype(checked(call, "dtype", value, _DTYPES, "a dtype")))
    except TypeError as error:
        raise TypeError(f"{call}(): expected a dtype that tensors have, got {value!r}: {error}") from None


def elements_of(d: dtype) -> st.SearchStrategy[Any]:
    """Numbers of moderate size, exact in float32 (or what the dtype is). They shrink to integers."""
    kind = {"floating": "f", "complex": "c"}.get(kind_of(d)) or d.numpy_dtype.kind
    if kind == "b":
        return st.booleans()
    if kind in "iu":
        return st.integers(0 if kind == "u" else -LIMIT, LIMIT)
    steps = STEPS if d.itemsize > 2 else STEPS // 16
    if kind == "f":
        return floats(-LIMIT, LIMIT, steps)
    return st.builds(complex, floats(-LIMIT, LIMIT, steps), floats(-LIMIT, LIMIT, steps))


def floats(low: float, high: float, steps: int = STEPS) -> st.SearchStrategy[float]:
    """Floats between two bounds, in multiples of 1 / steps. They shrink to integers."""
    return st.floats(low, high, allow_subnormal=False).map(lambda x: round(x * steps) / steps)  # never -0.0


def away_from(
    points: float | Sequence[float], gap: float = 0.1, min_value: float = -LIMIT, max_value: float = LIMIT
) -> st.SearchStrategy[float]:
    """``away_from(points)`` draws floats between two bounds, and none less than gap away from a point: for ``elements=``.

    So functions can be checked that have kinks at these points. They shrink to small integers that are far enough from all
    points. ValueError where that leaves no number, TypeError for what are no numbers.

    >>> from autograd_cy.testing.strategies import away_from, tensors
    >>> from hypothesis import find
    >>> find(away_from(0), lambda x: True), find(away_from([0, 1, -1], gap=0.5), lambda x: True)
    (1.0, 2.0)
    >>> find(tensors(shape=(2,), elements=away_from(0)), lambda x: x.relu().sum() == 1)
    tensor([ 1., -1.], dtype=torch.float64)
    """
    number = (int, float, np.integer, np.floating)
    given = [points] if isinstance(points, number) else list(checked("away_from", "points", points, (tuple, list), "numbers"))
    kinks = [float(checked("away_from", "each point", p, number, "a number")) for p in given]
    bounds = {"gap": gap, "min_value": min_value, "max_value": max_value}
    for name, value in bounds.items():
        checked("away_from", name, value, number, "a number")
    if gap < 0 or not np.all(np.isfinite([*kinks, gap, min_value, max_value])):
        raise ValueError(f"away_from(): expected finite points and bounds and a gap of at least 0, got {points!r}, {bounds}")
    free = _free(sorted(kinks), float(gap), float(min_value), float(max_value))
    if not free:
        raise ValueError(f"away_from(): between {min_value} and {max_value} no number is {gap} away from each of {points!r}")
    integers = [float(n) for low, high in free for n in range(int(np.ceil(low)), int(np.floor(high)) + 1)]

    def moved(x: float) -> float:
        """The number, or one that is allowed: an integer if there is one."""
        if any(low <= x <= high for low, high in free):
            return x
        places = integers or [end for part in free for end in part]
        return min(places, key=lambda place: (abs(place - x), place < 0))

    drawn = floats(min_value, max_value) if max_value - min_value >= 1 else st.floats(min_value, max_value)
    return drawn.map(moved)


def _free(kinks: list[float], gap: float, low: float, high: float) -> list[tuple[float, float]]:
    """The intervals that are left."""
    parts = []
    for kink in kinks:
        if low <= min(kink - gap, high):
            parts.append((low, min(kink - gap, high)))
        low = max(low, kink + gap)
    return [*parts, (low, high)] if low <= high else parts
