"""Loops that take and put single elements, and those that find the few largest, against NumPy's on random arrays."""

import numpy as np
import pytest

import autograd_cy as ag

KINDS = pytest.mark.parametrize("kind", ["int32", "int64", "float32", "float64", "complex128", "float16", "uint8"])
UFUNCS = {"sum": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def drawn(kind: str, *shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(1, 9, shape).astype(kind)


def places(index: np.ndarray, dim: int) -> tuple:
    found = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    found[dim] = index
    return tuple(found)


@KINDS
@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("reduce", UFUNCS)
def test_elements_combined_one_after_the_other(kind: str, dim: int, reduce: str) -> None:
    if kind == "complex128" and reduce[0] == "a":
        pytest.skip("complex numbers have no order")
    x, source = drawn(kind, 4, 5, 3), drawn(kind, 4, 5, 3)
    index = np.random.default_rng(1).integers(0, x.shape[dim], source.shape)
    expected = x.copy()
    with np.errstate(over="ignore"):
        UFUNCS[reduce].at(expected, places(index, dim), source)
    found = ag.scatter_reduce(ag.tensor(x), dim, ag.tensor(index), ag.tensor(source), reduce)
    np.testing.assert_array_equal(found.numpy(), expected)
    transposed = ag.tensor(x.T.copy()).permute(2, 1, 0)
    found = ag.scatter_reduce(transposed, dim, ag.tensor(index.T.copy()).permute(2, 1, 0), ag.tensor(source), reduce)
    np.testing.assert_array_equal(found.numpy(), expected)


@KINDS
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_elements_taken_and_put(kind: str, dim: int) -> None:
    x = drawn(kind, 4, 5, 3)
    index = np.random.default_rng(1).integers(0, x.shape[dim], x.shape)
    np.testing.assert_array_equal(ag.gather(ag.tensor(x), dim, ag.tensor(index)).numpy(), np.take_along_axis(x, index, dim))
    order = np.argsort(np.random.default_rng(2).random(x.shape), dim)
    expected = np.zeros_like(x)
    np.put_along_axis(expected, order, x, dim)
    found = ag.zeros(4, 5, 3, dtype=ag.tensor(x).dtype).scatter(dim, ag.tensor(order), ag.tensor(x))
    np.testing.assert_array_equal(found.numpy(), expected)


def test_nan_is_larger_and_smaller_than_any_number() -> None:
    x, index = ag.zeros(3), ag.tensor([0, 0, 1, 1])
    source = ag.tensor([float("nan"), 1.0, 2.0, float("nan")])
    for reduce in ("amax", "amin"):
        found = ag.scatter_reduce(x, 0, index, source, reduce).numpy()
        np.testing.assert_array_equal(found, [np.nan, np.nan, 0])


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("largest", [True, False])
def test_few_extreme_elements_are_the_first_in_stable_order(kind: str, largest: bool) -> None:
    x = np.random.default_rng(0).integers(0, 12, (7, 50)).astype(kind)
    x[0, ::9], x[1, 3], x[2, 5] = np.nan, np.inf, -np.inf
    order = np.argsort(-x, 1, kind="stable") if largest else np.argsort(x, 1, kind="stable")
    if largest:             # NaN is the largest
        order = np.array([sorted(row, key=lambda i, r=r: not np.isnan(x[r, i])) for r, row in enumerate(order)])
    for k in (1, 5, 32):
        values, indices = ag.topk(ag.tensor(x), k, 1, largest)
        np.testing.assert_array_equal(indices.numpy(), order[:, :k])
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(x, order[:, :k], 1))
        np.testing.assert_array_equal(ag.topk(ag.tensor(x.T.copy()), k, 0, largest).indices.numpy(), order[:, :k].T)
