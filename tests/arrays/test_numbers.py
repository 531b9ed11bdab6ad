"""Numbers: what a type can't hold wraps or is refused, factors count in the common type, rounded quotients, edge values."""

import numpy as np
import pytest
from common import define, leaf

import autograd_cy as torch

F = torch.nn.functional
inf, nan = float("inf"), float("nan")


def gradients(y, *inputs, **options):
    return [g.tolist() for g in torch.autograd.grad(y, inputs, torch.ones_like(y), **options)]


@pytest.mark.parametrize("size", [0, 4])
@pytest.mark.parametrize("kind", [int, float, complex])
def test_several_elements_are_no_number(kind, size):
    """They were a RuntimeError, as those of item() are."""
    with pytest.raises(ValueError, match=r"^only one element tensors can be converted to Python scalars"):
        kind(torch.ones(size))
    with pytest.raises(RuntimeError, match=f"^a Tensor with {size} elements cannot be converted to Scalar"):
        torch.ones(size).item()


def test_integers_wrap():
    a = torch.tensor([1, -1, 127], dtype=torch.int8)
    assert (a * 200).tolist() == [-56, 56, 56] and (a > 200).tolist() == [True, True, True]
    assert (torch.tensor([255], dtype=torch.uint8) == -1).tolist() == [True]
    assert (torch.tensor([1], dtype=torch.uint8) < 300).tolist() == [True]
    assert (torch.tensor([1], dtype=torch.int32) * 2**31).tolist() == [-(2**31)]
    assert a.mul_(-1).tolist() == [-1, 1, -127]


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_integers_of_more_than_64_bits(number):
    x = torch.tensor([1.0])
    for call in (lambda: x * number, lambda: x == number, lambda: x.fill_(number), lambda: x.add(x, alpha=number)):
        with pytest.raises(OverflowError, match=r"too big to convert|can't convert negative int"):
            call()


@pytest.mark.parametrize("call", [
    lambda x: x.fill_(300), lambda x: x.masked_fill(x > 0, 300), lambda x: x.clamp(max=300), lambda x: x.add(x, alpha=300),
    lambda x: x.new_full((1,), 300), lambda x: x.scatter(0, torch.tensor([0]), 300), lambda x: x.__setitem__(0, 300),
    lambda x: torch.where(x > 0, 300, x), lambda x: x**300, lambda x: x.fill_(nan), lambda x: x.fill_(1j),
])  # fmt: skip
def test_what_can_not_be_held_is_refused(call):
    x = torch.tensor([1, 2], dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="value cannot be converted to type uint8_t without overflow"):
        call(x)
    assert x.tolist() == [1, 2]


def test_a_number_beside_float16_counts_as_it_is():
    x = torch.tensor([0.25, 0.0], dtype=torch.float16)
    assert (x * 65536).tolist() == (65536 * x).tolist() == [16384.0, 0.0]
    assert (x * torch.tensor(65536.0)).tolist() == x.clone().mul_(65536).tolist() == [16384.0, 0.0]
    assert (x / 1e5).tolist()[0] == pytest.approx(2.5e-6, rel=0.03)
    y = leaf([0.25], torch.float16)
    assert gradients(y / 1e5, y)[0][0] == pytest.approx(1e-5, rel=0.01)
    assert gradients((y * 65536) * 1e-3, y)[0][0] == pytest.approx(65.5, rel=0.01)


def test_alpha_is_applied_in_the_common_type():
    assert torch.add(torch.tensor([1.0, 2.0]), torch.tensor([True, False]), alpha=2).tolist() == [3.0, 2.0]
    a, b = torch.tensor([1.0], dtype=torch.float64), torch.tensor([1 / 3])
    exact = 1 + 0.1 * b.double().item()
    assert torch.add(a, b, alpha=0.1).item() == a.clone().add_(b, alpha=0.1).item() == exact
    big = torch.tensor([200], dtype=torch.uint8)
    assert torch.add(torch.tensor([1.0]), big, alpha=2).tolist() == [401.0]
    assert torch.sub(torch.tensor([1], dtype=torch.int16), big, alpha=2).tolist() == [-399]


def test_a_sum_with_a_factor_saves_nothing():
    for call in (torch.add, torch.sub, lambda x, y, alpha: x.clone().add_(y, alpha=alpha)):
        x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        z = call(x, y, alpha=2).sum()
        z.backward()
        z.backward()
        assert x.grad.tolist() == [2.0, 2.0] and abs(y.grad).tolist() == [4.0, 4.0]


def test_a_node_with_numbers_has_one_gradient():
    x = leaf([0.5, 2.0])
    for y in (x.clamp(0, 1), x**2, 2**x, 1 - x, x % 2):
        seen = []
        y.grad_fn.register_hook(lambda inputs, outputs, seen=seen: seen.append((len(inputs), len(outputs))))
        y.sum().backward()
        assert seen == [(1, 1)]


def test_edges_of_relu_and_clamp():
    x = leaf([-1.0, 0.0, 2.0, nan, inf])
    assert gradients(torch.relu(x), x) == [[0.0, 0.0, 1.0, 1.0, 1.0]]
    for bounds in ((nan, None), (None, nan), (0.0, nan)):
        y = x.clamp(*bounds)
        assert np.isnan(y.detach().numpy()).all() and gradients(y, x) == [[0.0] * 5]
    low = leaf([inf] * 5)
    assert gradients(x.clamp(min=low), low) == [[1.0, 1.0, 1.0, 0.0, 0.0]]
    assert np.isnan(x.clamp(max=torch.tensor(nan)).detach().numpy()).all()


def test_second_derivatives_that_are_zero():
    for function in (torch.relu, lambda x: F.nll_loss(x, torch.tensor([0, 1]))):
        x = leaf([[1.0, -2.0], [3.0, 4.0]])
        (g,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        assert gradients(g, x) == [[[0.0, 0.0], [0.0, 0.0]]]


def test_gelu_of_large_float16():
    x = leaf([1000.0, 6e4, -2000.0], torch.float16)
    assert gradients(F.gelu(x, approximate="tanh"), x) == [[1.0, 1.0, 0.0]]


def test_a_complex_gradient_of_a_real_input_is_an_error():
    function = define(lambda ctx, x: x * 1, lambda ctx, g: g * (1 + 2j))
    x = leaf([1.0])
    with pytest.raises(RuntimeError, match="input_is_complex == grad_is_complex"):
        function.apply(x).sum().backward()


def test_copying_complex_numbers_into_truth_values():
    assert torch.zeros(2, dtype=torch.bool).copy_(torch.tensor([1j, 0j])).tolist() == [True, False]


@pytest.mark.parametrize("call", [
    lambda x: x % 0, lambda x: x // 0, lambda x: x.fmod(0), lambda x: x.div(0, rounding_mode="trunc"),
    lambda x: x % torch.tensor([1, 0]), lambda x: 3 // torch.tensor([0, 1]),
])  # fmt: skip
def test_an_integer_divided_by_zero(call):
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        call(torch.tensor([1, 2]))


def test_the_least_integer_divided_by_minus_one():
    x = torch.tensor([-(2**63)])
    assert (x // -1).tolist() == x.div(-1, rounding_mode="trunc").tolist() == [-(2**63)]
    assert (x % -1).tolist() == torch.fmod(x, -1).tolist() == [0]


def test_integers_rounded_towards_zero():
    assert torch.div(torch.tensor([7, -7]), torch.tensor([2, 2]), rounding_mode="trunc").tolist() == [3, -3]
    assert torch.div(torch.tensor([7, -7]), 2, rounding_mode="floor").tolist() == [3, -4]
    with pytest.raises(RuntimeError, match="rounding_mode to be one of None, 'trunc', or 'floor' but found 'up'"):
        torch.div(torch.tensor([1]), 2, rounding_mode="up")


def test_what_has_no_derivative_says_so():
    x = leaf([5.0, -7.0])
    for y, name in ((x // 2, "floor_divide"), (2 // x, "floor_divide"), (2 % x, "remainder")):
        assert y.grad_fn.name() == "torch::autograd::NotImplemented"
        with pytest.raises(RuntimeError, match=f"derivative for aten::{name} is not implemented"):
            y.sum().backward()


def test_powers_of_integers_and_truth_values():
    assert (torch.tensor([1, -1, 2, 0]) ** torch.tensor([-1, -3, -1, -1])).tolist() == [1, -1, 0, 0]
    assert (torch.tensor([True, False]) ** 2).tolist() == [1, 0] and (2 ** torch.tensor([True, False])).tolist() == [2, 1]
    assert (torch.tensor([True, False]) ** torch.tensor([3, 0])).tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        torch.tensor([1, 2]) ** -1


def test_where_alone_gives_places():
    assert [i.tolist() for i in torch.where(torch.tensor([[1, 0], [0, 2]]))] == [[0, 1], [0, 1]]
    assert [i.tolist() for i in torch.where(torch.tensor(1))] == [[0]]


def test_operators_decline_what_they_do_not_know():
    for call in (lambda x: x % "a", lambda x: x // None, lambda x: x << [], lambda x: None // x, lambda x: [] >> x):
        with pytest.raises(TypeError):
            call(torch.tensor([1]))


SCALARS = {
    "a float beside integers": (lambda: torch.arange(3) * np.sqrt(2), torch.float32),
    "float64 beside a float32 without dimensions": (lambda: torch.tensor(1.0) * np.float64(2), torch.float32),
    "float64 beside float16": (lambda: torch.ones(2, dtype=torch.float16) * np.float64(2), torch.float16),
    "an int beside truth values": (lambda: torch.tensor([True]) * np.int64(2), torch.int64),
    "an int beside int8": (lambda: torch.arange(3, dtype=torch.int8) + np.int64(1), torch.int8),
    "complex beside floats": (lambda: torch.ones(2) * np.complex128(1j), torch.complex64),
    "a function": (lambda: torch.add(torch.arange(3), np.float64(2)), torch.float32),
    "a choice": (lambda: torch.where(torch.tensor([True]), np.float64(1), torch.arange(1)), torch.float32),
    "a quotient": (lambda: torch.arange(3) / np.int64(2), torch.float32),
    "a power": (lambda: torch.arange(3) ** np.int64(2), torch.int64),
    "to a power": (lambda: torch.pow(np.float64(2), torch.arange(3)), torch.float32),
    "an array is none": (lambda: torch.arange(3) * np.array([2.0]), torch.float64),
}


@pytest.mark.parametrize("name", SCALARS)
def test_a_scalar_of_numpy_counts_as_a_python_number(name):
    """np.sqrt(2) made float64 of what was float32."""
    call, dtype = SCALARS[name]
    assert call().dtype is dtype


def test_a_scalar_of_numpy_is_saved_as_a_python_number():
    y = leaf([1.0, 2.0]) ** np.float64(3)
    assert type(y.grad_fn).__name__ == "PowBackward0" and y.grad_fn._saved_exponent == 3
    assert (leaf([1.0]) * np.float32(2)).grad_fn._saved_other == 2
    with pytest.raises(RuntimeError, match="Integers to negative integer powers"):
        torch.tensor([2, 3]) ** np.int64(-1)


def test_complex_numbers_that_are_real():
    assert (int(torch.tensor(2 + 0j)), float(torch.tensor(2.5 + 0j)), complex(torch.tensor(1j))) == (2, 2.5, 1j)
    with pytest.raises(RuntimeError, match="without overflow"):
        float(torch.tensor(1j))
