"""NOTE [Complex numbers]: products and quotients in kernels are NumPy's, infinities included."""

import numpy as np
import pytest

import autograd_cy as ag

TYPES = pytest.mark.parametrize("kind", [np.complex64, np.complex128])
SIZES = pytest.mark.parametrize("size", [1, 40])        # left over, and in vectors


def gradients(function, a, b, g) -> list[np.ndarray]:
    leaves = [ag.tensor(value, requires_grad=True) for value in (a, b)]
    return [x.numpy() for x in ag.autograd.grad(function(*leaves), leaves, ag.tensor(g))]


@TYPES
@SIZES
@pytest.mark.parametrize("number", [complex(np.inf, 0), complex(np.inf, 1), complex(0, -np.inf), complex(np.nan, 2)])
def test_1_infinite_products_are_those_of_the_parts(kind: type, size: int, number: complex) -> None:
    a, b, g = (np.full(size, value, kind) for value in (1 + 2j, number, 1 + 0j))
    with np.errstate(all="ignore"):
        expected = np.conj(np.conj(g) * b)
        square = b * b
    np.testing.assert_array_equal(gradients(lambda x, y: x * y, a, b, g)[0], expected)
    np.testing.assert_array_equal(ag.square(ag.tensor(b)).numpy(), square)


@TYPES
@SIZES
def test_2_quotients_neither_overflow_nor_vanish_on_the_way(kind: type, size: int) -> None:
    big = kind(1e38 if kind is np.complex64 else 1e307)
    for divisor in (big * kind(1 - 2j), kind(1 + 3j) / big):
        a, b, g = (np.full(size, value, kind) for value in (1 + 2j, divisor, divisor * kind(0.5 + 0.5j)))
        found = gradients(lambda x, y: x / y, a, b, g)[0]
        np.testing.assert_allclose(found, np.conj(np.conj(g) / b), rtol=2e-6 if kind is np.complex64 else 1e-14)


@TYPES
@SIZES
def test_3_a_divisor_without_imaginary_part_divides_both_parts(kind: type, size: int) -> None:
    a, b, g = (np.full(size, value, kind) for value in (1 + 2j, 0j, -1j))
    found = gradients(lambda x, y: x / y, a, b, g)[0]
    assert np.isnan(found.real).all()
    assert np.isinf(found.imag).all()


@TYPES
def test_an_element_has_the_same_bits_alone_and_in_a_vector(kind: type) -> None:
    """gcc made fused products of the loops for AVX-512."""
    random = np.random.default_rng(0)
    x = (random.standard_normal(100) + 1j * random.standard_normal(100)).astype(kind)
    whole = ag.nn.functional.silu(ag.tensor(x)).numpy()
    alone = [ag.nn.functional.silu(ag.tensor(x[i : i + 1])).numpy() for i in range(100)]
    assert whole.tobytes() == np.concatenate(alone).tobytes()


def test_the_imaginary_part_of_nothing_can_be_resized():
    assert ag.zeros(0, dtype=ag.complex128).imag.resize_((0, 1)).shape == (0, 1)
