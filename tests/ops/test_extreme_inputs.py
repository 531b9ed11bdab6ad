"""Derivatives where a function's formula meets numbers that overflow, vanish or divide 0 by 0, and the function does not."""

import math
from math import inf, nan

import numpy as np
import pytest
from precision import DTYPES, ROWS, gradients_of

import autograd_cy as ag

F = ag.nn.functional


def derivatives(function, *places, dtype="float64"):
    """Value, gradients and second derivatives (those of each gradient by its own input), at one number for each input."""
    xs = [ag.tensor(x, dtype=getattr(ag, dtype), requires_grad=True) for x in places]
    y = function(*xs)
    first = gradients_of(y, xs, True)
    second = [gradients_of(g, [x], False)[0] if g.requires_grad else ag.zeros(()) for g, x in zip(first, xs, strict=True)]
    return y.item(), [g.item() for g in first], [g.item() for g in second]


@pytest.mark.parametrize("function", [F.elu, F.selu, F.celu])
@pytest.mark.parametrize("x", [100.0, 1e4, 1e30, inf])
@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_of_the_other_branch_does_not_overflow_into_the_second_derivative(function, x, dtype):
    """It was infinity times the mask's 0."""
    _, first, second = derivatives(function, x, dtype=dtype)
    assert math.isfinite(first[0])
    assert second == [0]


def test_sinc_is_smooth_at_zero():
    assert derivatives(ag.sinc, 0.0) == (1, [0], [pytest.approx(-(math.pi**2) / 3, rel=1e-15)])


@pytest.mark.parametrize("x", [1e-37, 1e-20, 1e-5, 1e-3, 0.02, 0.2])
def test_sinc_next_to_zero_in_single_precision(x):
    _, first, second = derivatives(ag.sinc, x, dtype="float32")
    z = math.pi * np.float32(x).item()
    wanted = -math.pi * z * (1 / 3 - z**2 / 30 + z**4 / 840 - z**6 / 45360 + z**8 / 3991680)
    assert first == [pytest.approx(wanted, rel=1e-5, abs=1e-44)]
    assert second == [pytest.approx(-(math.pi**2) * (1 / 3 - z**2 / 10 + z**4 / 168 - z**6 / 6480 + z**8 / 443520), rel=1e-5)]


@pytest.mark.parametrize(("a", "b", "wanted", "dtype"), [
    (1e-300, 1100, math.ldexp(1e-300, 1100), "float64"), (1e300, -1100, math.ldexp(1e300, -1100), "float64"),
    (5e-324, 2097, 2.0**1023, "float64"), (0.25, 129, 2.0**127, "float32"), (1.0, -149, 2.0**-149, "float32"),
    (0.3, -1030, math.ldexp(0.3, -1030), "float64"), (0.0, 1100, 0.0, "float64"), (1.0, 1100, inf, "float64"),
    (0.0, inf, nan, "float64"), (inf, -inf, nan, "float64"), (1.0, inf, inf, "float64"), (1.0, -inf, 0.0, "float32"),
])  # fmt: skip
def test_ldexp_does_not_overflow_on_the_way(a, b, wanted, dtype):
    x = ag.tensor([a, a], dtype=getattr(ag, dtype))
    exponent = ag.tensor([b, b], dtype=x.dtype) if math.isinf(b) else ag.tensor([b, b])
    assert ag.ldexp(x, exponent).numpy() == pytest.approx([wanted] * 2, rel=0, nan_ok=True)


@pytest.mark.parametrize(("dtype", "beyond"), [("float32", 130.5), ("float64", 1030.5)])
def test_ldexp_of_an_element_does_not_depend_on_others(dtype, beyond):
    """A block of elements that has a power out of the range is computed in another way."""
    numbers = np.random.default_rng(0)
    a, b = numbers.normal(size=1500).astype(dtype), (3 * numbers.normal(size=1500)).astype(dtype)
    plain = ag.ldexp(ag.tensor(a), ag.tensor(b)).numpy()
    np.testing.assert_allclose(plain, a * np.exp2(b.astype(np.float64)), rtol=4e-7 if dtype == "float32" else 1e-15)
    for other in (beyond, -beyond, math.inf, nan):
        mixed = b.copy()
        mixed[::100] = other
        got = ag.ldexp(ag.tensor(a), ag.tensor(mixed)).numpy()
        assert np.array_equal(np.delete(got, np.s_[::100]), np.delete(plain, np.s_[::100]))
        assert np.array_equal(ag.ldexp(ag.tensor(a)[::3], ag.tensor(mixed)[::3]).numpy(), got[::3], equal_nan=True)


def test_the_gradient_of_ldexp_does_not_overflow_on_the_way():
    x = ag.tensor([1e-300], dtype=ag.float64, requires_grad=True)
    ag.ldexp(x, ag.tensor([1100])).backward(ag.tensor([1e-50], dtype=ag.float64))
    assert x.grad.item() == math.ldexp(1e-50, 1100)
    _, tangent = ag.func.jvp(lambda x: ag.ldexp(x, ag.tensor([1100])), (x.detach(),), (x.detach(),))
    assert tangent.item() == math.ldexp(1e-300, 1100)


@pytest.mark.parametrize("length", [-2.0, -0.0, 0.0, 3.0])
def test_the_derivative_of_polar_by_the_length_is_the_direction(length):
    """It was the sign of the result, which has no direction at 0, and the opposite one for a negative length."""
    a, b = (ag.tensor(x, dtype=ag.float64, requires_grad=True) for x in (length, 1.0))
    assert gradients_of(ag.polar(a, b).real, [a], False)[0].item() == pytest.approx(math.cos(1))
    assert gradients_of(ag.polar(a, b).imag, [a], False)[0].item() == pytest.approx(math.sin(1))
    _, tangent = ag.func.jvp(lambda x: ag.polar(x, b.detach()), (a.detach(),), (ag.ones((), dtype=ag.float64),))
    assert tangent.item() == pytest.approx(complex(math.cos(1), math.sin(1)))
    (g,) = ag.autograd.grad(ag.polar(a, b).real, a, create_graph=True)
    assert ag.autograd.grad(g, b)[0].item() == pytest.approx(-math.sin(1))


def test_polar_refuses_a_backward_after_its_angle_was_changed():
    a, b = ag.ones(1, requires_grad=True), ag.ones(1)
    y = ag.polar(a, b)
    b.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.real.sum().backward()


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_the_gradient_of_angle_has_no_square(size):
    z = ag.tensor(size * (3 + 4j), dtype=ag.complex64, requires_grad=True)
    (g,) = ag.autograd.grad(z.angle(), z)
    assert g.item() == pytest.approx((-4 + 3j) / 25 / size, rel=1e-6)
    _, tangent = ag.func.jvp(ag.angle, (z.detach(),), (ag.tensor(1j * size, dtype=ag.complex64),))
    assert tangent.item() == pytest.approx(3 / 25, rel=1e-6)


@pytest.mark.parametrize("size", [1e-25, 1.0, 1e25])
def test_the_gradient_of_atan2_has_no_square(size):
    _, first, second = derivatives(ag.atan2, 3 * size, 4 * size, dtype="float32")
    assert first == pytest.approx([4 / 25 / size, -3 / 25 / size], rel=1e-6)
    if size == 1:
        assert second == pytest.approx([-24 / 625, 24 / 625], rel=1e-6)


@pytest.mark.parametrize(("function", "x"), [(ag.asinh, 1e22), (ag.asinh, -1e22), (ag.acosh, 1e22)])
def test_the_gradients_of_asinh_and_acosh_have_no_square(function, x):
    assert derivatives(function, x, dtype="float32")[1] == [pytest.approx(1e-22, rel=1e-6)]


@pytest.mark.parametrize(("function", "wanted"), [
    (ag.asin, lambda d: 1 / math.sqrt(d * (2 - d))), (ag.acos, lambda d: -1 / math.sqrt(d * (2 - d))),
    (ag.atanh, lambda d: 1 / (d * (2 - d))), (lambda x: ag.acosh(2 - x), lambda d: -1 / math.sqrt(d * (2 + d))),
])  # fmt: skip
def test_gradients_next_to_one(function, wanted):
    d = 2.0**-20
    assert derivatives(function, 1 - d, dtype="float32")[1] == [pytest.approx(wanted(d), rel=1e-6)]


def test_the_gradient_of_hypot_is_zero_where_both_sides_are():
    assert derivatives(ag.hypot, 0.0, 0.0)[1] == [0, 0]
    x = ag.zeros(2, requires_grad=True)
    assert ag.autograd.grad(ag.hypot(x, x).sum(), x)[0].tolist() == [0, 0]
    assert ag.func.jvp(ag.hypot, (ag.zeros(1), ag.zeros(1)), (ag.ones(1), ag.ones(1)))[1].item() == 0


@pytest.mark.parametrize(("x", "wanted"), [(37.43, 5.5508250862537194e-17), (-37.43, 5.5508250862537194e-17)])
def test_the_second_derivative_of_softplus_in_its_tails(x, wanted):
    assert derivatives(lambda x: F.softplus(x, threshold=100), x)[2] == [pytest.approx(wanted, rel=1e-13)]
    assert derivatives(F.logsigmoid, -x)[2] == [pytest.approx(-wanted, rel=1e-13)]


def test_derivatives_in_tails_are_right_for_batches_and_by_forward_mode():
    """The factors of second derivatives are rows of their own, which have batching rules and tangents."""
    x = ag.tensor([[-20.0, -8.0, 0.5], [3.0, 30.0, 60.0]], dtype=ag.float64)
    for function in (F.logsigmoid, F.silu, F.mish, F.gelu, lambda x: F.gelu(x, approximate="tanh"), ag.sinc, ag.special.erfcx,
                     ag.special.log_ndtr, lambda x: ag.logaddexp(x, 0.5 * x), lambda x: ag.atan2(x, x + 1)):  # fmt: skip
        slope = ag.func.grad(lambda x, f=function: f(x).sum())
        curvature = ag.func.grad(lambda x, f=slope: f(x).sum())
        wanted = curvature(x)
        assert bool(wanted.isfinite().all())
        assert np.allclose(ag.vmap(curvature)(x).numpy(), wanted.numpy(), rtol=1e-12, atol=0)
        assert np.allclose(ag.func.jvp(slope, (x,), (ag.ones_like(x),))[1].numpy(), wanted.numpy(), rtol=1e-11, atol=0)


# Where derivatives are nan at an infinite input: where PyTorch's are, too, or the function itself has no value there.
NO_LIMIT = {"nn.functional.silu": [inf], "nn.functional.mish": [inf], "nn.functional.gelu": [inf]}
NO_LIMIT |= {"nn.functional.gelu (tanh)": [inf], "pow (exponent 1.5)": [-inf], "lgamma": [-inf], "mvlgamma": [-inf]}
NO_LIMIT |= {"special.entr": [-inf], "igamma": [inf], "igammac": [inf]}


@pytest.mark.parametrize("row", [row for row in ROWS if row.inputs == 1 and row.wrt], ids=lambda row: row.name)
def test_first_derivatives_at_infinity_are_nan_where_the_value_or_pytorchs_is(row):
    x = ag.tensor([-inf, inf], dtype=ag.float64, requires_grad=True)
    y = row.call(x)
    (g,) = gradients_of(y, [x], False)
    wrong = [place for place, value, slope in zip(x.tolist(), y.tolist(), g.tolist(), strict=True)
             if slope != slope and value == value and place not in NO_LIMIT.get(row.name, ())]  # fmt: skip
    assert wrong == []
