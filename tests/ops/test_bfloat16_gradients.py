"""Gradients of bfloat16 have its range, which is that of float32: none goes by way of float16 (largest number 65504)."""

import numpy as np
import pytest
from op_calls import Call, each_sample, nonempty, run_backward, seeds_for
from opinfo import DIFFERENTIABLE

import autograd_cy as ag

pytest.importorskip("ml_dtypes")

LARGE = 2.0**66


def in_bfloat16(row):
    # the gradient of matrix_exp() is a part of the exponential of a matrix that holds the incoming one
    return ("bfloat16",) if "bfloat16" in row.forward and not row.name.endswith("matrix_exp") else ()


@each_sample(DIFFERENTIABLE, in_bfloat16, nonempty)
def test_recorded_gradients_have_the_range_of_the_type(row, sample):
    call = Call(row, sample)
    leaves, outputs, _, plain = run_backward(Call(row, sample))
    seeds = [ag.from_numpy(seed) * LARGE for seed in seeds_for(outputs)]
    recorded = ag.autograd.grad(call.function(*(copies := call.leaves())), copies, seeds, create_graph=True, allow_unused=True)
    assert len(leaves) == len(recorded)
    for g, small in zip(recorded, plain, strict=True):
        if g is None or small is None:
            assert g is None or not g.any()
            continue
        assert g.dtype is ag.bfloat16
        found, wanted = (x.detach().double().numpy() for x in (g, small))
        few = np.abs(wanted[np.isfinite(wanted)]).max(initial=0) * 0.05 + 1e-30
        kept = np.isfinite(wanted) & (np.abs(wanted) < 2.0**40)
        np.testing.assert_allclose(found[kept] / LARGE, wanted[kept], rtol=0.05, atol=few)
