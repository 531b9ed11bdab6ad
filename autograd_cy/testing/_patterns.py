"""Patterns of wrong gradients: finds the mistake that explains one (facade).

Several gradients, of nearby points, are stacked along the first dimension. A mistake has to explain them all.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._differences import Array

CLOSE = 1e-6  # the tolerance of equal gradients, relative to the largest entry
FEW = 0.02  # the largest part of the entries that counts as few


def guess(got: Array, right: Array, known: Array, broadcast: bool) -> tuple[str, str]:
    """guess(got, right, known, broadcast): the culprit, a key of CULPRITS, and a sentence.

    All have the input's shape after the first dimension; `right` is right where `known`. `broadcast`: the input has fewer
    entries than the output.
    """
    if not np.any(got[known]):
        return "detached", "it is zero"
    nans = known & np.isnan(got) & np.isfinite(right)
    if nans[0].any():
        return "nan", (
            f"{int(nans[0].sum())} of {int(known[0].sum())} entries are NaN, at {_places(nans[0])}. If where() hides a branch "
            "that is not finite there, 0 * inf is NaN in its gradient; within autograd.safe_where() it is 0"
        )
    narrow = _narrower(got[known], right[known])
    if narrow is not None:
        return "dtype", f"its values are those of {narrow}"
    for tag, text, candidate, mask in _candidates(got, right, known):
        if _same(got, candidate, mask):
            return tag, text
    wrong = known & ~alike(got, right)
    if not wrong[0].any():
        wrong, known = wrong[1:], known[1:]
    count, of = int(wrong[0].sum()), int(known[0].sum())
    if of >= 4 and (count == 1 or count <= FEW * of):
        return "one entry", f"{count} of {of} entries are wrong, at {_places(wrong[0])}"
    where = "" if count == of else f" (at {_places(wrong[0])})"
    factor = _constant(got[-len(wrong) :], right[-len(wrong) :], wrong)
    if factor is not None:
        tag = "sign" if np.isclose(factor, -1) else "factor"
        return tag, f"where it is wrong it is {_number(factor)} times the right one{where}"
    if broadcast:
        return "broadcast not summed", "the input is broadcast, and its gradient is no sum over all that it was broadcast to"
    return "dropped term", f"{count} of {of} entries are wrong{where}, by no constant factor"


def _narrower(got: Array, right: Array) -> str | None:
    """The narrower type that all entries fit in, if they are near the right ones, which don't fit."""
    with np.errstate(all="ignore"):
        if got.size < 2 or not np.allclose(got, right, rtol=1e-2, atol=0.51):
            return None
        for name, fits in NARROW.items():
            if fits(got) and not fits(right):
                return name
    return None


def _fits(dtype: Any) -> Callable[[Array], bool]:
    return lambda a: bool((a.real.astype(dtype) == a.real).all() and (a.imag.astype(dtype) == a.imag).all())


NARROW: dict[str, Callable[[Array], bool]] = {
    "an integer type": lambda a: bool((np.round(a.real) == a.real).all() and (np.round(a.imag) == a.imag).all()),
    "float16": _fits(np.float16),
    "float32": _fits(np.float32),
}

Candidate = tuple[str, str, Any, Array]


def _candidates(got: Array, right: Array, known: Array) -> Iterator[Candidate]:
    """Mistakes: tag, sentence, the resulting gradient, and where it is known."""
    factor = _constant(got, right, known)
    if factor is not None:
        if np.isclose(factor, -1, rtol=1e-6):
            yield "sign", "it is minus the right one", -right, known
        yield "factor", f"it is {_number(factor)} times the right one", factor * right, known
    if right.dtype.kind == "c":
        factor = _constant(got, right.conj(), known)
        if factor is not None:
            times = "" if np.isclose(factor, 1) else f"{_number(factor)} times "
            yield "conj", f"it is {times}the complex conjugate of the right one", factor * right.conj(), known
    if right.ndim >= 3 and min(right.shape[-2:]) > 1:
        yield from _transposed(right, known)
    for axis in range(1, right.ndim):
        if right.shape[axis] >= 3 and np.ptp(np.abs(right[known])) > 0:
            yield from _shifted(right, known, axis)


def _transposed(right: Array, known: Array) -> Iterator[Candidate]:
    turned, mask = right.swapaxes(-1, -2), known.swapaxes(-1, -2)
    if turned.shape == right.shape:
        yield "transposed", "it is the right one, transposed", turned, mask
    else:
        text = "its entries are those of the right one, transposed"
        yield "transposed", text, turned.reshape(right.shape), mask.reshape(right.shape)


def _shifted(right: Array, known: Array, axis: int) -> Iterator[Candidate]:
    for step in (1, -1):
        shifted, mask = np.roll(right, step, axis), np.roll(known, step, axis)
        yield "shifted index", f"its entries are those of their neighbours along dimension {axis - 1}", shifted, mask
        inner = mask.copy()
        inner[(slice(None),) * axis + (slice(0, 1) if step > 0 else slice(-1, None),)] = False
        yield "shifted index", f"its entries are those of their neighbours along dimension {axis - 1}", shifted, inner
    text = f"it is the right one, reversed along dimension {axis - 1}"
    yield "shifted index", text, np.flip(right, axis), np.flip(known, axis)


def _same(got: Array, candidate: Array, mask: Array) -> bool:
    return bool(mask.any()) and bool(alike(got, candidate)[mask].all())


def alike(got: Array, right: Array) -> Array:
    """alike(got, right): where two gradients agree up to the error of finite differences."""
    with np.errstate(all="ignore"):
        size = np.abs(np.where(np.isfinite(right), right, 0.0)).max(initial=0.0)
        return np.asarray(np.abs(got - right) <= CLOSE * 0.01 * size + CLOSE * np.abs(right))


def _constant(got: Array, right: Array, mask: Array) -> Any:
    """The constant ratio of both where `mask` is true, or None."""
    largest = np.abs(right[mask]).max(initial=0.0)
    usable = mask & (np.abs(right) > 1e-9 * largest)
    if not usable.any() or np.any(np.abs(got[mask & ~usable]) > 1e-7 * largest):
        return None
    ratios = got[usable] / right[usable]
    ratio = ratios[0]
    if ratio == 0 or not np.isfinite(ratio) or not np.allclose(ratios, ratio, rtol=1e-6, atol=0):
        return None
    if np.iscomplexobj(ratio) and abs(ratio.imag) <= 1e-9 * abs(ratio):
        ratio = ratio.real
    return ratio


def _number(factor: Any) -> str:
    """A factor in common notation: 2, 1/3, 0.95."""
    if np.iscomplexobj(factor):
        return f"({factor.real:.6g}{factor.imag:+.6g}j)"
    for bottom in range(1, 65):
        top = factor * bottom
        if abs(top - round(top)) < 1e-6 and 1 <= abs(round(top)) <= 64:
            return f"{round(top)}" if bottom == 1 else f"{round(top)}/{bottom}"
    return f"{factor:.6g}"


def _places(wrong: Array, most: int = 3) -> str:
    places = ["()" if not wrong.ndim else str(tuple(int(i) for i in place)) for place in np.argwhere(wrong)[:most]]
    return ", ".join(places) + (", ..." if wrong.sum() > most else "")
