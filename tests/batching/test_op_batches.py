"""Every operation under vmap: the samples of a batch, computed at once, are what each gives by itself."""

import numpy as np
import pytest
from op_batches import SIZE, batches, dtypes, no_loops, same
from op_calls import Call, each_sample, seeds_for
from opinfo import DIFFERENTIABLE, OPS

import autograd_cy as ag

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writ")


@each_sample(OPS, dtypes)
def test_batches(row, sample):
    for batch in batches(row, sample):
        tensors = batch.tensors()
        expected = batch.one_by_one(tensors)
        same(batch.at_once(tensors), expected, str(expected[0].dtype).removeprefix("torch."))


FALLBACK = "Batching rule not implemented for .* The fallback path does not support vmap over dims of size 0"
REFUSED_WITHOUT_SAMPLES = {  # those that PyTorch refuses, too, or that are computed sample by sample
    "conv_tbc": FALLBACK, "corrcoef": FALLBACK, "cov": FALLBACK, "dist": FALLBACK, "embedding_bag": FALLBACK,
    "linalg.lstsq": FALLBACK, "masked_select": FALLBACK,
    "nanquantile": "input tensor must be non-empty", "quantile": "input tensor must be non-empty", "renorm": FALLBACK,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@each_sample(OPS, lambda row: dtypes(row)[:1])
def test_batches_of_no_samples(row, sample):
    """A result has as many dimensions as that of one sample, and its gradients are 0."""
    for batch in batches(row, sample):
        tensors = batch.tensors()
        one, none = ([x[:n] if c else x for x, c in zip(tensors, batch.chosen, strict=True)] for n in (1, 0))
        expected = [(0, *y.shape[1:]) for y in ag.vmap(batch, batch.in_dims)(*one)]
        if row.name in REFUSED_WITHOUT_SAMPLES:
            with pytest.raises(RuntimeError, match=REFUSED_WITHOUT_SAMPLES[row.name]):
                ag.vmap(batch, batch.in_dims)(*none)
            continue
        if row in DIFFERENTIABLE and not row.fixed:
            leaves = [x.requires_grad_() for x in none[: batch.by_position] if x.is_floating_point() or x.is_complex()]
        found = ag.vmap(batch, batch.in_dims)(*none)
        assert [tuple(y.shape) for y in found] == expected
        if recorded := [y for y in found if y.requires_grad]:
            gradients = ag.autograd.grad(recorded, leaves, [ag.zeros_like(y) for y in recorded], allow_unused=True)
            assert not any(g is not None and (g != 0).any() for g in gradients)


@each_sample(DIFFERENTIABLE, dtypes)
def test_gradients_of_a_batch_of_seeds(row, sample):
    """is_grads_batched: the engine computes on batches, by the rules on Tensors."""
    call = Call(row, sample)
    leaves = call.leaves()
    outputs = [y for y in call.function(*leaves) if y.requires_grad]
    seeds = [
        ag.from_numpy(np.stack(column)) for column in zip(*[seeds_for(outputs, salt) for salt in range(SIZE)], strict=True)
    ]
    with no_loops():
        found = ag.autograd.grad(outputs, leaves, seeds, retain_graph=True, allow_unused=True, is_grads_batched=True)
    runs = [
        ag.autograd.grad(outputs, leaves, [seed[n] for seed in seeds], retain_graph=True, allow_unused=True)
        for n in range(SIZE)
    ]
    for g, column in zip(found, zip(*runs, strict=True), strict=True):
        assert (g is None) == (column[0] is None)
        if g is not None:
            same([g], [ag.stack(column)], str(g.dtype).removeprefix("torch."))
