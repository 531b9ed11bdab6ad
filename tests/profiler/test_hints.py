"""hints() names the one slow line of small scripts, and is silent on what has been mended."""

import importlib

import pytest
from recorded import THREADS, op

import autograd_cy as ag
from autograd_cy._core.inspection.raw_events import Array
from autograd_cy._core.runtime.state import is_debug_build
from autograd_cy.profiler import profile
from autograd_cy.profiler._calls import calls_by_line
from autograd_cy.profiler._hints import Hint, Hints
from autograd_cy.profiler._recording import Recording
from autograd_cy.profiler._replay import one_thread

SCRIPTS = {
    "cast": "cast",
    "strided_product": "copy",
    "transposed_addition": "layout",
    "expanded": "broadcast",
    "new_memory": "memory",
    "elements": "elements",
}
STEPS = 10
MODULES = {name: importlib.import_module(f"slow_scripts.{name}") for name in (*SCRIPTS, "training")}  # with their tensors


@pytest.fixture(autouse=True)
def one_thread_alone():
    """On a machine that has other things to do, threads that wait for each other take as long as those things do."""
    with one_thread():
        yield
    for value in [value for module in MODULES.values() for value in vars(module).values()]:
        if isinstance(value, ag.Tensor) and value.is_leaf:
            value.grad = None  # it would outlive the test


def hints_on(step, n=STEPS):
    step()
    with profile(record_shapes=True, profile_memory=True) as prof:
        for _ in range(n):
            step()
    return prof.hints()


def planted_line(module):
    with open(module.__file__, encoding="utf-8") as file:
        (line,) = [k for k, text in enumerate(file, 1) if "# planted" in text]
    return line


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_planted_line_is_named(name):
    if name == "new_memory" and is_debug_build():
        pytest.skip("loops of the debug build take as long in place")
    module = MODULES[name]
    hints = hints_on(module.slow)
    assert [(hint.kind, hint.file, hint.line) for hint in hints] == [(SCRIPTS[name], module.__file__, planted_line(module))]
    assert "# planted" in hints[0].source
    assert hints[0].gain_ns > 0
    assert f"{name}.py:{planted_line(module)}: " in str(hints)


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_is_said_of_the_mended_script(name):
    module = MODULES[name]
    assert str(hints_on(module.mended)) == "no hints"


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.skipif(is_debug_build(), reason="there the checks take most of the time")
def test_mending_the_line_gains(name):
    """What is named is worth naming: the mended script takes less time."""
    module = MODULES[name]
    times = [(recorded_ns(module.slow), recorded_ns(module.mended)) for _ in range(25)]
    assert min(mended for _, mended in times) < min(slow for slow, _ in times)


def recorded_ns(step):
    with profile() as prof:
        step()
    return sum(event.end - event.start for event in prof.recording.events if event.parent < 0)


def test_nothing_is_said_of_a_clean_step_of_training():
    module = MODULES["training"]
    assert str(hints_on(module.step, 30)) == "no hints"


def test_what_is_computed_anew_for_each_call_cannot_be_converted_once():
    x, counts = ag.randn(400, 1000), ag.ones(400, 1000, dtype=ag.int64)

    def step():
        doubled = counts + counts
        return (x * doubled).sum()

    assert [hint for hint in hints_on(step) if hint.kind == "cast"] == []


def test_what_is_written_between_calls_cannot_be_converted_once():
    x, counts = ag.randn(400, 1000), ag.ones(400, 1000, dtype=ag.int64)

    def step():
        counts.add_(1)
        return (x * counts).sum()

    assert [hint for hint in hints_on(step) if hint.kind == "cast"] == []


def test_a_view_of_what_is_computed_anew_cannot_be_copied_once():
    x, w = ag.randn(1200, 1200), ag.randn(600, 16)

    def step():
        y = x * 2.0
        return y[:, 1::2][::2] @ w

    assert [hint for hint in hints_on(step) if hint.kind == "copy"] == []


def test_a_condition_is_no_cast():
    x = ag.randn(400, 1000)
    positive = x > 0
    assert str(hints_on(lambda: ag.where(positive, x, 0.0).sum())) == "no hints"


def test_without_shapes_nothing_is_known():
    with profile() as prof:
        MODULES["cast"].slow()
    assert prof.hints() == []


def test_operands_are_the_same_until_they_are_written():
    a = Array((100, 100), (400, 4), "float32", 4, 5, address=1000)
    view = a._replace(shape=(50,), strides=(8,), flags=0, address=1800)
    results = [None, None, a, None]
    events = [op("sum", 10 * k, 10 * k + 5, operands=(view,))._replace(result=result) for k, result in enumerate(results)]
    (calls,) = [calls for calls in calls_by_line(Recording(events, [], list(THREADS))).values() if calls.result is None]
    assert calls.n == 3
    assert len(calls.met[0]) == 2


def test_hints_read_well():
    hints = Hints([Hint("/home/me/<b>.py", 31, "y = x < w", "`lt` converts", 1.5e6, "cast")])
    assert str(hints) == "<b>.py:31: y = x < w\n    `lt` converts; 1.500ms less"
    assert "<b>" not in hints._repr_html_()
    assert "y = x &lt; w" in hints._repr_html_()
    assert str(Hints()) == "no hints"
