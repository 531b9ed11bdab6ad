"""The debug build under sys.settrace, coverage, cProfile and sys.monitoring: they see the core, and change nothing."""

import cProfile
import os
import pstats
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from common import ROOT, Double, Fail, leaf

import autograd_cy as torch
from autograd_cy._core.runtime import state

pytestmark = [
    pytest.mark.skipif(not state.is_debug_build(), reason="lines are traced in the debug build"),
    pytest.mark.skipif(sys.gettrace() is not None, reason="this run is traced already"),
]

CORE = os.path.join("autograd_cy", "_core")


def step():
    """A step with hooks, a Function, errors, in-place writes, second derivatives and a transform: its gradient's numbers."""
    x, b = leaf([[0.5, 1.0], [2.0, -1.0]]), leaf([0.5, 2.0])
    y = ((x * b + b).tanh() - x) / 0.95
    y = Double.apply(y) @ x
    y.register_hook(lambda g: g * 2)
    loss = y.softmax(0).pow(2).sum()
    loss.backward(retain_graph=True)
    (gradient,) = torch.autograd.grad(loss, x, create_graph=True)
    gradient.sum().backward()
    with pytest.raises(RuntimeError):
        x @ torch.ones(3)
    with pytest.raises(ArithmeticError):
        Fail.apply(x).sum().backward()
    with torch.no_grad():
        x.add_(1)
    torch.func.vmap(torch.func.grad(lambda a: (a * a).sum()))(torch.ones(3, 4))
    return x.grad.tolist()


@pytest.fixture
def traced():
    """traced(function) -> what step returns under that trace function."""
    before = sys.gettrace()

    def run(function):
        sys.settrace(function)
        try:
            return step()
        finally:
            sys.settrace(before)

    yield run
    sys.settrace(before)


def is_of_core(frame_or_code):
    code = getattr(frame_or_code, "f_code", frame_or_code)
    return CORE in code.co_filename and code.co_filename.endswith(".pyx")


# sys.settrace


def test_a_trace_function_that_wants_no_lines_is_not_called_for_them(traced):
    """Cython gave each frame None for a trace function, and called that: TypeError: 'NoneType' object is not callable."""
    events = []

    def trace(frame, event, argument):
        if is_of_core(frame):
            events.append(event)

    expected = step()
    assert traced(trace) == expected
    assert set(events) == {"call"}


def test_the_lines_of_the_core_are_traced(traced):
    seen = {}

    def trace(frame, event, argument):
        if is_of_core(frame):
            function = os.path.basename(frame.f_code.co_filename), frame.f_code.co_name
            seen.setdefault(function, []).append((event, frame.f_lineno))
        return trace

    expected = step()
    assert traced(trace) == expected
    assert {file for file, _ in seen} >= {"tensor.pyx", "node.pyx", "engine.pyx", "hooks.pyx", "function_node.pyx"}
    events = seen["tensor_life.pyx", "new_tensor"]
    text = (ROOT / CORE / "graph" / "tensor" / "tensor_life.pyx").read_text(encoding="utf-8").splitlines()
    calls = [line for event, line in events if event == "call"]
    assert "new_tensor(" in text[calls[0] - 1]
    assert [event for event, _ in events].count("return") == len(calls)
    assert all(line > calls[0] for event, line in events if event == "line")


def test_each_frame_has_the_trace_function_that_the_call_has_given_it(traced):
    """One that names a local trace function for some functions alone, as debuggers do."""
    wanted, local = [], []

    def trace_lines(frame, event, argument):
        local.append((frame.f_code.co_name, event))
        return trace_lines

    def trace(frame, event, argument):
        if is_of_core(frame) and frame.f_code.co_name == "new_tensor":
            wanted.append(event)
            return trace_lines
        return None

    traced(trace)
    assert set(wanted) == {"call"}
    assert {name for name, _ in local} == {"new_tensor"} and {event for _, event in local} == {"line", "return"}


def test_an_error_of_a_trace_function_comes_to_the_caller(traced):
    def trace(frame, event, argument):
        if is_of_core(frame):
            raise ZeroDivisionError("in the trace function")

    with pytest.raises(ZeroDivisionError, match="in the trace function"):
        traced(trace)
    assert step()       # and nothing is left of it


def test_threads_are_traced():
    """One after the other: a trace function lets other threads run in the middle of what the GIL makes one step elsewhere."""
    files, results = set(), []

    def trace(frame, event, argument):
        files.add(os.path.basename(frame.f_code.co_filename))
        return trace

    threading.settrace(trace)
    try:
        threads = [threading.Thread(target=lambda: results.append(step())) for _ in range(2)]
        for thread in threads:
            thread.start()
            thread.join()
    finally:
        threading.settrace(None)
    assert results == [step()] * 2
    assert "engine.pyx" in files


# what is made of it


def generated():
    """The folder of this build's generated C, which tells coverage what can be covered; the test is skipped without it."""
    found = ROOT / "build" / "debug" / f"numpy-{np.__version__}"
    return found if found.is_dir() else pytest.skip(f"the debug build was not made in {found}")


def test_coverage_counts_lines_of_the_core(tmp_path):
    pytest.importorskip("coverage", reason="coverage is not installed (tools/test_sdist installs it)")
    pytest.importorskip("Cython", reason="Cython, with coverage's plugin, is not installed (tools/test_sdist installs it)")
    script, settings = tmp_path / "covered.py", tmp_path / "settings"
    script.write_text("import autograd_cy as torch\nx = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\n")
    settings.write_text(f"[run]\nplugins = coverage_plugin\ndata_file = {tmp_path / 'data'}\ncore = ctrace\n")
    coverage = [sys.executable, "-m", "coverage"]
    # Files go by their names from where the build began, which coverage looks up below the current folder.
    where = {"cwd": generated(), "capture_output": True, "text": True}
    path = os.pathsep.join([str(Path(torch.__file__).parents[1]), str(ROOT / "tools")])
    where["env"] = os.environ | {"PYTHONSAFEPATH": "1", "PYTHONPATH": path}
    run = subprocess.run([*coverage, "run", f"--rcfile={settings}", "--include=*/engine/*.pyx", str(script)], **where)
    assert run.returncode == 0, run.stdout + run.stderr
    report = subprocess.run([*coverage, "report", f"--rcfile={settings}"], **where)
    assert report.returncode == 0, report.stdout + report.stderr
    name = os.path.join(CORE, "engine", "engine", "engine.pyx")
    (line,) = [line for line in report.stdout.splitlines() if line.startswith(name)]
    statements, missed, share = line.split()[1:]
    assert int(statements) > 100 and 0 < int(missed) < int(statements) and 10 < int(share.rstrip("%")) < 100


def test_cprofile_runs_through_the_core():
    """Before 3.12 it sees the core's functions; from then on what Python itself reports, with their time in the caller's."""
    profile = cProfile.Profile()
    assert profile.runcall(step) == step()
    functions = {(os.path.basename(file), name) for file, _, name in pstats.Stats(profile).stats}
    assert ("gradients.py", "backward") in functions
    if sys.version_info < (3, 12):
        assert {name for file, name in functions if file in {"engine.pyx", "walk.pyx"}} >= {"run_task", "run_node"}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring came with Python 3.12")
def test_monitoring_sees_calls_of_the_core():
    """Lines of the core are for sys.settrace: to sys.monitoring they would come without a frame."""
    monitoring, called, lines = sys.monitoring, set(), set()

    def name_of(function):
        return getattr(function, "__name__", "")

    tool, events = monitoring.PROFILER_ID, monitoring.events
    monitoring.use_tool_id(tool, "test_line_tracing")
    try:
        monitoring.register_callback(tool, events.CALL, lambda code, offset, function, argument: called.add(name_of(function)))
        monitoring.register_callback(tool, events.LINE, lambda code, line: lines.add(os.path.basename(code.co_filename)))
        monitoring.set_events(tool, events.CALL | events.LINE)
        result = step()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    assert result == step()
    assert called >= {"backward", "run_task", "vmap"}
    assert {"gradients.py", os.path.basename(__file__)} <= lines
