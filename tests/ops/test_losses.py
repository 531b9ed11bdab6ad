"""nll_loss, cross_entropy, mse_loss: what they refuse, what they ignore, what their nodes show."""

import math

import numpy as np
import pytest
from common import differs, leaf

import autograd_cy as torch

F = torch.nn.functional
BOTH = pytest.mark.parametrize("loss", [F.nll_loss, F.cross_entropy], ids=["nll_loss", "cross_entropy"])


def ones(*sizes, **options):
    return torch.ones(sizes, **options)


def classes(*sizes, value=0, dtype=torch.int64):
    return torch.full(sizes, value, dtype=dtype)


REFUSED = {
    "no dimensions": (F.nll_loss, ones(), classes(), ValueError, r"Expected 1 or more dimensions \(got 0\)"),
    "two targets for one": (None, ones(3), classes(2), ValueError, "1D target must have size 1, but got target size: 2"),
    "another batch": (None, ones(2, 3), classes(3), ValueError, r"batch_size \(2\) to match target batch_size \(3\)"),
    "a matrix of targets": (None, ones(2, 3), classes(2, 2), RuntimeError, "0D or 1D target tensor expected, multi-target"),
    "another length": (None, ones(2, 3, 4), classes(2, 5), RuntimeError, r"Expected target size \[2, 4\], got \[2, 5\]"),
    "another image": (None, ones(2, 3, 4, 5), classes(2, 5, 4), RuntimeError, r"size mismatch \(got input: \[2, 3, 4, 5\]"),
    "a class too large": (None, ones(2, 3), classes(2, value=5), IndexError, r"Target 5 is out of bounds\."),
    "a class below zero": (None, ones(2, 3), classes(2, value=-1), IndexError, r"Target -1 is out of bounds\."),
    "no class": (None, ones(2, 0), classes(2), IndexError, r"Target 0 is out of bounds\."),
    "targets of floats": (None, ones(2, 3), ones(2), RuntimeError, "expected target dtype to be Long or Byte, but got Float"),
    "targets of int32": (None, ones(2, 3), classes(2, dtype=torch.int32), RuntimeError, "Long or Byte, but got Int"),
    "an image of bytes": (
        None,
        ones(2, 3, 1, 1),
        classes(2, 1, 1, dtype=torch.uint8),
        RuntimeError,
        "expected scalar type Long but found Byte",
    ),
    "inputs of integers": (F.nll_loss, classes(2, 3), classes(2), NotImplementedError, "not implemented for 'Long'"),
    "probabilities of integers": (
        F.cross_entropy,
        ones(2, 3),
        classes(2, 3),
        RuntimeError,
        "Expected floating point type for target with class probabilities, got Long",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_targets(case):
    function, x, target, error, message = REFUSED[case]
    for loss in [function] if function else [F.nll_loss, F.cross_entropy]:
        with pytest.raises(error, match=message):
            loss(x, target)


OPTIONS = {
    "weights for other classes": ({"weight": ones(4)}, RuntimeError, "defined either for all 3 classes or no classes"),
    "weights of another type": (
        {"weight": ones(3, dtype=torch.float64)},
        RuntimeError,
        "expected scalar type Float but found Double",
    ),
    "weights that require a gradient": (
        {"weight": ones(3, requires_grad=True)},
        RuntimeError,
        "not differentiable with respect to argument 'weight'",
    ),
    "another reduction": ({"reduction": "max"}, ValueError, "max is not a valid value for reduction"),
}


@BOTH
@pytest.mark.parametrize("case", OPTIONS)
def test_refused_options(loss, case):
    options, error, message = OPTIONS[case]
    with pytest.raises(error, match=message):
        loss(ones(2, 3, requires_grad=True), classes(2), **options)


def test_refused_by_cross_entropy():
    with pytest.raises(RuntimeError, match=r"label_smoothing must be between 0.0 and 1.0. Got: 1.5"):
        F.cross_entropy(ones(2, 3), classes(2), label_smoothing=1.5)
    with pytest.raises(RuntimeError, match="ignore_index is not supported for floating point target"):
        F.cross_entropy(ones(2, 3), ones(2, 3), ignore_index=1)
    with pytest.raises(RuntimeError, match="cross_entropy: weight tensor should be defined either for all 3 classes"):
        F.cross_entropy(ones(2, 3), ones(2, 3), weight=ones(4))


@BOTH
def test_nothing_but_ignored_targets(loss):
    for shape, target in [((2, 3), (2,)), ((2, 3, 2), (2, 2)), ((2, 3, 2, 1), (2, 2, 1))]:
        x = torch.zeros(*shape, requires_grad=True)
        y = loss(x, classes(*target, value=-100))
        y.backward()
        assert math.isnan(y.item())
        assert not x.grad.any()
        assert loss(x, classes(*target, value=7), ignore_index=7, reduction="sum").item() == 0


@BOTH
def test_an_ignored_class_may_be_one(loss):
    """It is left out of the mean as well."""
    x, w = torch.tensor([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([2.0, 7.0])
    alone = loss(x[1:], torch.tensor([1]), weight=w)
    assert loss(x, torch.tensor([0, 1]), weight=w, ignore_index=0).item() == pytest.approx(alone.item())


def test_targets_in_other_memory():
    x = leaf([[1.0, 2.0], [3.0, 5.0], [0.0, 4.0]])
    expected = F.nll_loss(x, torch.tensor([0, 1, 1]), reduction="none").tolist()
    strided = torch.tensor([[0, 9], [1, 9], [1, 9]])[:, 0]
    for target in (strided, torch.tensor([0, 1, 1], dtype=torch.uint8)):
        assert F.nll_loss(x, target, reduction="none").tolist() == expected


@differs("targets and indices changed", "writes out of bounds")
def test_targets_changed_through_an_array_do_no_harm():
    x, target = leaf([[1.0, 2.0], [3.0, 5.0]]), np.array([0, 1])
    y = F.nll_loss(x, torch.from_numpy(target), reduction="sum")
    target[0] = 10**12
    y.backward()
    assert x.grad.tolist() == [[0, 0], [0, -1]]


def test_targets_changed_before_backward():
    target = torch.tensor([0, 1])
    y = F.cross_entropy(leaf([[1.0, 2.0], [3.0, 5.0]]), target)
    target.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_what_the_nodes_show():
    x, target, w = leaf([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([0, 1]), torch.tensor([2.0, 3.0], dtype=torch.float64)
    node = F.nll_loss(x, target, weight=w, reduction="sum").grad_fn
    assert (node.name(), node._saved_reduction) == ("NllLossBackward0", 2)
    assert node._saved_self is x
    assert node._saved_target.tolist() == [0, 1] and node._saved_weight.tolist() == [2, 3]
    assert node._saved_total_weight.item() == 5
    node = F.mse_loss(x, 2 * x).grad_fn
    assert (node.name(), node._saved_reduction) == ("MseLossBackward0", 1)


def test_gradient_of_the_gradient_of_nll_loss():
    x = leaf([[1.0, 2.0], [3.0, 5.0]])
    seed = leaf(1.0)
    (g,) = torch.autograd.grad(F.nll_loss(x, torch.tensor([0, 1])), x, seed, create_graph=True)
    assert g.grad_fn.name() == "NllLossBackwardBackward0"
    (again,) = torch.autograd.grad(g, seed, torch.tensor([[4.0, 0.0], [0.0, 2.0]], dtype=torch.float64))
    assert again.item() == -3


def test_flags_of_old():
    x, target = leaf([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([0, 1])
    for flags, reduction in [({"size_average": False}, "sum"), ({"reduce": False}, "none"), ({"reduce": True}, "mean")]:
        with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
            old = F.nll_loss(x, target, **flags)
        assert old.tolist() == F.nll_loss(x, target, reduction=reduction).tolist()


def test_mse_loss_of_other_sizes_and_types():
    x, y = leaf([[1.0, 2.0], [3.0, 5.0]], dtype=torch.float32), leaf([1.0, 2.0])
    with pytest.warns(UserWarning, match=r"Using a target size \(.*\[2\].*\) that is different to the input size"):
        loss = F.mse_loss(x, y, reduction="sum")
    loss.backward()
    assert (loss.item(), loss.dtype) == (13, torch.float64)
    assert x.grad.tolist() == [[0, 0], [4, 6]] and x.grad.dtype == torch.float32
    assert y.grad.tolist() == [-4, -6]
    with pytest.raises(NotImplementedError, match="\"mse_cpu\" not implemented for 'Long'"):
        F.mse_loss(classes(2), classes(2))


def test_mse_loss_of_two_types_is_one_node():
    """Conversions are no nodes of their own: `.grad` of each operand comes in the order of the operands."""
    x, y, order = leaf([1.0, 2.0], dtype=torch.float16), leaf([3.0, 5.0]), []
    x.register_hook(lambda g: order.append((g.dtype, g.tolist())))
    y.register_hook(lambda g: order.append((g.dtype, g.tolist())))
    loss = F.mse_loss(x, y)
    assert [type(f).__name__ for f, _ in loss.grad_fn.next_functions] == ["AccumulateGrad"] * 2
    assert loss.grad_fn._saved_self is x and loss.grad_fn._saved_target is y
    loss.backward(retain_graph=True)
    assert order == [(torch.float16, [-2, -3]), (torch.float64, [2, 3])]
    recorded = torch.autograd.grad(loss, (x, y), create_graph=True)
    assert [(g.dtype, g.tolist()) for g in recorded] == order[:2]
    assert F.mse_loss(x, torch.tensor([3, 5])).dtype == torch.float16


def test_mse_loss_with_weights():
    x, y, w = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.0, 0.0, 0.0]), torch.tensor([3.0, 2.0, 1.0])
    assert F.mse_loss(x, y, weight=w).item() == pytest.approx(20 / 6)
    assert F.mse_loss(x, y, weight=w, reduction="sum").item() == 20
    assert F.mse_loss(x, y, weight=w, reduction="none").tolist() == [3, 8, 9]
    with pytest.raises(ValueError, match="Weights and input must have the same size"):
        F.mse_loss(x, y, weight=w[:2])


def test_mse_loss_of_many_elements():
    """Summed up well, in float32 too."""
    x = np.random.default_rng(0).uniform(0.99, 1.01, 1_000_003).astype(np.float32)
    loss = F.mse_loss(torch.from_numpy(x), torch.zeros(len(x)))
    assert loss.item() == pytest.approx(np.mean(x.astype(np.float64) ** 2), rel=1e-7)


def test_probabilities_have_gradients():
    x, p = leaf([[1.0, 2.0]]), leaf([[0.25, 0.75]])
    F.cross_entropy(x, p).backward()
    log = torch.log_softmax(x, 1)
    np.testing.assert_allclose(p.grad.numpy(), -log.detach().numpy())
    np.testing.assert_allclose(x.grad.numpy(), log.exp().detach().numpy() - p.detach().numpy())


@differs("`_saved_ignore_index` of `ignore_index=-100`", "-100 as an unsigned number")
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4, 4)])
def test_the_node_shows_the_ignored_class(shape):
    target = torch.zeros(shape[:1] + shape[2:], dtype=torch.int64)
    assert F.nll_loss(torch.zeros(shape, requires_grad=True), target).grad_fn._saved_ignore_index == -100
