"""Everything public called with garbage: an ordinary exception, nothing changed, no crash.

The calls are drawn at random; AUTOGRAD_CY_CALLS says how many (2000). `make fuzz` makes many more.
"""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("resource", reason="a process with limits of its own: POSIX")

from common import ROOT
from garbage.__main__ import describe, run, stack_of
from garbage.calls import changed, complaint, make_call, state_of
from garbage.surface import KINDS, functions, methods
from garbage.values import Evil, Maker

import autograd_cy as ag

CALLS = int(os.environ.get("AUTOGRAD_CY_CALLS", "2000"))


def test_calls_with_garbage():
    assert run(seed="suite", first=0, calls=CALLS) == []


# the test of the test


def test_the_surface_is_found():
    assert {"autograd_cy.zeros", "autograd_cy.autograd.grad", "autograd_cy.utils.checkpoint.checkpoint"} <= set(functions())
    assert {"add", "__getitem__", "backward", "__matmul__"} <= set(methods())
    for kind in set(KINDS):
        name, function, args, kwargs = kind(Maker("surface"))
        assert name and callable(function) and isinstance(args, list) and isinstance(kwargs, dict)


def test_a_call_is_made_again_by_its_number():
    first, second = (Maker("seed.5") for _ in range(2))
    for _ in range(20):
        assert type(first.value()) is type(second.value())


@pytest.mark.parametrize("error, wrong", [
    (ValueError("bad"), None), (ValueError(), "ValueError without a word"), (SystemError("x"), "SystemError: x"),
    (NameError("y"), "NameError: y"), (SystemExit(1), "SystemExit: 1"), (Evil(), None),
    (MemoryError(), "MemoryError without a word"),
])  # fmt: skip
def test_what_is_wrong_about_an_exception(error, wrong):
    assert complaint(error) == wrong


def test_a_changed_argument_is_noticed():
    x, array = ag.ones(2), np.ones(2)
    before = [state_of(x), state_of(array)]
    x.add_(1)
    array[0] = 2
    assert changed(x, before[0], "f") == "changed bytes, version of an argument"
    assert changed(array, before[1], "f") == "changed bytes of an argument"
    y = ag.ones(2)
    before = state_of(y)
    y.requires_grad_()
    assert changed(y, before, "f") == "changed requires_grad of an argument" and changed(y, state_of(y), "f") is None


def test_a_call_that_changes_what_it_refuses_is_reported(monkeypatch):
    def refuse(x):
        x.add_(1)
        raise ValueError("no")

    monkeypatch.setattr("garbage.calls.a_call", lambda seed, number: ("f", refuse, [ag.ones(2)], {}, Maker(0)))
    assert make_call(0, 7).startswith("7 f(Tensor([2], torch.float32)): changed bytes, version of an argument\n")


def test_a_crash_is_reported_with_the_call(tmp_path):
    """The child notes what it calls, before it does."""
    script = """
import os, signal, sys
sys.path.insert(0, os.getcwd())
import garbage.calls
from garbage.__main__ import main
from garbage.values import Maker
sys.argv[1:] = ["--calls", "1", "--last-call", sys.argv[1]]
garbage.calls.a_call = lambda *args: ("f", os.kill, [os.getpid(), signal.SIGABRT], {}, Maker(0))
main()
"""
    note = tmp_path / "last"
    folder = ROOT / "tests" / "support"
    command = [sys.executable, "-c", script, str(note)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == -signal.SIGABRT and note.read_text().startswith("0 f(")
    assert describe(done.returncode) == "SIGABRT" and "Aborted" in stack_of(done.stderr)
