"""Checks that batched derivatives equal each sample's; each returns a Finding or None (facade)."""

from typing import Any

import numpy as np

from .._core.graph.tensor import array_of, from_array
from ..autograd import gradients
from ..func import vmap
from ._differences import Array
from ._point import NotApplicable, Run, from_real, real_size, to_real
from ._subject import Claim, Subject, apart, first_line, near
from ._verdict import Finding

BATCHED = 1e-7  # what a kernel for batches may be off
REFUSALS = (RuntimeError, NotImplementedError, TypeError, ValueError)  # not all functions of tensors are functions of batches
Dims = tuple[int | None, ...]


def batched(subject: Subject) -> Finding | None:
    """is_grads_batched=True gives the same as one call for each incoming gradient."""
    subject.only_tensors("batches")
    rng, outputs, run = np.random.default_rng(5), subject.point.outputs, subject.fresh()
    reached = [k for k, y in enumerate(run.outputs) if y.requires_grad]
    if not reached:
        raise NotApplicable("no output requires grad")
    several = [from_real(rng.standard_normal(real_size(outputs)), outputs) for _ in range(2)]
    single = [run.pull([s if k in reached else None for k, s in enumerate(seeds)]) for seeds in several]
    stacked = [from_array(np.stack([seeds[k] for seeds in several])) for k in reached]
    roots = [run.outputs[k] for k in reached]
    try:
        found = gradients.grad(roots, run.leaves, stacked, retain_graph=True, allow_unused=True, is_grads_batched=True)
    except (RuntimeError, NotImplementedError) as error:
        raise _refused(error) from None
    claim = Claim("batched", "batched", "for two incoming ones at once", "one by one")
    arrays = [None if g is None else array_of(g) for g in found]  # type: ignore[redundant-expr]
    return subject.compare(arrays, claim, [_stacked(rows, 0) for rows in zip(*single, strict=True)], BATCHED)


def _refused(error: Exception) -> Exception:
    """The error to raise for an error within vmap: NotApplicable if it is vmap's own."""
    return NotApplicable(f"it can't be batched: {first_line(error)}") if "vmap" in str(error) else error


def _stacked(rows: Any, dim: int) -> Array | None:
    """Gradients of several samples as one array; None if none of them has one."""
    some = next((g for g in rows if g is not None), None)
    return None if some is None else np.stack([np.zeros_like(some) if g is None else g for g in rows], dim)


def mapped(subject: Subject) -> Finding | None:
    """Within vmap, along any dimension of any inputs, the function and its gradient equal each sample's alone."""
    subject.only_tensors("batches")
    n = len(subject.point.arrays)
    refusal = ""
    for dims in [(0,) * n, (-1,) * n] + [tuple(0 if i == k else None for i in range(n)) for k in range(n) if n > 1]:
        try:
            finding = _mapped_along(subject, dims)
        except NotApplicable as error:
            refusal = str(error)
            continue
        if finding is not None:
            return finding
    if refusal:
        raise NotApplicable(refusal)
    return None


def _mapped_along(subject: Subject, dims: Dims) -> Finding | None:
    """The same for samples along these dimensions; None is for an input that all of them share."""
    point, count = subject.point, _batch_size(subject.point.arrays)
    inputs = list(zip(point.arrays, dims, strict=True))
    samples = [[a if d is None else np.asarray(a * (1 + 1e-2 * k)) for a, d in inputs] for k in range(count)]
    rows = zip(zip(*samples, strict=True), dims, strict=True)
    leaves = [from_array(row[0].copy() if d is None else np.stack(row, d)).requires_grad_() for row, d in rows]
    try:
        run = Run(leaves, list(vmap(lambda *xs: tuple(point.call(xs)), dims)(*leaves)))
    except REFUSALS as error:
        raise NotApplicable(f"it can't be mapped: {first_line(error)}") from None
    alone = [subject.fresh([a.copy() for a in arrays]) for arrays in samples]
    for k, sample in enumerate(alone):
        value, right = to_real([y[k] for y in run.values()]), to_real(sample.values())
        if not near(value, right, BATCHED):
            return Finding("vmap", "batched", f"the value of sample {k} within vmap: {apart(value, right)} alone.")
    found = run.pull([np.stack([s] * count) for s in subject.seeds])
    gradients_alone = zip(*[sample.pull(subject.new_seeds()) for sample in alone], strict=True)
    expected = [_stacked(gs, 0 if d is None else d) for gs, d in zip(gradients_alone, dims, strict=True)]
    expected = [g.sum(0) if d is None and g is not None else g for g, d in zip(expected, dims, strict=True)]
    return subject.compare(found, Claim("vmap", "batched", f"within vmap (in_dims={dims})", "alone"), expected, BATCHED)


def _batch_size(arrays: list[Array]) -> int:
    """The number of samples: the size of some dimension, so that mixed-up dimensions are hardest to notice."""
    sizes = [n for a in arrays for n in a.shape if 2 <= n <= 4]
    return sizes[0] if sizes else 2


def batched_tangents(subject: Subject) -> Finding | None:
    """Forward mode within vmap gives the same as one evaluation for each tangent."""
    subject.only_tensors("batches")
    rng, point = np.random.default_rng(6), subject.point
    several = [from_real(rng.standard_normal(real_size(point.arrays)), point.arrays) for _ in range(2)]
    single = [point.push(tangents) for tangents in several]
    stacked = [from_array(np.stack(parts)) for parts in zip(*several, strict=True)]
    try:
        found = vmap(point.push_tensors)(*stacked)
    except (RuntimeError, NotImplementedError) as error:
        raise _refused(error) from None
    for k in range(2):
        got = to_real([array_of(t)[k] for t in found])
        if not near(got, single[k], BATCHED):
            facts = f"tangents for two directions at once: {apart(got, single[k])} one by one."
            return Finding("batched tangents", "batched", facts)
    return None
