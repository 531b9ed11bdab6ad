"""Transforms of operations and layers, under any thresholds and in all layouts of points, tangents and seeds.

In float64 each is compared with its definition: a loop of `autograd.grad` over elements, or of the function over samples. In
other types, and at points whose rows are all equal, it is compared with itself in the plain way (see crossings.py).
"""

import random
from dataclasses import dataclass, fields

import numpy as np
from crossings import LAYOUTS, PLAIN, compare, drawn_thresholds, expanded, in_order, kernel_threads, outcome, thresholds
from op_calls import assert_unwritten
from subjects import flat

import autograd_cy as ag
from autograd_cy import func

SIZE = 3  # of a batch
MOST = 64  # elements of which a Hessian is made
LIMIT = 1e-7  # between two ways to a derivative of a derivative


@dataclass(frozen=True)
class Way:
    transform: str
    points: object = in_order  # layouts
    seeds: object = in_order
    dim: int = 0  # along which the samples of a batch lie
    threads: int = 1

    def __str__(self):
        values = [(f.name, getattr(self, f.name)) for f in fields(self)]
        return ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in values)


class Point:
    """A function, where it is transformed, and tangents and seeds of its own."""

    def __init__(self, subject, way: Way, is_plain: bool):
        self.way, self.is_plain, self.salt, self.held = way, is_plain, 0, []
        points = way.points if subject.strided else in_order
        self.call = subject.call(lambda array: self.arranged(array, points))
        self.xs = tuple(leaf.detach() for leaf in self.call.leaves())
        self.argnums = tuple(range(len(self.xs)))
        with ag.no_grad():
            outputs = self.function(*self.xs)
        self.tangents = tuple(self.drawn(x) for x in self.xs)
        self.seeds = tuple(self.drawn(y) for y in outputs)
        batches = [np.stack([np.roll(x.numpy(), n) for n in range(SIZE)], 0) for x in self.xs]
        dim = way.dim if subject.strided else 0
        self.dims = tuple(dim and x.ndim for x in self.xs)
        moved = [np.moveaxis(batch, 0, dim) for batch, dim in zip(batches, self.dims, strict=True)]
        self.batches = tuple(ag.from_numpy(self.arranged(batch, points)) for batch in moved)

    def function(self, *xs) -> tuple:
        return self.call.function(*xs)

    def objective(self, *xs):
        """A number: the sum of the results, each element times one of a seed."""
        total = sum((y * seed).sum() for y, seed in zip(self.function(*xs), self.seeds, strict=True))
        return total.real if total.is_complex() else total

    def samples(self) -> list[tuple]:
        parts = [batch.unbind(dim) for batch, dim in zip(self.batches, self.dims, strict=True)]
        return list(zip(*parts, strict=True))

    def arranged(self, array, layout):
        array = np.array(layout(array), order="C") if self.is_plain else layout(array)
        self.held.append((array, array.copy()))
        return array

    def drawn(self, like):
        self.salt += 1
        rng, shape = np.random.default_rng(self.salt), tuple(like.shape)
        values = rng.uniform(-1, 1, shape)
        if like.is_complex():
            values = values + 1j * rng.uniform(-1, 1, shape)
        return ag.from_numpy(self.arranged(np.asarray(values).astype(str(like.dtype)[6:]), self.way.seeds))


# what is tried


def batched(p: Point, function):
    return func.vmap(function, p.dims, randomness="same")(*p.batches)


TRANSFORMS = {
    "grad": lambda p: func.grad(p.objective, p.argnums)(*p.xs),
    "vjp": lambda p: func.vjp(p.function, *p.xs)[1](p.seeds),
    "jvp": lambda p: func.jvp(p.function, p.xs, p.tangents)[1],
    "linearize": lambda p: func.linearize(p.function, *p.xs)[1](*p.tangents),
    "jacrev": lambda p: func.jacrev(p.function, p.argnums)(*p.xs),
    "jacfwd": lambda p: func.jacfwd(p.function, p.argnums)(*p.xs),
    "vmap": lambda p: batched(p, p.function),
    "vmap of grad": lambda p: batched(p, func.grad(p.objective, p.argnums)),
    "vmap of jvp": lambda p: batched(p, lambda *xs: func.jvp(p.function, xs, p.tangents)[1]),
    "vmap of jacrev": lambda p: batched(p, func.jacrev(p.function, p.argnums)),
    "vmap of jacfwd": lambda p: batched(p, func.jacfwd(p.function, p.argnums)),
    "jvp of grad": lambda p: func.jvp(func.grad(p.objective, p.argnums), p.xs, p.tangents)[1],
    "grad of jvp": lambda p: func.grad(lambda *xs: func.jvp(p.objective, xs, p.tangents)[1], p.argnums)(*p.xs),
    "hessian": lambda p: func.hessian(p.objective, p.argnums)(*p.xs),
}
OF_SECOND_ORDER = ("jvp of grad", "grad of jvp", "hessian")

# their definitions


def gradients(outputs, xs, seeds=None, create=False) -> list:
    """Of outputs, zeros where they do not depend on a point."""
    rooted = [k for k, y in enumerate(outputs) if y.requires_grad]
    if not rooted:
        return [ag.zeros_like(x) for x in xs]
    seeds = seeds and [seeds[k] for k in rooted]
    return ag.autograd.grad([outputs[k] for k in rooted], xs, seeds, create_graph=create, retain_graph=True,
                            allow_unused=True, materialize_grads=True)  # fmt: skip


def leaves_of(xs) -> tuple:
    return tuple(x.detach().requires_grad_() for x in xs)


def gradient(p: Point, xs) -> list:
    xs = leaves_of(xs)
    return list(gradients([p.objective(*xs)], xs))


def jacobian(function, xs) -> list:
    """For each output a list for each point: the gradients of its elements, one after the other."""
    found, xs = [], leaves_of(xs)
    for y in function(*xs):
        units = ag.eye(y.numel(), dtype=y.dtype).reshape(y.numel(), *y.shape)
        rows = [gradients([y], xs, [unit]) for unit in units]
        columns = zip(*rows, strict=True) if rows else [[] for _ in xs]
        found.append([
            ag.stack(column).reshape(*y.shape, *x.shape) if column else ag.zeros(*y.shape, *x.shape, dtype=x.dtype)
            for column, x in zip(map(list, columns), xs, strict=True)
        ])  # fmt: skip
    return found


def products(p: Point, function, xs) -> list:
    """The Jacobian times the tangents."""
    return [
        sum((part * t).sum(tuple(range(part.ndim - t.ndim, part.ndim))) if t.ndim else part * t
            for part, t in zip(parts, p.tangents, strict=True))
        for parts in jacobian(function, xs)
    ]  # fmt: skip


def along(p: Point) -> list:
    """The gradient of the derivative along the tangents."""
    xs = leaves_of(p.xs)
    slopes = gradients([p.objective(*xs)], xs, create=True)
    return gradients([sum((g * t).sum() for g, t in zip(slopes, p.tangents, strict=True))], xs)


def stacked(p: Point, one) -> list:
    """The results of the samples, each by itself."""
    return [ag.stack(column) for column in zip(*[flat(one(xs)) for xs in p.samples()], strict=True)]


def slopes(p: Point):
    def function(*xs):
        return tuple(gradients([p.objective(*xs)], xs, create=True))

    return function


DEFINITIONS = {
    "grad": lambda p: gradient(p, p.xs),
    "vjp": lambda p: gradient(p, p.xs),
    "jvp": lambda p: products(p, p.function, p.xs),
    "linearize": lambda p: products(p, p.function, p.xs),
    "jacrev": lambda p: jacobian(p.function, p.xs),
    "jacfwd": lambda p: jacobian(p.function, p.xs),
    "vmap": lambda p: stacked(p, lambda xs: p.function(*xs)),
    "vmap of grad": lambda p: stacked(p, lambda xs: gradient(p, xs)),
    "vmap of jvp": lambda p: stacked(p, lambda xs: products(p, p.function, xs)),
    "vmap of jacrev": lambda p: stacked(p, lambda xs: jacobian(p.function, xs)),
    "vmap of jacfwd": lambda p: stacked(p, lambda xs: jacobian(p.function, xs)),
    "jvp of grad": along,
    "grad of jvp": along,
    "hessian": lambda p: jacobian(slopes(p), p.xs),
}

LEVELS = {"points": LAYOUTS, "seeds": LAYOUTS, "dim": (0, -1), "threads": (1, 2)}


def run(subject, way: Way, is_plain: bool, ways=None) -> list[np.ndarray]:
    """The results; an AssertionError if the user's arrays were written."""
    point = Point(subject, way, is_plain)
    found = [y.numpy(force=True) for y in flat((ways or TRANSFORMS)[way.transform](point))]
    for array, before in point.held:
        assert_unwritten(array, before, "an array of the user's")
    return found


class Checker:
    """Runs ways of one subject; remembers what they are to give."""

    def __init__(self, subject):
        self.subject, self._expected = subject, {}
        call = subject.call(np.copy)
        self.elements = max([a.size for a in call.inputs], default=1)
        self.itemsize = max([a.itemsize for a in call.inputs], default=4)
        with ag.no_grad():
            outputs = call.function(*call.leaves())
        self.is_exact = all(a.dtype == np.float64 and a.size for a in call.arrays) and all(
            y.dtype is ag.float64 for y in outputs
        )
        self.count = sum(a.size for a in call.arrays)

    def transforms(self) -> list[str]:
        return [name for name in TRANSFORMS if self.count <= MOST or ("hessian" not in name and "jac" not in name)]

    def drawn_thresholds(self, rng: random.Random) -> dict:
        return drawn_thresholds(rng, self.elements, self.itemsize)

    def check(self, way: Way, values: dict) -> None:
        with thresholds(PLAIN), kernel_threads(1):
            usual, defined = self._plain(way)
        with thresholds(values), kernel_threads(way.threads):
            found = outcome(lambda: run(self.subject, way, False))
        compare(found, usual, LIMIT if way.transform in OF_SECOND_ORDER and self.is_exact else 0.0)
        if defined is not None and not isinstance(found, str):
            compare(found, defined, LIMIT)

    def _plain(self, way: Way):
        """What the transform gives itself, and what it gives by its definition."""
        key = (way.transform, way.points is expanded, way.seeds is expanded, way.dim)
        if key not in self._expected:
            usual = outcome(lambda: run(self.subject, way, True))
            defined = None
            if self.is_exact and way.points is not expanded and not isinstance(usual, str):
                defined = outcome(lambda: run(self.subject, way, True, DEFINITIONS))
            self._expected[key] = usual, defined
        return self._expected[key]
