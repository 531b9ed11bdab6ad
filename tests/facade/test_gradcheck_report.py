"""gradcheck's message: the worst entry by index, values and ratio, then both matrices."""

import re

import numpy as np
import pytest
from gradcheck_functions import MISMATCH, leaf, none_or, twice, wrong_twice
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as torch
from autograd_cy.autograd.gradcheck import GradcheckError

gradcheck = torch.autograd.gradcheck
Function = torch.autograd.Function


def report(func, *inputs, **options):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(func, inputs, **options)
    return str(caught.value)


def test_worst_entry():
    factors = torch.ones(2, 3, dtype=torch.float64)
    factors[0, 1] = 1.25
    factors[1, 2] = 1.5
    text = report(twice(none_or(lambda g: g * 2 * factors)), leaf(2, 3))
    worst = (
        "worst entry: inputs[0][(1, 2)] to outputs[0][(1, 2)]: analytical 3, numerical 2, ratio 1.5 "
        "(2 of 36 entries are out of tolerance)."
    )
    assert worst in text
    assert text.index(worst) < text.index("numerical:") < text.index("analytical:")


def test_worst_entry_names_positions_among_all_arguments_and_outputs():
    text = report(lambda n, x: (x.argmax(), wrong_twice(x)), 3, leaf())
    assert MISMATCH in text
    assert "worst entry: inputs[1][()] to outputs[1][()]: analytical 3, numerical 2, ratio 1.5" in text


def test_worst_entry_across_shapes():
    class RowSum(Function):
        @staticmethod
        def forward(ctx, x):
            return x.sum(1)

        @staticmethod
        def backward(ctx, g):
            grad = g.unsqueeze(1).expand(2, 3).clone()
            grad[1, 0] = 0.0
            return grad

    text = report(RowSum.apply, leaf(2, 3))
    assert "inputs[0][(1, 0)] to outputs[0][(1,)]: analytical 0, numerical 1, ratio 0" in text


def test_expected_zero_has_an_infinite_ratio():
    class Leak(Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g, g

    text = report(Leak.apply, leaf(1), leaf(1, seed=1))
    assert "inputs[1][(0,)] to outputs[0][(0,)]: analytical 1, numerical 0, ratio inf" in text


def test_nan_is_the_worst():
    factors = torch.tensor([100.0, float("nan"), 1.0], dtype=torch.float64)
    text = report(twice(none_or(lambda g: g * factors)), leaf(3), check_undefined_grad=False)
    assert "inputs[0][(1,)] to outputs[0][(" in text
    assert "analytical nan" in text
    assert "(5 of 9 entries" in text


def test_large_matrices_are_abbreviated():
    text = report(wrong_twice, leaf(40))
    assert "..." in text
    assert len(text) < 2500


def test_small_matrices_are_shown_whole():
    text = report(wrong_twice, leaf(3))
    assert "..." not in text
    assert re.search(r"analytical:\n\[\[3\. 0\. 0\.\]\n \[0\. 3\. 0\.\]\n \[0\. 0\. 3\.\]\]", text)


def test_complex_worst_entry():
    class Rotate(Function):
        @staticmethod
        def forward(ctx, z):
            return z * 1j

        @staticmethod
        def backward(ctx, g):
            return g * 1j

    text = report(Rotate.apply, leaf(dtype="complex128"))
    assert "analytical -1+0j, numerical 1+0j, ratio -1+0j" in text


def test_fast_mode_names_the_worst_entry():
    text = report(wrong_twice, leaf(3), fast_mode=True)
    assert "analytical 3, numerical 2, ratio 1.5" in text
    assert "max per-element difference (slow mode) is: 1." in text


def test_fast_mode_says_when_slow_mode_passes():
    func = twice(none_or(lambda g: g * 2.002))
    assert gradcheck(func, (leaf(3),), rtol=0.0, atol=0.0021)
    calls = []

    def drifting(g):
        calls.append(1)
        return g * (3 if len(calls) <= 2 else 2)

    text = report(twice(none_or(drifting)), leaf(3), fast_mode=True)
    assert "passes with fast_mode=False" in text


def test_forward_mode_names_the_worst_entry():
    func = twice(none_or(lambda g: g * 2), jvp=lambda t: t * 3)
    text = report(func, leaf(2), check_forward_ad=True)
    assert "inputs[0][(0,)] to outputs[0][(0,)]: analytical 3, numerical 2, ratio 1.5" in text


@settings(deadline=None, max_examples=50)
@given(st.data())
def test_any_single_wrong_entry_is_found(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 3), max_size=3), label="shape"))
    index = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    factor = data.draw(st.floats(-3, 0.99) | st.floats(1.01, 3), label="factor")
    factors = np.ones(shape)
    factors[index] = factor
    func = twice(none_or(lambda g: g * 2 * torch.from_numpy(factors)))
    text = report(func, leaf(*shape))
    assert f"worst entry: inputs[0][{index}] to outputs[0][{index}]: analytical {2 * factor:.8g}," in text
    assert f"(1 of {factors.size**2} entries are out of tolerance)" in text
