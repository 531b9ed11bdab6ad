"""Transforms of every operation and layer on both sides of every threshold and in all layouts, see transform_crossings.py."""

import pytest
from crossings import Trials, layouts_for, rng_of, wanted
from subjects import layer_subjects, op_subjects
from transform_crossings import DEFINITIONS, LEVELS, TRANSFORMS, Checker, Way

SUBJECTS = op_subjects() | {f"layer {name}": subjects for name, subjects in layer_subjects().items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SUBJECTS)
def test_transforms_are_the_same_by_any_way(name, record_property):
    """Whatever the sizes, layouts and types: what their definitions give, on small arrays in C order."""
    trials = Trials()
    for subject in SUBJECTS[name]:
        rng, checker = rng_of(f"transforms of {subject.name}"), Checker(subject)
        levels = {"transform": checker.transforms()} | LEVELS | {"points": layouts_for(name)}
        for chosen in wanted(rng, levels, ("transform", "points"), 1):
            trials.make(checker.check, Way(**chosen), checker.drawn_thresholds(rng), subject.name)
    trials.finish(record_property)


def test_every_transform_has_a_definition():
    assert list(TRANSFORMS) == list(DEFINITIONS)
