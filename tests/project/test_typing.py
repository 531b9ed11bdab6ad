"""A user's type checker: mypy and pyright check the scripts in typed/, which also run."""

import importlib
import os
import pkgutil
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from common import ROOT

import autograd_cy

SCRIPTS = sorted(Path(__file__).with_name("typed").glob("*.py"))
CHECKERS = {
    "mypy": ["--strict", "--config-file=", "--follow-imports=silent", "--cache-dir={cache}"],
    "basedpyright": ["--level", "error", "--project", str(ROOT / "pyproject.toml")],
}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_script_runs(script):
    runpy.run_path(str(script))["main"]()


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache that mypy shares between tests."""
    return tmp_path_factory.mktemp("mypy")


def check(name, cache, *scripts):
    """Run a checker from beside the interpreter or from the path; the test is skipped without one."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name) or pytest.skip(f"{name} is not installed (extra dev)")
    command = [found, *(option.format(cache=cache) for option in CHECKERS[name]), *map(str, scripts)]
    where = str(Path(autograd_cy.__file__).parents[1])
    environment = os.environ | {"MYPYPATH": where}
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=scripts[0].parent)


@pytest.mark.parametrize("name", CHECKERS)
def test_a_checker_finds_nothing_wrong(name, cache):
    run = check(name, cache, *SCRIPTS)
    assert run.returncode == 0, run.stdout + run.stderr


WRONG = """
import autograd_cy as torch
from autograd_cy import nn

@torch.no_grad()
def f(x: torch.Tensor) -> int:
    return x.numel()

f(3)  # wrong
text: str = f(torch.ones(1))  # wrong
number: str = torch.ones(1).item()  # wrong
(g,) = torch.autograd.grad(torch.ones(1), torch.ones(1))
g.nonsense  # wrong
layer = nn.Linear(2, 3)
shape: str = layer(torch.ones(2))  # wrong
layer("text")  # wrong
nn.Lineer(2, 3)  # wrong
torch.utils.data.DataLoder  # wrong
torch.special.zetta  # wrong
torch.nonsense  # wrong
"""


def test_a_checker_finds_what_is_wrong(cache, tmp_path):
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    run = check("mypy", cache, script)
    found = {int(line.split(":")[1]) for line in run.stdout.splitlines() if ": error:" in line}
    wrong = {number for number, line in enumerate(WRONG.splitlines(), 1) if line.endswith("# wrong")}
    assert found == wrong, run.stdout + run.stderr


def public_modules():
    """The names of all modules whose names have no underscore in front."""
    yield "autograd_cy"
    for found in pkgutil.walk_packages(autograd_cy.__path__, "autograd_cy."):
        if "._" not in found.name:
            yield found.name


def test_a_checker_knows_all_public_names(cache, tmp_path):
    lines = []
    for module in public_modules():
        names = getattr(importlib.import_module(module), "__all__", ())
        lines += [f"from {module} import {name} as name{i}" for i, name in enumerate(names, len(lines))]
    script = tmp_path / "names.py"
    script.write_text("\n".join(lines))
    run = check("mypy", cache, script)
    unknown = {lines[int(line.split(":")[1]) - 1] for line in run.stdout.splitlines() if ": error:" in line}
    assert unknown == set(), run.stdout + run.stderr
