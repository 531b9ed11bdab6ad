"""events() and key_averages(): what each event says, and their sums."""

import pytest
import recorded

from autograd_cy.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg
from autograd_cy.profiler import profile
from autograd_cy.profiler._flops import flops_of


@pytest.fixture
def prof(monkeypatch):
    recorded.stand_in(monkeypatch)
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True) as prof:
        pass
    return prof


def the(prof, name):
    return next(event for event in prof.events() if event.name == name)


def test_events_are_sorted_by_start(prof):
    starts = [event.time_range.start for event in prof.events()]
    assert starts == sorted(starts)


def test_times_are_microseconds_since_the_start(prof):
    mul = the(prof, "aten::mul")
    assert (mul.time_range.start, mul.time_range.end, mul.time_range.elapsed_us()) == (2.0, 3.5, 1.5)
    assert mul.cpu_time == mul.cpu_time_total == 1.5
    assert mul.self_cpu_time_total == pytest.approx(0.9)
    assert mul.cpu_time_str == "1.500us"


def test_parents_and_children(prof):
    mul, copy = the(prof, "aten::mul"), the(prof, "aten::copy_")
    assert copy.cpu_parent is mul
    assert mul.cpu_children == [copy]
    assert mul.cpu_parent.name == "ProfilerStep*"
    assert mul.cpu_parent.trace_name == "ProfilerStep#0"
    assert mul.cpu_parent.is_user_annotation


def test_where_events_come_from(prof):
    assert the(prof, "aten::mul").stack == ["/home/me/step.py(12): loss_of", "/home/me/step.py(30): <module>"]
    assert the(prof, "MulBackward0").stack == the(prof, "aten::mul").stack
    assert (the(prof, "MulBackward0").fwd_thread, the(prof, "aten::mul").fwd_thread) == (1, 0)
    assert (the(prof, "MulBackward0").scope, the(prof, "aten::mul").scope) == (1, 0)
    assert the(prof, "MulBackward0").sequence_nr == the(prof, "aten::mul").sequence_nr == 7


def test_operands(prof):
    mul = the(prof, "aten::mul")
    assert mul.input_shapes == [[4, 4], [4, 4]]
    assert mul.structured_input_strides == [[4, 1], [4, 1]]
    assert mul.input_dtypes == ["float", "float"]
    assert the(prof, "MulBackward0").input_shapes == []


def test_memory(prof):
    assert the(prof, "aten::copy_").self_cpu_memory_usage == 64
    mul = the(prof, "aten::mul")
    assert (mul.cpu_memory_usage, mul.self_cpu_memory_usage) == (64, 0)
    outside = the(prof, "[memory]")
    assert (outside.cpu_memory_usage, outside.cpu_time_total) == (100, 0.0)
    assert sum(event.self_cpu_memory_usage for event in prof.events()) == 356


def test_self_times_add_up(prof):
    whole = sum(event.cpu_time_total for event in prof.events() if event.cpu_parent is None)
    assert prof.self_cpu_time_total == pytest.approx(whole)
    averages = prof.key_averages()
    assert averages.self_cpu_time_total == pytest.approx(whole)
    assert prof.total_average().self_cpu_time_total == pytest.approx(whole)


def test_sums_by_name(prof):
    mul = next(average for average in prof.key_averages() if average.key == "aten::mul")
    assert mul.count == 3
    assert mul.cpu_time_total == pytest.approx(2.1)
    assert mul.cpu_time == pytest.approx(0.7)
    assert (mul.input_shapes, mul.stack) == ("", [])
    assert prof.total_average().key == "Total"
    assert prof.total_average().count == len(prof.events())


def test_sums_by_shape_and_by_stack(prof):
    averages = prof.key_averages(group_by_stack_n=1)
    assert [(a.stack, a.count) for a in averages if a.key == "aten::mul"] == [
        (["/home/me/step.py(12): loss_of"], 2),
        (["/home/me/step.py(30): <module>"], 1),
    ]
    shapes = [a.input_shapes for a in prof.key_averages(group_by_input_shape=True) if a.key == "aten::sum"]
    assert shapes == [[[4, 4]]]


@pytest.mark.parametrize(
    ("name", "shapes", "expected"),
    [
        ("aten::mm", [[2, 3], [3, 5]], 60),
        ("aten::bmm", [[7, 2, 3], [7, 3, 5]], 420),
        ("aten::addmm", [[5], [2, 3], [3, 5]], 60),
        ("aten::baddbmm", [[7, 2, 5], [7, 2, 3], [7, 3, 5]], 420),
        ("aten::matmul", [[7, 2, 3], [3, 5]], 420),
        ("aten::matmul", [[2, 3], [7, 3, 5]], 420),
        ("aten::matmul", [[2, 3], [3]], 12),
        ("aten::matmul", [[3], [3, 5]], 30),
        ("aten::matmul", [[3], [3]], 6),
        ("aten::linear", [[7, 2, 3], [5, 3], [5]], 420),
        ("aten::add", [[2, 3], [1]], 6),
        ("aten::mul", [[2, 3]], 6),
        ("aten::exp", [[2, 3]], 0),
        ("aten::mm", [[2, 3]], 0),
    ],
)
def test_flops(name, shapes, expected):
    assert flops_of(name, shapes) == expected


def test_flops_of_a_product_are_counted_once(monkeypatch):
    events = [recorded.op("matmul", 0, 10), recorded.op("mm", 1, 9, 0)]
    recorded.stand_in(monkeypatch, events=events, allocations=[])
    with profile(with_flops=True) as prof:
        pass
    assert [(event.name, event.flops) for event in prof.events()] == [("aten::matmul", 0), ("aten::mm", 128)]


def test_events_by_hand_are_nested_by_their_times():
    spans = [("a", 1, 0.0, 10.0), ("b", 1, 1.0, 4.0), ("c", 1, 4.0, 6.0), ("d", 1, 4.5, 12.0), ("e", 2, 1.0, 2.0)]
    events = EventList([FunctionEvent(k, name, thread, start, end) for k, (name, thread, start, end) in enumerate(spans)])
    with pytest.raises(AssertionError, match="Expected tree to be built before calling key_averages"):
        events.key_averages()
    events._build_tree()
    assert {event.name: event.cpu_parent and event.cpu_parent.name for event in events} == {
        "a": None, "b": "a", "c": "a", "d": None, "e": None,
    }  # fmt: skip
    assert events[0].self_cpu_time_total == 5.0


def test_sums_take_one_name():
    average = FunctionEventAvg()
    average += FunctionEvent(0, "a", 1, 0.0, 1.0)
    with pytest.raises(AssertionError, match="Expected keys to match, but got b vs a"):
        average += FunctionEvent(0, "b", 1, 0.0, 1.0)
    with pytest.raises(AssertionError, match="Expected other to be a FunctionEvent or FunctionEventAvg"):
        average.add(3)
