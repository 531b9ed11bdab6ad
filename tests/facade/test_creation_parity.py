"""tensor, arange and linspace beside PyTorch's, where that is installed."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import autograd_cy

torch = pytest.importorskip("torch")

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]
NUMPY_SCALARS = [np.uint8(200), np.int8(-3), np.int32(7), np.float16(0.5), np.float32(2.5)]
NUMPY_SCALARS += [np.float64(1.5), np.complex64(2j), np.complex128(1j)]

NUMBERS = st.booleans() | st.integers(-300, 300) | st.floats(-1e6, 1e6)
ALL_NUMBERS = NUMBERS | st.integers() | st.floats() | st.complex_numbers()
BOUNDS = st.integers(-20, 20) | st.integers(-80, 80).map(lambda n: n / 4)
DTYPE = st.none() | st.sampled_from(DTYPES)
DEFAULT = st.sampled_from(["float32", "float64"])


@st.composite
def nested_lists(draw, leaves):
    """Nested lists of one shape, now and then with one element too many."""

    def make(shape):
        if not shape:
            return draw(leaves)
        length = shape[0] if draw(st.integers(0, 30)) else shape[0] + 1
        return [make(shape[1:]) for _ in range(length)]

    return make(draw(st.lists(st.integers(1, 3), max_size=3)))


def both(make, dtype, default):
    """What ``make(module, **options)`` gives in PyTorch and here: tensors, or None where one is refused."""
    results = []
    for module in (torch, autograd_cy):
        options = {"dtype": getattr(module, dtype)} if dtype else {}
        module.set_default_dtype(getattr(module, default))
        try:
            results.append(make(module, **options))
        except (TypeError, ValueError, RuntimeError):
            results.append(None)
        finally:
            module.set_default_dtype(module.float32)
    return results


def check(make, dtype, default, tolerance=0.0):
    """That both refuse, or that both give the same."""
    expected, ours = both(make, dtype, default)
    assert (ours is None) == (expected is None)
    if expected is not None:
        assert str(ours.dtype) == str(expected.dtype)
        np.testing.assert_allclose(ours.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)


@settings(max_examples=300, deadline=None)
@given(nested_lists(NUMBERS) | nested_lists(ALL_NUMBERS), DTYPE, DEFAULT)
def test_tensor_of_numbers(data, dtype, default):
    assume(dtype != "uint8")  # PyTorch wraps -1 but not -1.0, even if they are in one list

    def make(module, **options):
        return module.tensor(data, **options)

    check(make, dtype, default, tolerance=1e-3 if dtype == "float16" else 0)


@settings(max_examples=300, deadline=None)
@given(nested_lists(NUMBERS | st.sampled_from(NUMPY_SCALARS)), DEFAULT)
def test_tensor_of_numpy_scalars(data, default):
    check(lambda module: module.tensor(data), None, default)


@settings(max_examples=300, deadline=None)
@given(BOUNDS, BOUNDS, BOUNDS, DTYPE, DEFAULT)
def test_arange(start, end, step, dtype, default):
    def make(module, **options):
        return module.arange(start, end, step, **options)

    check(make, dtype, default)


@settings(max_examples=300, deadline=None)
@given(BOUNDS, BOUNDS, st.integers(0, 30), st.none() | st.sampled_from(DTYPES[6:]), DEFAULT)
def test_linspace(start, end, steps, dtype, default):
    def make(module, **options):
        return module.linspace(start, end, steps, **options)

    check(make, dtype, default, tolerance=0.02 if dtype == "float16" else 1e-5)
