"""Products by panels: each level of the machine, sizes on both sides of a tile, a panel and a block, strides, threads."""

import itertools

import numpy as np
import pytest
from crossings import kernel_threads, thresholds

import autograd_cy as ag
from autograd_cy._core.kernels.gemm import use_panels

ALWAYS = {"panel_work": 1, "panel_side": 1}
BEST = use_panels()
use_panels(BEST)
LEVELS = range(max(BEST, 0) + 1)
ROWS = [1, 2, 3, 4, 5, 6, 7, 12, 64]  # a tile has six
COLUMNS = {"float32": [1, 7, 15, 16, 17, 31, 32, 33, 65], "float64": [1, 7, 8, 9, 15, 16, 17, 33]}  # a panel has 32, or 16
DEPTHS = [1, 2, 5, 319, 320, 321, 641]
LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "apart": lambda a: np.repeat(np.repeat(a, 2, 0), 3, 1)[::2, ::3],
    "backwards": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
}


@pytest.fixture(params=LEVELS, ids=["any machine", "32 bytes", "64 bytes"][: len(LEVELS)])
def level(request):
    before = use_panels(request.param)
    with thresholds(ALWAYS):
        yield request.param
    use_panels(before)


def operands(m, n, p, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, n)).astype(dtype), rng.standard_normal((n, p)).astype(dtype)


def multiplied(a, b):
    return (ag.from_numpy(a) @ ag.from_numpy(b)).numpy()


def check(a, b):
    y, exact = multiplied(a, b), a.astype("f8") @ b.astype("f8")
    size = np.abs(a).astype("f8") @ np.abs(b).astype("f8")
    assert y.dtype == a.dtype
    assert np.all(np.abs(y - exact) <= 4 * a.shape[1] * np.finfo(a.dtype).eps * size)
    return y


@pytest.mark.parametrize("dtype", COLUMNS)
def test_sizes(level, dtype):
    for m, p in itertools.product(ROWS, COLUMNS[dtype]):
        check(*operands(m, 5, p, dtype))
    for n, p in itertools.product(DEPTHS, (3, 33)):
        check(*operands(7, n, p, dtype))


@pytest.mark.parametrize("dtype", COLUMNS)
def test_rows_that_the_cache_does_not_hold(level, dtype):
    """Nor that are so few that a panel is multiplied where it lies."""
    for m in (127, 128, 129, 204, 205, 408, 409, 410, 1025):
        for p in (5, 70, 256):
            check(*operands(m, 321, p, dtype))


@pytest.mark.parametrize("dtype", COLUMNS)
@pytest.mark.parametrize("left", LAYOUTS)
@pytest.mark.parametrize("right", LAYOUTS)
def test_layouts(level, dtype, left, right):
    a, b = operands(13, 37, 35, dtype)
    assert np.array_equal(check(LAYOUTS[left](a), LAYOUTS[right](b)), multiplied(a, b))


@pytest.mark.parametrize("dtype", COLUMNS)
def test_an_element_depends_on_no_other(level, dtype):
    """Nor on how many there are: so threads may take any part."""
    a, b = operands(67, 300, 70, dtype)
    whole = multiplied(a, b)
    assert np.array_equal(multiplied(a[5:40], b[:, 3:50]), whole[5:40, 3:50])
    a[0] = b[:, 0] = np.nan
    odd = multiplied(a, b)
    assert np.isnan(odd[0]).all() and np.isnan(odd[:, 0]).all()
    assert np.array_equal(odd[1:, 1:], whole[1:, 1:])


@pytest.mark.parametrize("dtype", COLUMNS)
def test_bits_are_the_same_for_any_number_of_threads(level, dtype):
    a, b = operands(190, 257, 330, dtype)
    batches = operands(3 * 40, 50, 60, dtype)[0].reshape(3, 40, 50), operands(3 * 50, 1, 60, dtype)[0].reshape(3, 50, 1)
    with kernel_threads(1):
        alone = multiplied(a, b), multiplied(*batches)
    for threads, settings in itertools.product((2, 3), ({}, {"blas_alone": 1, "unlocked_product": 1, "shared_work": 1})):
        with kernel_threads(threads), thresholds(settings):
            assert np.array_equal(multiplied(a, b), alone[0])
            assert np.array_equal(multiplied(*batches), alone[1])


@pytest.mark.skipif(BEST < 2, reason="this machine has one kind of fused multiply-adds")
@pytest.mark.parametrize("dtype", COLUMNS)
def test_machines_with_fused_multiply_adds_agree(dtype):
    a, b = operands(41, 600, 77, dtype)
    found = []
    with thresholds(ALWAYS):
        for wanted in (1, 2):
            before = use_panels(wanted)
            found.append(multiplied(a, b))
            use_panels(before)
    assert np.array_equal(*found)


def test_levels_that_the_machine_lacks():
    for wanted in (-2, 3):
        with pytest.raises(ValueError, match=r"use_panels\(\): expected -1 to "):
            use_panels(wanted)
    assert use_panels(-1) == BEST
    assert use_panels() == -1


def test_gradients(level):
    a, b = (ag.from_numpy(x).requires_grad_() for x in operands(9, 19, 35, "float64"))
    assert ag.autograd.gradcheck(lambda a, b: a @ b, (a, b))
    assert ag.autograd.gradcheck(lambda a, b: ag.nn.functional.linear(a, b.T), (a, b))
