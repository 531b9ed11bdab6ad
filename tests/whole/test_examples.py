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


SMALL = {
    "check_scipy_gradient.py": "x0 = np.array([0.0, 0.0, -1.0], dtype='float64')",
    "custom_function.py": "Halley's comet          1.4613  1.1182  1.1115",
    "hessian_vector.py": "step 0: f = ",
    "slow_training.py": "loss 1.192 -> 1.0",
    "walk_graph.py": "    AccumulateGrad of d",
}
WITH_PICTURE = {
    "fit_oscillator.py": "by a Jacobian of (3998, 2003) with 13988 entries",
    "pendulum_network.py": "largest error of the angle ",
    "sample_norms.py": "have a wrong label; by chance it would be 2",
    "train_digits.py": "test accuracy 9",
}


def test_all_examples_are_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == SMALL.keys() | WITH_PICTURE.keys()


@pytest.mark.parametrize("name", SMALL)
def test_small_examples(name, tmp_path):
    assert SMALL[name] in run("-W", "error", EXAMPLES / name, folder=tmp_path)
    assert len((EXAMPLES / name).read_text().splitlines()) < 80


@pytest.mark.parametrize("name", WITH_PICTURE)
def test_examples_with_a_picture(name, tmp_path):
    for extra in ("sklearn", "matplotlib", "tqdm", "scipy"):
        pytest.importorskip(extra)
    picture = tmp_path / "picture.png"
    output = run(EXAMPLES / name, "--picture", picture, "--seed", 1, folder=tmp_path)
    assert WITH_PICTURE[name] in output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len((EXAMPLES / name).read_text().splitlines()) < 140
