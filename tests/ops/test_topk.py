"""topk beyond its row of the op table: many elements, equal ones, NaN, what it refuses, `out=`."""

import numpy as np
import pytest

import autograd_cy as torch


@pytest.mark.parametrize("n", [1023, 1024, 1025, 5000])
@pytest.mark.parametrize("k", [1, 7, 31, 32, 33, 1000])
@pytest.mark.parametrize("largest", [True, False])
def test_of_many(n, k, largest):
    array = np.random.default_rng(n + k).permutation(2 * n).reshape(2, n).astype(np.float64)
    x = torch.tensor(array, requires_grad=True)
    values, indices = torch.topk(x, k, largest=largest)
    expected = np.sort(array)[:, ::-1][:, :k] if largest else np.sort(array)[:, :k]
    np.testing.assert_array_equal(values.detach().numpy(), expected)
    np.testing.assert_array_equal(np.take_along_axis(array, indices.numpy(), 1), expected)
    (values * torch.arange(1.0, k + 1)).sum().backward()
    wanted = np.zeros_like(array)
    np.put_along_axis(wanted, indices.numpy(), np.arange(1.0, k + 1), 1)
    np.testing.assert_array_equal(x.grad.numpy(), wanted)


def test_nan_is_the_largest():
    x = torch.tensor([1.0, float("nan"), 3.0])
    assert torch.topk(x, 2).indices.tolist() == [1, 2]
    assert torch.topk(x, 2, largest=False).values.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((torch.ones(3), 4), RuntimeError, "selected index k out of range"),
        ((torch.ones(3), -1), RuntimeError, "selected index k out of range"),
        ((torch.ones(3), 1, 1), IndexError, "Dimension out of range"),
        ((torch.ones(3, dtype=torch.bool), 1), RuntimeError, "topk does not support bool dtypes on CPU"),
        ((torch.ones(3, dtype=torch.complex64), 1), RuntimeError, "topk does not support complex dtypes on CPU"),
    ],
    ids=["too many", "negative", "dim", "bool", "complex"],
)
def test_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        torch.topk(*arguments)


def test_results_written_into_two_tensors():
    values, indices = torch.zeros(2), torch.zeros(2, dtype=torch.int64)
    result = torch.topk(torch.tensor([1.0, 3.0, 2.0]), 2, out=(values, indices))
    assert result.values is values and result.indices is indices
    assert values.tolist() == [3.0, 2.0] and indices.tolist() == [1, 2]
    with pytest.raises(TypeError, match="a tensor for each result"):
        torch.topk(torch.ones(3), 2, out=values)
