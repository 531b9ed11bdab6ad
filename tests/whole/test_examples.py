"""Every example runs, and its own checks hold."""

import os
import signal
import subprocess
import sys

import pytest
from common import ROOT

import autograd_cy as ag

EXAMPLES = ROOT / "examples"
# Tests run on all cores already: threads that wait for each other beside them would take minutes.
ALONE = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def run(*arguments, folder):
    """What an example prints. It runs in another folder, so that the package is the one under test."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=ALONE, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


SMALL = {
    "check_scipy_gradient.py": "x0 = np.array([0.0, 0.0, -1.0], dtype='float64')",
    "custom_function.py": "Halley's comet          1.4613  1.1182  1.1115",
    "hessian_vector.py": "step 0: f = ",
    "slow_training.py": "loss 1.193 -> 1.0",
    "walk_graph.py": "    AccumulateGrad of d",
}
WITH_PICTURE = {
    "digits_cnn.py": "test accuracy 9",
    "fit_oscillator.py": "by a Jacobian of (3998, 2003) with 13988 entries",
    "pendulum_network.py": "largest error of the angle ",
    "sample_norms.py": "have a wrong label; by chance it would be 2",
    "train_digits.py": "test accuracy 9",
}
RESUMED = "train_text.py"


def test_all_examples_are_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == SMALL.keys() | WITH_PICTURE.keys() | {RESUMED}


def need_extras():
    for extra in ("sklearn", "matplotlib", "tqdm", "scipy"):
        pytest.importorskip(extra)


@pytest.mark.parametrize("name", SMALL)
def test_small_examples(name, tmp_path):
    assert SMALL[name] in run("-W", "error", EXAMPLES / name, folder=tmp_path)
    assert len((EXAMPLES / name).read_text().splitlines()) < 80


@pytest.mark.parametrize("name", WITH_PICTURE)
def test_examples_with_a_picture(name, tmp_path):
    need_extras()
    picture = tmp_path / "picture.png"
    output = run(EXAMPLES / name, "--picture", picture, "--seed", 1, folder=tmp_path)
    assert WITH_PICTURE[name] in output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len((EXAMPLES / name).read_text().splitlines()) < 140


def test_a_training_that_is_killed_loses_at_most_the_last_step(tmp_path):
    need_extras()
    arguments = (EXAMPLES / RESUMED, "--steps", 12, "--letters", 30, "--checkpoint")
    whole = run(*arguments, "whole.pt", folder=tmp_path)
    assert "after 12 steps" in whole and (tmp_path / "text.png").read_bytes().startswith(b"\x89PNG")

    command = [sys.executable, *map(str, arguments), "killed.pt"]
    streams = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(command, cwd=tmp_path, env=ALONE | {"TQDM_MININTERVAL": "0"}, **streams) as process:
        shown = b""
        while b" 5/12 " not in shown and (piece := process.stderr.read1()):
            shown += piece
        process.kill()
    assert process.returncode == -signal.SIGKILL
    reached = len(ag.load(tmp_path / "killed.pt")["losses"])
    assert 5 <= reached < 12

    # Samples on the way are printed above the line of progress, by both; what follows is the finished model's.
    resumed = run(*arguments, "killed.pt", folder=tmp_path)
    assert resumed.split("--- step 12: ")[1] == whole.split("--- step 12: ")[1]
    assert len(ag.load(tmp_path / "killed.pt")["losses"]) == 12
