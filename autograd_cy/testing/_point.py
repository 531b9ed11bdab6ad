"""A function at a point: its values near it, its gradients and its tangents there, all as arrays (facade).

Every evaluation gets fresh leaves in double precision and in plain C order, unless it asks for something else. Complex numbers
count as two real ones: `to_real` makes one real vector of a list of arrays.
"""

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor, array_of, from_array
from ..autograd import forward_ad, gradients
from ..func._modules import functional_call
from ..utils._pytree import tree_flatten, tree_leaves, tree_unflatten
from ._differences import COMPLEX_STEP, EPSILON, Array, Slope, complex_slope, reach_for, rounding_of, slope

DOUBLE = {"f": np.dtype(np.float64), "c": np.dtype(np.complex128)}
EXTENDED = np.dtype(np.longdouble)


class NotApplicable(Exception):
    """Raised by a check that does not apply to this function; its text says why."""


def to_real(arrays: Sequence[Array]) -> Array:
    """to_real(arrays): all entries of all arrays as one real vector, with both parts of complex numbers.

    Its type is float64, or longdouble if one of the arrays has it.
    """
    vectors = [np.ascontiguousarray(a).reshape(-1) for a in arrays]
    parts = [v.astype(np.complex128).view(np.float64) if v.dtype.kind == "c" else v.astype(real_type(v)) for v in vectors]
    return np.concatenate(parts) if parts else np.zeros(0)


def real_type(array: Array) -> np.dtype[Any]:
    """real_type(array): the type in which real numbers like these are checked."""
    return EXTENDED if array.dtype == EXTENDED else DOUBLE["f"]


def from_real(vector: Array, alike: Sequence[Array]) -> list[Array]:
    """from_real(vector, alike): undo `to_real`, with the shapes and kinds of these arrays."""
    arrays, start = [], 0
    for a in alike:
        size = a.size * (2 if a.dtype.kind == "c" else 1)
        part = vector[start : start + size]
        start += size
        number = part.astype(np.float64).view(np.complex128) if a.dtype.kind == "c" else part.astype(real_type(a))
        arrays.append(number.reshape(a.shape))
    return arrays


def real_size(arrays: Sequence[Array]) -> int:
    """real_size(arrays): the length of `to_real(arrays)`."""
    return sum(a.size * (2 if a.dtype.kind == "c" else 1) for a in arrays)


NEARBY = 3  # points a rounding error away at which a function is evaluated


def nearby(a: Array, k: int = 0) -> Array:
    """nearby(a, k): the array with each entry off by two roundings; different for each k."""
    signs = np.random.default_rng(k).choice([-2.0, 2.0], a.shape)
    epsilon = EPSILON if a.dtype.kind == "c" else rounding_of(a)
    return np.asarray(a * (1 + epsilon * signs))


class Run:
    """A recorded evaluation: its leaves, its outputs, and any number of backwards through it."""

    def __init__(self, leaves: list[Any], outputs: list[Any]) -> None:
        self.leaves, self.outputs = leaves, outputs

    def values(self) -> list[Array]:
        """run.values(): the outputs as arrays."""
        return [array_of(y) for y in self.outputs]

    def pull(self, seeds: Sequence[Array | None], create_graph: bool = False) -> list[Array | None]:
        """run.pull(seeds): the leaves' gradients for the outputs' incoming ones; None where there is none."""
        given = [s if s is None else from_array(s) for s in seeds]
        return [None if g is None else array_of(g) for g in self.pull_tensors(given, create_graph)]

    def pull_tensors(self, seeds: Sequence[Any], create_graph: bool = False) -> list[Any]:
        """run.pull_tensors(seeds): the same with tensors."""
        reached = [(y, s) for y, s in zip(self.outputs, seeds, strict=True) if y.requires_grad and s is not None]
        wanted = [x for x in self.leaves if x.requires_grad]
        if not reached:
            return [None] * len(self.leaves)
        outputs, given = zip(*reached, strict=True)
        found = iter(gradients.grad(outputs, wanted, given, retain_graph=True, create_graph=create_graph, allow_unused=True))
        return [next(found) if x.requires_grad else None for x in self.leaves]


class Point:
    """A function of tensors, and the point where its derivatives are checked.

    `arrays` are the values of the tensors that require grad, in double precision (longdouble stays longdouble); `outputs` are
    the values of the floating and complex outputs. Inputs and outputs may be nested in containers.
    """

    takes_tensors = True

    def __init__(self, f: Callable[..., Any], inputs: Sequence[Any]) -> None:
        self.f = f
        self._leaves, self._spec = tree_flatten(tuple(inputs))
        self.places = [i for i, x in enumerate(self._leaves) if self._is_source(x)]
        if not self.places:
            raise ValueError("check_gradients expects at least one input that requires grad, but none does")
        self.given = [self._array(self._leaves[i]) for i in self.places]  # as the user has them
        kinds = [EXTENDED if a.dtype == EXTENDED else DOUBLE[a.dtype.kind] for a in self.given]
        self.arrays: list[Array] = [np.array(a, kind, order="C") for a, kind in zip(self.given, kinds, strict=True)]
        self.outputs = self.evaluate(self.arrays)
        if not self.outputs:
            raise ValueError("check_gradients expects a function that returns a floating point or complex tensor, or several")
        self.value = to_real(self.outputs)

    def _is_source(self, x: Any) -> bool:
        return isinstance(x, Tensor) and bool(x.requires_grad)

    def _array(self, x: Any) -> Array:
        array = array_of(x)
        if array.dtype.kind not in DOUBLE:
            raise TypeError(f"check_gradients expects floating point or complex inputs, not {x.dtype}")
        return array

    def name(self, source: int) -> str:
        """point.name(source): the name of that input in reports."""
        return f"inputs[{self.places[source]}]"

    def call(self, sources: Sequence[Any]) -> list[Any]:
        """point.call(sources): the floating and complex outputs for these objects in the place of the sources."""
        leaves = list(self._leaves)
        for place, source in zip(self.places, sources, strict=True):
            leaves[place] = source
        outputs = tree_leaves(self.f(*tree_unflatten(leaves, self._spec)))
        return [y for y in outputs if isinstance(y, Tensor) and (y.is_floating_point() or y.is_complex())]

    def run(self, arrays: Sequence[Array], wanted: Sequence[bool] | None = None) -> Run:
        """point.run(arrays): a recorded evaluation with these arrays as the memory of its leaves.

        `wanted` says which ones require grad; by default all do.
        """
        flags = wanted or [True] * len(arrays)
        leaves = [from_array(a).requires_grad_(flag) for a, flag in zip(arrays, flags, strict=True)]
        return Run(leaves, self.call(leaves))

    def evaluate(self, arrays: Sequence[Array]) -> list[Array]:
        """point.evaluate(arrays): the outputs' values. It is recorded, for the function may call grad itself."""
        return self.run([a.copy() for a in arrays]).values()

    def push(self, tangents: Sequence[Array]) -> Array:
        """point.push(tangents): the outputs' tangents by forward mode, as one real vector."""
        moved = self.push_tensors(*[from_array(t) for t in tangents])
        if len(moved) != len(self.outputs):
            raise ValueError(f"the function returned {len(moved)} tensors in forward mode, and {len(self.outputs)} without")
        return to_real([array_of(t).astype(y.dtype) for t, y in zip(moved, self.outputs, strict=True)])

    def push_tensors(self, *tangents: Any) -> tuple[Any, ...]:
        """point.push_tensors(*tangents): the same from tensors to tensors; zeros where there is no tangent."""
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(from_array(a.copy()), t) for a, t in zip(self.arrays, tangents, strict=True)]
            moved = [forward_ad.unpack_dual(y) for y in self.call(duals)]
            return tuple(y.detach() * 0 if t is None else t for y, t in moved)

    # -- what differences say ------------------------------------------------------------------------------------

    def slope(self, direction: Array, reach: float = 1.0) -> Slope:
        """point.slope(direction): of each output, along a real vector; `reach` multiplies the first step."""
        parts = from_real(direction, self.arrays)
        largest = max(float(np.abs(direction).max(initial=0.0)), 1e-300)
        moved = np.concatenate([np.abs(a[p != 0]).reshape(-1) for a, p in zip(self.arrays, parts, strict=True)])

        def curve(t: float) -> Array:
            value = to_real(self.evaluate([np.asarray(a + t * p) for a, p in zip(self.arrays, parts, strict=True)]))
            if value.shape != self.value.shape:
                raise ValueError(
                    f"the function returned {value.size} numbers for inputs near those for which it returned {self.value.size}"
                )
            return value

        return slope(curve, self.value, reach * reach_for(moved) / largest, self.rounding)

    @functools.cached_property
    def rounding(self) -> Array:
        """The effect of rounding on each output: its own rounding, and its change if inputs are off by a rounding."""
        with np.errstate(all="ignore"):
            beside = [to_real(self.evaluate([nearby(a, k) for a in self.arrays])) for k in range(NEARBY)]
            apart = [np.abs(value - self.value) for value in beside if value.shape == self.value.shape]
        own = rounding_of(self.value) * np.abs(self.value)
        return np.max([own, *(np.where(np.isfinite(a), a, 0.0) for a in apart)], axis=0)

    def complex_slope(self, direction: Array) -> Array | None:
        """point.complex_slope(direction): the same by the complex step; None if the function does not support it."""
        if any(a.dtype.kind == "c" for a in (*self.arrays, *self.outputs)):
            return None
        parts = from_real(direction, self.arrays)
        moved = [np.asarray(a + COMPLEX_STEP * 1j * p) for a, p in zip(self.arrays, parts, strict=True)]
        try:
            with np.errstate(all="ignore"):
                outputs = self._complex_outputs(moved)
        except Exception:  # a function may raise anything for unexpected numbers
            return None
        if len(outputs) != len(self.outputs) or any(y.dtype.kind != "c" for y in outputs):
            return None
        value = np.concatenate([y.reshape(-1) for y in outputs])
        close = np.allclose(value.real, self.value, rtol=1e-10, atol=1e-12, equal_nan=True)
        return complex_slope(value) if close and np.isfinite(value).all() else None

    def _complex_outputs(self, moved: list[Array]) -> list[Array]:
        return [array_of(y) for y in self.call([from_array(a) for a in moved])]

    def near(self, seed: int, distance: float = 0.1) -> "Point | None":
        """point.near(seed, distance): the function at a random point nearby; None if it has no value there."""
        rng = np.random.default_rng(seed)
        other = copy.copy(self)
        vars(other).pop("rounding", None)
        other.arrays = [np.asarray(a + distance * (np.abs(a) + 0.1) * rng.uniform(-1, 1, a.shape)) for a in self.arrays]
        try:
            other.outputs = self.evaluate(other.arrays)
        except Exception:  # a function may raise anything outside of its domain
            return None
        other.value = to_real(other.outputs)
        return other if other.value.shape == self.value.shape and np.isfinite(other.value).all() else None

    # -- in single precision, and gradients as a function ----------------------------------------------------------

    def single(self) -> list[Array]:
        """point.single(): the arrays rounded to single precision."""
        return [a.astype(np.complex64 if a.dtype.kind == "c" else np.float32) for a in self.arrays]

    def gradient_point(self, seeds: Sequence[Array]) -> "Point":
        """point.gradient_point(seeds): the function from inputs and incoming gradients to gradients, at this point."""
        n = len(self.arrays)

        def gradient(*tensors: Any) -> list[Any]:
            leaves = [x if x.requires_grad else x.requires_grad_() for x in tensors[:n]]  # duals come without
            run = Run(leaves, self.call(leaves))
            found = run.pull_tensors(tensors[n:], create_graph=True)
            if any(_is_marked(g) for g in found):
                raise NotApplicable("a backward is marked with @once_differentiable")
            return [x.detach() * 0 if g is None else g for g, x in zip(found, leaves, strict=True)]

        values = [from_array(a.copy()).requires_grad_() for a in (*self.arrays, *seeds)]
        return Point(gradient, values)


class ModulePoint(Point):
    """A module: its parameters are inputs that come before the others."""

    def __init__(self, module: Any, inputs: Sequence[Any]) -> None:
        parameters = dict(module.named_parameters())
        self._names = list(parameters)
        super().__init__(lambda own, *others: functional_call(module, own, others), (parameters, *inputs))

    def name(self, source: int) -> str:
        """point.name(source): the name of a parameter or of an input."""
        place = self.places[source]
        return f"{self._names[place]!r}" if place < len(self._names) else f"inputs[{place - len(self._names)}]"


def _is_marked(g: Any) -> bool:
    """Whether the graph of a gradient leads to a node that only raises because it can't be differentiated."""
    waiting, seen = [None if g is None else g.grad_fn], set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        if node.name().endswith("::Error"):
            return True
        seen.add(node)
        waiting += [target for target, _ in node.next_functions]
    return False


class HandWrittenRun(Run):
    """The same for a function of arrays with a hand-written gradient: nothing is recorded."""

    def __init__(self, point: "NumPyPoint", arrays: Sequence[Array]) -> None:
        super().__init__([], [])
        self._point, self._arrays = point, arrays

    def values(self) -> list[Array]:
        """run.values(): the value, as a list of one array."""
        return self._point.evaluate(self._arrays)

    def pull(self, seeds: Sequence[Array | None], create_graph: bool = False) -> list[Array | None]:
        """run.pull(seeds): the seed times the hand-written gradient."""
        (seed,) = seeds
        if seed is None:
            return [None] * len(self._arrays)
        found = self._point.gradient(*self._point.all_arrays(self._arrays))
        found = found if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(self._arrays):
            raise ValueError(f"gradient= gave {len(found)} arrays for {len(self._arrays)} inputs")
        pairs = zip(found, self._arrays, strict=True)
        return [None if g is None else np.asarray(self._times(seed, np.asarray(g), a)) for g, a in pairs]

    def _times(self, seed: Array, g: Array, x: Array) -> Array:
        if seed.ndim and g.shape == seed.shape + x.shape:  # a Jacobian
            return np.tensordot(seed, g, seed.ndim)
        return seed * g if not seed.ndim else g


class NumPyPoint(Point):
    """A function of NumPy arrays, with a gradient or a Jacobian written by hand."""

    takes_tensors = False

    def __init__(self, f: Callable[..., Any], inputs: Sequence[Any], gradient: Callable[..., Any]) -> None:
        self.gradient = gradient
        super().__init__(f, inputs)

    def _is_source(self, x: Any) -> bool:
        return isinstance(x, (np.ndarray, np.floating, float)) and np.asarray(x).dtype.kind in DOUBLE

    def _array(self, x: Any) -> Array:
        return np.asarray(x)

    def all_arrays(self, sources: Sequence[Array]) -> list[Any]:
        """point.all_arrays(sources): the arguments, with these arrays in the place of the sources."""
        leaves = list(self._leaves)
        for place, source in zip(self.places, sources, strict=True):
            leaves[place] = source
        return list(tree_unflatten(leaves, self._spec))

    def evaluate(self, arrays: Sequence[Array]) -> list[Array]:
        """point.evaluate(arrays): the value, as a list of one array. The function receives these arrays, not copies."""
        return [np.asarray(self.f(*self.all_arrays(arrays)))]

    def run(self, arrays: Sequence[Array], wanted: Sequence[bool] | None = None) -> Run:
        """point.run(arrays): a run with the hand-written gradient."""
        return HandWrittenRun(self, arrays)

    def push(self, tangents: Sequence[Array]) -> Array:
        """There is no forward mode of NumPy functions."""
        raise NotApplicable("a NumPy function has no forward mode")

    def gradient_point(self, seeds: Sequence[Array]) -> Point:
        """The gradient of NumPy functions is not differentiated."""
        raise NotApplicable("the gradient of a NumPy function is not differentiated")

    def _complex_outputs(self, moved: list[Array]) -> list[Array]:
        return [np.asarray(self.f(*self.all_arrays(moved)))]
