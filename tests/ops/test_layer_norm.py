"""layer_norm: what it refuses, mixed types, accuracy far from zero, what its node shows and gives up."""

import numpy as np
import pytest

import autograd_cy as torch

F = torch.nn.functional
HALF, FLOAT, DOUBLE = torch.float16, torch.float32, torch.float64


def ones(*sizes, **options):
    return torch.ones(sizes, **options)


REFUSED = {
    "no sizes": (ones(2, 3), (), {}, RuntimeError, r"at least 1-dimensional.* normalized_shape = \[\]"),
    "other sizes": (ones(2, 3), (2,), {}, RuntimeError,
                    r"Given normalized_shape=\[2\], expected input with shape \[\*, 2\], but got input of size\[2, 3\]"),
    "too many sizes": (ones(3), (2, 3), {}, RuntimeError, r"expected input with shape \[\*, 2, 3\], but got .* size\[3\]"),
    "another weight": (ones(2, 3), (3,), {"weight": ones(2)}, RuntimeError,
                       r"Expected weight to be of same shape as normalized_shape, but got weight of shape \[2\]"),
    "another bias": (ones(2, 3), (3,), {"bias": ones(1, 3)}, RuntimeError,
                     r"but got bias of shape \[1, 3\] and normalized_shape = \[3\]"),
    "an int for the sizes": (ones(2, 3), 3, {}, TypeError, "'normalized_shape' .position 2. must be tuple of ints, not int"),
    "a float among the sizes": (ones(2, 3), (3.0,), {}, TypeError, "found element of type float at pos 0"),
    "a number": (1.0, (1,), {}, TypeError, "argument 'input' .position 1. must be Tensor, not float"),
    "a number for the weight": (ones(3), (3,), {"weight": 1.0}, TypeError, "argument 'weight' .position 3. must be Tensor"),
    "a word for eps": (ones(3), (3,), {"eps": "small"}, TypeError, "argument 'eps' .position 5. must be float, not str"),
    "integers": (ones(2, 3, dtype=torch.int64), (3,), {}, NotImplementedError,
                 "\"LayerNormKernelImpl\" not implemented for 'Long'"),
    "complex numbers": (ones(3, dtype=torch.complex64), (3,), {}, NotImplementedError, "not implemented for 'ComplexFloat'"),
    "a double weight": (ones(3), (3,), {"weight": ones(3, dtype=DOUBLE)}, RuntimeError,
                        "mixed dtype .CPU.: expect parameter to have scalar type of Float"),
    "a float weight for doubles": (ones(3, dtype=DOUBLE), (3,), {"weight": ones(3)}, RuntimeError,
                                   "mixed dtype .CPU.: all inputs must share same datatype"),
    "two types of parameters": (ones(3), (3,), {"weight": ones(3), "bias": ones(3, dtype=DOUBLE)}, RuntimeError,
                                "expected scalar type Float but found Double"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    x, sizes, options, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        F.layer_norm(x, sizes, **options)


def test_float16_takes_parameters_in_float32():
    x, weight, bias = [torch.tensor([1.0, 2.0, 4.0], dtype=kind, requires_grad=True) for kind in (HALF, FLOAT, FLOAT)]
    y = F.layer_norm(x, (3,), weight, bias)
    y.backward(torch.tensor([1.0, 0.0, 0.0], dtype=HALF))
    assert (y.dtype, x.grad.dtype, weight.grad.dtype, bias.grad.dtype) == (HALF, HALF, FLOAT, FLOAT)
    assert y.grad_fn is not None
    assert F.layer_norm(x, (3,), weight).grad_fn._saved_result1.dtype == FLOAT
    assert F.layer_norm(x, (3,)).grad_fn._saved_result1.dtype == HALF


def test_deviations_far_from_zero_are_exact():
    """The mean of float32 numbers around 10^4, rounded to float32, would be wrong by 5 * 10^-4."""
    x = torch.tensor(1e4 + np.random.default_rng(0).standard_normal((4, 3000)), dtype=FLOAT)
    wide = x.numpy().astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(F.layer_norm(x, (3000,)).numpy(), expected, rtol=0, atol=2e-6)


@pytest.mark.parametrize("sizes", [(700, 33), (33, 700), (3, 5000)])
def test_large_gradients(sizes):
    """Against the formula in float64: blocks of rows, of columns, and what remains of each."""
    random = np.random.default_rng(1)
    g, x, weight, bias = [random.standard_normal(size) for size in (sizes, sizes, sizes[1:], sizes[1:])]
    leaves = [torch.tensor(value, dtype=FLOAT, requires_grad=True) for value in (x, weight, bias)]
    F.layer_norm(leaves[0], sizes[1:], *leaves[1:]).backward(torch.tensor(g, dtype=FLOAT))
    scale = 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    z, h = (x - x.mean(1, keepdims=True)) * scale, g * weight
    expected = (h - h.mean(1, keepdims=True) - z * (h * z).mean(1, keepdims=True)) * scale, (g * z).sum(0), g.sum(0)
    for leaf, value in zip(leaves, expected, strict=True):
        np.testing.assert_allclose(leaf.grad.numpy(), value, rtol=1e-4, atol=1e-4)


def test_node_shows_mean_and_scale_until_backward():
    x = torch.tensor([[1.0, 3.0], [0.0, 8.0]], requires_grad=True)
    y = F.layer_norm(x, (2,), eps=0.0)
    node = y.grad_fn
    assert node._saved_result1.tolist() == [[2.0], [4.0]]
    assert node._saved_result2.tolist() == [[1.0], [0.25]]
    assert (node._saved_weight, node._saved_normalized_shape) == (None, (2,))
    assert [target for target, _ in node.next_functions[1:]] == [None, None]
    y.sum().backward()
    for name in ("_saved_result1", "_saved_result2", "_saved_input"):
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            getattr(node, name)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


@pytest.mark.parametrize("changed", [0, 1, 2])
def test_changed_inputs_are_noticed(changed):
    """The bias too, though nothing reads it: as in PyTorch."""
    inputs = [ones(2, requires_grad=True) for _ in range(3)]
    y = F.layer_norm(inputs[0], (2,), *inputs[1:])
    with torch.no_grad():
        inputs[changed].add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
