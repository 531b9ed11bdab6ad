"""What else a derivative must do: each a check that gives a Finding, or None if all is well (facade).

A check that has nothing to say raises NotApplicable.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.engine.basic_functions import UndefinedGrad
from .._core.graph.tensor import array_of, from_array
from ..autograd import gradients
from ..autograd.grad_mode import no_grad
from ..autograd.graph import saved_tensors_hooks
from ._compare import Probes, ShapeError, probe_backward, probe_forward
from ._culprit import explain_backward, explain_forward
from ._differences import EPSILON, Array
from ._layouts import LAYOUTS, lay_out
from ._point import NEARBY, NotApplicable, Point, Run, from_real, nearby, real_size, to_real
from ._verdict import Finding

NEAR = 1e-9  # how far the same computation in another order may be off, relative to the largest entry
SINGLE = float(np.finfo(np.float32).eps)
ROUNDINGS = 64  # of double precision: by how much a fused backward and its operations one by one may be apart
UNITS_OFF = 256  # roundings of single precision, relative to the largest entry, that are no mistake


class Subject:
    """A point with a seed for each output and the gradients that it gives: what most checks start from."""

    def __init__(self, point: Point, seed: int) -> None:
        self.point = point
        rng = np.random.default_rng(seed)
        size = real_size(point.outputs)
        self.seeds = from_real(rng.uniform(0.5, 1.5, size) * rng.choice([-1.0, 1.0], size), point.outputs)
        self.arrays = [a.copy() for a in point.arrays]
        self.run = point.run(self.arrays)
        self.gradients = self.run.pull([s.copy() for s in self.seeds])

    def fresh(self, arrays: Sequence[Array] | None = None, wanted: Sequence[bool] | None = None) -> Any:
        """subject.fresh(): another run, on arrays of its own."""
        return self.point.run([a.copy() for a in self.point.arrays] if arrays is None else arrays, wanted)

    @functools.cached_property
    def conditioning(self) -> list[float]:
        """By how much each gradient moves if the inputs do by a rounding error: cancellation makes it large."""
        moved = [self.fresh([nearby(a, k) for a in self.point.arrays]).pull([s.copy() for s in self.seeds]) for k in range(NEARBY)]
        return [max(_farthest(m[source], g) for m in moved) for source, g in enumerate(self.gradients)]

    def agrees(self, source: int, a: Array | None, b: Array | None, tolerance: float = NEAR) -> bool:
        """subject.agrees(source, a, b): whether two gradients of that input are equal, but for rounding."""
        return near(a, b, tolerance) or (a is not None and b is not None and _farthest(a, b) <= 20 * self.conditioning[source])

    def only_tensors(self, what: str) -> None:
        """subject.only_tensors(what): NotApplicable for a NumPy function."""
        if not self.point.takes_tensors:
            raise NotApplicable(f"a NumPy function has no {what}")


def same_bits(a: Array | None, b: Array | None) -> bool:
    """same_bits(a, b): whether two gradients are equal; nan equals nan, None a zero."""
    if a is None or b is None:
        other = b if a is None else a
        return other is None or not np.any(other)
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=True))


def near(a: Array | None, b: Array | None, tolerance: float = NEAR) -> bool:
    """near(a, b, tolerance): whether two gradients are equal but for rounding."""
    if a is None or b is None:
        other = b if a is None else a
        return other is None or not np.any(other)
    if a.shape != b.shape:
        return False
    size = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    return bool(np.allclose(a, b, rtol=tolerance, atol=tolerance * size, equal_nan=True))


def _farthest(a: Array | None, b: Array | None) -> float:
    """How far two gradients are apart; 0 for what is no number."""
    if a is None or b is None or a.shape != b.shape:
        return np.inf
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
    return float(apart[np.isfinite(apart)].max(initial=0.0)) if np.isfinite(a).all() == np.isfinite(b).all() else np.inf


def _named(subject: Subject, source: int) -> str:
    return f"the gradient of {subject.point.name(source)}"


def _apart(a: Array | None, b: Array | None) -> str:
    """The two entries that are furthest apart."""
    if a is None or b is None or a.shape != b.shape:
        return f"{'None' if a is None else f'shape {a.shape}'} against {'None' if b is None else f'shape {b.shape}'}"
    with np.errstate(all="ignore"):
        distance = np.abs(a - b)
    distance = np.where(np.isfinite(distance), distance, np.where(np.isnan(a) & np.isnan(b), 0.0, np.inf))
    k = np.unravel_index(int(np.argmax(distance)), a.shape) if a.size else ()
    place = f" at {tuple(int(i) for i in k)}" if a.ndim else ""
    return f"{a[k]:.10g} against {b[k]:.10g}{place}"


# -- what a gradient is ------------------------------------------------------------------------------------------------


def shape_of_gradients(subject: Subject) -> Finding | None:
    """Each gradient has its input's shape."""
    for source, (g, x) in enumerate(zip(subject.gradients, subject.point.arrays, strict=True)):
        if g is not None and g.shape != x.shape:
            culprit = "broadcast not summed" if g.size > x.size else "shape"
            return Finding("shape", culprit, f"{_named(subject, source)} has shape {g.shape}, its input {x.shape}.")
    return None


def dtype_of_gradients(subject: Subject) -> Finding | None:
    """Each gradient has its input's dtype: that of double precision and the one that was given."""
    for arrays in (subject.point.arrays, subject.point.given):
        kinds = {a.dtype for a in arrays}
        if arrays is subject.point.given and kinds == {a.dtype for a in subject.point.arrays}:
            continue
        run = subject.fresh([a.copy() for a in arrays])
        seeds = [np.ones_like(y) for y in run.values()]
        for source, (g, x) in enumerate(zip(run.pull(seeds), arrays, strict=True)):
            if g is not None and g.dtype != x.dtype:
                return Finding("dtype", "dtype", f"{_named(subject, source)} is of {g.dtype}, its input of {x.dtype}.")
    return None


def inputs_unchanged(subject: Subject) -> Finding | None:
    """Neither the function nor its backward writes to the inputs."""
    for source, (now, before) in enumerate(zip(subject.arrays, subject.point.arrays, strict=True)):
        if not same_bits(now, before):
            return Finding("inputs unchanged", "input changed", f"{subject.point.name(source)} was written to: {_apart(now, before)}.")
    return None


def seeds_unchanged(subject: Subject) -> Finding | None:
    """The backward doesn't write to the incoming gradients."""
    given = [s.copy() for s in subject.seeds]
    subject.fresh().pull(given)
    for k, (now, before) in enumerate(zip(given, subject.seeds, strict=True)):
        if not same_bits(now, before):
            return Finding("seeds unchanged", "seed changed", f"the incoming gradient of output {k} was written to: {_apart(now, before)}.")
    return None


def repeatable(subject: Subject) -> Finding | None:
    """The same backward again, the same call again, and one with another call in between give the same bits."""
    point = subject.point

    def interleaved() -> list[Array | None]:
        first = subject.fresh()
        subject.fresh([np.asarray(a * (1 + 1e-3)) for a in point.arrays])
        return list(first.pull([s.copy() for s in subject.seeds]))

    def after_one_that_is_not_recorded() -> list[Array | None]:
        first = subject.fresh()
        with no_grad():
            subject.fresh([np.asarray(a * (1 + 1e-3)) for a in point.arrays], [False] * len(point.arrays))
        return list(first.pull([s.copy() for s in subject.seeds]))

    ways: dict[str, Callable[[], list[Array | None]]] = {
        "a second backward through the same graph": lambda: subject.run.pull([s.copy() for s in subject.seeds]),
        "a second call": lambda: subject.fresh().pull([s.copy() for s in subject.seeds]),
        "a backward after another call of the function": interleaved,
        "a backward after a call under no_grad": after_one_that_is_not_recorded,
    }
    for way, again in ways.items():
        for source, (a, b) in enumerate(zip(again(), subject.gradients, strict=True)):
            if not same_bits(a, b):
                return Finding("repeatable", "not repeatable", f"{way} gives another gradient of {point.name(source)}: {_apart(a, b)}.")
    return None


def once_more(subject: Subject) -> Finding | None:
    """After all the other checks the gradients are still the same."""
    for source, (a, b) in enumerate(zip(subject.fresh().pull([s.copy() for s in subject.seeds]), subject.gradients, strict=True)):
        if not same_bits(a, b):
            facts = f"{_named(subject, source)} is another one now, after some calls: {_apart(a, b)} at first."
            return Finding("once more", "not repeatable", facts)
    return None


def create_graph(subject: Subject) -> Finding | None:
    """create_graph=True changes nothing of the gradients but their last bits: a fused backward rounds less often."""
    subject.only_tensors("create_graph")
    recorded = subject.fresh().pull([s.copy() for s in subject.seeds], create_graph=True)
    for source, (a, b) in enumerate(zip(recorded, subject.gradients, strict=True)):
        if not subject.agrees(source, a, b, ROUNDINGS * EPSILON):
            return Finding("create_graph", "recorded", f"{_named(subject, source)} with create_graph=True: {_apart(a, b)} without.")
    return None


def subsets(subject: Subject) -> Finding | None:
    """An input's gradient is the same if it is the only one that requires grad, or the only one that doesn't."""
    subject.only_tensors("requires_grad")
    n = len(subject.point.arrays)
    if n < 2:
        raise NotApplicable("there is one input")
    alone = [[i == k for i in range(n)] for k in range(n)]
    others = [[i != k for i in range(n)] for k in range(n)] if n > 2 else []
    for wanted in alone + others:
        found = subject.fresh(wanted=wanted).pull([s.copy() for s in subject.seeds])
        for source, (a, b) in enumerate(zip(found, subject.gradients, strict=True)):
            if wanted[source] and not same_bits(a, b):
                which = ", ".join(subject.point.name(i) for i in range(n) if wanted[i])
                facts = f"{_named(subject, source)} where only {which} requires grad: {_apart(a, b)} where all do."
                return Finding("subsets", "subset of inputs", facts)
    return None


def one_tensor_twice(subject: Subject) -> Finding | None:
    """A tensor that is given for two inputs gets the sum of both gradients."""
    subject.only_tensors("graph")
    arrays = subject.point.arrays
    pairs = [(i, j) for i in range(len(arrays)) for j in range(i) if arrays[i].shape == arrays[j].shape and arrays[i].dtype == arrays[j].dtype]
    if not pairs:
        raise NotApplicable("no two inputs have the same shape and dtype")
    for i, j in pairs:
        values = [a.copy() for a in arrays]
        values[i] = values[j].copy()
        apart = subject.fresh(values).pull(subject.seeds)
        leaves = [from_array(a.copy()).requires_grad_() for a in values]
        leaves[i] = leaves[j]
        run = Run(leaves, subject.point._call(leaves))
        if [array_of(y).shape for y in run.outputs] != [y.shape for y in subject.point.outputs]:
            continue
        together = run.pull(subject.seeds)[j]
        expected = sum((g for g in (apart[i], apart[j]) if g is not None), np.zeros_like(values[j]))
        if not near(together, expected):
            names = f"{subject.point.name(j)} and {subject.point.name(i)}"
            facts = f"one tensor for both {names} gets {_apart(together, expected)}, the sum of the gradients of two equal ones."
            return Finding("one tensor twice", "not repeatable", facts)
    return None


# -- memory and layouts ------------------------------------------------------------------------------------------------


def layouts(subject: Subject) -> Finding | None:
    """Values and gradients don't depend on how inputs lie in memory."""
    point, refused = subject.point, []
    for layout in LAYOUTS[1:]:
        try:
            run = subject.fresh([lay_out(a, layout) for a in point.arrays])
            value = to_real(run.values())
        except Exception as error:  # a function may refuse a layout, as view() does
            refused.append(f"{layout} inputs raise {type(error).__name__}")
            continue
        if not near(value, point.value):
            return Finding("layouts", "layout", f"the value for {layout} inputs: {_apart(value, point.value)} for contiguous ones.")
        for source, (a, b) in enumerate(zip(run.pull([s.copy() for s in subject.seeds]), subject.gradients, strict=True)):
            if not subject.agrees(source, a, b):
                return Finding("layouts", "layout", f"{_named(subject, source)} for {layout} inputs: {_apart(a, b)} for contiguous ones.")
    if len(refused) == len(LAYOUTS) - 1:
        raise NotApplicable(", ".join(refused))
    return None


def layouts_of_seeds(subject: Subject) -> Finding | None:
    """Gradients don't depend on how the incoming ones lie in memory."""
    subject.only_tensors("incoming gradient")
    for layout in LAYOUTS[1:]:
        found = subject.fresh().pull([lay_out(s, layout) for s in subject.seeds])
        for source, (a, b) in enumerate(zip(found, subject.gradients, strict=True)):
            if not subject.agrees(source, a, b):
                facts = f"{_named(subject, source)} for a {layout} incoming gradient: {_apart(a, b)} for a contiguous one."
                return Finding("layouts of seeds", "layout", facts)
    ones = [np.ones_like(s) for s in subject.seeds]
    expected = subject.fresh().pull(ones)
    found = subject.fresh().pull([np.broadcast_to(np.ones((), s.dtype), s.shape) for s in subject.seeds])
    for source, (a, b) in enumerate(zip(found, expected, strict=True)):
        if not near(a, b):
            facts = f"{_named(subject, source)} for an expanded incoming gradient: {_apart(a, b)} for a contiguous one."
            return Finding("layouts of seeds", "layout", facts)
    return None


def shared_memory(subject: Subject) -> Finding | None:
    """No gradient shares memory with an input, none in `.grad` with anything else."""
    subject.only_tensors(".grad")
    arrays, seeds = [a.copy() for a in subject.point.arrays], [s.copy() for s in subject.seeds]
    for given in (seeds, [np.ones_like(s) for s in seeds]):  # times one is the same
        for source, g in enumerate(subject.fresh(arrays).pull([s.copy() for s in given])):
            for other, x in enumerate(arrays):
                if g is not None and _overlap(g, x):
                    facts = f"{_named(subject, source)} shares memory with {subject.point.name(other)}."
                    return Finding("shared memory", "shared memory", facts)
    run = subject.fresh(arrays)
    reached = [(y, from_array(s)) for y, s in zip(run.outputs, seeds, strict=True) if y.requires_grad]
    if not reached:
        return None
    gradients.backward([y for y, _ in reached], [s for _, s in reached])
    found = [None if x.grad is None else array_of(x.grad) for x in run.leaves]
    others = {subject.point.name(i): x for i, x in enumerate(arrays)} | {f"the incoming gradient of output {k}": s for k, s in enumerate(seeds)}
    for source, g in enumerate(found):
        if g is None:
            continue
        named = others | {_named(subject, i): h for i, h in enumerate(found) if i != source and h is not None}
        for name, other in named.items():
            if _overlap(g, other):
                return Finding("shared memory", "shared memory", f".grad of {subject.point.name(source)} shares memory with {name}.")
    return None


def _overlap(a: Array, b: Array) -> bool:
    try:
        return bool(a.size and b.size and np.shares_memory(a, b, max_work=10_000))
    except np.exceptions.TooHardError:
        return bool(np.may_share_memory(a, b))


# -- precision -----------------------------------------------------------------------------------------------------------


def single_precision(subject: Subject) -> Finding | None:
    """In single precision the gradient is the double one but for rounding.

    How much that is: as many roundings as `UNITS_OFF`, and what the double gradient moves by if its inputs and all that is saved
    for it are rounded.
    """
    point = subject.point
    if not point.takes_tensors:
        raise NotApplicable("a NumPy function chooses its precision")
    rounded = point.single()
    exact = [a.astype(x.dtype) for a, x in zip(rounded, point.arrays, strict=True)]
    reference = subject.fresh([a.copy() for a in exact]).pull(subject.seeds)
    moved = [_spread(subject, exact, seed) for seed in range(3)]
    try:
        run = subject.fresh([a.copy() for a in rounded])
    except Exception as error:  # it may have constants in double precision, which don't mix with single
        raise NotApplicable(f"it refuses single precision: {_first_line(error)}") from None
    if any(array_of(y).dtype.char in "dD" for y in run.outputs):
        raise NotApplicable("the function computes in double precision")
    found = run.pull([s.astype(array_of(y).dtype) for s, y in zip(subject.seeds, run.outputs, strict=True)])
    for source, (a, b) in enumerate(zip(found, reference, strict=True)):
        if a is None or b is None:
            continue
        size = np.abs(b[np.isfinite(b)]).max(initial=0.0)
        spread = max((float(np.abs(m[source] - b)[np.isfinite(b)].max(initial=0.0)) for m in moved if m[source] is not None), default=0.0)
        if not np.isfinite(spread) or size > 1e30 or not np.isfinite(a).all() <= np.isfinite(b).all():
            continue
        with np.errstate(all="ignore"):
            off = np.abs(a.astype(b.dtype) - b)[np.isfinite(b)]
        allowed = UNITS_OFF * SINGLE * size + 16 * spread
        if off.max(initial=0.0) > allowed:
            facts = f"{_named(subject, source)} in single precision: {_apart(a.astype(b.dtype), b)} in double (allowed are {allowed:.2g})."
            return Finding("float32", "float32", facts)
    return None


def _spread(subject: Subject, arrays: list[Array], seed: int) -> list[Array | None]:
    """The double gradient where inputs and saved tensors are off by a rounding of single precision."""
    rng = np.random.default_rng(seed)

    def rounded(a: Array) -> Array:
        return np.asarray(a * (1 + SINGLE * rng.choice([-1.0, 1.0], a.shape)))

    def pack(saved: Any) -> Any:
        return from_array(rounded(array_of(saved))) if saved.is_floating_point() or saved.is_complex() else saved

    with saved_tensors_hooks(pack, lambda saved: saved):
        run = subject.fresh([rounded(a) for a in arrays])
    return list(run.pull(subject.seeds))


# -- unusual incoming gradients ----------------------------------------------------------------------------------------


def zero_seeds(subject: Subject) -> Finding | None:
    """Zero incoming gradients give zero ones; missing ones of some outputs count as zero."""
    point = subject.point
    zeros = [np.zeros_like(s) for s in subject.seeds]
    for source, g in enumerate(subject.fresh().pull(zeros)):
        if g is not None and np.any(g[np.isfinite(g)]):
            return Finding("zero seeds", "undefined", f"{_named(subject, source)} is not zero, though the incoming ones are.")
    if not point.takes_tensors:
        return None
    for missing in range(len(zeros)):
        if len(zeros) < 2:
            break
        given: list[Array | None] = [None if k == missing else s for k, s in enumerate(subject.seeds)]
        filled = [zeros[k] if k == missing else s for k, s in enumerate(subject.seeds)]
        for source, (a, b) in enumerate(zip(subject.fresh().pull(given), subject.fresh().pull(filled), strict=True)):
            if not subject.agrees(source, a, b):
                facts = f"{_named(subject, source)} without an incoming gradient of output {missing}: {_apart(a, b)} with zeros for it."
                return Finding("zero seeds", "undefined", facts)
    run = subject.fresh()
    roots = [UndefinedGrad()(y) for y in run.outputs if y.requires_grad]
    seeds = [from_array(np.zeros_like(array_of(y))) for y in roots]
    if roots:
        found = gradients.grad(roots, [x for x in run.leaves if x.requires_grad], seeds, allow_unused=True)
        if any(g is not None and np.any(array_of(g)) for g in found):  # type: ignore[redundant-expr]
            return Finding("zero seeds", "undefined", "a gradient is not zero, though all incoming ones are undefined.")
    return None


def batched(subject: Subject) -> Finding | None:
    """is_grads_batched=True gives what one call for each incoming gradient gives."""
    subject.only_tensors("batches")
    rng = np.random.default_rng(5)
    run = subject.fresh()
    reached = [k for k, y in enumerate(run.outputs) if y.requires_grad]
    if not reached:
        raise NotApplicable("no output requires grad")
    several = [[from_real(rng.standard_normal(real_size([y])), [y])[0] for y in subject.point.outputs] for _ in range(2)]
    single = [run.pull([s if k in reached else None for k, s in enumerate(seeds)]) for seeds in several]
    stacked = [from_array(np.stack([seeds[k] for seeds in several])) for k in reached]
    try:
        found = gradients.grad(
            [run.outputs[k] for k in reached], run.leaves, stacked, retain_graph=True, allow_unused=True, is_grads_batched=True
        )
    except (RuntimeError, NotImplementedError) as error:
        if "vmap" in str(error):
            raise NotApplicable(f"it can't be batched: {_first_line(error)}") from None
        raise
    for source, got in enumerate(found):
        rows = [g[source] for g in single]
        expected = None if rows[0] is None else np.stack([np.zeros_like(rows[0]) if r is None else r for r in rows])
        a = None if got is None else array_of(got)  # type: ignore[redundant-expr]
        if not subject.agrees(source, a, expected, 1e-7):
            return Finding("batched", "batched", f"{_named(subject, source)} for two incoming ones at once: {_apart(a, expected)} one by one.")
    return None


def mapped(subject: Subject) -> Finding | None:
    """The function within vmap, and its gradient there, are those of each sample alone: along any dimension, of any inputs."""
    subject.only_tensors("batches")
    from ..func import vmap

    point = subject.point
    n, count = len(point.arrays), _batch_size(point.arrays)
    refusal = ""
    for dims in [(0,) * n, (-1,) * n] + [tuple(0 if i == k else None for i in range(n)) for k in range(n) if n > 1]:
        samples = [[a if d is None else np.asarray(a * (1 + 1e-2 * k)) for a, d in zip(point.arrays, dims, strict=True)] for k in range(count)]
        leaves = [from_array(parts[0].copy() if d is None else np.stack(parts, d)) for parts, d in zip(zip(*samples, strict=True), dims, strict=True)]
        leaves = [leaf.requires_grad_() for leaf in leaves]
        try:
            run = Run(leaves, list(vmap(lambda *xs: tuple(point._call(xs)), dims)(*leaves)))
        except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:  # not all functions are functions of batches
            refusal = _first_line(error)
            continue
        found = run.pull([np.stack([s] * count) for s in subject.seeds])
        expected: list[Any] = [0.0 if d is None else [] for d in dims]
        for k, arrays in enumerate(samples):
            alone = subject.fresh([a.copy() for a in arrays])
            value, right = to_real([y[k] for y in run.values()]), to_real(alone.values())
            if not near(value, right, 1e-7):
                return Finding("vmap", "batched", f"the value of sample {k} within vmap: {_apart(value, right)} alone.")
            for i, g in enumerate(alone.pull([s.copy() for s in subject.seeds])):
                g = np.zeros_like(arrays[i]) if g is None else g
                expected[i] = expected[i] + g if dims[i] is None else [*expected[i], g]
        for source, (g, d) in enumerate(zip(found, dims, strict=True)):
            b = expected[source] if d is None else np.stack(expected[source], d)
            if not subject.agrees(source, g, b, 1e-7):
                return Finding("vmap", "batched", f"{_named(subject, source)} within vmap (in_dims={dims}): {_apart(g, b)} alone.")
    if refusal:
        raise NotApplicable(f"it can't be mapped: {refusal}")
    return None


def _batch_size(arrays: list[Array]) -> int:
    """How many samples: as many as a dimension has, where a mistake of dimensions hides best."""
    sizes = [n for a in arrays for n in a.shape if 2 <= n <= 4]
    return sizes[0] if sizes else 2


def batched_tangents(subject: Subject) -> Finding | None:
    """Forward mode within vmap gives what one evaluation for each tangent gives."""
    subject.only_tensors("batches")
    from ..func import vmap

    rng, point = np.random.default_rng(6), subject.point
    several = [from_real(rng.standard_normal(real_size(point.arrays)), point.arrays) for _ in range(2)]
    single = np.stack([point.push(tangents) for tangents in several])
    shapes = [y.shape for y in point.outputs]
    stacked = [from_array(np.stack(parts)) for parts in zip(*several, strict=True)]
    try:
        found = vmap(point.push_tensors)(*stacked)
    except (RuntimeError, NotImplementedError) as error:
        if "vmap" in str(error):
            raise NotApplicable(f"it can't be batched: {_first_line(error)}") from None
        raise
    for k in range(2):
        got = to_real([array_of(t)[k].reshape(shape) for t, shape in zip(found, shapes, strict=True)])
        if not near(got, single[k], 1e-7):
            return Finding("batched tangents", "batched", f"tangents for two directions at once: {_apart(got, single[k])} one by one.")
    return None


# -- second order --------------------------------------------------------------------------------------------------------


def second_order(subject: Subject, seed: int = 0) -> tuple[Finding | None, int]:
    """The gradient of the gradient against differences of the gradient along random directions; and the digits that agree."""
    try:
        second = subject.point.gradient_point(subject.seeds)
        probes = Probes(second, 2, seed)
        comparison = probe_backward(probes)
    except ShapeError as error:
        return Finding("second order", "second order", f"a second gradient has shape {error.got}, its input {error.expected}."), 0
    finding = explain_backward(second, comparison, probes, None)
    if finding is not None:
        return Finding("second order", "second order", finding.facts.replace("the output", "the gradient")), 0
    return None, comparison.digits if comparison.known else 16


def forward_over_reverse(subject: Subject, seed: int = 0) -> Finding | None:
    """The tangent of the gradient, against differences of it."""
    probes = Probes(subject.point.gradient_point(subject.seeds), 1, seed)
    comparison = probe_forward(probes)
    finding = explain_forward(probes.point, comparison, probes)
    return finding and Finding("forward over reverse", "second order", finding.facts)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]
