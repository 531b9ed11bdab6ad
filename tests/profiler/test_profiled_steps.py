"""Programs under the profiler: nothing is missing in their traces, times add up, and their numbers don't change."""

import threading
import warnings

import numpy as np
import pytest
import trace_rules

import autograd_cy as ag
from autograd_cy.autograd import profiler as older
from autograd_cy.profiler import profile, record_function, schedule
from autograd_cy.utils.checkpoint import checkpoint


class Cube(ag.autograd.Function):
    """A Function that calls operations in both directions."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


def leaves():
    rng = np.random.default_rng(0)
    return [ag.tensor(rng.normal(size=shape), requires_grad=True) for shape in ((4, 3), (3, 5), (5,))]


def loss_of(w, v, b):
    hidden = (w @ v + b).tanh()
    with record_function("head"):
        return (Cube.apply(hidden) + hidden.exp()).mean()


def nodes_of(loss):
    """All nodes of a graph but those of leaves."""
    found, left = [], [loss.grad_fn]
    while left:
        node = left.pop()
        if node is not None and node not in found:
            found.append(node)
            left += [following for following, _ in node.next_functions]
    return [node for node in found if node.name() != "torch::autograd::AccumulateGrad"]


def test_a_trace_is_whole(tmp_path):
    with profile(record_shapes=True) as prof:
        loss = loss_of(*leaves())
        expected = sorted((node._sequence_nr(), node.name()) for node in nodes_of(loss))
        loss.backward()
    prof.export_chrome_trace(tmp_path / "trace.json")
    arrows = trace_rules.checked(trace_rules.read_trace(tmp_path / "trace.json"))
    assert sorted((end["args"]["Sequence number"], end["name"]) for _, end in arrows) == expected
    for begin, end in arrows:
        first, stem = begin["args"]["Sequence number"], begin["name"].removeprefix("aten::").split(".")[0]
        assert end["args"]["Sequence number"] >= first
        assert stem[:3].lower() in end["name"].lower() or begin["name"] == "aten::matmul"
    leaf_events = [event for event in prof.events() if event.name == "torch::autograd::AccumulateGrad"]
    assert len(leaf_events) == 3


@pytest.mark.filterwarnings("ignore:Warning. Profiler clears events")  # once in a process
def test_times_add_up():
    with profile(schedule=schedule(wait=0, warmup=1, active=3)) as prof:
        for _ in range(4):
            loss_of(*leaves()).backward()
            prof.step()
    events = prof.events()
    steps = sum(event.cpu_time_total for event in events if event.name == "ProfilerStep*")
    assert prof.self_cpu_time_total == pytest.approx(steps)
    assert min(event.self_cpu_time_total for event in events) >= 0
    for event in events:
        children = sum(child.cpu_time_total for child in event.cpu_children)
        assert event.self_cpu_time_total + children == pytest.approx(event.cpu_time_total)


def test_numbers_are_the_same_bits():
    plain, profiled = leaves(), leaves()
    loss_of(*plain).backward()
    with profile(record_shapes=True, profile_memory=True, with_stack=True):
        loss_of(*profiled).backward()
    for a, b in zip(plain, profiled, strict=True):
        assert a.grad.numpy().tobytes() == b.grad.numpy().tobytes()


def test_lines_are_the_users():
    with profile() as prof:
        loss_of(*leaves()).backward()
    own = loss_of.__code__.co_firstlineno
    lines = {event.name: event.stack[0] for event in prof.events() if event.stack}
    assert lines["aten::tanh"] == lines["TanhBackward0"] == f"{__file__}({own + 1}): loss_of"
    assert lines["aten::exp"] == lines["ExpBackward0"] == f"{__file__}({own + 3}): loss_of"


def test_profilers_nest():
    with profile() as outer:
        x = ag.ones(2) * 2
        with profile() as inner:
            x.exp()
        x.tanh()
    assert [event.name for event in inner.events()] == ["aten::exp"]
    assert [event.name for event in outer.events()] == ["aten::mul", "aten::exp", "aten::tanh"]


def test_threads_are_told_apart(tmp_path):
    def work():
        with record_function("work"):
            loss_of(*leaves()).backward()

    with profile() as prof:
        threads = [threading.Thread(target=work, name=f"worker {k}") for k in range(2)]
        work()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({event.thread for event in prof.events() if event.name == "work"}) == 3
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace = trace_rules.read_trace(tmp_path / "trace.json")
    arrows = trace_rules.checked(trace)
    assert {(begin["tid"] == end["tid"]) for begin, end in arrows} == {True}
    assert {"worker 0", "worker 1"} <= {e["args"].get("name") for e in trace["traceEvents"] if e["name"] == "thread_name"}


def test_an_error_leaves_a_trace_that_keeps_the_rules(tmp_path):
    def fail(g):
        raise ZeroDivisionError

    w, v, b = leaves()
    with profile() as prof:
        with pytest.raises(ZeroDivisionError), record_function("region"):
            w.register_hook(fail)
            loss_of(w, v, b).backward()
        ag.ones(2).exp()
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace_rules.checked(trace_rules.read_trace(tmp_path / "trace.json"))
    assert prof.events()[-1].cpu_parent is None


@pytest.mark.parametrize("twist", ["checkpoint", "create_graph", "retain_graph", "vmap", "reentrant"])
def test_twisted_programs_have_whole_traces(tmp_path, twist):
    w, v, b = leaves()
    with profile(with_stack=True, record_shapes=True, profile_memory=True) as prof:
        if twist == "checkpoint":
            checkpoint(loss_of, w, v, b, use_reentrant=False).backward()
        elif twist == "create_graph":
            (g,) = ag.autograd.grad(loss_of(w, v, b), w, create_graph=True)
            (g * g).sum().backward()
        elif twist == "retain_graph":
            loss = loss_of(w, v, b)
            loss.backward(retain_graph=True)
            loss.backward()
        elif twist == "vmap":
            ag.vmap(lambda row: (row @ v).exp().sum())(w).sum().backward()
        else:
            checkpoint(loss_of, w, v, b, use_reentrant=True).backward()
    prof.export_chrome_trace(tmp_path / "trace.json")
    arrows = trace_rules.checked(trace_rules.read_trace(tmp_path / "trace.json"))
    ran = [event for event in prof.events() if event.scope == 1 and event.name != "torch::autograd::AccumulateGrad"]
    assert len(arrows) == len(ran) > 0


def test_events_beyond_the_room_are_told():
    x = ag.ones(2)
    with pytest.warns(UserWarning, match="has dropped 50 events: there is room for 100 of each thread"):
        with profile(buffer_events=100) as prof:
            for _ in range(150):
                x.exp()
    assert len(prof.events()) == 100


def test_memory_is_counted():
    with warnings.catch_warnings(action="error"), profile(profile_memory=True) as prof:
        y = ag.ones(1000, 1000).exp()
    exp = next(event for event in prof.events() if event.name == "aten::exp")
    assert exp.cpu_memory_usage == exp.self_cpu_memory_usage >= 4_000_000
    assert y.shape == (1000, 1000)


def test_the_older_profiler_records_the_same():
    with older.profile() as prof:
        ag.ones(2).exp()
    assert [event.name for event in prof.function_events] == ["aten::exp"]


def test_a_shared_loop_is_the_time_of_its_operation():
    before = ag.get_num_threads()
    ag.set_num_threads(2)
    try:
        x = ag.ones(1000, 1000)
        with profile() as prof:
            x * 2
    finally:
        ag.set_num_threads(before)
    first = {event.name: event for event in reversed(prof.events())}
    loop, multiplication = first["autograd::threads::shared loop"], first["aten::mul"]
    assert loop.cpu_parent is multiplication and loop.self_cpu_time_total == 0
    assert multiplication.self_cpu_time_total == multiplication.cpu_time_total > loop.cpu_time_total > 0
    assert sum(prof.recording.self_times) == sum(e.end - e.start for e in prof.recording.events if e.parent < 0)
