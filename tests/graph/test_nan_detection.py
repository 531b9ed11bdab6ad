"""detect_nan: the first operation whose result or gradient is NaN, without tracebacks."""

import numpy as np
import pytest
from common import define, leaf

import autograd_cy as torch
from autograd_cy.autograd import detect_nan

INF = float("inf")
NAN = float("nan")


def message(work, *arguments):
    with pytest.raises(RuntimeError) as info, detect_nan():
        work(*arguments)
    return str(info.value)


# Forward


def test_the_operation_that_makes_the_first_nan_is_named():
    text = message(lambda x: ((x * 2).log() * 3).sum(), leaf([[1.0, -1.0], [2.0, -3.0]]))
    assert text.startswith("Log (recorded as LogBackward0) returned nan values in its 0th output")
    assert "at [0, 1], the first of 2, in torch.float64 [2, 2]" in text
    assert "the inputs had none" in text and "input 0: torch.float64 [2, 2], from -6 to 4" in text


def test_zeros_and_infinities_are_told():
    zero = leaf([0.0, 1.0])
    assert "input 0: torch.float64 [2], from 0 to 1, 1 zeros; input 1: torch.float64 [2], from 0 to 1, 1 zeros" in message(
        lambda: zero / zero
    )
    assert "input 0: torch.float64 [2], 1 inf, from 1 to 1" in message(lambda x: x - x, leaf([INF, 1.0]))


def test_nan_from_data_is_told_from_nan_made_here():
    text = message(lambda x: x * 2, leaf([NAN, 1.0]))
    assert "Mul (recorded as MulBackward0)" in text and "an input had NaN before: it comes from data" in text
    with detect_nan():
        x = torch.tensor([NAN, 1.0])
        y = torch.where(x.isnan(), leaf([2.0, 2.0]), x.double())
    assert y.tolist() == [2.0, 1.0]


def test_several_outputs():
    text = message(lambda x: x.unbind(), leaf([1.0, NAN]))
    assert "Unbind" in text and "in its 1th output, at [] in torch.float64 []" in text


def test_a_function():
    f = define(lambda ctx, x: (x * 1, x * NAN), lambda ctx, g, h: g)
    assert "returned nan values in its 1th output" in message(f.apply, leaf(1.0))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128])
@pytest.mark.parametrize("position", [0, 1, 4095, 4096, 9999])
def test_all_types_and_positions(dtype, position):
    x = torch.ones(10000, dtype=dtype)
    x[position] = NAN
    x.requires_grad_()
    assert f"at [{position}] in {dtype} [10000]" in message(lambda: x.reshape(10000) + 0)


def test_strides_and_empty_tensors():
    x = torch.ones(3, 4, dtype=torch.float64)
    x[2, 1] = NAN
    x.requires_grad_()
    assert "at [1, 2] in torch.float64 [4, 3]" in message(x.t)
    with detect_nan():
        assert (x[:2].t() + 1).requires_grad and x[:0].sum().item() == 0


# Backward


def test_the_node_that_makes_the_first_nan_is_named():
    def root(x):
        return torch.where(x > 0, x.sqrt(), torch.zeros_like(x))

    x = leaf([4.0, 0.0, 0.0])
    text = message(lambda: root(x * 1).sum().backward())
    assert text.startswith("Function 'SqrtBackward0' returned nan values in its 0th output: the gradient for its input 0")
    assert "is NaN at [1], the first of 2, in torch.float64 [3]" in text
    assert ".root; saved result: torch.float64 [3], from 0 to 2, 2 zeros" in text
    assert x.grad is None


def test_a_note_says_where_backward_was():
    x = leaf([0.0])
    with pytest.raises(RuntimeError) as info, detect_nan():
        torch.where(x > 0, x.sqrt(), torch.zeros_like(x)).sum().backward()
    assert any("This happened in the backward of <SqrtBackward0>" in note for note in info.value.__notes__)


ZERO_TRAP = "The incoming gradient is zero there, and the derivative is infinite or NaN"


def test_what_a_where_lets_through_is_explained():
    def explained(y, **options):
        try:
            torch.autograd.grad(y, x, retain_graph=True, **options)
        except RuntimeError as error:
            return ZERO_TRAP in str(error) and "autograd.safe_where() keeps it zero" in str(error)
        return None

    x, b = leaf([0.0, 4.0]), leaf([[0.0], [1.0]])
    traps = [
        torch.where(x > 0, x.sqrt(), 0.0).sum(),
        torch.where(x > 0, b / x, 0.0).sum(),                       # summed over what was broadcast
        (x.sqrt() * torch.tensor([0.0, 1.0])).sum(),
        x.sqrt()[1:].sum(),
        torch.where(x > 0, torch.stack([x, x]).norm(-2, dim=0).log(), 0.0).sum(),
    ]
    others = [(x * 0.0).sqrt().sum(), ((x - x) / x.sum()).sqrt().mean()]
    with detect_nan():
        for options in ({}, {"create_graph": True}):
            assert [explained(y, **options) for y in traps] == [True] * len(traps)
            assert [explained(y, **options) for y in others] == [False] * len(others)


def test_what_a_function_or_a_hook_makes_of_zeros_is_not_explained():
    f = define(lambda ctx, x: x * 1, lambda ctx, g: g * INF)
    assert ZERO_TRAP not in message(lambda: (f.apply(leaf(1.0)) * 0.0).backward())
    y = leaf([1.0]).sqrt()
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * NAN,))
    assert ZERO_TRAP not in message(lambda: (y * 0.0).sum().backward())


def test_the_gradient_of_a_function():
    f = define(lambda ctx, x: x * 1, lambda ctx, g: g * NAN)
    assert "'FBackward' returned nan values in its 0th output" in message(lambda: f.apply(leaf(1.0)).backward())


def test_under_create_graph():
    x = leaf([0.0])
    y = torch.where(x > 0, x.sqrt(), torch.zeros_like(x)).sum()
    assert "'SqrtBackward0' returned nan values" in message(lambda: torch.autograd.grad(y, x, create_graph=True))


def test_the_root_and_the_seed():
    y = leaf([-1.0]).log().sum()
    assert "element 0 of tensors is NaN" in message(y.backward)
    assert "element 0 of gradients tuple is NaN" in message(lambda: leaf(1.0).backward(torch.tensor(NAN).double()))


# The mode


def test_nothing_is_noticed_outside():
    with detect_nan():
        pass
    x = leaf([-1.0])
    assert x.log().isnan() and x.grad is None


def test_what_is_not_recorded_is_not_searched():
    with detect_nan(), torch.no_grad():
        assert leaf([-1.0]).log().isnan()


def test_values_and_gradients_are_the_same():
    def step(x):
        y = (torch.tanh(x @ x) + x * 2).exp().mean()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
        (g * g).sum().backward()
        return y.item(), g.detach().numpy().copy(), x.grad.numpy().copy()

    data = np.random.default_rng(0).standard_normal((4, 4))
    usual = step(torch.tensor(data, requires_grad=True))
    with detect_nan():
        searched = step(torch.tensor(data, requires_grad=True))
    for a, b in zip(usual, searched, strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_is_a_decorator():
    @detect_nan()
    def root(x):
        return x.log()

    with pytest.raises(RuntimeError, match="Log"):
        root(leaf([-1.0]))
    assert leaf([-1.0]).log().isnan()


def test_together_with_anomaly_mode():
    with torch.autograd.set_detect_anomaly(True):
        assert "Log (recorded as LogBackward0)" in message(lambda: leaf([-1.0]).log())
