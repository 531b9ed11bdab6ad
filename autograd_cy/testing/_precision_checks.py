"""A check of gradients in single precision; it returns a Finding or None (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import array_of, from_array
from ..autograd.graph import saved_tensors_hooks
from ._differences import Array
from ._point import NotApplicable
from ._subject import Subject, apart, farthest, first_line
from ._verdict import Finding

SINGLE = float(np.finfo(np.float32).eps)
UNITS_OFF = 256  # allowed roundings of single precision, relative to the largest entry
SPREADS = 16  # allowed multiples of the rounding's largest effect on the double gradient
HUGE = 1e30  # larger gradients may overflow in single precision


def single_precision(subject: Subject) -> Finding | None:
    """In single precision the gradient equals the double one up to rounding.

    The tolerance is `UNITS_OFF` roundings plus the change of the double gradient if its inputs and all saved tensors are
    rounded.
    """
    point = subject.point
    if not point.takes_tensors:
        raise NotApplicable("a NumPy function chooses its precision")
    rounded = point.single()
    exact = [a.astype(x.dtype) for a, x in zip(rounded, point.arrays, strict=True)]
    reference = subject.pulled([a.copy() for a in exact])
    moved = [_rounded_gradients(subject, exact, seed) for seed in range(3)]
    try:
        run = subject.fresh([a.copy() for a in rounded])
    except Exception as error:  # it may have constants in double precision, which don't mix with single
        raise NotApplicable(f"it refuses single precision: {first_line(error)}") from None
    if any(y.dtype.char in "dD" for y in run.values()):
        raise NotApplicable("the function computes in double precision")
    found = run.pull([s.astype(y.dtype) for s, y in zip(subject.seeds, run.values(), strict=True)])
    for source, (single, double) in enumerate(zip(found, reference, strict=True)):
        if single is None or double is None:
            continue
        size = np.abs(double[np.isfinite(double)]).max(initial=0.0)
        allowed = UNITS_OFF * SINGLE * size + SPREADS * max(farthest(m[source], double) for m in moved)
        wide = single.astype(double.dtype)
        if size < HUGE and np.isfinite(allowed) and farthest(wide, double) > allowed:
            name = f"the gradient of {point.name(source)}"
            facts = f"{name} in single precision: {apart(wide, double)} in double (allowed are {allowed:.2g})."
            return Finding("single precision", "float32", facts)
    return None


def _rounded_gradients(subject: Subject, arrays: list[Array], seed: int) -> list[Array | None]:
    """The double gradients where inputs and saved tensors are off by a rounding of single precision."""
    rng = np.random.default_rng(seed)

    def rounded(a: Array) -> Array:
        return np.asarray(a * (1 + SINGLE * rng.choice([-1.0, 1.0], a.shape)))

    def pack(saved: Any) -> Any:
        return from_array(rounded(array_of(saved))) if saved.is_floating_point() or saved.is_complex() else saved

    with saved_tensors_hooks(pack, lambda saved: saved):
        run = subject.fresh([rounded(a) for a in arrays])
    return list(run.pull(subject.new_seeds()))
