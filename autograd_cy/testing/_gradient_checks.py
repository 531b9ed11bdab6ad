"""Checks of properties of gradients; each returns a Finding, or None if all is well (facade).

A check that does not apply raises NotApplicable.
"""

from collections.abc import Callable

import numpy as np

from .._core.engine.functions import UndefinedGrad
from .._core.graph.tensor import array_of, from_array
from ..autograd import gradients
from ..autograd.grad_mode import no_grad
from ._differences import EPSILON, Array
from ._point import NotApplicable, Run
from ._subject import EXACT, Claim, Subject, apart, same_bits
from ._verdict import Finding

ROUNDINGS = 64  # the allowed difference between a fused backward and its single operations


def shape_of_gradients(subject: Subject) -> Finding | None:
    """Each gradient has its input's shape."""
    for source, (g, x) in enumerate(zip(subject.gradients, subject.point.arrays, strict=True)):
        if g is not None and g.shape != x.shape:
            culprit = "broadcast not summed" if g.size > x.size else "shape"
            facts = f"the gradient of {subject.point.name(source)} has shape {g.shape}, its input {x.shape}."
            return Finding("shape", culprit, facts)
    return None


def dtype_of_gradients(subject: Subject) -> Finding | None:
    """Each gradient has its input's dtype, for the given dtype and for double precision."""
    point = subject.point
    given = [point.given] if {a.dtype for a in point.given} != {a.dtype for a in point.arrays} else []
    for arrays in [point.arrays, *given]:
        run = subject.fresh([a.copy() for a in arrays])
        for source, (g, x) in enumerate(zip(run.pull([np.ones_like(y) for y in run.values()]), arrays, strict=True)):
            if g is not None and g.dtype != x.dtype:
                facts = f"the gradient of {point.name(source)} is of {g.dtype}, its input of {x.dtype}."
                return Finding("dtype", "dtype", facts)
    return None


def inputs_unchanged(subject: Subject) -> Finding | None:
    """Neither the function nor its backward writes to the inputs."""
    for source, (now, before) in enumerate(zip(subject.arrays, subject.point.arrays, strict=True)):
        if not same_bits(now, before):
            facts = f"{subject.point.name(source)} was written to: {apart(now, before)}."
            return Finding("inputs unchanged", "input changed", facts)
    return None


def seeds_unchanged(subject: Subject) -> Finding | None:
    """The backward doesn't write to the incoming gradients."""
    given = subject.new_seeds()
    subject.fresh().pull(given)
    for k, (now, before) in enumerate(zip(given, subject.seeds, strict=True)):
        if not same_bits(now, before):
            facts = f"the incoming gradient of output {k} was written to: {apart(now, before)}."
            return Finding("seeds unchanged", "seed changed", facts)
    return None


def repeatable(subject: Subject) -> Finding | None:
    """Repeating the backward, the call, or the call with others in between gives the same bits."""
    others = [np.asarray(a * (1 + 1e-3)) for a in subject.point.arrays]

    def interleaved(recorded: bool) -> list[Array | None]:
        first = subject.fresh()
        if recorded:
            subject.fresh(others)
        else:
            with no_grad():
                subject.fresh(others, [False] * len(others))
        return list(first.pull(subject.new_seeds()))

    ways: dict[str, Callable[[], list[Array | None]]] = {
        "by a second backward through the same graph": lambda: subject.run.pull(subject.new_seeds()),
        "by a second call": subject.pulled,
        "by a backward after another call of the function": lambda: interleaved(True),
        "by a backward after a call under no_grad": lambda: interleaved(False),
    }
    for way, again in ways.items():
        finding = subject.compare(again(), Claim("repeatable", "not repeatable", way, "at first"), tolerance=EXACT)
        if finding is not None:
            return finding
    return None


def once_more(subject: Subject) -> Finding | None:
    """After all the other checks the gradients are still the same."""
    claim = Claim("once more", "not repeatable", "after some more calls", "at first")
    return subject.compare(subject.pulled(), claim, tolerance=EXACT)


def create_graph(subject: Subject) -> Finding | None:
    """create_graph=True changes only the last bits of gradients, because a fused backward rounds less often."""
    subject.only_tensors("create_graph")
    recorded = subject.fresh().pull(subject.new_seeds(), create_graph=True)
    claim = Claim("create_graph", "recorded", "with create_graph=True", "without")
    return subject.compare(recorded, claim, tolerance=ROUNDINGS * EPSILON)


def subsets(subject: Subject) -> Finding | None:
    """An input's gradient is the same if it is the only one that requires grad, or the only one that doesn't."""
    subject.only_tensors("requires_grad")
    n = len(subject.point.arrays)
    if n < 2:
        raise NotApplicable("there is one input")
    alone = [[i == k for i in range(n)] for k in range(n)]
    others = [[i != k for i in range(n)] for k in range(n)] if n > 2 else []
    for wanted in alone + others:
        found = subject.fresh(wanted=wanted).pull(subject.new_seeds())
        shown = [g if w else expected for g, w, expected in zip(found, wanted, subject.gradients, strict=True)]
        which = ", ".join(subject.point.name(i) for i in range(n) if wanted[i])
        claim = Claim("subsets", "subset of inputs", f"where only {which} requires grad", "where all do")
        finding = subject.compare(shown, claim, tolerance=EXACT)
        if finding is not None:
            return finding
    return None


def one_tensor_twice(subject: Subject) -> Finding | None:
    """A tensor that is given for two inputs gets the sum of both gradients."""
    subject.only_tensors("graph")
    point, arrays = subject.point, subject.point.arrays
    kinds = [(a.shape, a.dtype) for a in arrays]
    pairs = [(i, j) for i in range(len(arrays)) for j in range(i) if kinds[i] == kinds[j]]
    if not pairs:
        raise NotApplicable("no two inputs have the same shape and dtype")
    for i, j in pairs:
        values = [arrays[j] if k == i else a for k, a in enumerate(arrays)]
        expected = subject.pulled([a.copy() for a in values])
        leaves = [from_array(a.copy()).requires_grad_() for a in values]
        leaves[i] = leaves[j]
        run = Run(leaves, point.call(leaves))
        if [y.shape for y in run.values()] != [y.shape for y in point.outputs]:
            continue
        expected[j] = sum((g for g in (expected[i], expected[j]) if g is not None), np.zeros_like(arrays[j]))
        found = [g if k == j else expected[k] for k, g in enumerate(run.pull(subject.new_seeds()))]
        here = f"where {point.name(j)} and {point.name(i)} are one tensor"
        claim = Claim("one tensor twice", "not repeatable", here, "as the sum for two that are equal")
        finding = subject.compare(found, claim, expected)
        if finding is not None:
            return finding
    return None


def zero_seeds(subject: Subject) -> Finding | None:
    """Zero incoming gradients give zero gradients; missing ones count as zero, for some outputs or for all."""
    zeros = [np.zeros_like(s) for s in subject.seeds]
    for source, g in enumerate(subject.fresh().pull(zeros)):
        if g is not None and np.any(g[np.isfinite(g)]):
            facts = f"the gradient of {subject.point.name(source)} is not zero, though the incoming ones are."
            return Finding("zero seeds", "undefined", facts)
    if not subject.point.takes_tensors:
        return None
    for missing in range(len(zeros)) if len(zeros) > 1 else ():
        given = [None if k == missing else s for k, s in enumerate(subject.new_seeds())]
        filled = [zeros[k] if k == missing else s for k, s in enumerate(subject.new_seeds())]
        claim = Claim("zero seeds", "undefined", f"without an incoming gradient of output {missing}", "with zeros for it")
        finding = subject.compare(subject.fresh().pull(given), claim, subject.fresh().pull(filled))
        if finding is not None:
            return finding
    run = subject.fresh()
    roots = [UndefinedGrad()(y) for y in run.outputs if y.requires_grad]
    seeds = [from_array(np.zeros_like(array_of(y))) for y in roots]
    found = gradients.grad(roots, [x for x in run.leaves if x.requires_grad], seeds, allow_unused=True) if roots else ()
    if any(g is not None and np.any(array_of(g)) for g in found):  # type: ignore[redundant-expr]
        return Finding("zero seeds", "undefined", "a gradient is not zero, though all incoming ones are undefined.")
    return None
