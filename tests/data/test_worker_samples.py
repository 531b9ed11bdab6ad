"""Workers that send single samples, and more of them than CPUs."""

import os

import pytest

import autograd_cy as ag
from autograd_cy.utils import data


class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(range(7))


@pytest.mark.parametrize("kind", [list, tuple])
def test_a_worker_sends_the_samples_of_an_iterable_dataset(kind):
    """Without batches, nothing came: a worker is asked for a sample by None, which was taken for the end."""
    assert kind(data.DataLoader(Stream(), batch_size=None, num_workers=1)) == kind(range(7))
    assert sorted(data.DataLoader(Stream(), batch_size=None, num_workers=2)) == sorted([*range(7)] * 2)


class Answers(data.Dataset):
    def __getitem__(self, index):
        return -1 if index is None else index


def test_a_sampler_may_yield_none():
    loader = data.DataLoader(Answers(), batch_size=None, sampler=[0, None, 2], num_workers=1)
    assert list(loader) == [0, -1, 2]


def test_more_workers_than_cpus_are_warned_of():
    rows = data.TensorDataset(ag.ones(2))
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with pytest.warns(UserWarning, match="excessive worker creation might get DataLoader running slow") as warned:
        data.DataLoader(rows, num_workers=count + 1)
    assert warned[0].filename == __file__


def test_workers_are_ended_like_processes():
    iteration = iter(data.DataLoader(Stream(), batch_size=None, num_workers=1, persistent_workers=True))
    (worker,) = iteration._workers
    worker.terminate()
    worker.join(10)
    assert not worker.is_alive() and worker.exitcode != 0
