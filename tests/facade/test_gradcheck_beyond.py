"""gradcheck where it goes further than PyTorch's."""

import numpy as np
import pytest
from gradcheck_functions import BOTH_MODES, leaf, twice, values_of

import autograd_cy as torch
from autograd_cy.autograd.gradcheck import GradcheckError

gradcheck = torch.autograd.gradcheck
gradgradcheck = torch.autograd.gradgradcheck
Function = torch.autograd.Function


@BOTH_MODES
def test_outputs_that_are_no_floats_may_stand_anywhere(fast_mode):
    def func(x):
        return x.argmax(), None, x > 1, x * 2, 3.0

    assert gradcheck(func, (leaf(3),), fast_mode=fast_mode, check_forward_ad=True)


def test_undefined_gradient_that_raises_anything():
    warned = pytest.warns(UserWarning, match="New undefined gradient support checking feature")
    with warned, pytest.raises(GradcheckError, match="handle undefined output grads, but it raised TypeError"):
        gradcheck(twice(lambda g: g * 2), (leaf(3),))


def test_empty_input_of_two_dimensions():
    assert gradcheck(lambda x: x * 2, (leaf(0, 3),))


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_read_only_input():
    array = np.array([1.0, 2.0])
    array.flags.writeable = False
    x = torch.from_numpy(array).requires_grad_()
    assert gradcheck(lambda a, b: a * b * b, (x, x))
    assert array.tolist() == [1.0, 2.0]


def test_number_of_outputs_that_changes():
    def unsteady(x):
        return (x,) if float(x.detach()[0]) >= 1.0 else (x, x)

    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    with pytest.raises(AssertionError, match="same number of outputs"):
        gradcheck(unsteady, (x,))


def test_random_generators_are_left_alone():
    torch.manual_seed(3)
    expected = values_of(torch.rand(2))
    torch.manual_seed(3)
    assert gradgradcheck(lambda x: x * x, (leaf(3),), fast_mode=True)
    assert np.array_equal(values_of(torch.rand(2)), expected)


def test_seeds_may_be_none():
    assert gradgradcheck(lambda x: (x * x).sum(), (leaf(3),), (None,))


def test_gradgradcheck_without_differentiable_output():
    with pytest.raises(ValueError, match="at least one output"):
        gradgradcheck(lambda x: x.detach(), (leaf(3),))


class Wrong(torch.autograd.Function):
    """2 * x, but for batches 3 * x."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, g):
        return Wrong.apply(g)

    @staticmethod
    def jvp(ctx, t):
        return Wrong.apply(t)

    @staticmethod
    def vmap(info, in_dims, x):
        return x * 3, 0


def test_batches_are_checked_in_both_modes():
    everything = {"check_forward_ad": True, "check_batched_grad": True, "check_batched_forward_grad": True}
    for function in (lambda x: x.sum(), lambda x: (x.sin(), x.exp() * 2)):
        assert gradcheck(function, (leaf(3),), **everything)
    with pytest.raises(GradcheckError, match="failed while testing batched gradient computation"):
        gradcheck(Wrong.apply, (leaf(2),), check_batched_grad=True)
    with pytest.raises(GradcheckError, match="failed while testing batched forward gradient computation"):
        gradcheck(Wrong.apply, (leaf(2),), check_forward_ad=True, check_batched_forward_grad=True)


def test_inputs_are_restored_when_the_function_raises():
    x, calls = leaf(3), []
    before = values_of(x)

    def third_time_fails(x):
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("third")
        return x * 2

    with pytest.raises(KeyError, match="third"):
        gradcheck(third_time_fails, (x,))
    assert np.array_equal(values_of(x), before)


def test_wrong_dtype(monkeypatch):
    """The engine casts what a Function returns, so a wrong dtype is put in behind it."""
    grad = torch.autograd.grad
    monkeypatch.setattr(torch.autograd.gradients, "grad", lambda *a, **k: [g.to(torch.float32) for g in grad(*a, **k)])
    with pytest.raises(GradcheckError, match="Gradient has dtype mismatch"):
        gradcheck(lambda x: x * 2, (leaf(3),), check_grad_dtypes=True)


def test_wrong_size(monkeypatch):
    """The engine refuses a wrong shape, so it is put in behind it."""
    grad = torch.autograd.grad
    monkeypatch.setattr(torch.autograd.gradients, "grad", lambda *a, **k: [g.sum() for g in grad(*a, **k)])
    with pytest.raises(GradcheckError, match="Analytical gradient has incorrect size"):
        gradcheck(lambda x: x * 2, (leaf(3),))


def test_wrong_batched_gradients(monkeypatch):
    grad = torch.autograd.grad

    def off_when_batched(*args, is_grads_batched=False, **options):
        grads = grad(*args, is_grads_batched=is_grads_batched, **options)
        return [g * 2 for g in grads] if is_grads_batched else grads

    monkeypatch.setattr(torch.autograd.gradients, "grad", off_when_batched)
    with pytest.raises(GradcheckError, match="failed while testing batched gradient computation"):
        gradcheck(lambda x: x * 2, (leaf(3),), check_batched_grad=True)
