"""What a DataLoader does not pass over in silence: StopIteration where no iterator ends, and graphs that stay in a worker."""

import multiprocessing
import pickle

import pytest

import autograd_cy as ag
from autograd_cy.utils.data import DataLoader, Dataset, IterableDataset

WORKERS = [0, 1, 2]


class Items(Dataset):
    def __init__(self, item):
        self.item = item

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return self.item(i)


class AtOnce(Items):
    def __getitems__(self, numbers):
        return [self.item(i) for i in numbers]


class Rows(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return self.rows()


class Counter:
    """An iterator that ends by itself, which is no error."""

    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 3:
            raise StopIteration
        self.n += 1
        return ag.tensor(self.n)


def until_four(i):
    return ag.tensor(i) if i < 4 else next(iter(()))


def stop(*args):
    raise StopIteration("of mine")


def broken_generator():
    yield ag.ones(1)
    stop()


class Unpicklable:
    def __reduce__(self):
        stop()


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("dataset, options, message", [
    (Items(until_four), {}, r"Items\.__getitem__\(4\) raised StopIteration"),
    (Items(until_four), {"batch_size": 4}, r"Items\.__getitem__\(4\) raised StopIteration"),
    (Items(until_four), {"batch_size": None}, r"Items\.__getitem__\(4\) raised StopIteration"),
    (AtOnce(until_four), {"batch_size": 3}, r"AtOnce\.__getitems__\(\[3, 4, 5\]\) raised StopIteration"),
    (Rows(stop), {}, r"Rows\.__iter__\(\) raised StopIteration"),
    (Rows(broken_generator), {}, "generator raised StopIteration"),
    (Rows(Counter), {"collate_fn": stop}, r"collate_fn\(\) raised StopIteration"),
    (Items(ag.tensor), {"collate_fn": stop}, r"collate_fn\(\) raised StopIteration"),
], ids=["item", "of a batch", "without batches", "at once", "iter", "generator", "collate rows", "collate items"])  # fmt: skip
def test_stop_iteration_is_an_error_where_no_iterator_ends(dataset, options, message, workers):
    """The epoch ended there, and with workers it went on without those items: a row of docs/differences.md."""
    with pytest.raises(RuntimeError, match=message):
        list(DataLoader(dataset, num_workers=workers, **options))


def not_to_be_pickled(items):
    return Unpicklable()


@pytest.mark.parametrize("options", [{"worker_init_fn": stop}, {"collate_fn": not_to_be_pickled}], ids=["init", "pickle"])
def test_stop_iteration_of_a_worker_itself(options):
    with pytest.raises(RuntimeError, match="Caught StopIteration in DataLoader worker process 0"):
        list(DataLoader(Items(ag.tensor), num_workers=1, **options))


@pytest.mark.parametrize("workers", WORKERS)
def test_an_iterator_of_ones_own_ends_as_it_does(workers):
    assert len(list(DataLoader(Rows(Counter), num_workers=workers))) == 3 * max(workers, 1)


def with_history(i):
    return ag.ones(2, requires_grad=True) * i


def leaf(i):
    return ag.full((2,), float(i), requires_grad=True)


def in_a_dict(items):
    return {"x": items}


@pytest.mark.parametrize("item, options", [
    (with_history, {}), (with_history, {"batch_size": None}), (leaf, {}), (with_history, {"collate_fn": in_a_dict}),
], ids=["a batch", "an item", "a batch of leaves", "in a dict"])  # fmt: skip
def test_a_worker_refuses_tensors_with_a_history(item, options):
    """They arrived as leaves that required grad, and no gradient reached what they were computed from."""
    with pytest.raises(RuntimeError, match=r"Cowardly refusing to serialize non-leaf tensor which requires_grad.*Backward0"):
        list(DataLoader(Items(item), num_workers=1, **options))
    assert all(x.requires_grad for x in DataLoader(Items(item), num_workers=0) if not options)


def test_leaves_come_from_a_worker_as_leaves():
    for i, x in enumerate(DataLoader(Items(leaf), num_workers=1, batch_size=None)):
        assert x.requires_grad and x.is_leaf and x.tolist() == [i, i]


def test_other_processes_refuse_them_too():
    """A queue of multiprocessing pickles them in a thread, a pipe at once; plain pickle keeps what it can, as in PyTorch."""
    x = with_history(1)
    receiver, sender = multiprocessing.Pipe(False)
    with pytest.raises(RuntimeError, match="Cowardly refusing"):
        sender.send([x])
    sender.send([leaf(3), x.detach()])
    assert [(t.requires_grad, t.tolist()) for t in receiver.recv()] == [(True, [3, 3]), (False, [1, 1])]
    assert pickle.loads(pickle.dumps(x)).requires_grad
