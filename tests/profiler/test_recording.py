"""What follows from raw events: names, self times, bytes, and from which operation and line a backward node comes."""

import pytest
import recorded
from recorded import HELPER, MAIN, MEMORY, STEP, THREADS, backward, op, region

from autograd_cy.profiler._recording import Recording, shown_name


def recording(events=STEP, memory=MEMORY):
    return Recording(list(events), list(memory), list(THREADS), begin=0, end=12000)


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("op", "mul", "aten::mul"),
        ("op", "mul_", "aten::mul_"),
        ("op", "nn.functional.relu", "aten::relu"),
        ("op", "fft.rfft", "aten::fft_rfft"),
        ("backward", "MulBackward0", "MulBackward0"),
        ("backward", "AccumulateGrad", "torch::autograd::AccumulateGrad"),
        ("engine", "count dependencies", "autograd::engine::count dependencies"),
        ("function", "Cube.backward", "Cube.backward"),
        ("region", "ProfilerStep#3", "ProfilerStep#3"),
    ],
)
def test_names_are_those_that_users_know(kind, name, expected):
    assert shown_name(kind, name) == expected


def test_self_times_add_up_to_the_time_that_events_cover():
    found = recording()
    covered = {0: 0, 1: 0}
    for event in STEP:
        if event.parent < 0:
            covered[event.thread] += event.end - event.start
    for thread, expected in covered.items():
        own = [t for t, event in zip(found.self_times, STEP, strict=True) if event.thread == thread]
        assert sum(own) == expected
        assert min(own) >= 0


def test_the_engine_has_the_time_of_the_walk_that_is_in_no_node():
    found = recording()
    walk = next(i for i, event in enumerate(STEP) if event.name == "backward")
    inside = sum(event.end - event.start for event in STEP if event.parent == walk)
    assert found.self_times[walk] == 4000 - inside == 1350


def test_depths():
    assert recording().depths == [0, 1, 2, 1, 1, 2, 2, 2, 3, 2, 3, 2, 0]


def test_bytes_belong_to_the_innermost_event_and_count_for_those_around():
    found = recording()
    assert found.self_bytes[1:3] == [0, 64]
    assert found.total_bytes[1] == 64
    assert found.total_bytes[0] == 64 + 256 - 64
    assert found.live_bytes() == ([0, 500, 2100, 2700, 3400, 6200, 10500], [0, 100, 164, 228, 164, 420, 356])


def test_a_node_comes_from_the_operation_that_recorded_it():
    assert recording().forward == [-1, -1, -1, -1, -1, -1, 3, 1, -1, -1, -1, -1, -1]


def test_of_nested_operations_the_innermost_has_recorded_the_node():
    events = [
        op("linear", 0, 90, first=3, nodes=2),
        op("t", 10, 20, 0, first=3, nodes=1),
        op("addmm", 30, 80, 0, first=4, nodes=1),
    ]
    events += [backward("AddmmBackward0", 100, 110, number=4), backward("TBackward0", 120, 130, number=3)]
    assert recording(events, []).forward == [-1, -1, -1, 2, 1]


def test_threads_number_their_nodes_apart():
    events = [op("mul", 0, 10, first=0, nodes=1), backward("MulBackward0", 40, 50, number=0)]
    events += [op("exp", 20, 30, thread=1, first=0, nodes=1), backward("ExpBackward0", 60, 70, thread=1, number=0)]
    assert recording(events, []).forward == [-1, 0, -1, 2]
    events[3] = events[3]._replace(thread=2)  # the walk may be in a thread that recorded nothing
    assert recording(events, []).forward[3] == 2


def test_a_node_that_was_recorded_before_has_no_operation():
    assert recording([backward("MulBackward0", 0, 10, number=5)], []).forward == [-1]
    events = [backward("MulBackward0", 0, 10, number=5), op("mul", 20, 30, first=5, nodes=1)]
    assert recording(events, []).forward == [-1, -1]


def test_backward_nodes_and_what_they_call_come_from_the_line_of_the_operation():
    stacks = recording().stacks
    assert stacks[7] == stacks[8] == (MAIN, HELPER)  # MulBackward0, and a product inside
    assert stacks[11] == (HELPER,)  # AccumulateGrad has no operation
    assert stacks[10] == (HELPER,)  # what a hook calls is at its own line


def test_what_a_function_calls_in_backward_is_at_its_own_line():
    events = [
        backward("CubeBackward", 0, 90, number=1),
        region("Cube.backward", 10, 80, 0, kind="function"),
        op("mul", 20, 30, 1, stack=(MAIN,)),
    ]
    assert recording(events, []).stacks[2] == (MAIN,)


def test_events_that_began_before_widen_the_window():
    found = Recording([region("a", 5, 30)], [], list(THREADS), begin=10, end=20)
    assert (found.begin, found.end) == (5, 30)


def test_one_recording_after_another():
    other = Recording(
        [region("b", 20000, 20100), op("mul", 20010, 20020, 0)],
        [recorded.RawAllocation(20015, 0, 8, 1, 1)],
        [(4243, "helper"), (5, "third")],
        dropped=2,
        begin=19000,
        end=21000,
    )
    both = recording().followed_by(other)
    assert both.threads == [*THREADS, (5, "third")]
    assert [(e.name, e.thread, e.parent) for e in both.events[-2:]] == [("b", 1, -1), ("mul", 1, len(STEP))]
    assert (both.memory[-1].event, both.memory[-1].thread) == (len(STEP) + 1, 1)
    assert (both.begin, both.end, both.dropped) == (0, 21000, 2)
