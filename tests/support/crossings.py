"""Small arrays take the ways of large ones: a program around one function, under any thresholds, layouts and consumers.

A subject is an operation or a layer with its arguments. A Combination says how a gradient comes to it and what else uses its
inputs. The results are compared with those of the plain way: all arrays in C order, no threshold reached, one thread.
"""

import contextlib
import itertools
import os
import random
from dataclasses import dataclass, fields

import numpy as np
from op_calls import assert_unwritten

import autograd_cy as ag
from autograd_cy._core.arrays.dtypes import kind_of
from autograd_cy._core.parallel.threads import TABLE, set_kernel_threads, set_threshold

# by the type's letter, of the largest element
NEAR = {"e": 1e-2, "E": 8e-2, "f": 5e-5, "d": 1e-10, "g": 1e-13, "F": 5e-5, "D": 1e-10}
# Numbers of that size are left of a singular matrix: rounding errors, divided by others. BLAS's are not those of our products.
LOST = {"e": 1e6, "E": 1e5, "f": 7e13, "d": 2e31, "g": 1e37, "F": 7e13, "D": 2e31}

# thresholds

MOST = {name: most for name, _, most in TABLE}
PLAIN = dict.fromkeys(MOST) | {"spare_bytes": 1, "shared_run": 64}  # None: as high as it may be
IN_BYTES = ("large_bytes", "spare_bytes")


def levels_of(name: str, elements: int, itemsize: int) -> list:
    """From where on every size is large, just not above the largest array and just above it, and where none is."""
    unit = itemsize if name in IN_BYTES else 1
    return [1, min(elements * unit, MOST[name]) or 1, min(elements * unit + 1, MOST[name]), None]


@contextlib.contextmanager
def thresholds(values: dict):
    """Set them, and set them back."""
    before = {name: set_threshold(name, value) for name, value in values.items()}
    try:
        yield
    finally:
        for name, value in before.items():
            set_threshold(name, value)


@contextlib.contextmanager
def kernel_threads(n: int):
    """So many threads. What was found out about what they bring is forgotten, or loops would soon run alone."""
    before = ag.get_num_threads()
    set_kernel_threads(n)
    try:
        yield
    finally:
        set_kernel_threads(before)


# layouts


def in_order(array):
    return array.copy()


def transposed(array):
    return array.T.copy().T


def permuted(array):
    """The last dimension lies outermost, the others in order."""
    return np.moveaxis(np.moveaxis(array, -1, 0).copy(), 0, -1) if array.ndim else array.copy()


def sliced(array):
    room = np.full([2 * n for n in array.shape], 77, array.dtype)
    view = room[(slice(None, None, 2),) * array.ndim + (...,)]
    view[...] = array
    return view


def backwards(array):
    reverse = (slice(None, None, -1),) * array.ndim + (...,)
    return array[reverse].copy()[reverse]


def expanded(array):
    return np.broadcast_to(array[:1].copy(), array.shape) if array.ndim else array.copy()


def unaligned(array):
    view = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


LAYOUTS = (in_order, transposed, permuted, sliced, backwards, expanded, unaligned)
# Of matrices with equal rows derivatives of these are one rounding error divided by another.
OF_FULL_RANK = {"qr", "linalg.qr", "svd", "linalg.svd"}


def layouts_for(name: str) -> tuple:
    """The layouts of the inputs of an operation."""
    return tuple(layout for layout in LAYOUTS if layout is not expanded or name not in OF_FULL_RANK)


# combinations


@dataclass(frozen=True)
class Combination:
    """How one operation is run."""

    inputs: object = in_order  # layouts
    incoming_layout: object = in_order
    incoming: str = "seed"  # how its gradient comes: as the user's array, ...
    consumer: str = "none"  # what else uses its inputs
    other_layout: object = in_order  # of what that multiplies with
    target: str = "leaf"  # what its inputs are
    grad: object = None  # the layout of the leaf's `.grad` before, if there is one
    watch: str = "nobody"  # who keeps the gradients of its inputs
    mode: str = "backward"
    threads: int = 1

    def plain(self):
        """What decides about the values."""
        return (
            self.inputs is expanded,
            self.incoming_layout is expanded,
            self.incoming,
            self.consumer,
            self.other_layout is expanded,
            self.target,
            self.grad and self.grad is expanded,
            self.watch,
            self.mode,
        )

    def __str__(self):
        values = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in values)


LEVELS = {
    "inputs": LAYOUTS,
    "incoming_layout": LAYOUTS,
    "incoming": ("seed", "computed", "twice", "summed"),
    "consumer": ("none", "before", "after", "sum after", "part after", "itself"),
    "other_layout": LAYOUTS,
    "target": ("leaf", "leaf", "clone", "view", "written", "part written"),
    "grad": (None, None, in_order, transposed, backwards, expanded),
    "watch": ("nobody", "nobody", "hook", "retain_grad"),
    "mode": ("backward", "retain", "grad", "create"),
    "threads": (1, 2),
}


def drawn_thresholds(rng: random.Random, elements: int, itemsize: int) -> dict:
    """All low, all at the size, or each anyhow."""
    choice = rng.randrange(4)
    levels = {name: levels_of(name, elements, itemsize) for name in MOST}
    return {name: of[choice] if choice < 2 else rng.choice(of) for name, of in levels.items()}


WANTED = os.environ.get("AUTOGRAD_CY_CROSSINGS", "2")  # so many of each, drawn at random; or "full"


def rng_of(name: str) -> random.Random:
    """For one subject; AUTOGRAD_CY_SEED draws otherwise."""
    return random.Random(os.environ.get("AUTOGRAD_CY_SEED", "") + name)


def wanted(rng: random.Random, levels: dict, fixed: tuple[str, ...], few: int = 2) -> list[dict]:
    """What is tried of one subject: some combinations of levels, by name; in full, all of the fixed levels, others drawn."""
    if WANTED == "full":
        chosen = [dict(zip(fixed, of, strict=True)) for of in itertools.product(*[levels[name] for name in fixed])]
    else:
        chosen = [{} for _ in range(-(-few * int(WANTED) // 2))]
    return [{name: rng.choice(of) for name, of in levels.items()} | given for given in chosen]


def combinations(rng: random.Random, few: int = 2, inputs: tuple = LAYOUTS) -> list:
    levels = LEVELS | {"inputs": inputs}
    return [Combination(**chosen) for chosen in wanted(rng, levels, ("inputs", "incoming_layout", "consumer"), few)]


# programs


class Program:
    """One run. `held`: the arrays that the user has, and what was in them."""

    def __init__(self, subject, combination: Combination, is_plain: bool):
        self.how, self.is_plain, self.held, self.seen, self._salt = combination, is_plain, [], [], 0
        inputs = combination.inputs if subject.strided else in_order
        self.call = subject.call(lambda a: self._arranged(a, inputs))

    def _arranged(self, array, layout):
        array = np.array(layout(array), order="C") if self.is_plain else layout(array)
        self.held.append((array, array.copy()))
        return array

    def _constant(self, like, layout, low=-1.0):
        """A tensor of some shape, with values of its own."""
        self._salt += 1
        rng = np.random.default_rng(self._salt)
        dtype = like.numpy(force=True).dtype
        values = rng.uniform(low, 1, tuple(like.shape))
        if kind_of(dtype) == "c":
            values = values + 1j * rng.uniform(-1, 1, values.shape)
        return ag.from_numpy(self._arranged(np.asarray(values).astype(dtype), layout))

    def run(self) -> list[np.ndarray]:
        """The gradients; an AssertionError if the user's arrays, or what was computed before, changed."""
        how, leaves = self.how, self.call.leaves()
        for leaf in leaves if how.grad else ():
            leaf.grad = self._constant(leaf, how.grad)
            self.held.pop()  # it is added to in place
        inputs = [self._target(leaf) for leaf in leaves]
        for k, x in enumerate(inputs):
            self._watch(k, x)
        roots, seeds, outputs = [], [], []
        if how.consumer == "before":
            self._consume(inputs, roots)
        outputs += self.call.function(*inputs)
        if how.consumer == "itself":
            outputs += self.call.function(*inputs)
        elif how.consumer.endswith("after"):
            self._consume(inputs, roots)
        roots += [z for y in outputs for z in self._followed(y)]
        roots = [z for z in roots if z.requires_grad]
        seeds = [self._constant(z, how.incoming_layout) for z in roots]
        before = [(y, y.numpy(force=True).copy()) for y in [*inputs, *outputs, *roots]]
        results = self._gradients(leaves, roots, seeds)
        for y, copy in before:
            assert_unwritten(y.numpy(force=True), copy, "a result")
        for array, copy in self.held:
            assert_unwritten(array, copy, "an array of the user's")
        self.seen.sort(key=lambda item: item[0])  # which leaf comes first may depend on its layout
        for _, g, copy in self.seen:
            assert_unwritten(g.numpy(force=True), copy, "a gradient that a hook keeps")
        self._check_memory(leaves)
        if self.how.watch == "retain_grad":
            results += [x.grad.numpy(force=True) for x in inputs if x.grad is not None]
        return results + [copy for _, _, copy in self.seen]

    def _watch(self, k, x):
        if self.how.watch == "retain_grad":
            x.retain_grad()
        elif self.how.watch == "hook":
            x.register_hook(lambda g: self.seen.append((k, g, g.numpy(force=True).copy())))

    def _target(self, leaf):
        if self.how.target == "clone":
            return leaf.clone()
        if self.how.target == "view":
            return leaf.unsqueeze(0).squeeze(0)
        if self.how.target == "written":
            return leaf.clone().mul_(self._constant(leaf, self.how.other_layout, 0.5))
        if self.how.target == "part written" and leaf.ndim and leaf.shape[0]:
            x = leaf.clone()
            x[0] *= self._constant(x[0], self.how.other_layout, 0.5)
            return x
        return leaf

    def _consume(self, inputs, roots):
        for x in inputs:
            if self.how.consumer == "sum after":
                roots.append(x.sum())
            elif self.how.consumer == "part after" and x.ndim and x.shape[0]:
                roots.append(x[0] * self._constant(x[0], self.how.other_layout))
            else:
                roots.append(x * self._constant(x, self.how.other_layout))

    def _followed(self, y) -> list:
        """What the gradient for y comes from."""
        if self.how.incoming == "seed":
            return [y]
        if self.how.incoming == "summed":
            return [y.sum()]
        factors = [self._constant(y, self.how.incoming_layout) for _ in range(1 + (self.how.incoming == "twice"))]
        return [y * factor for factor in factors]

    def _gradients(self, leaves, roots, seeds) -> list[np.ndarray]:
        mode = self.how.mode
        if not roots:
            return []
        if mode in ("grad", "create"):
            create = mode == "create"
            found = ag.autograd.grad(roots, leaves, seeds, create_graph=create, allow_unused=True)
            results = [] if create else [g.numpy(force=True) for g in found if g is not None]
            again = [g for g in found if g is not None and g.requires_grad]
            if again:
                results += [g.numpy(force=True).copy() for g in again]
                ag.autograd.backward(again, [self._constant(g, self.how.incoming_layout) for g in again])
        else:
            if mode == "retain":
                ag.autograd.backward(roots, seeds, retain_graph=True)
            ag.autograd.backward(roots, seeds)
            results = []
        return results + [leaf.grad.numpy(force=True) for leaf in leaves if leaf.grad is not None]

    def _check_memory(self, leaves):
        """A `.grad` shares its memory with nothing."""
        grads = [leaf.grad.numpy(force=True) for leaf in leaves if leaf.grad is not None]
        for k, grad in enumerate(grads):
            for other in [array for array, _ in self.held] + grads[:k]:
                assert not (grad.size and np.may_share_memory(grad, other)), "a .grad shares its memory"


def outcome(run) -> list[np.ndarray] | str:
    """The results, or the type of the error."""
    try:
        return run()
    except RuntimeError as error:  # a TypeError is no refusal: a loop is missing
        return type(error).__name__


class Checker:
    """Runs combinations of one subject; remembers what the plain way gives."""

    def __init__(self, subject):
        self.subject, self._expected = subject, {}
        arrays = subject.call(np.copy).inputs
        self.elements = max([a.size for a in arrays], default=1)
        self.itemsize = max([a.itemsize for a in arrays], default=4)

    def drawn_thresholds(self, rng: random.Random) -> dict:
        return drawn_thresholds(rng, self.elements, self.itemsize)

    def check(self, combination: Combination, values: dict) -> None:
        expected = self._plain(combination)
        with thresholds(values), kernel_threads(combination.threads):
            found = outcome(Program(self.subject, combination, False).run)
        compare(found, expected)

    def _plain(self, combination):
        key = combination.plain()
        if key not in self._expected:
            with thresholds(PLAIN), kernel_threads(1):
                self._expected[key] = outcome(Program(self.subject, combination, True).run)
        return self._expected[key]


def compare(found: list[np.ndarray] | str, expected: list[np.ndarray] | str, near: float = 0.0) -> None:
    """AssertionError if results differ by more than rounding (or `near`), in relation to the largest element."""
    if isinstance(expected, str) or isinstance(found, str):
        assert found is expected or found == expected, f"{found} instead of {expected}"
        return
    assert len(found) == len(expected)
    for y, want in zip(found, expected, strict=True):
        assert (y.shape, y.dtype) == (want.shape, want.dtype)
        if y.size == 0 or kind_of(y.dtype) not in "fc":
            np.testing.assert_array_equal(y, want)
            continue
        finite = np.isfinite(want)
        assert np.array_equal(np.isfinite(y), finite), "not finite elsewhere"
        scale = max(1.0, float(np.abs(want[finite]).max(initial=0)))
        if scale > LOST[want.dtype.char]:
            continue
        far = np.abs(y[finite].astype(np.result_type(y, np.float64)) - want[finite]).max(initial=0)
        assert far <= max(near, NEAR[y.dtype.char]) * scale, f"differs by {far} of {scale}"


class Trials:
    """Checks that are all made before the first failure is told."""

    def __init__(self):
        self.count, self.wrong = 0, []

    def make(self, check, combination, values: dict, what: str) -> None:
        self.count += 1
        try:
            with np.errstate(all="ignore"):
                check(combination, values)
        except AssertionError as error:
            self.wrong.append(f"{what}: {combination}, {values}: {error}")

    def finish(self, record_property) -> None:
        record_property("combinations", self.count)
        assert not self.wrong, f"{len(self.wrong)} of {self.count}, the first: {self.wrong[0]}"
