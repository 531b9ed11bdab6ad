"""cross_entropy of class numbers, a fused operation: the same as nll_loss of log_softmax, but for the graph and the memory."""

import math

import numpy as np
import pytest
from common import differs, leaf, tangent

import autograd_cy as torch
from autograd_cy._core.graph.tensor import array_of

F = torch.nn.functional
REDUCTIONS = ["none", "mean", "sum"]
INF, NAN = math.inf, math.nan


def composed(x, target, **options):
    """What it is in PyTorch."""
    return F.nll_loss(x.log_softmax(0 if x.ndim == 1 else 1), target, **options)


def run(loss, x, target, dtype, **options):
    """The loss and its gradient, for a seed of ones; the scores are the arrays of x in that type."""
    scores = torch.tensor(x, dtype=dtype, requires_grad=True)
    if "weight" in options:
        options["weight"] = torch.tensor(options["weight"], dtype=dtype)
    y = loss(scores, torch.tensor(target), **options)
    y.backward(torch.ones_like(y))
    return y.detach().numpy(), scores.grad.numpy()


# values

SHAPES = [(7,), (200, 3), (5, 63), (5, 64), (3, 2500), (4, 1), (2, 3, 130), (1, 70, 3, 100), (3, 2, 1, 4, 33), (2, 5, 1)]


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_and_columns_of_many_sizes(shape, reduction):
    """Short rows and long ones, blocks of columns and what is left of them; with weights, and some targets ignored."""
    random = np.random.default_rng(len(shape))
    classes = shape[min(1, len(shape) - 1)]
    x, weight = 3 * random.standard_normal(shape), random.random(classes) + 0.5
    target = np.asarray(random.integers(0, classes, shape[:1] + shape[2:] if len(shape) > 1 else ()))
    target[random.random(target.shape) < 0.2 * bool(target.ndim)] = -100
    options = {"weight": weight, "reduction": reduction}
    expected = run(composed, x, target, torch.float64, **options)
    for dtype, tolerance in [(torch.float64, 1e-14), (torch.float32, 5e-6)]:
        for found, wanted in zip(run(F.cross_entropy, x, target, dtype, **options), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance / 5)


@pytest.mark.parametrize("row", [[1000, 999.5], [1e4, 0], [-1e4, -1e4 - 3], [0, -50], [3e38, 1e38]], ids=str)
def test_large_scores_keep_their_digits(row):
    """The logarithm of the sum is not added to the largest score."""
    exact = math.log1p(math.exp(row[1] - row[0]))
    x = torch.tensor([row], dtype=torch.float32)
    assert F.cross_entropy(x, torch.tensor([0])).item() == pytest.approx(exact, rel=2e-7, abs=2e-7)


def test_float16_is_computed_in_float32():
    x, target = np.array([[1.0, 2.0, 4.0], [0.5, 8.0, 0.25]], np.float16), np.array([0, 1])
    found = run(F.cross_entropy, x, target, torch.float16)
    expected = run(F.cross_entropy, x, target, torch.float32)
    for got, wanted in zip(found, expected, strict=True):
        assert got.dtype == np.float16
        np.testing.assert_array_equal(got, wanted.astype(np.float16))


SPECIAL = {
    "inf": [1, INF, 2],
    "inf at the target": [INF, 1, 2],
    "nan": [1, NAN, 2],
    "nan at the target": [NAN, 1, 2],
    "-inf": [1, -INF, 2],
    "-inf at the target": [-INF, 1, 2],
    "-inf only": [-INF, -INF, -INF],
    "inf and -inf": [-INF, INF, 0],
}


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("length", [3, 100], ids=["short", "long"])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_scores(name, length, reduction):
    """Along rows and along columns; the sample beside the special one is what it would be alone."""
    rows = np.zeros((2, length))
    rows[:, :3] = [SPECIAL[name], [1, 2, 3]]
    target = np.array([0, 1])
    loss, grad = run(F.cross_entropy, rows, target, torch.float64, reduction=reduction)
    for found, expected in zip((loss, grad), run(composed, rows, target, torch.float64, reduction=reduction), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-16)
    across = run(F.cross_entropy, rows.T[None], target[None], torch.float64, reduction=reduction)
    np.testing.assert_allclose(across[0].reshape(loss.shape), loss, rtol=1e-14)
    np.testing.assert_allclose(across[1][0].T, grad, rtol=1e-14, atol=1e-16)


@differs("scores that `cross_entropy` ignores", "0 times what the scores give: NaN")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("length", [3, 100], ids=["short", "long"])
@pytest.mark.parametrize("name", SPECIAL)
def test_scores_that_are_ignored_have_no_gradient_whatever_they_are(name, length, create_graph):
    rows = np.zeros((2, length))
    rows[:, :3] = [SPECIAL[name], [1, 2, 3]]
    for scores, target in [(rows, [-100, 1]), (rows.T[None], [[-100, 1]])]:
        x = leaf(scores)
        (g,) = torch.autograd.grad(F.cross_entropy(x, torch.tensor(target)), x, create_graph=create_graph)
        ignored, counted = g.detach().numpy() if scores.ndim == 2 else g.detach().numpy()[0].T
        assert not ignored.any()
        assert counted[1] < 0 < counted[0]
        if create_graph:
            (again,) = torch.autograd.grad((g * g).sum(), x)
            assert np.isfinite(again.numpy()).all()
        moved = torch.ones_like(x.detach())
        assert tangent(lambda v, t=target: F.cross_entropy(v, torch.tensor(t)), moved, x.detach()).item() == pytest.approx(0)


@pytest.mark.parametrize("shape, target", [((0, 3), (0,)), ((0, 3, 4), (0, 4)), ((2, 3, 0), (2, 0)), ((0, 0), (0,))], ids=str)
def test_no_samples(shape, target):
    for reduction, expected in [("mean", NAN), ("sum", 0.0)]:
        x = torch.zeros(*shape, requires_grad=True)
        y = F.cross_entropy(x, torch.zeros(*target, dtype=torch.int64), reduction=reduction)
        y.backward()
        assert (y.item() == expected or math.isnan(expected)) and math.isnan(y.item()) == math.isnan(expected)
        assert x.grad.shape == shape
    assert F.cross_entropy(x, torch.zeros(*target, dtype=torch.int64), reduction="none").shape == target


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0,), (0, 0), (2, 0, 3)], ids=str)
def test_probabilities_of_no_classes_and_of_no_samples(shape):
    """Without classes the interpreter crashed: C divided integers by 0."""
    x = torch.zeros(shape, requires_grad=True)
    for smoothing in (0, 0.1):
        mean = F.cross_entropy(x, torch.zeros(shape), label_smoothing=smoothing)
        assert math.isnan(mean.item()) and F.cross_entropy(x, torch.zeros(shape), reduction="sum").item() == 0
        each = F.cross_entropy(x, torch.zeros(shape), reduction="none")
        assert each.shape == (shape[:1] + shape[2:] if len(shape) > 1 else ())
        (g,) = torch.autograd.grad(mean, x)
        assert g.shape == shape


def test_refusals_are_those_of_log_softmax_and_nll_loss():
    with pytest.raises(NotImplementedError, match="\"log_softmax_lastdim_kernel_impl\" not implemented for 'Long'"):
        F.cross_entropy(torch.zeros(2, 3, dtype=torch.int64), torch.tensor([0, 1]))
    with pytest.raises(NotImplementedError, match="\"log_softmax_kernel_impl\" not implemented for 'ComplexFloat'"):
        F.cross_entropy(torch.zeros(1, 3, 2, dtype=torch.complex64), torch.tensor([[0, 1]]))
    with pytest.raises(IndexError, match="Dimension out of range"):
        F.cross_entropy(torch.tensor(1.0), torch.tensor([0]))


# the graph


@differs("the graph of `cross_entropy`", "a LogSoftmaxBackward0 between them, and a ViewBackward0 for some shapes")
@pytest.mark.parametrize(
    "shape, name", [((3,), ""), ((2, 3), ""), ((2, 3, 4), "2D"), ((2, 3, 4, 5), "2D"), ((1, 3, 2, 2, 2), "2D")]
)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_one_node_leads_to_the_scores(shape, name, reduction):
    x = torch.zeros(*shape, requires_grad=True)
    target = torch.zeros(shape[:1] + shape[2:] if len(shape) > 1 else (), dtype=torch.int64)
    node = F.cross_entropy(x, target, reduction=reduction).grad_fn
    assert node.name() == f"NllLoss{name}Backward0"
    assert [(type(n).__name__, n.variable is x) for n, _ in node.next_functions] == [("AccumulateGrad", True)]


@differs("the graph of `cross_entropy`", "the logarithms of the probabilities")
def test_what_the_node_shows():
    x, target, weight = leaf([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([0, 1]), torch.tensor([2.0, 3.0], dtype=torch.float64)
    node = F.cross_entropy(x, target, weight=weight, ignore_index=7).grad_fn
    assert node._saved_self is x
    assert node._saved_target.tolist() == [0, 1] and node._saved_weight.tolist() == [2, 3]
    assert (node._saved_total_weight.item(), node._saved_ignore_index, node._saved_reduction) == (5, 7, 1)


@differs("the graph of `cross_entropy`", "two nodes: three tensors and the weight of all")
def test_hooks_see_what_is_saved():
    """Scores that were packed away, and come back in other memory."""
    x, target, packed = leaf([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([0, 1]), []
    expected = run(F.cross_entropy, x.tolist(), target.tolist(), torch.float64)[1]

    def pack(tensor):
        packed.append(tensor)
        return tensor.detach().numpy().tobytes(), tensor.detach().numpy().dtype, tuple(tensor.shape)

    def unpack(kept):
        return torch.from_numpy(np.frombuffer(kept[0], kept[1]).reshape(kept[2]).copy())

    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = F.cross_entropy(x, target)
    assert [t is x or t is target for t in packed] == [True, True]
    y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), expected)


@differs("the graph of `cross_entropy`", "keeps the logarithms of the probabilities, so this is no error")
def test_scores_written_to_before_backward_are_noticed():
    x = leaf([[1.0, 2.0]]) * 1.0
    y = F.cross_entropy(x, torch.tensor([0]))
    with torch.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_a_second_backward_needs_the_graph():
    x = leaf([[1.0, 2.0]])
    y = F.cross_entropy(x, torch.tensor([0]))
    y.backward(retain_graph=True)
    first = x.grad.clone()
    y.backward()
    assert x.grad.tolist() == (2 * first).tolist()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


@differs("targets and indices changed", "reads or writes out of bounds")
@pytest.mark.parametrize("loss, changed", [
    (F.cross_entropy, "x"), (F.cross_entropy, "target"), (F.cross_entropy, "weight"),
    (F.nll_loss, "target"), (F.nll_loss, "weight"),
])  # fmt: skip
def test_memory_that_was_resized(loss, changed):
    arrays = {"x": np.zeros((4, 3)), "target": np.array([0, 1, 2, 0]), "weight": np.ones(3)}
    tensors = {name: torch.tensor(a) for name, a in arrays.items()}
    y = loss(tensors["x"].requires_grad_(), tensors["target"], weight=tensors["weight"], reduction="sum")
    array_of(tensors[changed]).resize((1, 3) if changed == "x" else (1,), refcheck=False)
    with pytest.raises(RuntimeError, match=r"the memory of a saved .* was resized"):
        torch.autograd.grad(y, tensors["x"])


@pytest.mark.parametrize("loss", [F.cross_entropy, F.nll_loss], ids=["cross_entropy", "nll_loss"])
def test_a_node_called_with_a_gradient_of_another_size(loss):
    node = loss(leaf([[1.0, 2.0], [3.0, 5.0]]), torch.tensor([0, 1]), reduction="none").grad_fn
    with pytest.raises(RuntimeError):
        node(torch.ones(1, dtype=torch.float64))


@differs("targets and indices changed", "writes out of bounds")
@pytest.mark.parametrize("shape", [(2, 3), (1, 3, 2)])
def test_targets_changed_through_an_array_count_for_nothing(shape):
    target = np.array([0, 1])
    x = torch.zeros(*shape, requires_grad=True)
    y = F.cross_entropy(x, torch.from_numpy(target.reshape(shape[:1] + shape[2:])), reduction="sum")
    target[0] = 10**12
    y.backward()
    assert np.abs(x.grad.numpy()).sum() == pytest.approx(4 / 3)
