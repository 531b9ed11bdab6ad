"""Every example runs, and its own checks hold."""

import subprocess
import sys

import pytest
from common import ROOT

EXAMPLES = ROOT / "examples"


def run(*arguments, folder):
    """What an example prints. It runs in another folder, so that the package is the one under test."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_examples_are_tested():
    tested = {"custom_function.py", "hessian_vector.py", "train_digits.py", "walk_graph.py"}
    assert {path.name for path in EXAMPLES.glob("*.py")} == tested


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("custom_function.py", "Halley's comet          1.4613  1.1182  1.1115"),
        ("hessian_vector.py", "step 0: f = "),
        ("walk_graph.py", "    AccumulateGrad of d"),
    ],
)
def test_small_examples(name, line, tmp_path):
    assert line in run("-W", "error", EXAMPLES / name, folder=tmp_path)
    assert len((EXAMPLES / name).read_text().splitlines()) < 80


def test_train_digits(tmp_path):
    for extra in ("sklearn", "matplotlib", "tqdm"):
        pytest.importorskip(extra)
    picture = tmp_path / "digits.png"
    output = run(EXAMPLES / "train_digits.py", "--picture", picture, "--seed", 1, folder=tmp_path)
    assert "test accuracy 9" in output
    assert picture.read_bytes().startswith(b"\x89PNG")
