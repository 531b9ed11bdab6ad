"""Writes in place that test_faults.py denies memory to: operations, targets, modes; and all that a write may change."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple

import numpy as np
from common import define
from fault_scenarios import leaf

import autograd_cy as ag
from autograd_cy.autograd import forward_ad

SHAPE = (3, 4)


class Operands(NamedTuple):
    """What the operations write; made once for each failing allocation."""

    other: ag.Tensor  # requires grad
    wide: ag.Tensor  # of another type, in reversed order
    mask: ag.Tensor
    rows: ag.Tensor


def operands() -> Operands:
    wide = ag.from_numpy(np.arange(12.0).reshape(SHAPE)[::-1])
    return Operands(leaf(*SHAPE, seed=5), wide, wide > 4, ag.tensor([0, 2]))


def marked_dirty(ctx, x: ag.Tensor) -> ag.Tensor:
    ctx.mark_dirty(x)
    y = x.mul_(2)
    ctx.save_for_backward(x)
    return y


Doubled = define(marked_dirty, lambda ctx, g: g * 2, jvp=lambda ctx, t: t.mul_(2))
Unmarked = define(lambda ctx, x: None if x.mul_(2) is x else x, jvp=lambda ctx, t: None)
UnmarkedTangent = define(lambda ctx, x: None if x.mul_(2) is x else x, jvp=lambda ctx, t: None if t.mul_(2) is t else t)


def set_all(x: ag.Tensor, value) -> None:
    x[...] = value


def set_row(x: ag.Tensor, value) -> None:
    x[1] = value


def set_mask(x: ag.Tensor, mask: ag.Tensor, value) -> None:
    x[mask] = value


def double_out(x: ag.Tensor) -> None:
    with ag.no_grad():
        ag.mul(x.detach(), 2.0, out=x)


WRITES: dict[str, Callable[[ag.Tensor, Operands], object]] = {
    "add_": lambda x, o: x.add_(o.other, alpha=2),
    "mul_": lambda x, o: x.mul_(o.other),
    "mul_ by a number": lambda x, o: x.mul_(2.0),
    "div_ by itself": lambda x, o: x.div_(x),
    "sub_ of another type": lambda x, o: x.sub_(o.wide),
    "tanh_": lambda x, o: x.tanh_(),
    "clamp_": lambda x, o: x.clamp_(0.7, 1.2),
    "x[...] = y": lambda x, o: set_all(x, o.other),
    "x[...] = y of another type": lambda x, o: set_all(x, o.wide),
    "x[1] = y": lambda x, o: set_row(x, o.other[0]),
    "x[1] = number": lambda x, o: set_row(x, 2.0),
    "x[mask] = y": lambda x, o: set_mask(x, o.mask, 2.0),
    "masked_fill_": lambda x, o: x.masked_fill_(o.mask, 2.0),
    "masked_fill_ by a tensor": lambda x, o: x.masked_fill_(o.mask, o.other.detach().sum()),
    "index_add_": lambda x, o: x.index_add_(0, o.rows, o.other[:2]),
    "copy_": lambda x, o: x.copy_(o.other),
    "fill_": lambda x, o: x.fill_(2.0),
    "fill_ with a tensor": lambda x, o: x.fill_(o.other.sum()),
    "zero_": lambda x, o: x.zero_(),
    "eq_": lambda x, o: x.eq_(o.other),
    "out=": lambda x, o: double_out(x),
}
DIRTY: dict[str, Callable[[ag.Tensor, Operands], object]] = {
    "mark_dirty": lambda x, o: Doubled.apply(x),
}


# what is written to: the tensor, and others whose state its write may change


def computed() -> tuple[ag.Tensor, list[ag.Tensor]]:
    x = leaf(*SHAPE) * 1.0
    x.retain_grad()
    return x, []


def computed_with_views() -> tuple[ag.Tensor, list[ag.Tensor]]:
    x = leaf(*SHAPE) * 1.0
    return x, [x[1:], x.t()]


def view() -> tuple[ag.Tensor, list[ag.Tensor]]:
    """Of a base that keeps its gradient, with a view beside."""
    base = leaf(4, 3) * 1.0
    base.retain_grad()
    return base.t(), [base, base[1:]]


def plain_view() -> tuple[ag.Tensor, list[ag.Tensor]]:
    """Of a base that does not require grad, but may come to."""
    base = ag.from_numpy(np.full((5, 4), 0.5, np.float32))
    return base[1:4], [base, base[2:]]


def leaf_in_no_grad() -> tuple[ag.Tensor, list[ag.Tensor]]:
    x = leaf(*SHAPE)
    return x, [x.detach(), x[1:]]


TARGETS: dict[str, Callable[[], tuple[ag.Tensor, list[ag.Tensor]]]] = {
    make.__name__: make for make in (computed, computed_with_views, view, plain_view, leaf_in_no_grad)
}
UNRECORDED = ("plain_view", "leaf_in_no_grad")  # most writes to these are


# modes


@contextmanager
def forward_mode() -> Iterator[None]:
    with forward_ad.dual_level():
        yield


@contextmanager
def observed() -> Iterator[None]:
    handle = ag.autograd.graph.register_op_hook(lambda node, inputs, outputs: None)
    try:
        yield
    finally:
        handle.remove()


MODES: dict[str, Callable[[], AbstractContextManager]] = {
    "usual": nullcontext,
    "forward mode": forward_mode,
    "anomaly": ag.autograd.detect_anomaly,
    "detect_nan": ag.autograd.detect_nan,
    "op hooks": observed,
    "saved hooks": lambda: ag.autograd.graph.saved_tensors_hooks(lambda x: (x,), lambda packed: packed[0]),
    "guarded": ag.autograd.graph.guard_buffers,
    "allow_mutation": ag.autograd.graph.allow_mutation_on_saved_tensors,
}


def prepared(target: str, mode: str) -> tuple[ag.Tensor, list[ag.Tensor]]:
    """The tensor to be written and all tensors that are watched; in forward mode with tangents, where it is possible."""
    x, others = TARGETS[target]()
    if mode == "forward mode" and target == "view":
        base = forward_ad.make_dual(others[0].detach().requires_grad_(), ag.ones(4, 3)) * 1.0
        return base.t(), [base.t()[0], base, base[1:]]
    if mode == "forward mode" and target != "leaf_in_no_grad":
        x = forward_ad.make_dual(x, ag.ones(*SHAPE))
    return x, [x, *others]


def state_of(tensors: list[ag.Tensor], places: list) -> list[tuple]:
    """All that a write may change of each tensor: its node is given by its name, and whether it is the one it had before."""
    found = []
    for x, place in zip(tensors, places, strict=True):
        found.append((
            x.numpy(force=True).tobytes(), tuple(x.shape), x._version, x.requires_grad, x.is_leaf, x.output_nr, x.retains_grad,
            None if x.grad_fn is None else x.grad_fn.name(), x.grad_fn is place, tangent_bytes(x),
        ))  # fmt: skip
    return found


def tangent_bytes(x: ag.Tensor) -> bytes | None:
    tangent = forward_ad.unpack_dual(x).tangent if ag._core.graph.context.dual_depth() else None
    return None if tangent is None else tangent.numpy(force=True).tobytes()
