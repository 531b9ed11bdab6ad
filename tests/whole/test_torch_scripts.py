"""Scripts written for PyTorch run unchanged: `python -m autograd_cy script.py`, and install_as_torch()."""

import importlib.util
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from common import ROOT
from op_calls import OURS

pytestmark = [
    pytest.mark.skipif(not OURS, reason="about this package"),
    # Scripts find their neighbours by sys.path[0], which that switch takes away from them and from their copies here.
    pytest.mark.skipif(sys.flags.safe_path, reason="PYTHONSAFEPATH is set"),
]

SCRIPTS = Path(__file__).parent / "scripts"
# What PyTorch 2.13 prints for each of them.
EXPECTED = json.loads((SCRIPTS / "expected.json").read_text(encoding="utf-8"))
AS_TORCH = ("-m", "autograd_cy")


def run(*arguments, code=0, **options):
    """What a fresh interpreter writes: (stdout, stderr), after it ended with this exit code."""
    done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False, **options)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def assert_near(found, expected):
    """Equal structures; numbers equal to the precision of their float32 or float64 computation."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for pair in zip(found, expected, strict=True):
            assert_near(*pair)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)
    else:
        assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize("script", EXPECTED)
def test_scripts_give_what_they_gave_with_torch(script):
    assert_near(json.loads(run(*AS_TORCH, SCRIPTS / f"{script}.py")[0]), EXPECTED[script])


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
@pytest.mark.parametrize("script", EXPECTED)
def test_what_is_expected_of_scripts_is_what_torch_gives(script):
    assert_near(json.loads(run(SCRIPTS / f"{script}.py")[0]), EXPECTED[script])


def test_every_script_is_run():
    assert {path.stem for path in SCRIPTS.glob("*.py")} == set(EXPECTED)


# The same process, whether a script is run by Python or by this package


@pytest.fixture
def write(tmp_path):
    def write(text, name="script.py"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


SURROUNDINGS = """
    import os, pickle, sys
    class Local: pass
    found = [__name__, __file__, type(__spec__), __package__, __doc__, sys.argv, sys.path[0]]
    found += [sys.modules["__main__"].Local is Local,
              type(pickle.loads(pickle.dumps(Local()))) is Local,
              [name for name in ("main", "run", "runpy") if name in globals()]]
    print(found)
"""


@pytest.mark.parametrize("place", ["", "folder", "linked", "relative"])
def test_a_script_sees_what_it_sees_under_python(place, write, tmp_path):
    path = write(SURROUNDINGS)
    if place == "folder":
        path = path.rename(tmp_path / "__main__.py").parent
    elif place == "linked":
        (tmp_path / "elsewhere").mkdir()
        path = tmp_path / "elsewhere" / "link.py"
        path.symlink_to(tmp_path / "script.py")
    elif place == "relative":
        path = Path(path.name)
    arguments = (path, "one", "--two", "-c")
    options = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
    expected = run(*arguments, **options)[0]
    found = run(*AS_TORCH, *arguments, **options)[0]
    assert found == expected and "__main__" in found


def test_neighbours_of_a_script_are_imported(write):
    write("import torch\nvalue = torch.ones(2)\n", "neighbour.py")
    path = write("import neighbour, torch\nprint(neighbour.value.sum().item(), type(neighbour.value) is torch.Tensor)\n")
    assert run(*AS_TORCH, path)[0].split() == ["2.0", "True"]


@pytest.mark.parametrize("ending", [
    "raise ValueError('wrong')", "f()", "sys.exit(3)", "sys.exit('text')", "sys.exit()", "x = (", "raise SystemExit",
    "sys.excepthook = lambda *error: print(error[0].__name__, error[2] is not None, file=sys.stderr); f()",
])
def test_scripts_end_as_under_python(ending, write):
    path = write(f"""
        import atexit, sys
        atexit.register(print, "the end")
        def f():
            raise KeyError("inside") from ValueError("cause")
        {ending}
    """)
    ends = [subprocess.run([sys.executable, *a, path], capture_output=True, text=True, check=False) for a in ((), AS_TORCH)]
    assert ends[0].stderr == ends[1].stderr
    assert (ends[0].returncode, ends[0].stdout) == (ends[1].returncode, ends[1].stdout)


def test_a_missing_script_is_reported_as_by_python(tmp_path):
    found, expected = (run(*a, tmp_path / "missing.py", code=2)[1] for a in (AS_TORCH, ()))
    assert found == expected and "can't open file" in found


def test_code_and_modules_run_too(write, tmp_path):
    code = "import sys, torch; print(sys.argv, repr(sys.path[0]), torch.__name__)"
    assert run(*AS_TORCH, "-c", code, "one")[0] == "['-c', 'one'] '' torch\n"
    path = write("import sys, torch\nprint(sys.argv, __name__, torch.__name__)\n", "program.py")
    options = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(ROOT)}}
    assert run(*AS_TORCH, "-m", "program", "one", **options)[0] == f"['{path}', 'one'] __main__ torch\n"


def test_without_a_script_the_usage_is_shown():
    assert "python -m autograd_cy script.py" in run(*AS_TORCH, code=2)[1]
    assert "python -m autograd_cy script.py" in run(*AS_TORCH, "--help")[0]
    assert run(*AS_TORCH, "-c", code=2)[0] == ""


# Imports


IMPORTS = """
    import autograd_cy
    import torch
    import torch.autograd
    import torch.autograd.forward_ad as fwAD
    import torch.nn.functional as F
    from torch import Tensor, nn, no_grad
    from torch.autograd import Function
    from torch.autograd.function import once_differentiable
    from torch.nn import functional
    import importlib, sys
    assert torch.Tensor is autograd_cy.Tensor
    assert torch.autograd is autograd_cy.autograd is importlib.import_module("torch.autograd")
    assert fwAD is autograd_cy.autograd.forward_ad and F is functional is nn.functional is autograd_cy.nn.functional
    assert Function is autograd_cy.autograd.Function and Tensor is type(torch.ones(1))
    assert torch.autograd.__spec__.name == "autograd_cy.autograd" and F.__name__ == "torch.nn.functional"
    assert sum(name.endswith("autograd.function") for name in sys.modules) == 2
    import pickle, copy
    assert pickle.loads(pickle.dumps(torch.ones(2))).tolist() == [1.0, 1.0]
    import importlib.util
    assert importlib.util.find_spec("torch.nn") is not None
"""


def test_all_ways_to_import_torch_find_this_package(write):
    run(*AS_TORCH, write(IMPORTS))


MISSING = [
    ("import torch.ao", "No module named 'torch.ao': autograd_cy stands in for torch here"),
    ("from torch import ao", "'torch.ao'"),
    ("from torch import quantization", "PyTorch has it, this package does not"),
    ("from torch.nn import quantized", "'torch.nn.quantized'.*PyTorch has it, this package does not"),
    ("from torch.nn.functional import relus", "cannot import name 'relus' from 'torch.nn.functional'"),
    ("import torch.nn.functional.deeper", "'torch.nn.functional.deeper'"),
    ("from torch.nn import functionals", "'torch.nn.functionals'.*it has no such name. Nearest: functional"),
    ("from torch.cuda.tunable import enable", "'torch.cuda.tunable'.*PyTorch has it, this package does not"),
    ("import torch.utils.cpp_extension as extension", "'torch.utils.cpp_extension'"),
    ("from torch.distributed.nn import x", "'torch.distributed"),
]


@pytest.mark.parametrize("statement, message", MISSING)
def test_a_missing_import_says_what_is_missing(statement, message):
    code = f"""
import re
try:
    {statement}
except ImportError as error:
    assert re.search({message!r}, str(error)), error
else:
    raise AssertionError("imported")
import torch.autograd
assert not hasattr(torch, "quantization")
"""
    run(*AS_TORCH, "-c", code)


def test_an_error_inside_an_imported_module_is_its_own(write):
    write("import nothing_of_that_name\n", "neighbour.py")
    path = write("""
        try:
            import neighbour
        except ModuleNotFoundError as error:
            assert error.name == "nothing_of_that_name" and str(error) == "No module named 'nothing_of_that_name'"
    """)
    run(*AS_TORCH, path)


# install_as_torch()


def test_the_name_is_taken_and_given_back():
    run("-c", textwrap.dedent("""
        import sys
        import autograd_cy
        before = list(sys.meta_path)
        with autograd_cy.install_as_torch() as outer:
            inner = autograd_cy.install_as_torch()
            import torch.nn.functional
            assert torch.Tensor is autograd_cy.Tensor
            inner.remove()
            inner.remove()
            import torch.autograd.graph
            assert sys.modules["torch"].Tensor is autograd_cy.Tensor
        assert sys.meta_path == before and not [name for name in sys.modules if name.split(".")[0] == "torch"]
        assert autograd_cy.nn.functional.relu(autograd_cy.ones(1)).item() == 1.0
    """))


def test_torch_is_not_replaced_when_it_is_imported_already(write):
    path = write("""
        import sys, types
        sys.modules["torch"] = types.ModuleType("torch")
        sys.modules["torch"].__file__ = "the real one"
        import autograd_cy
        try:
            autograd_cy.install_as_torch()
        except ImportError as error:
            assert "torch is imported already, from the real one: call install_as_torch() before" in str(error)
            assert sys.modules["torch"] is not autograd_cy
        else:
            raise AssertionError("replaced")
    """)
    run(path)


WORKERS = """
import multiprocessing
import torch
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        return torch.tensor(i * i), torch.__version__

if __name__ == "__main__":
    for method in multiprocessing.get_all_start_methods():
        batches = list(DataLoader(Squares(), 3, num_workers=1, multiprocessing_context=method))
        assert [squares.tolist() for squares, _ in batches] == [[0, 1, 4], [9, 16, 25]], method
        assert batches[0][1][0] == torch.__version__, method
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(torch.add, (torch.ones(2), 1)))
"""


@pytest.mark.parametrize("later", [False, True])
def test_children_of_every_start_method_import_this_package(write, later):
    """Also where a warning is an error: workers have nothing to warn about."""
    if later:  # multiprocessing is loaded already when torch gets its alias
        path = write("import multiprocessing.spawn, multiprocessing.forkserver, autograd_cy\n"
                     "autograd_cy.install_as_torch()\n" + WORKERS)
        stdout, _ = run("-W", "error", path)
    else:
        stdout, _ = run("-W", "error", *AS_TORCH, write(WORKERS))
    assert stdout == "tensor([2., 2.])\n"
