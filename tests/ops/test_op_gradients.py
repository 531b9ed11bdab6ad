"""Gradients of every op: finite differences, gradients of gradients, forward mode against reverse, dtypes."""

import numpy as np
import pytest
from op_calls import Call, each_sample, finite, gradient_dtypes, nonempty, run_backward, seeds_for, to_numpy
from op_case import Sample, map_arrays, widen
from opinfo import DIFFERENTIABLE

import autograd_cy as ag

fw = ag.autograd.forward_ad
GRADCHECK = {"eps": 1e-6, "atol": 1e-6, "rtol": 1e-5}
BATCHED = {"check_batched_grad": True, "check_batched_forward_grad": True}


@each_sample(DIFFERENTIABLE, gradient_dtypes, nonempty)
def test_gradcheck_in_reverse_and_forward_mode(row, sample):
    call = Call(row, sample)
    assert ag.autograd.gradcheck(call.function, call.leaves(), check_forward_ad=True, **BATCHED, **GRADCHECK)


@each_sample(DIFFERENTIABLE, gradient_dtypes, nonempty)
def test_gradgradcheck_in_reverse_and_forward_mode(row, sample):
    call = Call(row, sample)
    modes = {"check_fwd_over_rev": True, "check_batched_grad": True}
    assert ag.autograd.gradgradcheck(call.function, call.leaves(), **modes, **GRADCHECK)


def forward_tangents(call, leaves, directions) -> list[np.ndarray]:
    """The outputs' tangents when the leaves move in the given directions; zero where there is none."""
    with fw.dual_level():
        duals = [fw.make_dual(leaf, ag.from_numpy(v)) for leaf, v in zip(leaves, directions, strict=True)]
        parts = [fw.unpack_dual(y) for y in call.function(*duals)]
        return [np.zeros(y.shape) if t is None else to_numpy(t) for y, t in parts]


def inner(xs, ys) -> float:
    """The real inner product, for which a gradient is the adjoint of a tangent."""
    return sum(float(np.sum((np.conj(x) * y).real)) for x, y in zip(xs, ys, strict=True))


@each_sample(DIFFERENTIABLE, gradient_dtypes, finite)
def test_forward_mode_is_the_adjoint_of_reverse_mode(row, sample):
    call = Call(row, sample)
    leaves, outputs, seeds, gradients = run_backward(call)
    directions = seeds_for(leaves, salt=1)
    tangents = forward_tangents(call, call.leaves(requires_grad=False), directions)
    assert [t.shape for t in tangents] == [tuple(y.shape) for y in outputs]
    forward = inner(map(to_numpy, seeds), tangents)
    reverse = inner(map(to_numpy, gradients), directions)
    assert forward == pytest.approx(reverse, rel=1e-11, abs=1e-11)


@each_sample(DIFFERENTIABLE, lambda row: row.dtypes)
def test_gradient_has_the_dtype_and_shape_of_its_input(row, sample):
    leaves, _, _, gradients = run_backward(Call(row, sample))
    for leaf, gradient in zip(leaves, gradients, strict=True):
        assert gradient.dtype == leaf.dtype
        assert gradient.shape == leaf.shape


def single(row) -> tuple[str, ...]:
    return tuple(d for d in row.dtypes if d in ("float32", "complex64"))


@each_sample(DIFFERENTIABLE, single, finite)
def test_single_precision_gradient_is_near_the_double_one(row, sample):
    double = Sample(map_arrays(widen, sample.args), map_arrays(widen, sample.kwargs))
    *_, near = run_backward(Call(row, sample))
    *_, exact = run_backward(Call(row, double))
    for x, y in zip(near, exact, strict=True):
        np.testing.assert_allclose(to_numpy(x), to_numpy(y), rtol=2e-5, atol=2e-5)
