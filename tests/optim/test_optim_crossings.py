"""Every optimizer on both sides of every threshold, in all layouts, by all ways to a step, see optim_crossings.py."""

import numpy as np
import pytest
from crossings import Trials, rng_of, wanted
from op_case import HALF
from optim_crossings import LEVELS, Checker, OptimSubject, Run, Way
from optim_rows import EVERY, OPTIONS, REAL

import autograd_cy as ag

TYPES = ("float32", "float64", "complex128", *HALF)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "options"), EVERY)
def test_steps_are_the_same_by_any_way(name, options, record_property):
    """Whatever the sizes, layouts and types, foreach, fused or recorded: what arrays in C order give."""
    trials = Trials()
    for dtype in TYPES:
        if "complex" in dtype and name in REAL:
            continue
        subject = OptimSubject(name, options, dtype)
        rng, checker = rng_of(str(subject)), Checker(subject)
        for levels in wanted(rng, LEVELS, ("params", "gradients", "chosen"), 8):
            trials.make(checker.check, Way(**levels), checker.drawn_thresholds(rng), str(subject))
    trials.finish(record_property)


def test_every_optimizer_has_a_row():
    """But SparseAdam, which refuses what is not sparse."""
    classes = [getattr(ag.optim, name) for name in ag.optim.__all__]
    optimizers = {c.__name__ for c in classes if isinstance(c, type) and issubclass(c, ag.optim.Optimizer)}
    assert set(OPTIONS) == optimizers - {"Optimizer", "SparseAdam"}


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_the_plain_way_moves_the_parameters(name, options):
    """The crossing compares steps, not refusals."""
    subject = OptimSubject(name, options, "float64")
    moved = Run(subject, Way(), True).run()
    assert all(np.abs(x - y).max(initial=0) > 0 for x, y in zip(moved, subject.arrays(0), strict=False) if y.size)
