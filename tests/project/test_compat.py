"""`make compat` with a made-up library: its tests run on a fake torch, a file beside them, and here."""

import sys

import pytest

from tools.compat.__main__ import main
from tools.compat.libraries import DECLARED, LIBRARIES, Difference, Library
from tools.compat.report import UNKNOWN, Comparison, failures, reason_for, table
from tools.compat.runs import Outcome, Run

TESTS = '''
import os, signal, torch

def test_shared(): pass

def test_kills_the_process_elsewhere():
    if not hasattr(torch, "only_there"):
        os.kill(os.getpid(), signal.SIGKILL)

def test_there(): assert torch.only_there

def test_nowhere(): assert False
'''


@pytest.fixture
def madeup(tmp_path, monkeypatch):
    folder = tmp_path / "madeup"
    folder.mkdir()
    (folder / "torch.py").write_text("only_there = True")
    (folder / "madeup.py").write_text("import torch")
    (folder / "test_it.py").write_text(TESTS)
    known = Difference("it is only there", test="test_there", error="only_there")
    library = Library("madeup", "madeup", ("test_it.py",), differences=(known,))
    monkeypatch.setitem(LIBRARIES, "madeup", library)
    return tmp_path


def arguments(folder, *more):
    python = sys.executable
    return [f"--checkouts={folder}", f"--torch-python={python}", f"--here-python={python}", f"--records={folder}", *more]


@pytest.mark.skipif(sys.platform == "win32", reason="kills itself by a signal")
def test_a_madeup_library(madeup, capsys):
    assert main(arguments(madeup)) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = lines[2].split(" | ")
    assert cells[0].endswith("madeup") and cells[1:6] == ["yes", "3", "1", "33.3", "1"]
    assert "* it is only there: 1" in lines and f"* {UNKNOWN}: 1" in lines
    assert "    1 x the process died" in lines and "        test_it.py::test_kills_the_process_elsewhere" in lines
    main(arguments(madeup, "--keep"))
    assert capsys.readouterr().out.splitlines() == lines  # from the records


def test_what_is_asked_for_must_be_there(madeup):
    with pytest.raises(SystemExit, match="no such library: other; there are einops"):
        main(arguments(madeup, "other"))
    with pytest.raises(SystemExit, match="no checkout of pyro in"):
        main(arguments(madeup, "pyro"))
    with pytest.raises(SystemExit, match="has no checkout of a library"):
        main(arguments(madeup / "madeup"))


def test_the_table_of_two_runs():
    library = Library("name", "name", (), every=3, ignored={"slow.py": "takes hours"})
    there = Run({"a.py::x": Outcome("passed", 2.0), "b.py::y": Outcome("passed", 1.0)}, {}, "")
    here = Run({"a.py::x": Outcome("passed", 1.0)}, {"b.py": "ImportError: no name"}, "ImportError: no module")
    comparisons = [Comparison(library, there, here)]
    assert table(comparisons).splitlines()[-1] == "| name (1 test in 3) | no | 2 | 1 | 50.0 | 0 | 0.50 |"
    assert failures(comparisons).splitlines() == [
        "", "## name", "* not run: slow.py: takes hours", "* import: ImportError: no module", f"* {UNKNOWN}: 1",
        "    1 x ImportError: no name", "        b.py::y",
    ]  # fmt: skip


def test_each_library_is_declared_once_and_each_difference_says_why():
    assert len(DECLARED) == len({library.name for library in DECLARED})
    for library in DECLARED:
        assert library.tests and all(library.ignored.values())
        for known in library.differences:
            assert known.reason and (known.test or known.error), library.name


@pytest.mark.parametrize(
    ("error", "excused"),
    [
        ("MissingAttribute: module 'torch' has no attribute 'float8_e5m2x': PyTorch has it, this package does not", True),
        ("NotImplementedError: torch.float8_e5m2: PyTorch has tensors of this dtype, this package does not (yet)", True),
        ("ModuleNotFoundError: No module named 'torch.distributed.TCPStore': autograd_cy stands in for torch here", True),
        ("AttributeError: 'Tensor' object has no attribute 'storages': PyTorch has it", False),
        ("AssertionError: sparsemax: _values of to_dense() differ from torch.bfloat16 and storage", False),
    ],
)
def test_what_is_missing_is_known_by_the_packages_own_words(error, excused):
    """A failed assertion is not a missing name, whatever its text mentions."""
    assert (reason_for(LIBRARIES["einops"], "test.py::test", error) != UNKNOWN) == excused
