"""ctc_loss against the sum over all alignments, one by one, and against PyTorch."""

import itertools
import math

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.nn import functional as F


def loss_of(logs, target, blank=0):
    """All sequences of classes that mean the target: repeated ones count once, blanks separate."""
    steps, classes = logs.shape
    total = 0.0
    for path in itertools.product(range(classes), repeat=steps):
        meant = [c for k, c in enumerate(path) if c != blank and (k == 0 or path[k - 1] != c)]
        total += np.exp(logs[range(steps), path].sum()) if meant == list(target) else 0.0
    return -np.log(total) if total else np.inf


def logs_of(steps, samples, classes, dtype=ag.float64):
    ag.manual_seed(0)
    return ag.randn(steps, samples, classes, dtype=dtype).log_softmax(2)


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
@pytest.mark.parametrize("blank", [0, 2])
def test_values(dtype, blank):
    logs = logs_of(5, 3, 3, dtype)
    labels = [c for c in range(3) if c != blank]
    targets = [[labels[0], labels[0]], [labels[1]], []]
    lengths, steps = [2, 1, 0], [5, 4, 3]
    joined = ag.tensor([c for row in targets for c in row])
    rows = ag.tensor([row + [99] * (2 - len(row)) for row in targets])
    pairs = enumerate(zip(steps, targets, strict=True))
    expected = [loss_of(logs[:n, k].double().numpy(), row, blank) for k, (n, row) in pairs]
    for target in (joined, rows):
        found = F.ctc_loss(logs, target, steps, lengths, blank, "none")
        assert np.allclose(found.numpy(), expected, rtol=1e-5)
    assert np.isclose(F.ctc_loss(logs, rows, steps, lengths, blank).item(), np.mean(np.array(expected) / [2, 1, 1]), rtol=1e-5)


def test_gradient_is_that_of_finite_differences():
    def loss(scores):
        return F.ctc_loss(scores.log_softmax(2), ag.tensor([[1, 1], [2, 0]]), [4, 3], [2, 1])

    ag.manual_seed(1)
    x = ag.randn(4, 2, 3, dtype=ag.float64, requires_grad=True)
    assert ag.autograd.gradcheck(loss, (x,))


def test_what_cannot_be_aligned():
    logs = logs_of(2, 2, 3).requires_grad_()
    targets = ag.tensor([[1, 1], [1, 2]])
    assert F.ctc_loss(logs, targets, [2, 2], [2, 2], reduction="none")[0] == float("inf")
    losses = F.ctc_loss(logs, targets, [2, 2], [2, 2], reduction="none", zero_infinity=True)
    (grad,) = ag.autograd.grad(losses.sum(), logs)
    assert losses[0] == 0 and (grad[:, 0] == 0).all() and grad[:, 1].isfinite().all()


def test_second_order_is_refused():
    logs = logs_of(3, 1, 3).requires_grad_()
    loss = F.ctc_loss(logs, ag.tensor([[1]]), [3], [1])
    (g,) = ag.autograd.grad(loss, logs, create_graph=True)  # recorded, for the derivatives of other parts of a loss
    assert repr(g.grad_fn) == "<NotImplemented>"
    np.testing.assert_array_equal(g.detach(), ag.autograd.grad(F.ctc_loss(logs, ag.tensor([[1]]), [3], [1]), logs)[0])
    with pytest.raises(RuntimeError, match="derivative for aten::_ctc_loss_backward is not implemented"):
        g.sum().backward()


def test_a_batch_of_gradients():
    """`is_grads_batched` said that ctc_loss has no second derivative, which the call did not need."""
    logs = logs_of(4, 2, 3).requires_grad_()
    losses = F.ctc_loss(logs, ag.tensor([[1, 2], [2, 0]]), [4, 3], [2, 1], reduction="none")
    seeds = ag.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -3.0]], dtype=logs.dtype)
    (found,) = ag.autograd.grad(losses, logs, seeds, retain_graph=True, is_grads_batched=True, create_graph=True)
    for seed, g in zip(seeds, found, strict=True):
        np.testing.assert_allclose(g.detach(), ag.autograd.grad(losses, logs, seed, retain_graph=True)[0], rtol=1e-14)
    with pytest.raises(RuntimeError, match="derivative for aten::_ctc_loss_backward is not implemented"):
        found.sum().backward()


@pytest.mark.parametrize("change", [
    {"input_lengths": [9, 3]}, {"input_lengths": [3]}, {"target_lengths": [3, 1]}, {"target_lengths": [-1, 1]}, {"blank": 3},
    {"blank": -1}, {"targets": ag.tensor([[1, 5], [0, 0]])}, {"targets": ag.tensor([[-1, 1], [0, 0]])},
    {"targets": ag.tensor([[1.0, 1.0]])}, {"targets": ag.tensor([1])}, {"input_lengths": [0.5, 1.0]},
])  # fmt: skip
def test_arguments_that_do_not_fit(change):
    arguments = {"targets": ag.tensor([[1, 1], [2, 0]]), "input_lengths": [3, 3], "target_lengths": [2, 1]}
    with pytest.raises((RuntimeError, IndexError, ValueError, TypeError)):
        F.ctc_loss(logs_of(3, 2, 3), **arguments | change)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_as_pytorch(reduction):
    torch = pytest.importorskip("torch")
    scores = np.random.default_rng(0).normal(size=(12, 4, 6))
    targets, steps, lengths = np.random.default_rng(1).integers(1, 6, (4, 5)), [12, 10, 11, 3], [5, 3, 0, 5]
    found = []
    for m in (ag, torch):
        x = m.tensor(scores, requires_grad=True)
        logs = x.log_softmax(2)
        loss = m.nn.functional.ctc_loss(logs, m.tensor(targets), m.tensor(steps), m.tensor(lengths), 0, reduction, True)
        logs.retain_grad()
        loss.sum().backward()
        found.append((loss.detach().numpy(), logs.grad.numpy(), x.grad.numpy()))
    for ours, theirs in zip(*found, strict=True):
        assert np.allclose(ours, theirs, rtol=1e-10, atol=1e-12)


def test_alignments_that_add_little_to_a_nearly_certain_one_count():
    """exp(2 * q) + 2 * exp(p + q): the second term is less than a unit in the last place of the first one."""
    p, q = -40.0, -1e-10
    logs = ag.tensor([[[p, q]]] * 2, dtype=ag.float64)
    loss = ag.nn.functional.ctc_loss(logs, ag.tensor([[1]]), [2], [1], reduction="sum").item()
    assert loss == pytest.approx(-2 * q - 2 * math.exp(p - q), rel=1e-14)
