"""Checks that gradients don't depend on memory layouts and share no memory; each returns a Finding or None (facade)."""

import numpy as np

from .._core.graph.tensor import array_of, from_array
from ..autograd import gradients
from ._layouts import LAYOUTS, lay_out
from ._point import NotApplicable, to_real
from ._subject import Claim, Subject, apart, near, overlap
from ._verdict import Finding


def layouts(subject: Subject) -> Finding | None:
    """Values and gradients don't depend on the layout of inputs."""
    point, refused = subject.point, []
    for layout in LAYOUTS[1:]:
        try:
            run = subject.fresh([lay_out(a, layout) for a in point.arrays])
            value = to_real(run.values())
        except Exception as error:  # a function may refuse a layout, as view() does
            refused.append(f"{layout} inputs raise {type(error).__name__}")
            continue
        if not near(value, point.value):
            facts = f"the value for {layout} inputs: {apart(value, point.value)} for contiguous ones."
            return Finding("layouts", "layout", facts)
        claim = Claim("layouts", "layout", f"for {layout} inputs", "for contiguous ones")
        finding = subject.compare(run.pull(subject.new_seeds()), claim)
        if finding is not None:
            return finding
    if len(refused) == len(LAYOUTS) - 1:
        raise NotApplicable(", ".join(refused))
    return None


def layouts_of_seeds(subject: Subject) -> Finding | None:
    """Gradients don't depend on the layout of incoming gradients."""
    subject.only_tensors("incoming gradient")
    for layout in LAYOUTS[1:]:
        claim = Claim("layouts of seeds", "layout", f"for a {layout} incoming gradient", "for a contiguous one")
        finding = subject.compare(subject.fresh().pull([lay_out(s, layout) for s in subject.seeds]), claim)
        if finding is not None:
            return finding
    ones = [np.ones_like(s) for s in subject.seeds]
    expanded = [np.broadcast_to(np.ones((), s.dtype), s.shape) for s in subject.seeds]
    claim = Claim("layouts of seeds", "layout", "for an expanded incoming gradient", "for a contiguous one")
    return subject.compare(subject.fresh().pull(expanded), claim, subject.fresh().pull(ones))


def shared_memory(subject: Subject) -> Finding | None:
    """No gradient shares memory with an input, none in `.grad` with anything else."""
    subject.only_tensors(".grad")
    arrays, names = [a.copy() for a in subject.point.arrays], [subject.point.name(i) for i in range(len(subject.point.arrays))]
    inputs = dict(zip(names, arrays, strict=True))
    for seeds in (subject.new_seeds(), [np.ones_like(s) for s in subject.seeds]):  # x times one may be x itself
        for name, g in zip(names, subject.fresh(arrays).pull(seeds), strict=True):
            other = _shares(g, inputs)
            if other:
                return Finding("shared memory", "shared memory", f"the gradient of {name} shares memory with {other}.")
    run, seeds = subject.fresh(arrays), subject.new_seeds()
    reached = [(y, from_array(s)) for y, s in zip(run.outputs, seeds, strict=True) if y.requires_grad]
    if reached:
        gradients.backward([y for y, _ in reached], [s for _, s in reached])
    given = {f"the incoming gradient of output {k}": s for k, s in enumerate(seeds)}
    found = {f".grad of {name}": array_of(x.grad) for name, x in zip(names, run.leaves, strict=True) if x.grad is not None}
    for name, g in found.items():
        other = _shares(g, inputs | given | {n: h for n, h in found.items() if n != name})
        if other:
            return Finding("shared memory", "shared memory", f"{name} shares memory with {other}.")
    return None


def _shares(g: np.ndarray | None, others: dict[str, np.ndarray]) -> str | None:
    """The name of another array that shares memory with a gradient."""
    return None if g is None else next((name for name, other in others.items() if overlap(g, other)), None)
