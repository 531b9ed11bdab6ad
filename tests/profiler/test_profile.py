"""profile and record_function: what they take, when results are there, what they hand on."""

import sys
import types

import pytest
import recorded

import autograd_cy as ag
from autograd_cy.autograd import profiler as older
from autograd_cy.profiler import (
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)


@pytest.fixture
def log(monkeypatch):
    return recorded.stand_in(monkeypatch)


def test_what_the_recorder_is_asked_for(monkeypatch):
    asked = []
    from autograd_cy.profiler import _session

    recorder = types.SimpleNamespace(
        start=lambda: None, stop=lambda: None, events=list, memory=list, threads=[],
        dropped=0, undescribed=0, start_time=0, stop_time=0,
    )  # fmt: skip
    monkeypatch.setattr(_session, "Recorder", lambda *given: asked.append(given) or recorder)
    for arguments in ({}, {"record_shapes": True}, {"with_stack": True}, {"profile_memory": True}, {"with_flops": True}):
        with profile(**arguments):
            pass
    with profile(buffer_events=1000):
        pass
    room = 1 << 18
    assert asked == [
        (False, False, False, room), (True, False, False, room), (False, True, False, room), (False, False, True, room),
        (True, False, False, room), (False, False, False, 1000),
    ]  # fmt: skip


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, None])
def test_room_for_events_is_a_positive_int(wrong):
    with pytest.raises(ValueError, match="buffer_events must be a positive int"):
        profile(buffer_events=wrong)


def test_events_that_had_no_room_are_told(monkeypatch):
    recorded.stand_in(monkeypatch, dropped=12)
    with pytest.warns(UserWarning, match=r"has dropped 12 events: .* 262144 .*profile\(buffer_events=") as caught:
        with profile() as prof:
            pass
    assert caught[0].filename == __file__
    assert prof.recording.dropped == 12


def test_activities(log):
    assert supported_activities() == {ProfilerActivity.CPU}
    profile(activities=[ProfilerActivity.CPU])
    profile(activities=[{ProfilerActivity.CPU: []}])
    with pytest.raises(AssertionError, match="No valid profiler activities found"):
        profile(activities=[])
    with pytest.raises(TypeError, match="Expected ProfilerActivity or dict, got <class 'int'>"):
        profile(activities=[1])
    with pytest.raises(ValueError, match=r"Activity ProfilerActivity\.CPU specified more than once"):
        profile(activities=[ProfilerActivity.CPU] * 2)


def test_devices_are_given_up_with_a_warning(log):
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling") as caught:
        prof = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    assert caught[0].filename == __file__
    assert prof.activities == {ProfilerActivity.CPU}
    with pytest.warns(UserWarning, match="XPU is not available"):
        with pytest.raises(AssertionError, match="No activities specified for the profiler"):
            profile(activities=[ProfilerActivity.XPU])
    with pytest.warns(UserWarning, match="CUDA is not available"):
        profile(use_cuda=True)


def test_what_is_not_there_says_so(log):
    with pytest.raises(NotImplementedError, match="execution traces"):
        profile(execution_trace_observer=object())
    with pytest.warns(UserWarning, match="experimental_config"):
        profile(experimental_config=object())
    with pytest.raises(NotImplementedError, match="use a schedule"):
        profile().toggle_collection_dynamic(False, [ProfilerActivity.CPU])
    with pytest.raises(AttributeError, match=r"module 'autograd_cy\.profiler' has no attribute 'itt': PyTorch has it"):
        ag.profiler.itt  # noqa: B018
    for module, name in ((ag.profiler, "DeviceType"), (older, "KinetoStepTracker"), (ag.utils.benchmark, "Fuzzer")):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}': PyTorch has it"):
            getattr(module, name)
    with pytest.raises(NotImplementedError, match="emit_nvtx"):
        older.emit_nvtx()


RESULTS = {
    "accessing events": lambda prof: prof.events(),
    "getting key averages": lambda prof: prof.key_averages(),
    "exporting chrome trace": lambda prof: prof.export_chrome_trace("x"),
    "exporting stacks": lambda prof: prof.export_stacks("x"),
    "looking for hints": lambda prof: prof.hints(),
    "measuring overhead": lambda prof: prof.overhead(),
}


@pytest.mark.parametrize("doing", RESULTS)
def test_before_the_start_there_are_no_results(doing):
    with pytest.raises(AssertionError, match=f"Profiler must be initialized before {doing}"):
        RESULTS[doing](profile())


def test_while_it_records_there_are_no_results(log):
    with profile() as prof:
        with pytest.raises(RuntimeError, match="still recording"):
            prof.events()
        with pytest.raises(RuntimeError, match="Profiler is already enabled on this thread"):
            prof.start()
    assert len(prof.events()) == len(recorded.STEP)
    with pytest.raises(AssertionError, match="Profiler must be initialized before stopping trace"):
        prof.stop()


def test_an_error_in_the_block_ends_the_recording(log):
    with pytest.raises(ZeroDivisionError):
        with profile() as prof:
            1 / 0  # noqa: B018
    assert log == ["prepare", "start", "stop"]
    assert len(prof.events()) == len(recorded.STEP)


def test_start_and_stop(log):
    prof = profile()
    prof.start()
    prof.stop()
    assert len(prof.events()) == len(recorded.STEP)


@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")
@pytest.mark.parametrize("acc_events", [False, True])
def test_cycles_are_kept_if_asked_for(log, acc_events):
    prof = profile(acc_events=acc_events)
    for _ in range(3):
        with prof:
            pass
    assert len(prof.events()) == len(recorded.STEP) * (3 if acc_events else 1)


def test_a_handler_for_tensorboard_writes_each_cycle(log, tmp_path):
    handler = tensorboard_trace_handler(str(tmp_path / "a" / "b"), "me", use_gzip=True)
    with profile(schedule=schedule(wait=0, warmup=1, active=1, repeat=2), on_trace_ready=handler) as prof:
        for _ in range(4):
            prof.step()
    names = sorted(path.name for path in (tmp_path / "a" / "b").iterdir())
    assert len(names) == 2
    assert all(name.startswith("me.") and name.endswith(".pt.trace.json.gz") for name in names)
    (tmp_path / "file").write_text("")
    with pytest.raises(RuntimeError, match="Can't create directory: "):
        tensorboard_trace_handler(str(tmp_path / "file"))(prof)


def test_parts_that_are_imported_when_they_are_asked_for(log, monkeypatch, tmp_path):
    given = []
    for name, function in (("_hints", "hints_of"), ("_overhead", "overhead_of"), ("_memory", "export_timeline")):
        module = types.SimpleNamespace(**{function: lambda *args: given.append(args) or "found"})
        monkeypatch.setitem(sys.modules, f"autograd_cy.profiler.{name}", module)
    with profile(profile_memory=True) as prof:
        pass
    assert (prof.hints(), prof.overhead()) == ("found", "found")
    prof.export_memory_timeline("timeline.html")
    assert given == [(prof,), (prof,), (prof, "timeline.html")]


def test_the_page_is_made_of_the_model(log, monkeypatch, tmp_path):
    page = types.SimpleNamespace(render=lambda model: f"<p>{model['names'][1]} é</p>")
    monkeypatch.setitem(sys.modules, "autograd_cy.profiler._page", page)
    monkeypatch.setitem(sys.modules, "autograd_cy.profiler._hints", types.SimpleNamespace(hints_of=lambda prof: []))
    with profile() as prof:
        pass
    prof.export_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "<p>aten::mul é</p>"


# record_function


def test_regions_around_blocks_and_calls(log):
    @record_function("mine")
    def f(n):
        return f(n - 1) + 1 if n else 0

    with record_function("outer", "args"):
        assert f(1) == 1
    assert log == [("begin", "outer"), ("begin", "mine"), ("begin", "mine"), "end", "end", "end"]
    assert f.__name__ == "f"


def test_a_region_ends_with_an_error(log):
    with pytest.raises(ZeroDivisionError), record_function("mine"):
        1 / 0  # noqa: B018
    assert log == [("begin", "mine"), "end"]


def test_names_of_regions_are_texts():
    with pytest.raises(TypeError, match="record_function: expected a str for the name, got int"):
        record_function(3)


# the older profiler


def test_the_older_profiler(log, tmp_path):
    with older.profile(with_stack=True) as prof:
        assert repr(prof) == "<unfinished torch.autograd.profile>"
    assert len(prof.function_events) == len(recorded.STEP)
    assert str(prof) == prof.table() == prof.function_events.table()
    assert prof.total_average().count == len(recorded.STEP)
    assert prof.self_cpu_time_total == pytest.approx(10.1)
    assert prof._repr_html_().startswith("<table>")
    prof.export_stacks(str(tmp_path / "stacks"))
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    with pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"):
        prof.__enter__()


def test_the_older_profiler_may_be_off(log):
    with older.profile(enabled=False) as prof:
        pass
    assert prof is None
    assert log == []


def test_what_the_older_profiler_refuses(log):
    with pytest.warns(UserWarning, match="The foo is not a valid device option"):
        older.profile(use_device="foo")
    with pytest.warns(UserWarning, match="CUDA is not available, disabling CUDA profiling"):
        older.profile(use_cuda=True)
    with pytest.raises(AssertionError, match="No activities specified for the profiler"):
        older.profile(use_cpu=False)
    with pytest.raises(AssertionError, match="Expected profiling results"):
        older.profile().table()
