"""batch_norm and its like: running statistics, what is refused, what nodes show, large inputs against the formula."""

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
RANDOM = np.random.default_rng(0)


def test_running_statistics_move():
    x = RANDOM.standard_normal((4, 3, 5)) + 2
    mean, var = ag.zeros(3, dtype=ag.float64), ag.ones(3, dtype=ag.float64)
    F.batch_norm(ag.tensor(x), mean, var, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.numpy(), 0.25 * x.mean((0, 2)))
    np.testing.assert_allclose(var.numpy(), 0.75 + 0.25 * x.var((0, 2), ddof=1))
    F.batch_norm(ag.tensor(x), mean, var)
    np.testing.assert_allclose(mean.numpy(), 0.25 * x.mean((0, 2)))


def test_a_gradient_survives_that_running_statistics_move():
    """As in PyTorch: what an evaluation read may change before its backward."""
    x, mean, var = ag.ones(2, 1, requires_grad=True), ag.zeros(1), ag.full((1,), 4.0)
    y = F.batch_norm(x, mean, var, eps=0.0)
    F.batch_norm(x.detach() * ag.tensor([[1.0], [5.0]]), mean, var, training=True)
    y.sum().backward()
    assert x.grad.tolist() == [[0.5], [0.5]]


@pytest.mark.parametrize("last", [False, True])
def test_the_gradient_of_an_evaluation_does_not_depend_on_the_input(last):
    """Infinite and undefined elements had NaN for a gradient."""
    x = ag.ones(2, 3, 2, 2)
    x[0, 0], x[0, 1] = float("inf"), float("nan")
    x = x.contiguous(memory_format=ag.channels_last if last else ag.contiguous_format).requires_grad_()
    F.batch_norm(x, ag.zeros(3), ag.full((3,), 4.0), ag.tensor([2.0, 4.0, 6.0]), eps=0.0).sum().backward()
    assert ag.equal(x.grad, ag.tensor([1.0, 2.0, 3.0]).reshape(3, 1, 1).expand(2, 3, 2, 2))


REFUSED = {
    "no statistics": (lambda x: F.batch_norm(x, None, None), RuntimeError, "running_mean must be defined in evaluation mode"),
    "another weight": (lambda x: F.batch_norm(x, None, None, ag.ones(2), training=True), RuntimeError,
                       "weight should contain 3 elements not 2"),
    "one value": (lambda x: F.batch_norm(x[:1], None, None, training=True), ValueError,
                  r"Expected more than 1 value per channel when training, got input size torch.Size\(\[1, 3\]\)"),
    "no channels": (lambda x: F.batch_norm(x[0], None, None, training=True), IndexError, "Dimension out of range"),
    "integers": (lambda x: F.batch_norm(x.long(), None, None, training=True), NotImplementedError, "for 'Long'"),
    "groups": (lambda x: F.group_norm(x, 2), RuntimeError, "number of channels in input to be divisible by num_groups"),
    "no groups": (lambda x: F.group_norm(x, 0), RuntimeError, "num groups to be greater than 0"),
    "one element": (lambda x: F.instance_norm(x.unsqueeze(2)), ValueError, "Expected more than 1 spatial element"),
    "a mean with a gradient": (lambda x: F.batch_norm(x, ag.zeros(3, requires_grad=True), ag.ones(3)), RuntimeError,
                               "not differentiable with respect to argument 'running_mean'"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call(ag.ones(2, 3))


def formula(g, x, weight, axes):
    """The gradients of x, weight and bias."""
    scale = 1 / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    z, h = (x - x.mean(axes, keepdims=True)) * scale, g * weight
    return (h - h.mean(axes, keepdims=True) - z * (h * z).mean(axes, keepdims=True)) * scale, g * z, g


@pytest.mark.parametrize("sizes", [(700, 33), (3, 300), (5, 7, 1000), (64, 3, 2, 2)])
def test_large_gradients(sizes):
    g, x = RANDOM.standard_normal((2, *sizes))
    w, b = RANDOM.standard_normal((2, sizes[1]))
    others = (0, *range(2, len(sizes)))
    leaves = [ag.tensor(value, dtype=ag.float32, requires_grad=True) for value in (x, w, b)]
    F.batch_norm(leaves[0], None, None, *leaves[1:], training=True).backward(ag.tensor(g, dtype=ag.float32))
    gx, gw, gb = formula(g, x, w.reshape(-1, *(1,) * (len(sizes) - 2)), others)
    for leaf, value in zip(leaves, (gx, gw.sum(others), gb.sum(others)), strict=True):
        np.testing.assert_allclose(leaf.grad.numpy(), value, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("retained", [False, True])
def test_inputs_one_by_one(retained):
    """What is summed for one input's gradient serves for the others' only where no other backward comes."""
    leaves = [ag.tensor(RANDOM.standard_normal(n), requires_grad=True) for n in ((4, 6, 5), 6, 6)]
    seed = ag.tensor(RANDOM.standard_normal((4, 6, 5)))
    together = ag.autograd.grad(F.group_norm(leaves[0], 2, *leaves[1:]), leaves, seed, retain_graph=retained)
    y = F.group_norm(leaves[0], 2, *leaves[1:])
    for leaf, expected in zip(leaves, together, strict=True):
        (found,) = ag.autograd.grad(y, leaf, seed, retain_graph=True)
        assert ag.equal(found, expected)
        seed.mul_(-1)
        (found,) = ag.autograd.grad(y, leaf, seed, retain_graph=True)
        assert ag.equal(found, -expected)
        seed.mul_(-1)


def test_nodes_show_statistics_until_backward():
    x = ag.tensor([[1.0, 0.0], [3.0, 8.0]], requires_grad=True)
    y = F.batch_norm(x, None, None, training=True, eps=0.0)
    node = y.grad_fn
    assert (node.name(), node._saved_result1.tolist(), node._saved_result2.tolist()) == (
        "NativeBatchNormBackward0", [2.0, 4.0], [1.0, 0.25])  # fmt: skip
    assert node._saved_training is True
    group = F.group_norm(x, 1, eps=0.0).grad_fn
    assert (group.name(), group._saved_N, group._saved_C, group._saved_HxW, group._saved_group) == (
        "NativeGroupNormBackward0", 2, 2, 1, 1)  # fmt: skip
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        node._saved_result1  # noqa: B018
