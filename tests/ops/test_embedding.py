"""embedding: what it refuses, padding, scaled gradients, rows shortened, large tables."""

import numpy as np
import pytest

import autograd_cy as ag

F = ag.nn.functional
TABLE = np.arange(12.0).reshape(4, 3)


def gradient(indices, table=TABLE, **options):
    weight = ag.tensor(table, requires_grad=True)
    y = F.embedding(ag.tensor(indices), weight, **options)
    y.sum().backward()
    return weight.grad.numpy()


REFUSED = {
    "too large": (([4],), {}, IndexError, "index out of range in self"),
    "negative": (([-1],), {}, IndexError, "index out of range in self"),
    "floats": (([1.0],), {}, RuntimeError, "scalar types: Long, Int; but got torch.FloatTensor"),
    "padding": (([1],), {"padding_idx": 4}, AssertionError, "Padding_idx must be within num_embeddings"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    (indices,), options, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        F.embedding(ag.tensor(indices), ag.tensor(TABLE), **options)


def test_refused_tables():
    with pytest.raises(RuntimeError, match="'weight' must be 2-D"):
        F.embedding(ag.tensor([0]), ag.ones(3))
    with pytest.raises(TypeError, match="argument 'weight'"):
        F.embedding(ag.tensor([0]), 1.0)


def test_rows_that_were_read_get_gradients():
    np.testing.assert_array_equal(gradient([1, 3, 1]), np.repeat([[0.0], [2], [0], [1]], 3, 1))


@pytest.mark.parametrize("row", [1, -3])
def test_the_padding_row_gets_none(row):
    np.testing.assert_array_equal(gradient([1, 3, 1], padding_idx=row)[1], 0)


def test_gradients_scaled_by_frequency():
    np.testing.assert_array_equal(gradient([1, 3, 1], scale_grad_by_freq=True), np.repeat([[0.0], [1], [0], [1]], 3, 1))


def test_second_derivative_of_scaled_gradients():
    weight = ag.tensor(TABLE, requires_grad=True)
    seed = ag.ones(3, 3, dtype=ag.float64, requires_grad=True)
    y = F.embedding(ag.tensor([1, 3, 1]), weight, padding_idx=3, scale_grad_by_freq=True)
    (g,) = ag.autograd.grad(y, weight, seed, create_graph=True)
    (h,) = ag.autograd.grad(g.sum(), seed)
    np.testing.assert_array_equal(h.numpy(), np.repeat([[0.5], [0], [0.5]], 3, 1))


def test_rows_that_are_too_long_are_shortened():
    table = ag.tensor([[3.0, 4.0], [30.0, 40.0], [0.3, 0.4]])
    F.embedding(ag.tensor([0, 2, 0]), table, max_norm=1.0)
    np.testing.assert_allclose(table.numpy(), [[0.6, 0.8], [30, 40], [0.3, 0.4]], rtol=1e-6)
    assert table._version == 1


def test_a_table_for_each_sample():
    tables, indices = ag.tensor(np.stack([TABLE, -TABLE])), ag.tensor([[0, 3], [1, 1]])
    y = ag.vmap(lambda w, i: F.embedding(i, w))(tables, indices)
    np.testing.assert_array_equal(y.numpy(), [TABLE[[0, 3]], -TABLE[[1, 1]]])
    with pytest.raises(IndexError, match="out of range"):
        ag.vmap(lambda w, i: F.embedding(i, w))(tables, ag.tensor([[0, 4], [1, 1]]))


def test_large_tables_have_the_gradient_that_add_at_gives():
    random = np.random.default_rng(0)
    indices, seed = random.integers(0, 1000, 5000), random.standard_normal((5000, 33)).astype(np.float32)
    weight = ag.zeros(1000, 33, requires_grad=True)
    F.embedding(ag.tensor(indices), weight).backward(ag.tensor(seed))
    expected = np.zeros((1000, 33))
    np.add.at(expected, indices, seed)
    np.testing.assert_allclose(weight.grad.numpy(), expected, rtol=1e-4, atol=1e-5)
