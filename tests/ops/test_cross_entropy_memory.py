"""NOTE [Gradient ownership] for cross_entropy: which arrays it makes, what it writes over, what it adds to."""

import numpy as np
import pytest
from common import ours

import autograd_cy as torch

F = torch.nn.functional
LARGE = (128, 256)
ROWS = torch.tensor(np.where(np.arange(128) % 7, np.arange(128) * 5 % 256, -100))
LAYOUTS = {
    "rows": (LARGE, ROWS),
    "columns": ((1, 256, 128), ROWS.unsqueeze(0)),
    "short rows": ((4096, 8), torch.tensor(np.arange(4096) % 8)),
}
large = pytest.mark.parametrize("layout", LAYOUTS)


def large_leaf(layout, seed=0):
    shape, target = LAYOUTS[layout]
    return torch.tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32), requires_grad=True), target


def gradient(layout):
    """That of a leaf with no `.grad`."""
    x, target = large_leaf(layout)
    F.cross_entropy(x, target).backward()
    return x.grad.numpy()


def new_arrays(run):
    """How many large arrays come from the pool meanwhile."""
    before = torch.memory.memory_stats()
    run()
    after = torch.memory.memory_stats()
    return after["hits"] + after["misses"] - before["hits"] - before["misses"]


@ours("no such figures")
@large
def test_forward_makes_no_array_of_the_size_of_the_scores(layout):
    x, target = large_leaf(layout)
    assert new_arrays(lambda: F.cross_entropy(x, target)) == 0


@ours("no such figures")
@large
def test_gradient_is_written_over_scores_that_nobody_else_has(layout):
    x, target = large_leaf(layout)
    assert new_arrays(lambda: F.cross_entropy(x + 0.0, target).backward()) == 1  # x + 0.0
    assert x.grad.numpy().tobytes() == gradient(layout).tobytes()


@ours("no such figures")
@pytest.mark.parametrize("holder", ["tensor", "array", "another node", "its own node", "retained", "nan"])
def test_scores_that_somebody_may_see_are_not_written_over(holder):
    x, target = large_leaf("rows")
    scores = x + 0.0
    before = scores.detach().numpy().copy()
    y = F.cross_entropy(scores, target)
    held = {
        "tensor": scores,
        "array": scores.detach().numpy(),
        "another node": scores * scores,
        "its own node": y.grad_fn._saved_self,
    }
    held, scores = held.get(holder), None
    with torch.autograd.detect_nan() if holder == "nan" else torch.enable_grad():
        assert new_arrays(lambda: y.backward(retain_graph=holder == "retained")) == 1
    assert x.grad.numpy().tobytes() == gradient("rows").tobytes()
    if holder in ("tensor", "array", "its own node"):
        np.testing.assert_array_equal(held if holder == "array" else held.detach().numpy(), before)
    if holder == "retained":
        np.testing.assert_array_equal(y.grad_fn._saved_self.detach().numpy(), before)


@ours("no such figures")
@large
def test_gradient_is_added_at_once_to_what_waits(layout):
    x, target = large_leaf(layout)
    c = torch.tensor(np.random.default_rng(1).standard_normal(x.shape).astype(np.float32))
    y = F.cross_entropy(x, target)
    z = x * c  # recorded later: its gradient comes first
    seed = torch.ones_like(z.detach())
    assert new_arrays(lambda: torch.autograd.backward([z, y], [seed, None])) == 1  # seed * c
    assert x.grad.numpy().tobytes() == (c.numpy() + gradient(layout)).tobytes()


@ours("no such figures")
@large
def test_gradient_is_added_at_once_to_grad(layout):
    x, target = large_leaf(layout)
    x.grad = torch.tensor(np.random.default_rng(1).standard_normal(x.shape).astype(np.float32))
    grad, before = x.grad, x.grad.numpy().copy()
    assert new_arrays(lambda: F.cross_entropy(x, target).backward()) == 0
    assert x.grad is grad
    assert grad.numpy().tobytes() == (before + gradient(layout)).tobytes()


@pytest.mark.parametrize("shared", ["seed", "scores", "the next scores", "weight"])
def test_grad_that_shares_memory_with_what_is_read(shared):
    memory = np.random.default_rng(2).random(LARGE[0] * LARGE[1] + 256).astype(np.float32)
    x = torch.from_numpy(memory[256:].reshape(LARGE)).requires_grad_()
    seed, weight = torch.from_numpy(np.linspace(0.5, 1, 128, dtype=np.float32)), torch.ones(256)
    own = np.random.default_rng(3).random(LARGE).astype(np.float32)
    x.grad = torch.from_numpy({"scores": memory[256:], "the next scores": memory[:-256]}.get(shared, own).reshape(LARGE))
    if shared == "seed":
        seed = torch.from_numpy(own[3, :128])
    if shared == "weight":
        weight = torch.from_numpy(own[3])
    alone = torch.tensor(x.detach().numpy(), requires_grad=True)
    F.cross_entropy(alone, ROWS, weight.clone(), reduction="none").backward(seed.clone())
    expected = x.grad.numpy() + alone.grad.numpy()
    F.cross_entropy(x, ROWS, weight, reduction="none").backward(seed)
    assert x.grad.numpy().tobytes() == expected.tobytes()
