"""How many places one edits by hand to add an operation, a layer, an optimizer, a distribution; everything else is derived.

A copy of the project gets a toy of each kind, is built, and passes the tests that look for what was forgotten, and the
generic tests of the toys.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from common import ROOT
from toys import KINDS, copy_tree

import autograd_cy as ag

IN_PLACE = os.path.samefile(os.path.dirname(ag.__file__), ROOT / "autograd_cy") and (ROOT / "build" / "release").is_dir()

# These compare all that there is with what is written about it.
COMPLETE = [
    "tests/project/test_completeness.py", "tests/project/test_stubs.py", "tests/nn/test_layers.py::test_each_layer_has_a_row",
    "tests/optim/test_optim_crossings.py::test_every_optimizer_has_a_row",
    "tests/distributions/test_distribution_objects.py::test_each_distribution_has_a_row",
]  # fmt: skip
GENERIC = [
    "tests/ops/test_op_gradients.py", "tests/ops/test_op_values.py", "tests/nn/test_layers.py",
    "tests/optim/test_differentiable_steps.py", "tests/distributions/test_distribution_classes.py",
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_the_places_are_few(kind):
    places, most = KINDS[kind]
    assert len(places) <= most


@pytest.fixture
def with_toys():
    """A copy of the project with a toy of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        copy_tree(ROOT, Path(folder))
        for places, _ in KINDS.values():
            for place in places:
                place.edit(Path(folder))
        yield folder


@pytest.mark.skipif(not IN_PLACE, reason="the copy takes the objects of a build in place")
def test_the_places_are_enough(with_toys):
    def run(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=with_toys, env=os.environ | {"PYTHONPATH": with_toys},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    run("setup.py", "-q", "build_ext", "--inplace")
    test = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")
    run(*test, *COMPLETE)
    assert " passed" in run(*test, *GENERIC, "-k", "toy or Toy")
