"""quasirandom.SobolEngine: PyTorch's points, and scrambled ones of its own."""

import sys

import numpy as np
import pytest

import autograd_cy as ag

pytest.importorskip("scipy")
SobolEngine = ag.quasirandom.SobolEngine
# the first points of two dimensions
POINTS = [[0, 0], [0.5, 0.5], [0.75, 0.25], [0.25, 0.75], [0.375, 0.375], [0.875, 0.875], [0.625, 0.125], [0.125, 0.625]]


def test_points_follow_each_other():
    engine = SobolEngine(2)
    assert engine.draw(3).tolist() + engine.draw().tolist() + engine.draw_base2(2).tolist() == POINTS
    assert engine.num_generated == 8
    assert engine.reset() is engine and engine.num_generated == 0
    assert engine.fast_forward(5) is engine and engine.draw(3).tolist() == POINTS[5:]
    assert engine.draw(0).shape == (0, 2)


def test_points_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    for dimension in (1, 7, 300):
        ours = SobolEngine(dimension).fast_forward(3).draw(70, dtype=ag.float64)
        theirs = torch.quasirandom.SobolEngine(dimension).fast_forward(3).draw(70, dtype=torch.float64)
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())


def test_scrambled_points_fill_each_cell_once():
    engine = SobolEngine(3, scramble=True, seed=7)
    points = engine.draw(64, dtype=ag.float64).numpy()
    for column in points.T:
        assert sorted(np.floor(column * 64).astype(int)) == list(range(64))
    np.testing.assert_array_equal(engine.reset().draw(64, dtype=ag.float64).numpy(), points)
    np.testing.assert_array_equal(SobolEngine(3, scramble=True, seed=7).draw(64, dtype=ag.float64).numpy(), points)
    assert (SobolEngine(3, scramble=True, seed=8).draw(64, dtype=ag.float64).numpy() != points).any()


def test_scrambling_without_a_seed_follows_manual_seed():
    drawn = []
    for _ in range(2):
        ag.manual_seed(5)
        drawn.append(SobolEngine(2, scramble=True).draw(4).tolist())
    assert drawn[0] == drawn[1] != SobolEngine(2, scramble=True).draw(4).tolist()


def test_dtypes_and_out():
    assert SobolEngine(2).draw(2).dtype is ag.float32
    assert SobolEngine(2).draw(2, dtype=ag.float16).dtype is ag.float16
    out = ag.zeros(1)
    assert SobolEngine(2).draw(2, out=out) is out and out.tolist() == POINTS[:2]
    with pytest.raises(NotImplementedError, match="floating point dtype"):
        SobolEngine(2).draw(2, dtype=ag.int64)


def test_refusals():
    for dimension in (0, SobolEngine.MAXDIM + 1):
        with pytest.raises(ValueError, match=r"Supported range of dimensionality for SobolEngine is \[1, 21201\]"):
            SobolEngine(dimension)
    engine = SobolEngine(1)
    engine.draw(3)
    with pytest.raises(ValueError, match=r"3 points have been previously generated, then: n=3\+2\*\*3=11"):
        engine.draw_base2(3)
    with pytest.raises(RuntimeError, match="not negative"):
        engine.draw(-1)


def test_representation():
    assert repr(SobolEngine(3)) == "SobolEngine(dimension=3)"
    assert repr(SobolEngine(3, scramble=True, seed=4)) == "SobolEngine(dimension=3, scramble=True, seed=4)"


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats.qmc", None)
    with pytest.raises(ImportError, match="SobolEngine needs SciPy"):
        SobolEngine(2)


@pytest.mark.parametrize(("n", "error"), [(-1, RuntimeError), (1.5, TypeError), ("1", TypeError)])
def test_points_are_not_passed_over_backwards(n, error):
    engine = ag.quasirandom.SobolEngine(2)
    engine.draw(3)
    with pytest.raises(error, match="fast_forward"):
        engine.fast_forward(n)
    assert engine.num_generated == 3
