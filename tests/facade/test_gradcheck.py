"""gradcheck: right functions pass, each kind of wrong gradient is caught."""

import numpy as np
import pytest
from gradcheck_functions import BOTH_MODES, MISMATCH, leaf, none_or, twice, values_of, wrong_twice

import autograd_cy as torch
from autograd_cy.autograd.gradcheck import GradcheckError

gradcheck = torch.autograd.gradcheck
gradgradcheck = torch.autograd.gradgradcheck
Function = torch.autograd.Function


# -- right functions -----------------------------------------------------------------------------------------


RIGHT = {
    "product": (lambda a, b: a * b, [(3, 4), (3, 4)]),
    "broadcast": (lambda a, b: (a * b).tanh(), [(3, 4), (4,)]),
    "matmul": (lambda a, b: a @ b, [(2, 3), (3, 2)]),
    "0-d": (lambda a: a * a, [()]),
    "sum": (lambda a: (a * a).sum(), [(2, 3)]),
    "empty": (lambda a: a * 2, [(0,)]),
    "identity": (lambda a: a, [(3,)]),
    "view of the input": (lambda a: a[1:], [(3,)]),
    "two outputs": (lambda a, b: (a * b, a.exp()), [(3,), (3,)]),
    "list of outputs": (lambda a: [a * 2, a.sum()], [(3,)]),
    "unused input": (lambda a, b: a * 2, [(3,), (2,)]),
    "integer output last": (lambda a: (a * 2, a.argmax()), [(3,)]),
}


@BOTH_MODES
@pytest.mark.parametrize("name", RIGHT)
def test_right_function_passes_and_inputs_stay(name, fast_mode):
    func, shapes = RIGHT[name]
    inputs = [leaf(*shape, seed=i) for i, shape in enumerate(shapes)]
    before = [values_of(x) for x in inputs]
    assert gradcheck(func, inputs, fast_mode=fast_mode) is True
    for x, values in zip(inputs, before, strict=True):
        assert np.array_equal(values_of(x), values)
        assert x.grad is None


def test_single_tensor_and_plain_arguments():
    assert gradcheck(lambda x: x * 2, leaf(3))
    assert gradcheck(lambda x, n, flag: x * n if flag else x, (leaf(3), 2.0, True))


def test_constant_function_passes():
    assert gradcheck(lambda x: torch.ones(2, dtype=torch.float64), (leaf(3),))


def test_no_output_at_all_may_depend_when_integer():
    assert gradcheck(lambda x: x.argmax(), (leaf(3),))


@pytest.mark.parametrize(
    "view",
    [lambda x: x.t(), lambda x: x[:, ::2], lambda x: x[1], lambda x: x[..., 1:3].transpose(0, 1)],
    ids=["transposed", "strided", "row", "both"],
)
@BOTH_MODES
def test_non_contiguous_input(view, fast_mode):
    base = leaf(3, 4).detach()
    x = view(base).requires_grad_()
    before = values_of(base)
    assert gradcheck(lambda x: x * x.sum(), (x,), fast_mode=fast_mode)
    assert np.array_equal(values_of(base), before)


def test_input_may_have_history():
    x = leaf(3)
    assert gradcheck(lambda y: y * y, (x * 2,))


def test_function_may_reach_the_input_another_way():
    """A module holds its parameters: they are arguments of gradcheck, but not of the call."""
    weight = leaf(2, 3)
    assert gradcheck(lambda x, _: x @ weight, (leaf(2, 2), weight))


def test_function_may_call_grad_itself():
    def slope(x):
        y = (x * x * x).sum()
        return torch.autograd.grad(y, x, create_graph=True)[0]

    assert gradcheck(slope, (leaf(3),))


def test_same_tensor_twice():
    x = leaf(3)
    assert gradcheck(lambda a, b: a * b, (x, x))


# -- wrong gradients -----------------------------------------------------------------------------------------


def test_wrong_factor():
    with pytest.raises(GradcheckError, match=MISMATCH):
        gradcheck(wrong_twice, (leaf(3),))


def test_transposed():
    class Transposed(Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(w)
            return x @ w

        @staticmethod
        def backward(ctx, g):
            (w,) = ctx.saved_tensors
            return g @ w, None

    with pytest.raises(GradcheckError, match=MISMATCH):
        gradcheck(Transposed.apply, (leaf(2, 2), leaf(2, 2, seed=1).detach()))


def test_mismatch_shows_both_matrices():
    with pytest.raises(GradcheckError, match=r"(?s)numerical:.*\[2\.0*,? +0\..*analytical:.*\[3\.0*,? +0\."):
        gradcheck(wrong_twice, (leaf(2),))


def test_second_output_and_second_input_are_numbered():
    def func(a, b):
        return a * b, a * wrong_twice(b)

    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 1 with respect to input 1"):
        gradcheck(func, (leaf(3), leaf(3, seed=1)))


def test_missing_gradient_counts_as_zero():
    class Cut(Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(b)
            return a * b

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    with pytest.raises(GradcheckError, match="output 0 with respect to input 1"):
        gradcheck(Cut.apply, (leaf(3), leaf(3, seed=1)))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nan_and_inf_do_not_agree_with_numbers(bad):
    with pytest.raises(GradcheckError, match=MISMATCH):
        gradcheck(twice(none_or(lambda g: g * bad)), (leaf(1),), check_undefined_grad=False)


def test_nan_on_both_sides_does_not_agree():
    with pytest.raises(GradcheckError, match=MISMATCH):
        gradcheck(lambda x: x * float("nan"), (leaf(1),))


def test_tolerances():
    slightly_wrong = twice(none_or(lambda g: g * 2.01))
    assert gradcheck(slightly_wrong, (leaf(3),), rtol=0.1)
    assert gradcheck(slightly_wrong, (leaf(3),), atol=0.1)
    with pytest.raises(GradcheckError):
        gradcheck(slightly_wrong, (leaf(3),), rtol=0.001, atol=0.005)


def test_eps_is_the_step():
    seen = set()

    def record(x):
        seen.add(float(x.detach()[0]))
        return x * 2

    x = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(record, (x,), eps=0.125)
    assert seen == {0.875, 1.0, 1.125}


def test_no_exception_on_request():
    assert gradcheck(wrong_twice, (leaf(3),), raise_exception=False) is False
    assert gradgradcheck(wrong_twice, (leaf(3),), raise_exception=False) is True  # linear
    with pytest.raises(ValueError, match="at least one input"):
        gradcheck(wrong_twice, (leaf(3).detach(),), raise_exception=False)


def test_output_without_gradient_that_varies():
    with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, (leaf(3),))


def test_nondeterministic_backward():
    calls = []

    def drifting(g):
        calls.append(1)
        return g * (2 + 1e-6 * len(calls))

    func = twice(none_or(drifting))
    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(func, (leaf(3),))
    assert gradcheck(func, (leaf(3),), nondet_tol=1e-3)


def test_right_dtypes_pass():
    assert gradcheck(lambda x: x * 2, (leaf(3),), check_grad_dtypes=True, check_forward_ad=True)
    assert gradcheck(lambda x: x * 2, (leaf(3, dtype="complex128"),), check_grad_dtypes=True)


# -- unusual incoming gradients ------------------------------------------------------------------------------


def test_backward_that_ignores_its_gradient():
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(twice(none_or(lambda g: torch.full_like(g, 2.0))), (leaf(1),))


WARNED = pytest.warns(UserWarning, match="New undefined gradient support checking feature")


def test_undefined_gradient_that_becomes_a_number():
    func = twice(lambda g: torch.ones(3, dtype=torch.float64) if g is None else g * 2)
    with WARNED, pytest.raises(GradcheckError, match="Expected all input grads to be undefined or zero"):
        gradcheck(func, (leaf(3),))
    assert gradcheck(func, (leaf(3),), check_undefined_grad=False)


def test_undefined_gradient_that_raises():
    def refuse(g):
        if g is None:
            raise RuntimeError("no gradient here")
        return g * 2

    with WARNED, pytest.raises(GradcheckError, match="Expected backward function to handle undefined output grads"):
        gradcheck(twice(refuse), (leaf(3),))
    assert gradcheck(twice(refuse), (leaf(3),), check_undefined_grad=False)


def test_each_output_is_undefined_alone():
    class Pair(Function):
        """Right for the Jacobian's seeds, and for None twice; wrong for None beside zeros."""

        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            if g is None and h is None:
                return None
            if g is None:
                return h * 3 if h.any() else h + 1
            return g * 2 if h is None else g * 2 + h * 3

    with WARNED, pytest.raises(GradcheckError, match="Expected all input grads to be undefined or zero"):
        gradcheck(Pair.apply, (leaf(3),))
    assert gradcheck(Pair.apply, (leaf(3),), check_undefined_grad=False)


def test_batched_gradients():
    assert gradcheck(lambda a, b: (a * b, a), (leaf(3), leaf(3, seed=1)), check_batched_grad=True)
    assert gradgradcheck(lambda a: a * a, (leaf(3),), check_batched_grad=True)
