"""Gradients of every op: all that check_gradients knows, and the dtypes that finite differences are too rough for."""

from op_calls import OF_MEMORY, Call, each_sample, gradient_dtypes, run_backward
from opinfo import DIFFERENTIABLE

import autograd_cy as ag
from autograd_cy.testing._check import CHECKS

UNSURE = 9  # digits below which a row has to be named here
FLAT = {  # a sample's gradient is zero or nearly
    "clamp", "sgn", "softmax", "nn.functional.softmax", "masked_fill", "sign", "ceil", "floor", "trunc", "round", "fill",
    "angle", "clamp_min", "clamp_max", "fmax", "fmin", "linalg.matrix_power",
}  # fmt: skip
STEEP = {"div", "pow", "float_power", "nn.functional.layer_norm"}  # a sample lies where differences cancel
SAME_IN_EACH_MODE = [name for name in CHECKS if name not in ("gradient", "forward mode")]


def skipped(row):
    return ("layouts", "vmap", "batched tangents") if row.name in OF_MEMORY else ()


@each_sample(DIFFERENTIABLE, gradient_dtypes)
def test_derivatives_are_right(row, sample):
    call = Call(row, sample)
    verdict = ag.testing.check_gradients(call.function, *call.leaves(), skip=skipped(row))
    assert verdict.outcome == "right", verdict.text
    assert verdict.digits >= (4 if row.name in FLAT | STEEP else UNSURE), verdict.text


@each_sample(DIFFERENTIABLE, gradient_dtypes)
def test_derivatives_are_right_along_random_directions(row, sample):
    call = Call(row, sample)
    verdict = ag.testing.check_gradients(call.function, *call.leaves(), mode="probe", skip=SAME_IN_EACH_MODE)
    assert verdict.outcome == "right", verdict.text


@each_sample(DIFFERENTIABLE, lambda row: row.dtypes)
def test_gradient_has_the_dtype_and_shape_of_its_input(row, sample):
    leaves, _, _, gradients = run_backward(Call(row, sample))
    for leaf, gradient in zip(leaves, gradients, strict=True):
        assert gradient.dtype == leaf.dtype
        assert gradient.shape == leaf.shape
