"""Every operation under vmap over the rows of its own inputs: samples with a dimension less than the operation may need.

A rule that passes on the batch must not let its dimension count as one of the samples'.
"""

import pytest
from op_batches import Batch, at_once, dtypes, same
from op_calls import OF_MEMORY, each_sample, noted
from opinfo import OPS

import autograd_cy as ag

pytestmark = pytest.mark.filterwarnings("ignore")
REFUSALS = (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError)
LEFT_OUT = OF_MEMORY | {  # results of different shapes; a 0-d index, which alone counts as a number (as in PyTorch)
    "argwhere", "masked_select", "nonzero", "unique", "unique_consecutive", "getitem",
}  # fmt: skip


def rows_one_by_one(batch, tensors, k):
    """The results of the rows of tensor k, stacked; None if the operation refuses one."""
    runs = []
    for row in tensors[k].unbind(0):
        try:
            runs.append(batch(*tensors[:k], row.clone(), *tensors[k + 1 :]))
        except REFUSALS:
            return None
    return tuple(ag.stack(column) for column in zip(*runs, strict=True))


@each_sample([row for row in OPS if row.name not in LEFT_OUT], lambda row: dtypes(row)[:1])
def test_rows_as_samples(row, sample):
    batch = Batch(row, sample, lambda k, array: False)
    for k, array in enumerate(batch.values):
        if not array.ndim or not len(array) or (row.name == "index_put" and array.dtype == bool):
            continue  # a mask that is an index is the same for all samples
        with noted(f"the rows of tensor {k}: {array.shape}"):
            expected = rows_one_by_one(batch, batch.tensors(), k)
            mapped = at_once(batch, tuple(0 if n == k else None for n in range(len(batch.values))))
            if expected == ():
                continue  # no tensors
            if expected is None:
                with pytest.raises(REFUSALS):
                    mapped(*batch.tensors())
            else:
                same(mapped(*batch.tensors()), expected, str(expected[0].dtype).removeprefix("torch."))


X = ag.arange(6.0).reshape(2, 3)
BEYOND = [
    lambda i: X.index_fill(1, i, 9.0), lambda i: X[0].take(i), lambda i: X[0].put(i, ag.ones(2)), lambda i: X[0].gather(0, i),
    lambda i: X.index_copy(1, i, ag.ones(2, 2)), lambda i: X.index_add(1, i, ag.ones(2, 2)), lambda i: X.index_select(1, i),
    lambda i: X[0].scatter(0, i, ag.ones(2)), lambda i: X[0][i], lambda i: X[0].index_put((i,), ag.ones(2)),
]  # fmt: skip


@pytest.mark.parametrize("call", BEYOND)
@pytest.mark.parametrize("bad", [3, -4])
def test_indices_beyond_a_sample_are_refused(call, bad):
    """take and put read and wrote other samples; index_fill ignored such an index."""
    with pytest.raises((IndexError, RuntimeError), match=r"bound|range"):
        ag.vmap(call)(ag.tensor([[0, 2], [bad, 1]]))


def test_indices_beyond_samples_without_dimensions_are_refused():
    x = ag.arange(6.0)
    for call in (lambda a: a.index_fill(0, ag.tensor([4]), 9.0), lambda a: a.index_copy(0, ag.tensor([4]), ag.ones(1)),
                 lambda a: a.take(ag.tensor(4)), lambda a: a.put(ag.tensor(4), ag.tensor(1.0))):  # fmt: skip
        with pytest.raises(IndexError, match=r"out of (bounds|range)"):
            ag.vmap(call)(x)


def test_values_for_an_index_count_per_sample():
    """The first dimension of too large values counted as the batch."""
    for values in (ag.ones(2), [1.0, 2.0]):
        def write(x, i, values=values):
            x[i] = values
            return x

        with pytest.raises((RuntimeError, ValueError), match=r"shape mismatch|broadcast"):
            ag.vmap(write)(X.clone(), ag.tensor([0, 1]))


def test_samples_without_dimensions_have_no_range():
    with pytest.raises(RuntimeError, match="0-dim tensor"):
        ag.vmap(lambda x: x.narrow(0, 0, 1))(ag.rand(3))
