"""What is installed: one version, the files that a package must carry, no dependency but NumPy."""

import importlib.metadata
import importlib.resources
import os
import re
import subprocess
import sys

import autograd_cy
from autograd_cy._core.runtime import state

# Names that compiled Cython modules put into sys.modules.
CYTHON = re.compile(r"cython_runtime|_cyutility|_cython_\d+")

NEW_MODULES = """
import sys
import numpy
before = set(sys.modules)
import autograd_cy
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def run_python(*arguments: str) -> str:
    """The output of a new interpreter in which every warning is an error."""
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_build_is_the_one_asked_for():
    assert state.is_debug_build() == (os.environ.get("AUTOGRAD_CY_DEBUG", "0") not in ("", "0"))


def test_the_version_is_that_of_the_distribution():
    assert autograd_cy.__version__ == importlib.metadata.version("autograd_cy")


def test_import_brings_in_numpy_and_the_standard_library_only():
    new = set(run_python("-c", NEW_MODULES).split())
    assert "autograd_cy" in new
    foreign = new - set(sys.stdlib_module_names) - {"autograd_cy", "numpy"}
    assert sorted(name for name in foreign if not CYTHON.match(name)) == []


def test_the_only_requirement_is_numpy():
    required = importlib.metadata.requires("autograd_cy") or []
    assert [line for line in required if "extra ==" not in line] == ["numpy>=2"]


def test_types_and_declarations_are_installed():
    files = importlib.resources.files(autograd_cy)
    for name in ("py.typed", "_names.pyi", "_core/graph/tensor.pyi", "_core/graph/tensor.pxd", "_torch_names.txt"):
        assert files.joinpath(name).is_file(), name
