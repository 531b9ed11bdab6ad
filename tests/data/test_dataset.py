"""Datasets, samplers and collate functions of utils.data."""

import collections
import itertools
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_cy as ag
from autograd_cy.utils import data

Point = collections.namedtuple("Point", "x y")


class Numbers(data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Stream(data.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))

    def __len__(self):
        return self.n


# datasets


def test_tensors_of_one_length():
    x, y = ag.arange(6.0).reshape(3, 2), ag.arange(3)
    dataset = data.TensorDataset(x, y)
    assert len(dataset) == 3 and ag.equal(dataset[1][0], x[1]) and dataset[1][1] == 1
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data.TensorDataset(x, y[:2])


def test_sums_of_datasets():
    joined = Numbers(3) + Numbers(2)
    assert [joined[i] for i in range(5)] == [0, 1, 2, 0, 1] and joined[-1] == 1 and len(joined) == 5
    assert list(Stream(2) + Stream(1)) == [0, 1, 0] and len(Stream(2) + Stream(1)) == 3
    with pytest.raises(IndexError):
        joined[5]
    with pytest.raises(ValueError, match="absolute value of index"):
        joined[-6]
    with pytest.raises(AssertionError, match="empty iterable"):
        data.ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        data.ConcatDataset([Stream(1)])
    for of_chain in (iter, len):
        with pytest.raises(AssertionError, match="only supports IterableDataset, got Numbers"):
            list(of_chain(data.ChainDataset([Stream(1), Numbers(1)])))
    with pytest.raises(NotImplementedError):
        data.Dataset()[0]
    with pytest.raises(NotImplementedError):
        iter(data.IterableDataset())


def test_stacked_datasets():
    assert data.StackDataset(Numbers(2), "ab")[1] == (1, "b")
    named = data.StackDataset(n=Numbers(3), c=data.Subset("abc", [2, 1, 0]))
    assert len(named) == 3 and named.__getitems__([0, 2]) == [{"n": 0, "c": "c"}, {"n": 2, "c": "a"}]
    for bad, text in (
        (((), {}), "At least one dataset"), (((Numbers(1),), {"x": Numbers(1)}), "Supported either"),
        (((Numbers(1), Numbers(2)), {}), "Size mismatch between datasets"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            data.StackDataset(*bad[0], **bad[1])


@given(st.integers(0, 30), st.lists(st.floats(0.1, 1), min_size=1, max_size=4))
def test_random_split_by_fractions(n, weights):
    fractions = [weight / sum(weights) for weight in weights]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of empty parts
        parts = data.random_split(range(n), fractions)
    assert sorted(i for part in parts for i in part) == list(range(n))


def test_random_split_by_lengths_and_seeds():
    def split(seed):
        generator = ag.Generator()
        generator.manual_seed(seed)
        return [list(part) for part in data.random_split(range(20), [15, 5], generator)]

    assert [len(part) for part in split(1)] == [15, 5] and split(1) == split(1) != split(2)
    with pytest.raises(ValueError, match="Expected 20, got 19"):
        data.random_split(range(20), [15, 4])
    with pytest.warns(UserWarning, match="index 1 is 0"):
        data.random_split(range(1), [0.5, 0.5])


# samplers


@given(st.integers(0, 20), st.integers(1, 7), st.booleans())
def test_batches_of_a_sampler(n, size, drop):
    batches = data.BatchSampler(data.SequentialSampler(range(n)), size, drop)
    got = list(batches)
    assert len(batches) == len(got) and all(len(batch) == size for batch in got[:-1])
    assert list(itertools.chain(*got)) == list(range(n // size * size if drop else n))


def test_random_samplers():
    assert sorted(data.RandomSampler(range(10))) == list(range(10))
    more = list(data.RandomSampler(range(3), num_samples=7))
    assert len(more) == 7 and Counter(more[:6]) == Counter({0: 2, 1: 2, 2: 2})
    drawn = list(data.RandomSampler(range(3), replacement=True, num_samples=100))
    assert len(drawn) == 100 and set(drawn) == {0, 1, 2}
    assert sorted(data.SubsetRandomSampler([4, 8, 9])) == [4, 8, 9]
    weighted = list(data.WeightedRandomSampler([0.0, 1.0, 3.0], 1000))
    assert 0 not in weighted and 600 < weighted.count(2) < 900
    assert set(data.WeightedRandomSampler([1, 1, 1], 3, replacement=False)) == {0, 1, 2}


def test_samplers_follow_the_seed():
    def order():
        ag.manual_seed(3)
        return list(data.RandomSampler(range(50)))

    assert order() == order()
    generator = ag.Generator()
    generator.manual_seed(0)
    sampler = data.RandomSampler(range(50), generator=generator)
    assert list(sampler) != list(sampler)  # goes on drawing


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: data.RandomSampler([1], num_samples=0), "num_samples should be a positive integer"),
        (lambda: data.RandomSampler([1], replacement=1), "should be a boolean"),
        (lambda: data.WeightedRandomSampler([[1.0]], 1), "1d sequence"),
        (lambda: data.WeightedRandomSampler([1.0], -1), "positive integer"),
        (lambda: data.BatchSampler([1], 0, False), "batch_size should be a positive integer"),
        (lambda: data.BatchSampler([1], True, False), "batch_size should be a positive integer"),
        (lambda: data.BatchSampler([1], 1, 0), "drop_last should be a boolean"),
    ],
)
def test_refused_samplers(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


# batches


def test_collated_kinds():
    collated = data.default_collate([
        {"t": ag.full((2,), k), "a": np.full(2, k, np.float32), "n": k + 1, "f": k + 0.5, "s": "xy"[k], "p": Point(k, 2.0),
         "l": [k, 2], "u": np.int32(k)}
        for k in (0, 1)
    ])  # fmt: skip
    assert collated["t"].tolist() == [[0, 0], [1, 1]] and collated["a"].dtype is ag.float32
    assert collated["n"].dtype is ag.int64 and collated["f"].dtype is ag.float64 and collated["s"] == ["x", "y"]
    assert isinstance(collated["p"], Point) and collated["p"].x.tolist() == [0, 1]
    assert collated["l"][0].tolist() == [0, 1] and collated["u"].dtype is ag.int32
    assert data.default_collate([True, False]).dtype is ag.bool


@pytest.mark.parametrize(
    "batch, error, message",
    [
        ([object()], TypeError, "batch must contain tensors, numpy arrays, numbers, dicts or lists; found"),
        ([np.array(["a"])], TypeError, "batch must contain"),
        ([None], TypeError, "batch must contain"),
        ([(1,), (1, 2)], RuntimeError, "should be of equal size"),
        ([ag.ones(2), ag.ones(3)], RuntimeError, "stack expects each tensor to be equal size"),
    ],
)
def test_refused_batches(batch, error, message):
    with pytest.raises(error, match=message):
        data.default_collate(batch)


def test_converted_kinds():
    converted = data.default_convert({"a": np.ones(2), "l": [np.int64(1), "x"], "p": Point(np.zeros(1), None)})
    assert converted["a"].dtype is ag.float64 and converted["l"][0] == 1 and converted["l"][1] == "x"
    assert isinstance(converted["p"].x, ag.Tensor) and converted["p"].y is None


def test_batches_are_pytorchs():
    torch = pytest.importorskip("torch")
    theirs = torch.utils.data

    def shown(lib, module):
        batch = [(lib.full((2,), k), k, {"k": k + 0.5}, "st"[k], [1, k], np.full(2, k)) for k in (0, 1)]
        return repr(module.default_collate(batch)), repr(module.default_convert(batch))

    assert shown(ag, data) == shown(torch, theirs)
