"""Slopes by finite differences, and what they say of their own error."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograd_cy.testing._compare import probes_for
from autograd_cy.testing._differences import slope

SMOOTH_CURVES = {
    "line": (lambda t: 3 * t - 1, lambda t: 3 + 0 * t),
    "square": (lambda t: t * t, lambda t: 2 * t),
    "cubic and a constant": (lambda t: 1e3 + t**3, lambda t: 3 * t**2),
    "exponential": (np.exp, np.exp),
    "sine": (np.sin, np.cos),
    "fast sine": (lambda t: np.sin(50 * t), lambda t: 50 * np.cos(50 * t)),
    "logarithm": (np.log, lambda t: 1 / t),
    "root": (np.sqrt, lambda t: 0.5 / np.sqrt(t)),
    "pole": (lambda t: 1 / t, lambda t: -1 / t**2),
    "kink nearby": (lambda t: np.maximum(t, 1.001), lambda t: np.where(t > 1.001, 1.0, 0.0)),
    "tanh": (np.tanh, lambda t: 1 / np.cosh(t) ** 2),
}


def slope_at(function, x, reach=0.0917):
    x = np.atleast_1d(np.asarray(x, float))
    with np.errstate(all="ignore"):
        return slope(lambda t: function(x + t), function(x), reach)


@pytest.mark.parametrize("name", SMOOTH_CURVES)
@given(x=st.floats(0.01, 20))
def test_the_error_estimate_holds(name, x):
    function, derivative = SMOOTH_CURVES[name]
    if name == "kink nearby" and abs(x - 1.001) < 1e-5:
        return
    found = slope_at(function, x)
    true = derivative(np.array([x]))
    assert (np.abs(found.middle - true) <= 10 * found.error + 2e-11 * np.abs(true)).all()
    assert not found.kinked.any()


@pytest.mark.parametrize("name", [name for name in SMOOTH_CURVES if name not in ("kink nearby", "fast sine")])
def test_smooth_curves_have_ten_digits(name):
    function, derivative = SMOOTH_CURVES[name]
    found = slope_at(function, 0.7)
    assert found.error == pytest.approx(0, abs=1e-9 * max(1, abs(derivative(np.array([0.7]))[0])))


def test_each_output_has_its_own_step():
    def function(x):
        return np.concatenate([np.exp(x), np.log(x), np.sin(300 * x)])

    found = slope_at(function, 0.01)
    assert found.middle == pytest.approx([math.exp(0.01), 100.0, 300 * math.cos(3)], rel=1e-8)


KINKS = {
    "absolute value": (np.abs, -1.0, 1.0),
    "relu": (lambda x: np.maximum(x, 0), 0.0, 1.0),
    "curved on both sides": (lambda x: np.where(x > 0, np.sin(3 * x), np.expm1(x)), 1.0, 3.0),
    "small kink in a steep line": (lambda x: 100 * x + 0.1 * np.abs(x), 99.9, 100.1),
}


@pytest.mark.parametrize("name", KINKS)
def test_a_kink_has_two_slopes(name):
    function, low, high = KINKS[name]
    found = slope_at(function, 0.0)
    assert found.kinked.all()
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=1e-6)


@given(st.floats(-2, 2), st.floats(0.5, 30))
def test_a_smooth_curve_has_no_kink(x, speed):
    assert not slope_at(lambda t: np.sin(speed * t) + t * t, x).kinked.any()


@pytest.mark.parametrize("function", [np.floor, lambda x: np.sign(x) * 3.0, lambda x: np.where(x > 0, x + 1, x)])
def test_a_jump_is_nothing_to_differentiate(function):
    found = slope_at(function, 0.0)
    assert (found.error > 1e-4 * np.abs(found.middle)).all()


def test_a_staircase_is_no_slope():
    """Four jumps within a step, two within half of it, one within a quarter: three differences that agree."""
    found = slope_at(lambda x: np.floor(x / 0.0229), 0.5 * 0.0229 + 0.01)
    assert np.abs(found.middle) <= 10 * found.error + 1e-9


@given(st.floats(-3, 3), st.floats(0.001, 1))
def test_rounding_has_no_slope(x, width):
    found = slope_at(lambda t: np.floor(t / width) * width, x)
    assert np.abs(found.middle) <= 10 * found.error + 1e-9 or abs(x / width - round(x / width)) < 1e-4


def test_outside_of_its_domain_nothing_is_known():
    assert np.isinf(slope_at(np.log, -1.0).error).all()
    assert not np.isfinite(slope_at(np.sqrt, 0.0).error).any()


def test_the_number_of_probes_follows_from_the_odds():
    assert [probes_for(miss)[0] for miss in (1e-1, 1e-2, 1e-3, 1e-6)] == [2, 2, 3, 6]


@pytest.mark.parametrize("miss", [0.3, 0.1, 1e-2])
def test_the_odds_are_those_of_an_error_of_rank_one(miss):
    """Rank one is what is missed most often: measured here, with other ranks beside it."""
    count, seen = probes_for(miss)
    rng = np.random.default_rng(0)

    def missed(rank):
        sizes = np.full(rank, rank**-0.5)  # singular values, of Frobenius norm one
        a, b = rng.standard_normal((2, 200_000, count, rank))
        return np.mean((np.abs((a * sizes * b).sum(-1)) < seen).all(-1))

    assert missed(1) == pytest.approx(miss, rel=0.15)
    assert missed(2) < missed(1) and missed(10) < missed(1)
