"""Traces: NOTE [Traces], checked by the rules of Perfetto's trace processor; and stacks for flame graphs."""

import json
import time

import pytest
import recorded
import trace_rules
from recorded import backward, op, region

from autograd_cy.autograd.profiler_util import EventList, FunctionEvent
from autograd_cy.profiler import profile
from autograd_cy.profiler._recording import Recording
from autograd_cy.profiler._trace import us, write_recording


@pytest.fixture
def prof(monkeypatch):
    recorded.stand_in(monkeypatch)
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        pass
    return prof


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_a_trace_keeps_the_rules(prof, tmp_path, name):
    prof.export_chrome_trace(str(tmp_path / name))
    trace = trace_rules.read_trace(tmp_path / name)
    trace_rules.checked(trace)
    assert len(trace_rules.slices_of(trace)) == len(recorded.STEP)
    assert trace["record_shapes"] == trace["with_stack"] == 1


def test_arrows_go_from_operations_to_their_nodes(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "trace.json")
    arrows = trace_rules.checked(trace_rules.read_trace(tmp_path / "trace.json"))
    assert [(a["name"], b["name"]) for a, b in arrows] == [("aten::sum", "SumBackward0"), ("aten::mul", "MulBackward0")]
    for begun, ended in arrows:
        assert begun["args"]["Sequence number"] == ended["args"]["Sequence number"]


def test_a_node_that_runs_twice_has_two_arrows(tmp_path):
    events = [op("mul", 0, 10, first=1, nodes=1), *(backward("MulBackward0", t, t + 5, number=1) for t in (20, 30))]
    write_recording(tmp_path / "trace.json", Recording(events, [], recorded.THREADS), {})
    arrows = trace_rules.checked(trace_rules.read_trace(tmp_path / "trace.json"))
    assert [(a["ts"] * 1000 // 1, b["ts"] * 1000 // 1) for a, b in arrows] == [(0, 20), (0, 30)]


def test_arrows_of_an_operation_whose_parts_begin_with_it(tmp_path):
    events = [op("a", 0, 90, first=1, nodes=2), op("b", 0, 80, 0, first=1, nodes=2), op("c", 0, 10, 1, first=2, nodes=1)]
    events += [backward("B", 100, 110, number=1), backward("C", 100, 110, thread=1, number=2)]
    write_recording(tmp_path / "trace.json", Recording(events, [], recorded.THREADS), {})
    arrows = trace_rules.checked(trace_rules.read_trace(tmp_path / "trace.json"))
    assert [(a["name"], b["name"]) for a, b in arrows] == [("aten::b", "B"), ("aten::c", "C")]


def test_what_slices_say(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace = trace_rules.read_trace(tmp_path / "trace.json")
    (mul, *_) = trace_rules.slices_of(trace, name="aten::mul")
    assert mul["args"] == {
        "External id": 1,
        "Sequence number": 7,
        "Input Dims": [[4, 4], [4, 4]],
        "Input Strides": [[4, 1], [4, 1]],
        "Input type": ["float", "float"],
        "Call stack": "/home/me/step.py(30): <module>;/home/me/step.py(12): loss_of",
    }
    (step,) = trace_rules.slices_of(trace, cat="user_annotation")
    assert step["name"] == "ProfilerStep#0"
    names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
    assert names == {1: "MainThread", 2: "helper"}
    live = [e["args"]["bytes"] for e in trace["traceEvents"] if e["ph"] == "C"]
    assert live == [0, 100, 164, 228, 164, 420, 356]


@pytest.mark.parametrize("ns", [0, 1, 999, 1000, 1678, 12345678, 999_999_999_999, 86_400_000_000_001])
def test_times_are_the_same_ns_cut_off_and_rounded(ns):
    assert trace_rules.ns_of(json.loads(us(ns))) == ns


def test_names_and_texts_of_any_kind(tmp_path):
    events = [region('a "b" \\ \n é \U0001f600', 0, 10, args='{"x": 1}\t')]
    write_recording(tmp_path / "trace.json", Recording(events, [], [(1, 'th"read')]), {"mine": '{"a": [1]}'})
    trace = trace_rules.read_trace(tmp_path / "trace.json")
    trace_rules.checked(trace)
    (found,) = trace_rules.slices_of(trace)
    assert (found["name"], found["args"]["Args"]) == (events[0].name, events[0].args)
    assert trace["mine"] == {"a": [1]}


def test_metadata_of_the_user(monkeypatch, tmp_path):
    recorded.stand_in(monkeypatch)
    prof = profile()
    prof.preset_metadata_json("before", "[1]")
    with prof:
        prof.add_metadata("text", 'a "b"')
        with pytest.raises(json.JSONDecodeError):
            prof.add_metadata_json("bad", "{")
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace = trace_rules.read_trace(tmp_path / "trace.json")
    assert (trace["before"], trace["text"], "bad" in trace) == ([1], 'a "b"', False)
    assert trace["trace_id"] == prof.get_trace_id()


def test_a_trace_without_events(tmp_path):
    write_recording(tmp_path / "trace.json", Recording([], [], recorded.THREADS), {})
    assert trace_rules.checked(trace_rules.read_trace(tmp_path / "trace.json")) == []


def test_lists_of_events_are_traces_too(prof, tmp_path):
    prof.events().export_chrome_trace(tmp_path / "trace.json")
    trace = trace_rules.read_trace(tmp_path / "trace.json")
    trace_rules.checked(trace)
    assert len(trace_rules.slices_of(trace)) == len(recorded.STEP)


def test_a_large_trace_is_written_fast(tmp_path):
    events = []
    for k in range(50_000):
        events.append(op("mul", 100 * k, 100 * k + 60, first=k, nodes=1))
    events += [backward("MulBackward0", e.start + 5_000_000, e.end + 5_000_000, number=k) for k, e in enumerate(events)]
    start = time.process_time()
    write_recording(tmp_path / "trace.json", Recording(events, [], recorded.THREADS), {})
    assert time.process_time() - start < 8  # 0.7 s, however busy the machine is
    assert len(trace_rules.checked(trace_rules.read_trace(tmp_path / "trace.json"))) == 50_000


# the rules themselves


def slice_(ts, dur, **fields):
    return {"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": ts, "dur": dur, **fields}


def arrow(ph, ts, **fields):
    return {"ph": ph, "name": "a", "cat": "c", "id": 1, "pid": 1, "tid": 1, "ts": ts, **fields}


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([slice_(0, 10), slice_(5, 10)], "dropped, it overlaps"),
        ([slice_(5, 1), slice_(0, 1)], "not sorted"),
        ([slice_(-1, 1)], "negative times"),
        ([slice_(0, 1, tid=140737353971520)], "140737353971520"),
        ([slice_(0, 10), arrow("s", 20)], "an arrow without a slice"),
        ([slice_(0, 10), arrow("s", 5), arrow("f", 6)], "it would end in the next slice"),
        ([slice_(0, 10), arrow("s", 5)], "arrows without an end"),
        ([slice_(1.001, 1)], "is 1000 ns for some releases, 1001 ns for others"),
    ],
)
def test_the_rules_refuse(events, message):
    with pytest.raises(AssertionError, match=message):
        trace_rules.checked({"traceEvents": events})


# stacks


def test_stacks_for_flame_graphs(prof, tmp_path):
    prof.export_stacks(str(tmp_path / "stacks"))
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert "/home/me/step.py(30):_<module>;/home/me/step.py(12):_loss_of;aten::mul 1" in lines
    for line in lines:
        stack, count = line.rsplit(" ", 1)
        assert int(count) > 0
        assert not set(" \t") & set(stack)


def test_stacks_add_up_what_is_short(tmp_path):
    events = EventList(
        [FunctionEvent(k, "aten::mul", 1, float(k), k + 0.4, stack=["a.py(1): f"]) for k in range(10)], is_nested=True
    )
    events.export_stacks(str(tmp_path / "stacks"), "self_cpu_time_total")
    assert (tmp_path / "stacks").read_text() == "a.py(1):_f;aten::mul 4\n"


def test_stacks_refuse(prof, monkeypatch, tmp_path):
    with pytest.raises(ValueError, match=r"metric should be one of: \['self_cpu_time_total'"):
        prof.export_stacks(str(tmp_path / "stacks"), "time")
    with profile() as other:
        pass
    with pytest.raises(AssertionError, match=r"export_stacks\(\) requires with_stack=True"):
        other.export_stacks(str(tmp_path / "stacks"))
