"""Our own special functions (special.h) and remainders: as exact as SciPy's and NumPy's, whatever stands beside an element."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import scipy.special as sp

import autograd_cy as ag
from codegen.rows import Row
from codegen.special_table import table

TYPES = pytest.mark.parametrize("kind", [np.float32, np.float64])


def values_of(function: Callable, *x: np.ndarray) -> np.ndarray:
    return function(*map(ag.tensor, x)).numpy()


def spread(*ends: float) -> np.ndarray:
    """Numbers between neighbouring ends."""
    return np.concatenate([np.linspace(a, b, 2001) for a, b in pairwise(ends)])


LARGE, SMALL = np.geomspace(10, 1e8, 501), np.geomspace(1e-300, 1, 501)
BESSEL = np.concatenate([spread(-80, -8, 8, 80), SMALL])
# what SciPy computes, for which numbers, and how many units in the last place of a double both together may differ by
FUNCTIONS = {
    "digamma": (ag.digamma, sp.psi, np.concatenate([spread(0.01, 1.4, 1.43), spread(1.5, 3, 12), LARGE, SMALL]), 6),
    "trigamma": (lambda x: ag.polygamma(1, x), lambda x: sp.zeta(2, x), np.concatenate([spread(0.01, 3, 12), LARGE]), 8),
    "erfinv": (ag.erfinv, sp.erfinv, np.concatenate([spread(-0.999, 0.999), 1 - LARGE / 1e9, SMALL[:-1]]), 4),
    "i0": (ag.i0, sp.i0, BESSEL, 8),
    "i0e": (ag.special.i0e, sp.i0e, BESSEL, 8),
    "i1": (ag.special.i1, sp.i1, BESSEL, 16),
    "i1e": (ag.special.i1e, sp.i1e, BESSEL, 16),
    "erfcx": (ag.special.erfcx, sp.erfcx, np.concatenate([spread(-1, 3, 60), LARGE]), 10),
    "log_ndtr": (ag.special.log_ndtr, sp.log_ndtr, np.concatenate([spread(-60, -8, 1), -LARGE]), 12),
    "entr": (ag.special.entr, sp.entr, np.concatenate([spread(0.001, 0.9), spread(1.1, 9)]), 3),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_doubles_are_those_of_scipy_to_the_last_places(name: str) -> None:
    function, reference, x, limit = FUNCTIONS[name]
    expected = reference(x)
    assert (np.abs(values_of(function, x) - expected) / np.spacing(np.abs(expected))).max() <= limit


@pytest.mark.parametrize("name", FUNCTIONS)
def test_floats_are_the_doubles_rounded_or_the_next_ones(name: str) -> None:
    function, reference, x, _ = FUNCTIONS[name]
    x = np.unique(x.astype(np.float32))
    x = x[(x != 0) & ((np.abs(x) < 1) | (name != "erfinv"))]
    with np.errstate(over="ignore"):
        expected = reference(x.astype(float)).astype(np.float32)
    limit = 1.2 if name == "erfinv" else 0.51
    finite = np.isfinite(expected)
    found = values_of(function, x)
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    off = np.abs(found[finite].astype(float) - reference(x[finite].astype(float))) / np.spacing(np.abs(expected[finite]))
    assert off.max() <= limit


def test_digamma_is_exact_next_to_its_roots() -> None:
    """Values by arithmetic of 40 digits."""
    exact = {
        1.4616321449683622: -9.241265521729427e-17,
        1.46: -0.0015805619870834522,
        -0.5040830082644554: 7.289763902976895e-17,
        -0.504: 0.0007420716047053968,
        -0.35: 1.4867933962656468,
        0.3: -3.502524222200133,
        9.999: 2.2516474172057355,
    }
    found = values_of(ag.digamma, np.array(list(exact)))
    np.testing.assert_allclose(found, list(exact.values()), rtol=2e-15)


@TYPES
def test_digamma_and_trigamma_below_0_and_at_their_poles(kind: type) -> None:
    x = np.linspace(-7.9, -0.1, 401).astype(kind)
    x = x[np.abs(x - np.rint(x)) > 0.01]
    tolerance = {np.float32: 1e-5, np.float64: 1e-12}[kind]
    np.testing.assert_allclose(values_of(ag.digamma, x), sp.psi(x), rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(values_of(FUNCTIONS["trigamma"][0], x), sp.zeta(2, x), rtol=tolerance)
    special = np.array([0.0, -0.0, -1.0, -1e30, np.inf, -np.inf, np.nan], kind)
    np.testing.assert_array_equal(values_of(ag.digamma, special), sp.psi(special))
    np.testing.assert_array_equal(values_of(FUNCTIONS["trigamma"][0], special), sp.zeta(2, special))


@TYPES
@pytest.mark.parametrize("name", ["hypot", "logaddexp", "logaddexp2", "nextafter"])
def test_functions_of_two_numbers_are_numpys(name: str, kind: type) -> None:
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, 1e-38, 3e38, -1e38, 70.0, 1e-30]
    special += [5e-324, 1e-310, 1e308, -1e300] if kind is np.float64 else []
    a, b = (v.ravel() for v in np.meshgrid(special, special))
    random = np.random.default_rng(0)
    a, b = np.append(a, random.uniform(1, 30, 5000)).astype(kind), np.append(b, random.uniform(1, 30, 5000)).astype(kind)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(a, b)
    np.testing.assert_allclose(values_of(getattr(ag, name), a, b), expected, rtol=0 if name == "nextafter" else
                               4 * np.finfo(kind).eps)


REMAINDERS = {"fmod": np.fmod, "floor_divide": np.floor_divide, "remainder": np.remainder}


def numbers(kind: type) -> list[np.ndarray]:
    """Pairs of which a block has all plain ones, one has others among them, and several are special."""
    random = np.random.default_rng(0)
    special = np.array([0.0, -0.0, 1.0, -3.0, np.inf, -np.inf, np.nan, 1e-44, 1e38, 0.1, -0.7], kind)
    pairs = []
    for seed in np.meshgrid(special, special):
        parts = [random.uniform(-3, 3, 3000), random.uniform(-1, 1, 3000) * 10.0 ** random.integers(-30, 30, 3000)]
        pairs.append(np.concatenate([*parts, random.integers(-100, 100, 3000) * 0.5, seed.ravel()]).astype(kind))
    return pairs


@TYPES
@pytest.mark.parametrize("name", REMAINDERS)
def test_remainders_are_numpys_to_the_bit(name: str, kind: type) -> None:
    a, b = numbers(kind)
    with np.errstate(all="ignore"):
        for x, y in [(a, b), (a[::3], b[::3]), (a[:5], b[:5]), (a, np.array(0.3, kind)), (a[:600], b[:600])]:
            found, expected = values_of(getattr(ag, name), x, y), REMAINDERS[name](x, y)
            np.testing.assert_array_equal(found, expected)
            if name != "remainder":                             # where NumPy's zeros have the divisor's sign, PyTorch's not
                np.testing.assert_array_equal(np.signbit(found[found == 0]), np.signbit(expected[found == 0]))


@TYPES
@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_logical_operations_take_any_layout(name: str, kind: type) -> None:
    special = np.array([0.0, -0.0, 1.0, -2.0, np.inf, np.nan, 1e-40], kind)
    a, b = (np.tile(v.ravel(), 5) for v in np.meshgrid(special, special))
    for x, y in [(a, b), (a[::2], b[1::2][:len(a[::2])]), (a, np.array(0, kind))]:
        n = min(len(np.atleast_1d(x)), len(y)) if y.ndim else len(x)
        x, y = x[:n], y[:n] if y.ndim else y
        np.testing.assert_array_equal(values_of(getattr(ag, name), x, y), getattr(np, name)(x, y))
    np.testing.assert_array_equal(values_of(ag.logical_not, a[::3]), np.logical_not(a[::3]))


@pytest.mark.parametrize("row", [row for row in table if row.scipy], ids=lambda row: row.name)
def test_bfloat16_of_scipys_functions_is_float32_rounded(row: Row) -> None:
    """More than 512 elements crashed: SciPy's loops move the pointers that they are given."""
    pytest.importorskip("ml_dtypes")
    function = getattr(ag.special, row.name, None) or getattr(ag, row.name)
    x = [ag.from_numpy(np.linspace(1.1, end, 1300)).to(ag.bfloat16) for end in (0.9, 7.0)][:len(row.inputs)]
    for operands in (x, [v[::2] for v in x]):
        expected = function(*(v.float() for v in operands)).bfloat16()
        assert ag.equal(function(*operands).view(ag.int16), expected.view(ag.int16))
