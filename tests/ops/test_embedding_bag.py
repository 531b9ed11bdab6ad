"""embedding_bag: against PyTorch, second order, samples of a batch, what it refuses."""

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
TABLE = np.random.default_rng(0).standard_normal((5, 3))
NUMBERS = [0, 1, 2, 4, 2, 2]
CASES = {
    "offsets": (NUMBERS, [0, 2, 2, 5], {}),
    "last": (NUMBERS, [0, 2, 6], {"include_last_offset": True}),
    "rectangle": ([[0, 1], [2, 2], [4, 3]], None, {}),
    "padding": (NUMBERS, [0, 2, 3], {"padding_idx": -3}),
    "only padding": (NUMBERS, [0, 4], {"padding_idx": 2}),
    "empty": (np.zeros(0, np.int64), [0, 0], {}),
    "no bags": (np.zeros(0, np.int64), np.zeros(0, np.int64), {}),
    "shortened": (NUMBERS, [0, 3], {"max_norm": 0.5}),
}


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("case", CASES)
def test_as_pytorch(case, mode):
    torch = pytest.importorskip("torch")
    numbers, offsets, options = CASES[case]

    def made(library):
        weight = library.tensor(TABLE, requires_grad=True)
        starts = None if offsets is None else library.tensor(offsets)
        y = library.nn.functional.embedding_bag(library.tensor(numbers), weight, starts, mode=mode, **options)
        (y * y).sum().backward()
        return y.detach().numpy(), weight.grad.numpy()

    for ours, theirs in zip(made(ag), made(torch), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_gradients_of_gradients(mode):
    def bags(weight):
        return F.embedding_bag(ag.tensor(NUMBERS), weight, ag.tensor([0, 2, 2]), mode=mode)

    weight = ag.tensor(TABLE, requires_grad=True)
    assert ag.autograd.gradcheck(bags, (weight,)) and ag.autograd.gradgradcheck(bags, (weight,))
    tables = ag.tensor(np.stack([TABLE, -TABLE]))
    np.testing.assert_array_equal(ag.vmap(bags)(tables).numpy(), [bags(tables[0]).numpy(), bags(tables[1]).numpy()])


def test_factors_of_samples():
    def bags(weight, factors):
        return F.embedding_bag(ag.tensor([[0, 1], [2, 2]]), weight, mode="sum", per_sample_weights=factors)

    weight, factors = ag.tensor(TABLE, requires_grad=True), ag.tensor([[1.0, 2], [3, 4]], dtype=ag.float64, requires_grad=True)
    np.testing.assert_allclose(bags(weight, factors).detach().numpy(), [TABLE[0] + 2 * TABLE[1], 7 * TABLE[2]])
    assert ag.autograd.gradcheck(bags, (weight, factors)) and ag.autograd.gradgradcheck(bags, (weight, factors))


FOUR = {
    "sum": {"mode": 0},
    "mean": {"mode": 1},
    "max": {"mode": 2},
    "padding": {"mode": 1, "padding_idx": -3},
    "largest of padding": {"mode": 2, "padding_idx": 2},
    "last": {"mode": 1, "include_last_offset": True},
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("case", FOUR)
def test_four_results_as_pytorch(case, dtype):
    torch = pytest.importorskip("torch")
    options = {"scale_grad_by_freq": False, "sparse": False, "per_sample_weights": None, "include_last_offset": False,
               "padding_idx": None} | FOUR[case]  # fmt: skip

    def made(library, integers):
        weight = library.tensor(TABLE, dtype=getattr(library, dtype), requires_grad=True)
        numbers = library.tensor(NUMBERS, dtype=getattr(library, integers))
        results = library.embedding_bag(weight, numbers, library.tensor([0, 2, 2, 5, 6], dtype=numbers.dtype), **options)
        assert type(results[0].grad_fn).__name__ == "EmbeddingBagBackward0"
        (results[0] ** 2).sum().backward()
        return [*(x.detach().numpy() for x in results), weight.grad.numpy()]

    for integers in ("int32", "int64"):
        for ours, theirs in zip(made(ag, integers), made(torch, integers), strict=True):
            assert ours.dtype == theirs.dtype
            if theirs.size == 0:  # the numbers of the bags, where PyTorch has no need of them
                assert ours.tolist() == [0, 0, 2, 2, 2, 3]
                continue
            assert ours.shape == theirs.shape
            tolerance = 1e-6 if dtype == "float32" else 1e-12
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_gradients_by_frequency(mode):
    """Each row's is divided by how often it was read. (PyTorch looks the count of another row up.)"""

    def gradient(scaled, create_graph):
        weight = ag.tensor(TABLE, requires_grad=True)
        y = F.embedding_bag(ag.tensor(NUMBERS), weight, ag.tensor([0, 2, 5]), mode=mode, scale_grad_by_freq=scaled)
        return ag.autograd.grad((y**2).sum(), weight, create_graph=create_graph)[0].detach().numpy()

    times = np.maximum(np.bincount(NUMBERS, minlength=5), 1)[:, None]
    for create_graph in (False, True):
        np.testing.assert_allclose(gradient(True, create_graph), gradient(False, create_graph) / times, rtol=1e-12)


def test_the_first_of_equal_elements_has_the_gradient():
    weight = ag.tensor([[1.0, 2.0], [1.0, 3.0]], requires_grad=True)
    y, _, _, rows = ag.embedding_bag(weight, ag.tensor([1, 0]), ag.tensor([0]), False, 2)
    y.sum().backward()
    assert rows.tolist() == [[1, 1]] and weight.grad.tolist() == [[0, 0], [1, 1]]


def test_a_large_table():
    """Its gradient knows its rows, from one step to the next."""
    weight = ag.zeros(20_000, 16, requires_grad=True)
    for numbers in ([3, 5, 3, 19_999], [7, 5]):
        weight.grad = None
        F.embedding_bag(ag.tensor([numbers]), weight, mode="sum").sum().backward()
        np.testing.assert_array_equal(weight.grad.numpy()[:, 0], np.bincount(numbers, minlength=20_000))


def test_what_was_saved():
    weight, numbers = ag.tensor(TABLE, requires_grad=True), ag.tensor(NUMBERS)
    y = F.embedding_bag(numbers, weight, ag.tensor([0, 3]))
    numbers += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    y = F.embedding_bag(ag.tensor([[0, 1]]), weight)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


REFUSED = {
    "too large": ([5], [0], {}, RuntimeError, "found idx to be 5"),
    "negative": ([-1], [0], {}, RuntimeError, "found idx to be -1"),
    "first": ([1], [1], {}, RuntimeError, r"offsets\[0\] has to be 0"),
    "last": ([1], [0, 2], {}, RuntimeError, r"offsets\[-1\] can not be greater than input's length 1"),
    "decreasing": ([1, 2], [0, 2, 1], {}, RuntimeError, "must not decrease"),
    "no offsets": ([1], None, {}, ValueError, "offsets has to be a 1D Tensor"),
    "both": ([[1]], [0], {}, ValueError, "offsets has to be None"),
    "mode": ([1], [0], {"mode": "min"}, ValueError, "mode has to be one of"),
    "padding": ([1], [0], {"padding_idx": 5}, RuntimeError, "-5 through 4, but got 5"),
    "sparse": ([1], [0], {"sparse": True, "mode": "max"}, ValueError, "max mode does not support sparse weights"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    numbers, offsets, options, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        F.embedding_bag(ag.tensor(numbers), ag.tensor(TABLE), None if offsets is None else ag.tensor(offsets), **options)


@pytest.mark.parametrize("padding_idx", [None, 1])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_the_last_bag_ends_with_the_indices(mode, padding_idx):
    """include_last_offset took the last offset for the end of the last bag: [0, 3, 3] made that empty."""
    table, numbers = ag.tensor([[1.0], [10.0], [100.0], [1000.0]], requires_grad=True), ag.tensor([0, 1, 2, 3])
    for last in (3, 4):
        y = F.embedding_bag(
            numbers, table, ag.tensor([0, 3, last]), mode=mode, include_last_offset=True, padding_idx=padding_idx
        )
        expected = F.embedding_bag(numbers, table, ag.tensor([0, 3]), mode=mode, padding_idx=padding_idx)
        assert y.equal(expected) and y[1].item() == 1000.0
    assert F.embedding_bag(numbers, table, ag.tensor([0]), include_last_offset=True).shape == (0, 1)
