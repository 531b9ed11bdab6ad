"""NumPy's scalars wherever an operation takes a number: the result is that of the Python number."""

import numpy as np
import pytest
from op_calls import Call, each_sample
from op_case import Sample
from opinfo import OPS

import autograd_cy as torch

LIKE = {int: (np.int64, np.int32), float: (np.float64, np.float32), complex: (np.complex128,)}


def numbers_in(sample):
    """The places of the Python numbers among the arguments and in their tuples: (keyword or place, place inside)."""
    for key, value in [*enumerate(sample.args), *sample.kwargs.items()]:
        if type(value) in LIKE:
            yield key, None, value
        elif isinstance(value, (tuple, list)):
            for i, item in enumerate(value):
                if type(item) in LIKE:
                    yield key, i, item


def replaced(sample, key, i, number):
    """The sample with another number in that place."""
    args, kwargs = list(sample.args), dict(sample.kwargs)
    holder = kwargs if isinstance(key, str) else args
    if i is None:
        holder[key] = number
    else:
        holder[key] = type(holder[key])([*holder[key][:i], number, *holder[key][i + 1 :]])
    return Sample(tuple(args), kwargs)


def outcome(row, sample):
    torch.manual_seed(0)
    call = Call(row, sample, differentiable=False)
    return [y.numpy() if isinstance(y, torch.Tensor) else np.asarray(y) for y in call()]


def any_dtype(row):
    """float32, where a scalar's float64 must not matter, and float64, where a scalar's float32 must not; or what there is."""
    known = row.dtypes + row.forward
    return tuple(dtype for dtype in known if dtype in ("float32", "float64")) or known[:1]


def with_more_digits(number):
    """The number, and for a float one next to it that float32 can't hold."""
    return (number, number * (1 + 2**-40)) if isinstance(number, float) else (number,)


@each_sample(OPS, any_dtype)
def test_each_number_of_each_operation(row, sample):
    for key, i, given in numbers_in(sample):
        for number in with_more_digits(given):
            expected = None
            for kind in LIKE[type(number)]:
                if kind(number).item() != number:  # not held exactly
                    continue
                expected = expected or outcome(row, replaced(sample, key, i, number))
                found = outcome(row, replaced(sample, key, i, kind(number)))
                for ours, theirs in zip(found, expected, strict=True):
                    assert ours.dtype == theirs.dtype, (key, i, kind)
                    np.testing.assert_array_equal(ours, theirs)


V = np.float64(1 / 3)


@pytest.mark.parametrize("f", [
    lambda x: x * V, lambda x: V * x, lambda x: x + V, lambda x: V - x, lambda x: x / V, lambda x: V / x, lambda x: x**V,
    lambda x: V**x, lambda x: x % V, lambda x: x.clamp(V, 2 * V), lambda x: x.clone().mul_(V), lambda x: x.clone().pow_(V),
    lambda x: x.clone().div_(V), lambda x: x.lerp(2 * x, V), lambda x: x == V, lambda x: torch.maximum(x, V),
])  # fmt: skip
def test_digits_and_gradients_of_numpy_scalars(f, monkeypatch):
    """A NumPy scalar was rounded to float32, in the value and in what the derivative saved."""
    results = []
    for v in (V, float(V)):
        monkeypatch.setitem(globals(), "V", v)
        x = torch.tensor([0.2, 1 / 3, 0.9], dtype=torch.float64, requires_grad=True)
        y = f(x)
        results.append([y.tolist(), torch.autograd.grad(y.sum(), x)[0].tolist() if y.requires_grad else None])
    assert results[0] == results[1]
