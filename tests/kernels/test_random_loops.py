"""Random fills: numbers follow from a key and an element's place, whatever the threads, strides and sizes."""

import math

import numpy as np
import pytest

import autograd_cy as ag

WORD = 0xFFFFFFFF
TURNS = [(10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20)]


def threefry(counter, key):
    """Threefry4x32-20 as its paper describes it."""
    keys = [*key, 0x1BD11BDA ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    x = [(a + b) & WORD for a, b in zip(counter, key, strict=True)]
    for r in range(20):
        for first, second, turn in zip((0, 2), (1, 3) if r % 2 == 0 else (3, 1), TURNS[r % 8], strict=True):
            x[first] = (x[first] + x[second]) & WORD
            x[second] = ((x[second] << turn | x[second] >> (32 - turn)) & WORD) ^ x[first]
        if r % 4 == 3:
            s = r // 4 + 1
            x = [(v + keys[(s + i) % 5] + (s if i == 3 else 0)) & WORD for i, v in enumerate(x)]
    return x


def seeded(seed=0):
    return ag.Generator().manual_seed(seed)


def test_the_reference_gives_the_known_answers():
    assert threefry([0] * 4, [0] * 4) == [0x9C6CA96A, 0xE17EAE66, 0xFC10ECD4, 0x5256A7D8]
    assert threefry([WORD] * 4, [WORD] * 4) == [0x2A881696, 0x57012287, 0xF6C7446E, 0xA16A6732]


def test_bits_are_those_of_the_reference():
    key = int(np.random.default_rng(5).bit_generator.random_raw())
    words = [threefry([32 * (i // 128) + i % 32, 0, 0, 0], [key & WORD, key >> 32, 0, 0])[i % 128 // 32] for i in range(300)]
    drawn = ag.rand(300, generator=seeded(5), dtype=ag.float32)
    assert drawn.tolist() == [(word >> 8) * 2.0**-24 for word in words]


DRAWS = {
    "normal": lambda x, g: x.normal_(1, 2, generator=g),
    "uniform": lambda x, g: x.uniform_(-1, 2, generator=g),
    "integers": lambda x, g: x.random_(1, 100, generator=g),
}


FLOATS, INTEGERS = ("float16", "float32", "float64"), ("int32", "int64", "uint8")
FITTING = [(draw, dtype) for draw in ("normal", "uniform") for dtype in (*FLOATS, "complex64", "complex128")]
FITTING += [("integers", dtype) for dtype in (*FLOATS, *INTEGERS)]


@pytest.mark.parametrize(("name", "dtype"), FITTING)
def test_numbers_do_not_depend_on_threads_strides_or_sizes(name, dtype):
    draw, dtype = DRAWS[name], getattr(ag, dtype)
    before = ag.get_num_threads()
    try:
        results = []
        for threads in (1, 3):
            ag.set_num_threads(threads)
            results.append(draw(ag.zeros(400, 501, dtype=dtype), seeded()))
    finally:
        ag.set_num_threads(before)
    strided = draw(ag.zeros(501, 400, dtype=dtype).T, seeded())
    shorter = draw(ag.zeros(1001, dtype=dtype), seeded())
    assert results[0].tolist() == results[1].tolist() == strided.tolist()
    assert shorter.tolist() == results[0].flatten()[:1001].tolist()


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_normal_numbers_have_the_moments_and_tails_of_their_distribution(dtype):
    n = 4_000_000
    x = ag.randn(n, dtype=dtype, generator=seeded(1)).double().numpy()
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170)):
        assert abs((x**power).mean() - moment) < 5 * math.sqrt(variance / n)
    for limit in (1, 2, 3, 4, 4.5):
        expected = n * math.erfc(limit / math.sqrt(2))
        assert abs((abs(x) > limit).sum() - expected) < 5 * math.sqrt(expected)
    assert 4.7 < abs(x).max() < 6.6
    for lag in (1, 32, 64, 96, 128, 1 << 15):
        for a in (x, x**2 - 1):
            assert abs((a[lag:] * a[:-lag]).mean()) < 5 * (a**2).mean() / math.sqrt(n - lag)


@pytest.mark.parametrize("dtype", [ag.float16, ag.float32, ag.float64])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (1000.0, 1001.0), (2.0, 2.0)])
def test_uniform_numbers_stay_below_the_end_of_their_range(dtype, low, high):
    x = ag.empty(100_000, dtype=dtype).uniform_(low, high, generator=seeded()).double()
    assert x.min() >= low and (x.max() < high or low == high)
    assert abs(x.mean() - (low + high) / 2) < 0.01 + (0.3 if dtype is ag.float16 and low == 1000 else 0)


def test_complex_normal_numbers_halve_the_variance():
    x = ag.empty(200_000, dtype=ag.complex64).normal_(5, 3, generator=seeded()).numpy()
    for part in (x.real, x.imag):
        assert abs(part.mean() - 5) < 0.03 and abs(part.std() - 3 / math.sqrt(2)) < 0.03


def test_integers_are_level():
    counts = np.bincount(ag.randint(7, (700_000,), generator=seeded()).numpy(), minlength=7)
    assert ((counts - 100_000.0) ** 2 / 100_000).sum() < 30
    assert ag.randint(-5, 2**32 - 7, (100_000,), generator=seeded()).double().mean() == pytest.approx(2**31, rel=0.01)


def test_a_tensor_takes_one_word_of_the_generator():
    a, b = seeded(), seeded()
    ag.randn(10, generator=a), ag.randn(100_000, generator=b)
    assert a.get_state().tolist() == b.get_state().tolist()
