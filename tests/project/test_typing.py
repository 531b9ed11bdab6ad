"""The types that a user's type checker sees: mypy and pyright over a training loop, which runs, too."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typed_loop
from common import ROOT

import autograd_cy

LOOP = Path(typed_loop.__file__)
CHECKERS = {
    "mypy": ["--strict", "--config-file=", "--follow-imports=silent", "--cache-dir={cache}"],
    "basedpyright": ["--level", "error", "--project", str(ROOT / "pyproject.toml")],
}


def test_the_loop_runs():
    best, accuracy = typed_loop.train()
    assert 0 < best < 10 and 0 <= accuracy <= 1


def checker(name):
    """The program of that name beside the interpreter or on the path; the test is skipped without one."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    return found or pytest.skip(f"{name} is not installed (extra dev)")


@pytest.mark.parametrize("name", CHECKERS)
def test_a_checker_finds_nothing_wrong(name, tmp_path):
    command = [checker(name), *(option.format(cache=tmp_path) for option in CHECKERS[name]), str(LOOP)]
    where = str(Path(autograd_cy.__file__).parents[1])
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MYPYPATH": where}, cwd=LOOP.parent)
    assert run.returncode == 0, run.stdout + run.stderr


WRONG = """
import autograd_cy as torch

@torch.no_grad()
def f(x: torch.Tensor) -> int:
    return x.numel()

f(3)
text: str = f(torch.ones(1))
number: str = torch.ones(1).item()
(g,) = torch.autograd.grad(torch.ones(1), torch.ones(1))
g.nonsense
"""


def test_a_checker_sees_through_decorators(tmp_path):
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    where = str(Path(autograd_cy.__file__).parents[1])
    command = [checker("mypy"), *(option.format(cache=tmp_path / "cache") for option in CHECKERS["mypy"]), str(script)]
    run = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MYPYPATH": where}, cwd=tmp_path)
    found = {line.split(":")[1] for line in run.stdout.splitlines() if ": error:" in line}
    assert found == {"8", "9", "10", "12"}, run.stdout + run.stderr
