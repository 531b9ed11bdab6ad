"""Our own exp, erf, normal distribution, sin and cos (elementary.h): right everywhere, and the same bits on any machine."""

import decimal
import hashlib
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograd_cy as ag

EXACT = decimal.Context(prec=40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
TYPES = pytest.mark.parametrize("kind", [np.float32, np.float64])


def spread(kind: type) -> np.ndarray:
    """Finite numbers of all magnitudes: every so many of the bit patterns, so that denormal ones are among them."""
    bits = {4: (np.uint32, 1_048_573), 8: (np.uint64, 4_503_599_627_370_517)}[np.dtype(kind).itemsize]
    values = np.arange(0, np.iinfo(bits[0]).max, bits[1], bits[0]).view(kind)
    return np.concatenate([values[np.isfinite(values)], np.linspace(-110, 95, 3001).astype(kind)])


def ulps(found: np.ndarray, exact: list) -> float:
    """The largest error in units of the last place of the exact value, which is a Decimal or a float."""
    assert len(found) == len(exact)
    errors = []
    for y, value in zip(found, exact, strict=True):
        with np.errstate(over="ignore"):
            rounded = found.dtype.type(float(value))
        if np.isinf(rounded):
            assert y == rounded
        else:
            unit = decimal.Decimal(float(np.spacing(abs(rounded))))
            errors.append(float(abs(decimal.Decimal(float(y)) - decimal.Decimal(value)) / unit))
    return max(errors)


def values_of(function: Callable, x: np.ndarray) -> np.ndarray:
    return function(ag.tensor(x)).numpy()


@TYPES
def test_exp_is_right_to_one_unit_in_the_last_place_denormal_results_included(kind: type) -> None:
    ends = {np.float32: (-104, 89), np.float64: (-746, 710)}[kind]
    x = np.concatenate([spread(kind), np.linspace(*ends, 3001).astype(kind)])
    exact = [EXACT.exp(decimal.Decimal(float(v))) for v in x.clip(-2000, 2000)]
    assert ulps(values_of(ag.exp, x), exact) < 1


@given(st.floats(-745, 709.7))
def test_exp_of_any_double(x: float) -> None:
    assert ulps(values_of(ag.exp, np.array([x])), [EXACT.exp(decimal.Decimal(x))]) < 1


@TYPES
def test_sigmoid_is_right_in_both_tails(kind: type) -> None:
    x = spread(kind)
    x = x[x > (-87 if kind is np.float32 else -708)]                    # where the result is normal
    exact = [1 / (1 + EXACT.exp(-decimal.Decimal(float(v)))) for v in x.clip(None, 2000)]
    assert ulps(values_of(ag.sigmoid, x), exact) < 2.5


@pytest.mark.parametrize(("kind", "limit"), [(np.float32, 1.4), (np.float64, 2.0)])
def test_erf_is_right_to_the_last_places(kind: type, limit: float) -> None:
    x = np.concatenate([spread(kind), np.linspace(-7, 7, 5001).astype(kind)])
    assert ulps(values_of(ag.erf, x), [math.erf(v) for v in x]) < limit


@pytest.mark.parametrize(("kind", "limit"), [(np.float32, 5.0), (np.float64, 6.0)])
def test_gelu_is_right_to_the_last_places_above_minus_one(kind: type, limit: float) -> None:
    x = np.linspace(-1, 12, 5001).astype(kind)
    assert ulps(values_of(ag.nn.functional.gelu, x), [0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x.astype(float)]) < limit


@pytest.mark.parametrize(("kind", "first", "limit"), [(np.float32, -12, 1e-5), (np.float64, -37, 5e-13)])
def test_gelu_does_not_cancel_in_its_tail(kind: type, first: int, limit: float) -> None:
    """0.5 * (1 + erf(x)) has no digit left below -6."""
    x = np.linspace(first, -1, 1001).astype(kind)
    exact = np.array([0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x.astype(float)])
    np.testing.assert_allclose(values_of(ag.nn.functional.gelu, x), exact, rtol=limit)


def sine(x: float, quarters: int) -> decimal.Decimal:
    """sin(x + quarters * pi / 2): the series, of what the multiple of pi / 2 next to x leaves over."""
    half_pi = decimal.Decimal("1.57079632679489661923132169163975144209858469968755291")
    turns = (decimal.Decimal(x) / half_pi).to_integral_value()
    r = decimal.Decimal(x) - turns * half_pi
    quarter = (int(turns) + quarters) % 4
    n, term = (0, decimal.Decimal(1)) if quarter % 2 else (1, r)
    total = decimal.Decimal(0)
    while abs(term) > decimal.Decimal(10) ** -45:
        total += term
        term *= -r * r / ((n + 1) * (n + 2))
        n += 2
    return -total if quarter > 1 else total


@pytest.mark.parametrize(("function", "quarters"), [(ag.sin, 0), (ag.cos, 1)])
def test_sin_and_cos_of_doubles_are_right_to_one_unit_in_the_last_place(function: Callable, quarters: int) -> None:
    near_zeros = np.arange(1, 300000, 997) * (np.pi / 2)
    x = np.concatenate([np.linspace(-7, 7, 1001), np.linspace(-524288, 524288, 1001), near_zeros, np.nextafter(near_zeros, 0)])
    with decimal.localcontext(EXACT) as context:
        context.prec = 60
        exact = [sine(float(v), quarters) for v in x]
        assert ulps(values_of(function, x), exact) < 0.9


@pytest.mark.parametrize(("function", "of_one"), [(ag.sin, math.sin), (ag.cos, math.cos)])
def test_large_arguments_of_sin_and_cos_among_small_ones(function: Callable, of_one: Callable) -> None:
    x = np.linspace(-3, 3, 5000)
    small = values_of(function, x)
    x[::701] = np.geomspace(524289, 1e300, x[::701].size)
    y = values_of(function, x)
    np.testing.assert_array_equal(y[::701], [of_one(v) for v in x[::701]])
    assert np.delete(y, slice(0, None, 701)).tobytes() == np.delete(small, slice(0, None, 701)).tobytes()


@TYPES
@pytest.mark.parametrize("size", [5, 37, 1000])
def test_special_values_in_any_lane(kind: type, size: int) -> None:
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], kind)
    x = np.resize(special, size)
    expected = {ag.exp: [1, 1, np.inf, 0, np.nan], ag.sigmoid: [0.5, 0.5, 1, 0, np.nan], ag.erf: [0, -0.0, 1, -1, np.nan],
                ag.sin: [0, -0.0, np.nan, np.nan, np.nan], ag.cos: [1, 1, np.nan, np.nan, np.nan],
                ag.rsqrt: [np.inf, -np.inf, 0, np.nan, np.nan]}
    for function, values in expected.items():
        y = values_of(function, x)
        np.testing.assert_array_equal(y, np.resize(np.array(values, kind), size))
        assert not np.any(np.signbit(y[~np.isnan(y)]) != np.signbit(np.resize(values, size)[~np.isnan(y)]))


def test_a_nan_with_a_payload_stays_nan() -> None:
    x = (np.arange(1, 4001, dtype=np.uint32) * 1049 % 2**22 + 0x7FC00000).view(np.float32)
    for function in (ag.exp, ag.erf, ag.sigmoid, ag.nn.functional.gelu):
        assert np.isnan(values_of(function, x)).all()


@pytest.mark.parametrize("function", [ag.exp, ag.sigmoid, ag.erf, ag.sin, ag.cos, ag.nn.functional.gelu,
                                      ag.nn.functional.silu], ids=lambda function: function.__name__)
@TYPES
def test_an_element_has_the_same_bits_wherever_it_stands(function: Callable, kind: type) -> None:
    """In a full vector, in what is left over, alone, and among strided elements."""
    x = np.linspace(-20, 20, 1003).astype(kind)
    whole = values_of(function, x)
    for found, expected in [(values_of(function, x[700:]), whole[700:]), (values_of(function, x[::3]), whole[::3]),
                            (values_of(function, x[5:5 + 7][::-1]), whole[5:5 + 7][::-1])]:
        assert found.tobytes() == expected.tobytes()


# what these computed on the first machine, by the loops for AVX-512

SEEN = {
    "exp": ("486c790361ac150a", "bd02e4016f9e8db1"),
    "erf": ("57ff54d1639316e5", "2dc49098418e70ca"),
    "sigmoid": ("9a6b1052a7eaccb5", "802b22a80a61819b"),
    "gelu": ("3d4c8d6c5d40e7af", "c2763c1360af16dd"),
    "silu": ("6a69be024537fd93", "9b4c27cd2ed7ebd6"),
    "softmax": ("6a83d852b6562984", "8db59a5fe4990f6a"),
    "softmax across": ("eb8842b41f3d5ea6", "6da644aff4cc602c"),
    "sum": ("476cc1ebf349fac3", "43a060901506f892"),
    "layer_norm": ("8de644bcca8049a3", "10a9dc5607a813fc"),
    "gelu, backward": ("1c3e69260b9a1cdd", "9b412d1b71845d6e"),
    "silu, backward": ("d2d19c710cb6d84f", "af114ec593241dce"),
    "softmax, backward": ("276ec62209b26ec2", "8d7b6c4678ba54db"),
    "layer_norm, backward": ("878f3dd458bf7846", "53fc9c1d296ea355"),
}


def numbers(kind: type) -> np.ndarray:
    """Numbers from -12 to 12 in no order, made without a library's functions."""
    k = np.arange(41 * 257, dtype=np.int64)
    return ((k * 7919 % 10007 - 5003) / 417).astype(kind).reshape(41, 257)


def gradient_of(function: Callable) -> Callable:
    def gradient(x: ag.Tensor) -> ag.Tensor:
        return ag.autograd.grad(function(x.requires_grad_()), x, ag.tensor(x.detach().numpy()[::-1].copy()))[0]

    return gradient


FUNCTIONS: dict[str, Callable] = {
    "exp": ag.exp,
    "erf": ag.erf,
    "sigmoid": ag.sigmoid,
    "gelu": ag.nn.functional.gelu,
    "silu": ag.nn.functional.silu,
    "softmax": lambda x: x.softmax(1),
    "softmax across": lambda x: x.softmax(0),
    "sum": lambda x: x.sum(1),
    "layer_norm": lambda x: ag.nn.functional.layer_norm(x, (257,)),
}
FUNCTIONS |= {f"{name}, backward": gradient_of(FUNCTIONS[name]) for name in ("gelu", "silu", "softmax", "layer_norm")}


@TYPES
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_are_those_of_any_other_machine(name: str, kind: type) -> None:
    bits = hashlib.sha256(values_of(FUNCTIONS[name], numbers(kind)).tobytes()).hexdigest()
    assert bits[:16] == SEEN[name][kind is np.float64]
