"""Classes of samples and loaders that are written with the type of a sample."""

import pickle

import pytest

import autograd_cy as ag
from autograd_cy.utils import data

NAMES = [
    "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler", "IterableDataset", "StackDataset",
    "Subset",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_class_takes_the_type_of_a_sample(name):
    assert getattr(data, name)[int].__origin__ is getattr(data, name)


def test_data_parallel_takes_the_type_of_its_module():
    assert ag.nn.DataParallel[ag.nn.Linear].__origin__ is ag.nn.DataParallel


def test_a_loader_made_of_such_a_class_is_a_loader():
    loader = data.DataLoader[int](range(5), batch_size=2)
    assert type(loader) is data.DataLoader
    assert [batch.tolist() for batch in loader] == [[0, 1], [2, 3], [4]]


def test_a_subset_made_of_such_a_class_is_pickled():
    part = pickle.loads(pickle.dumps(data.Subset[int](range(5), [3, 1])))
    assert list(part) == [3, 1]
