"""Random programs of views and in-place writes, against the same programs on copies: no memory is shared there."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as torch

SHAPE = (2, 3, 2)
VIEWS = {
    "select": lambda t: t[0] if t.ndim > 1 else t,
    "last": lambda t: t[..., -1] if t.ndim > 1 else t,
    "rows": lambda t: t[1:] if t.shape[0] > 1 else t,
    "step": lambda t: t[..., ::2],
    "turn": lambda t: t.transpose(0, -1) if isinstance(t, torch.Tensor) else np.swapaxes(t, 0, -1),
    "split": lambda t: t[: t.shape[0] // 2 + 1],
    "none": lambda t: t[None][0],
    "flat": lambda t: t,
}
# Each write, and what the part is after it. None saves what a later write changes: that would be an error.
WRITES = {
    "mul_": (lambda part, w: part.mul_(w), lambda part, w: part * w),
    "add_": (lambda part, w: part.add_(w, alpha=2), lambda part, w: part + 2 * w),
    "sin_": (lambda part, w: part.sin_(), lambda part, w: part.sin()),
    "neg_": (lambda part, w: part.neg_(), lambda part, w: -part),
    "fill_": (lambda part, w: part.fill_(w), lambda part, w: part * 0 + w),
    "item": (lambda part, w: part.__setitem__(0, part[-1].clone() * w), lambda part, w: torch.cat([part[-1:] * w, part[1:]])),
}
CUT = st.lists(st.sampled_from(sorted(VIEWS)), max_size=3)
STEP = st.tuples(CUT, st.sampled_from(sorted(WRITES)), st.integers(0, 3))
PROGRAM = st.lists(STEP, min_size=1, max_size=5)


def cut(t, names):
    return functools.reduce(lambda t, name: VIEWS[name](t), names, t)


def in_place(x, w, program, held, copy=True):
    """Run the program on one base; the views of `held` are taken first and used last."""
    base = x * 1 if copy else x
    views = [cut(base, names) for names in held]
    for names, write, k in program:
        part = cut(base, names) if not held or k % 2 else views[k % len(views)]
        WRITES[write][0](part, w[k])
    return base, views


def on_copies(x, w, program, held):
    """The same by index_put of new values: the places of a view are what the view takes of a table of numbers."""
    numbers = np.arange(x.numel()).reshape(SHAPE)
    base = x * 1
    for names, write, k in program:
        places = cut(numbers, names if not held or k % 2 else held[k % len(held)])
        part = base.reshape(-1)[torch.from_numpy(places.reshape(-1).copy())].reshape(places.shape)
        new = WRITES[write][1](part, w[k]).reshape(-1)
        base = base.reshape(-1).index_put((torch.from_numpy(places.reshape(-1).copy()),), new).reshape(SHAPE)
    return base, [base.reshape(-1)[torch.from_numpy(cut(numbers, names).copy())] for names in held]


def leaves():
    values = np.random.default_rng(0).uniform(0.3, 1.0, SHAPE)
    factors = torch.tensor([0.9, 1.1, -0.4, 0.6], dtype=torch.float64, requires_grad=True)
    return torch.tensor(values, requires_grad=True), factors


def scalar(base, views):
    total = (base * base * torch.arange(1.0, 13.0, dtype=torch.float64).reshape(SHAPE)).sum()
    for view in views:
        total = total + (view * view * view).sum()
    return total


@settings(max_examples=150, deadline=None)
@given(PROGRAM, st.lists(CUT, max_size=3))
def test_programs_of_writes_have_the_gradients_of_copies(program, held):
    results = []
    for run in (in_place, on_copies):
        x, w = leaves()
        base, views = run(x, w, program, held)
        if run is in_place:
            assert base._version == len(program) == max([v._version for v in views], default=len(program))
            assert all(v._base is base for v in views if v is not base)
        first = torch.autograd.grad(scalar(base, views), (x, w), create_graph=True, allow_unused=True)
        second = sum((g * g).sum() for g in first if g is not None)
        again = torch.autograd.grad(second, (x, w), allow_unused=True)
        results.append([base.tolist(), *[None if g is None else g.tolist() for g in (*first, *again)]])
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(zeros(ours), zeros(expected), rtol=1e-9, atol=1e-9)


def zeros(values):
    return 0.0 if values is None else values


def tangents(program, held, copy, both):
    """Those of the base and the views, forward; and of the primal. `both`: also the factors have one."""
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        x, w = (forward_ad.make_dual(t, direction(t)) if both or t.ndim > 1 else t for t in detached())
        primal = forward_ad.unpack_dual(x).primal
        base, views = in_place(x, w, program, held, copy)
        assert copy or base is x
        assert forward_ad.unpack_dual(primal).tangent is None
        return [forward_ad.unpack_dual(t).tangent for t in (base, *views)]


def detached():
    return [t.detach() for t in leaves()]


def direction(t):
    return (t * 3).cos()


def tangents_by_reverse(program, held, both):
    """The same from backward alone: the gradient for the seed of the gradients along the direction."""
    x, w = leaves()
    base, views = on_copies(x, w, program, held)
    found = []
    for y in (base, *views):
        seed = torch.ones_like(y).requires_grad_()
        gradients = torch.autograd.grad(y, (x, w) if both else (x,), seed, create_graph=True, allow_unused=True)
        total = sum((g * direction(t)).sum() for g, t in zip(gradients, detached(), strict=False) if g is not None)
        found.append(torch.autograd.grad(total, seed, allow_unused=True, retain_graph=True)[0])
    return found


@settings(max_examples=100, deadline=None)
@given(PROGRAM, st.lists(CUT, max_size=3), st.booleans(), st.booleans())
def test_programs_of_writes_have_the_tangents_of_reverse_mode(program, held, copy, both):
    """Writes through views of what make_dual() returned were lost, or went to the primal."""
    for ours, expected in zip(tangents(program, held, copy, both), tangents_by_reverse(program, held, both), strict=True):
        np.testing.assert_allclose(values(ours), values(expected), rtol=1e-9, atol=1e-12)


def values(t):
    return 0.0 if t is None else t.detach().numpy()


@settings(max_examples=60, deadline=None)
@given(PROGRAM, st.lists(CUT, max_size=3))
def test_programs_of_writes_have_the_gradients_of_pytorch(program, held):
    theirs = pytest.importorskip("torch")
    results = []
    for module in (torch, theirs):
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(globals(), "torch", module)
            x, w = (module.tensor(t.tolist(), dtype=module.float64, requires_grad=True) for t in leaves()) if (
                module is torch) else (theirs.tensor(v, dtype=theirs.float64, requires_grad=True) for v in results[0][2])
            base, views = in_place(x, w, program, held)
            g = module.autograd.grad(scalar(base, views), (x, w), allow_unused=True)
            nodes = [v.grad_fn.name() for v in (base, *views)]
            results.append([base.tolist(), [None if v is None else v.tolist() for v in g], (x.tolist(), w.tolist()), nodes])
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    for ours, expected in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_allclose(zeros(ours), zeros(expected), rtol=1e-9, atol=1e-12)
    assert results[0][3] == results[1][3]
