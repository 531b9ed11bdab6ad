"""python -m autograd_cy.profile: scripts run as under python, and what is printed of them."""

import os
import subprocess
import sys

import pytest
from common import ROOT

# on a machine that has other things to do, the threads of BLAS wait for each other as long as those things take
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

TRAINING = """
import sys
import torch

assert __name__ == "__main__" and sys.argv[1:] == ["20"]
x = torch.randn(300, 300)
counts = torch.ones(300, 300).to(torch.int64)
w = torch.randn(300, 3, requires_grad=True)
for _ in range(int(sys.argv[1])):
    loss = ((x * counts) @ w).tanh().sum()
    loss.backward()
print("trained")
"""


@pytest.fixture
def run(tmp_path):
    """run(*arguments, script=...): the finished process, in a folder of its own."""

    def run(*arguments, script=TRAINING):
        (tmp_path / "script.py").write_text(script)
        return subprocess.run(
            [sys.executable, "-m", "autograd_cy.profile", *arguments],
            capture_output=True, text=True, cwd=tmp_path,
            env={name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"} | ONE_THREAD,
        )  # fmt: skip

    return run


def test_a_script_for_torch(run, tmp_path):
    done = run("script.py", "20")
    assert done.returncode == 0, done.stderr
    out = done.stdout
    assert out.startswith("trained\nName ")
    assert "aten::matmul" in out and "MmBackward0" in out and "autograd::engine::backward" in out
    assert "script.py:10" in out and "loss = ((x * counts) @ w)" in out
    assert all(len(line) <= 100 for line in out.splitlines())
    page = (tmp_path / "profile.html").read_text()
    assert page.startswith("<!doctype html>") or page.lower().startswith("<!doctype html>")
    assert "TanhBackward0" in page


def test_the_hint_names_the_line(run):
    script = TRAINING.replace("(300, 300)", "(1000, 1000)").replace("torch.randn(300, 3,", "torch.randn(1000, 3,")
    hints = run("script.py", "20", script=script).stdout.partition("Hints")[2]
    assert "script.py:10: loss = ((x * counts) @ w).tanh().sum()" in hints
    assert "`mul` converts 7.63 MB of int64 to float32 on each call" in hints


@pytest.mark.parametrize(("arguments", "hint"), [((), "slow_training.py:40: kept = x * mask"), (("--mended",), None)])
def test_the_session_of_the_documentation(run, arguments, hint):
    """docs/profiling.md: the slow line is found, and with it gone nothing is."""
    script = str(ROOT / "examples" / "slow_training.py")
    hints = run(script, "--steps", "30", *arguments).stdout.partition("Hints")[2].partition("Peak")[0]
    if hint is None:
        assert hints.split()[-1] == "none"
    else:
        assert hint in hints and "`mul` converts 4.00 MB of int64 to float32 on each call" in hints


def test_some_steps(run):
    out = run("--steps", "5", "--rows", "3", "--sort", "calls", "--out", "five.html", "script.py", "20").stdout
    rows = {line.split()[0]: line for line in out.splitlines() if line}
    assert rows["aten::mul"].split()[4] == "5"
    assert len(out.partition("Line ")[0].strip().splitlines()) == 1 + 2 + 3  # what the script prints, the head, three rows
    assert "five.html" in out


def test_modules_and_code(run, tmp_path):
    code = "import torch, sys; print(sys.argv); torch.ones(2) + 1"
    assert run("-c", code, "a", "--b").stdout.startswith("['-c', 'a', '--b']\nName ")
    (tmp_path / "module.py").write_text("import torch; print(torch.ones(2) + 1)")
    assert "aten::add" in run("-m", "module").stdout


@pytest.mark.parametrize(
    "end, code, told",
    [("raise SystemExit(3)", 3, ""), ("1 / 0", 1, "ZeroDivisionError"), ("import sys; sys.exit('over')", 1, "over")],
)
def test_scripts_that_end_otherwise(run, end, code, told):
    done = run("script.py", script=f"import torch\ny = torch.ones(2) * 3\n{end}\n")
    assert done.returncode == code
    assert "aten::mul" in done.stdout
    assert told in done.stderr and "autograd_cy/profile" not in done.stderr


def test_misuse(run):
    for arguments, told in ((["--steps", "0", "script.py"], "--steps must be at least 1"), ([], "which script?")):
        done = run(*arguments)
        assert done.returncode == 2 and told in done.stderr
    done = run("--steps", "2", "script.py", script="import torch\n")
    assert done.returncode == 0 and "no step was recorded" in done.stderr
    assert "usage: python -m autograd_cy.profile" in run("--help").stdout
    assert run("missing.py").returncode == 2
