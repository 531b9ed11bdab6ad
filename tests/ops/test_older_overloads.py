"""Positional forms that PyTorch deprecated and still takes: numbers among the tensors."""

import warnings

import pytest

import autograd_cy as torch

a, b, m = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0]), torch.tensor([[1.0, 2.0], [3.0, 4.0]])
stack = torch.stack([m, 2 * m])
OF_ONE_FACTOR = {"add": "alpha", "sub": "alpha", "addcmul": "value", "addcdiv": "value"}
OF_TWO_FACTORS = {"addmm": (m, m, m), "addmv": (a, m, b), "addr": (m, a, b), "addbmm": (m, stack, stack),
                  "baddbmm": (stack, stack, stack)}  # fmt: skip


@pytest.fixture(autouse=True)
def warned_each_time():
    torch.set_warn_always(True)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        yield given
    torch.set_warn_always(False)


@pytest.mark.parametrize("name", OF_ONE_FACTOR)
def test_one_factor(name, warned_each_time):
    operands = (b,) if name in ("add", "sub") else (b, a)
    expected = getattr(torch, name)(a, *operands, **{OF_ONE_FACTOR[name]: 2})
    assert torch.equal(getattr(torch, name)(a, 2, *operands), expected)
    assert torch.equal(getattr(a, name)(2, *operands), expected)
    assert torch.equal(getattr(a.clone(), f"{name}_")(2, *operands), expected)
    out = torch.empty(2)
    assert getattr(torch, name)(a, 2, *operands, out=out) is out and torch.equal(out, expected)
    texts = [str(warning.message) for warning in warned_each_time]
    assert len(texts) == 4 and all(text.startswith(f"This overload of {name}") for text in texts)


@pytest.mark.parametrize("name", OF_TWO_FACTORS)
def test_two_factors(name):
    x, y, z = OF_TWO_FACTORS[name]
    function = getattr(torch, name)
    both, one = function(x, y, z, beta=2, alpha=3), function(x, y, z, beta=2)
    assert torch.equal(function(2, x, 3, y, z), both) and torch.equal(function(2, x, y, z), one)
    assert torch.equal(getattr(x, name)(2, 3, y, z), both) and torch.equal(getattr(x, name)(2, y, z), one)
    assert torch.equal(getattr(x.clone(), f"{name}_")(2.0, 3.0, y, z), both)
    assert torch.equal(getattr(x.clone(), f"{name}_")(2.0, y, z), one)


def test_what_is_warned_of(warned_each_time):
    a.clone().add_(2, b)
    assert str(warned_each_time[0].message).partition(" (Triggered")[0] == (
        "This overload of add_ is deprecated:\n\tadd_(Number alpha, Tensor other)\n"
        "Consider using one of the following signatures instead:\n\tadd_(Tensor other, *, Number alpha = 1)"
    )
    torch.addmv(1, a, m, b)
    assert "addmv(Number beta, Tensor input, Tensor mat, Tensor vec, *, Tensor out = None)" in str(warned_each_time[1].message)
    assert issubclass(warned_each_time[0].category, UserWarning)


def test_the_gradient_is_that_of_the_form_of_today():
    x = b.clone().requires_grad_()
    a.clone().add_(2, x).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_what_is_no_such_form():
    for call in (
        lambda: torch.add(a, b, b),
        lambda: torch.add(2, 3, b),
        lambda: torch.mul(a, 2, b),
        lambda: a.addmm(m, 2, m, m),
    ):
        with pytest.raises(TypeError):
            call()
