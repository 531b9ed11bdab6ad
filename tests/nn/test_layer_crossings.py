"""The layers' and losses' gradients on both sides of every threshold, in all layouts, with all consumers, see crossings.py."""

import pytest
from crossings import Checker, Trials, combinations, rng_of
from layer_rows import ROWS
from subjects import layer_subjects

SUBJECTS = layer_subjects()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SUBJECTS)
def test_gradients_of_layers_are_the_same_by_any_way(name, record_property):
    """Those of the inputs and of the parameters, in training and in evaluation."""
    trials = Trials()
    for subject in SUBJECTS[name]:
        rng, checker = rng_of(subject.name), Checker(subject)
        for combination in combinations(rng):
            trials.make(checker.check, combination, checker.drawn_thresholds(rng), subject.name)
    trials.finish(record_property)


def test_every_layer_is_run():
    assert {subject.row.name for subjects in SUBJECTS.values() for subject in subjects} == {row.name for row in ROWS}
