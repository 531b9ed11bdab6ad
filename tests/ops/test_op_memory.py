"""What an op does to memory and to the graph: it makes its result, and nothing else."""

import itertools

import numpy as np
from op_calls import OURS, Call, each_sample, one_dtype, run_backward, seeds_for, to_numpy
from opinfo import DIFFERENTIABLE, OPS

import autograd_cy as ag


def some_float(row) -> tuple[str, ...]:
    return tuple(d for d in row.dtypes + row.forward if d in ("float64", "complex128"))[:1]


@each_sample(DIFFERENTIABLE, one_dtype)
def test_backward_leaves_inputs_outputs_and_seeds_alone(row, sample):
    call = Call(row, sample)
    leaves = call.leaves()
    outputs = call.function(*leaves)
    seeds = seeds_for(outputs)
    watched = call.inputs + [to_numpy(y) for y in outputs] + seeds
    before = [a.tobytes() for a in watched]
    ag.autograd.backward(outputs, [ag.from_numpy(seed) for seed in seeds])
    assert [a.tobytes() for a in watched] == before


@each_sample(DIFFERENTIABLE, one_dtype)
def test_backward_twice_accumulates_the_same(row, sample):
    """Nothing that the node saved was used up, and nothing that it handed out is written to."""
    call = Call(row, sample)
    leaves = call.leaves()
    outputs = call.function(*leaves)
    seeds = [ag.from_numpy(seed) for seed in seeds_for(outputs)]
    ag.autograd.backward(outputs, seeds, retain_graph=True)
    once = [to_numpy(leaf.grad).copy() for leaf in leaves]
    ag.autograd.backward(outputs, seeds)
    for leaf, gradient in zip(leaves, once, strict=True):
        np.testing.assert_array_equal(to_numpy(leaf.grad), gradient + gradient)


@each_sample(DIFFERENTIABLE, one_dtype)
def test_gradients_share_no_memory(row, sample):
    """Not among themselves, nor with inputs, outputs, or (which PyTorch's do for views) the seeds."""
    call = Call(row, sample)
    _, outputs, seeds, gradients = run_backward(call)
    gradients = [to_numpy(g) for g in gradients]
    others = call.inputs + [to_numpy(y) for y in (outputs + seeds if OURS else outputs)]
    for a, b in [*itertools.combinations(gradients, 2), *itertools.product(gradients, others)]:
        assert not np.shares_memory(a, b)


@each_sample(DIFFERENTIABLE, one_dtype)
def test_no_grad_records_nothing(row, sample):
    call = Call(row, sample)
    leaves = call.leaves()
    with ag.no_grad():
        outputs = call(*leaves)
    assert [y.grad_fn for y in outputs] == [None] * len(outputs)


@each_sample(DIFFERENTIABLE, one_dtype)
def test_inputs_without_grad_record_nothing(row, sample):
    call = Call(row, sample)
    for y in call(*call.leaves(requires_grad=False)):
        assert y.grad_fn is None and not y.requires_grad


UNDERIVED = ("floor_divide", "heaviside", "linalg.ldl_factor", "linalg.ldl_factor_ex", "linalg.ldl_solve",
             "nn.functional.ctc_loss", "unique", "unique_consecutive")


@each_sample(OPS, some_float)
def test_only_floats_and_complex_numbers_require_grad(row, sample):
    call = Call(row, sample, differentiable=True)
    # a backward through one of these is an error, as in PyTorch
    recorded = row.differentiable or row.name in UNDERIVED
    for y in call(*call.leaves()):
        assert y.requires_grad == (recorded and (y.is_floating_point() or y.is_complex()))
