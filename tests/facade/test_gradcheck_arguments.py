"""gradcheck and gradgradcheck: bad inputs, flags that contradict each other, unsteady functions."""

import warnings

import pytest
from gradcheck_functions import leaf

import autograd_cy as torch

gradcheck = torch.autograd.gradcheck
gradgradcheck = torch.autograd.gradgradcheck


def test_stride_0_input():
    x = leaf(1).detach().expand(3).requires_grad_()
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x * 2, (x,))


def test_single_precision_warns():
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        gradcheck(lambda x: x * 2, (leaf(3, dtype="float32"),), eps=1e-2, atol=1e-2)


def test_double_precision_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradcheck(lambda x, y: x * 2 + y, (leaf(3), leaf(3, dtype="float32").detach()))


@pytest.mark.parametrize("inputs", [(), (2.0,), (leaf(3).detach(),)], ids=["none", "number", "detached"])
def test_nothing_requires_grad(inputs):
    with pytest.raises(ValueError, match="expects at least one input tensor to require gradient"):
        gradcheck(lambda *args: args, inputs)


@pytest.mark.parametrize(
    "flags, text",
    [
        ({"check_backward_ad": False}, "at least one of check_forward_ad or check_backward_ad"),
        (
            {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
            "check_batched_grad=True requires check_backward_ad to be True",
        ),
        ({"check_batched_forward_grad": True}, "requires check_forward_ad to be True"),
    ],
)
def test_gradcheck_flags_that_contradict(flags, text):
    with pytest.raises(AssertionError, match=text):
        gradcheck(lambda x: x, (leaf(1),), **flags)


@pytest.mark.parametrize(
    "flags, text",
    [
        ({}, "at least one of check_fwd_over_rev or check_rev_over_rev"),
        ({"check_fwd_over_rev": True}, "check_undefined_grad=True requires check_rev_over_rev to be True"),
        (
            {"check_fwd_over_rev": True, "check_undefined_grad": False, "check_batched_grad": True},
            "check_batched_grad=True requires check_rev_over_rev to be True",
        ),
    ],
)
def test_gradgradcheck_flags_that_contradict(flags, text):
    with pytest.raises(AssertionError, match=text):
        gradgradcheck(lambda x: x, (leaf(1),), check_rev_over_rev=False, **flags)


def test_options_are_keywords():
    with pytest.raises(TypeError, match="positional"):
        gradcheck(lambda x: x, (leaf(1),), 1e-6)


def test_output_that_changes_shape():
    def unsteady(x):
        return x[:1] if float(x.detach()[0]) > 1.0 else x

    x = torch.tensor([1.0, 1.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(AssertionError, match="return outputs with the same shape"):
        gradcheck(unsteady, (x,))


def test_output_that_changes_dtype():
    def unsteady(x):
        return x if float(x.detach()[0]) >= 1.0 else x.to(torch.float32)

    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(AssertionError, match="return outputs with the same dtype"):
        gradcheck(unsteady, (x,))


@pytest.mark.parametrize("returned, named", [(5, "int"), ((1.0, None), "float, NoneType")])
def test_a_function_without_a_tensor_as_its_result_is_refused(returned, named):
    with pytest.raises(ValueError, match=f"returns a Tensor, or several, but got: {named}"):
        gradcheck(lambda x: returned, torch.tensor([1.0], dtype=torch.float64, requires_grad=True))


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_function_without_outputs_has_nothing_to_check(fast_mode):
    x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: (), (x,), fast_mode=fast_mode)
