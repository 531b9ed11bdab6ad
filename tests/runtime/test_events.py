"""The Recorder: what is noted of a program, in all threads, and that nothing else changes by it."""

import gc
import sys
import threading
import time

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy._core.inspection.recorder import Recorder
from autograd_cy._core.recording import events


class Recording:
    """with Recording(...) as r: its events afterwards."""

    def __init__(self, **options):
        self.recorder = Recorder(**options)

    def __enter__(self):
        self.recorder.start()
        return self

    def __exit__(self, *error):
        self.recorder.stop()
        self.events = self.recorder.events()

    def names(self, *kinds):
        return [e.name for e in self.events if not kinds or e.kind in kinds]

    def of(self, name):
        return [e for e in self.events if e.name == name]


def leaf(*shape, fill=1.0):
    return ag.full(shape, fill, requires_grad=True)


def test_each_operation_and_each_node_has_its_event():
    x, b = leaf(3, 3), leaf(3)
    with Recording() as r:
        y = (x * b + 1).tanh().clone()
        y += 1
        -y[0]
        y.T.sum().backward()
    assert r.names("op")[:6] == ["mul", "add", "tanh", "clone", "add_", "getitem"]
    assert r.names("engine")[:2] == ["backward", "count dependencies"]  # and what else took long enough to be noted
    backward = [e for e in r.events if e.kind == "backward"]
    assert r.names("backward")[-2:] == ["AccumulateGrad"] * 2
    ops = [e for e in r.events if e.kind == "op"]
    for node in backward[:-2]:  # the innermost operation that recorded it
        around = [e for e in ops if 0 <= node.sequence_nr - e.sequence_nr < e.n_nodes]
        (op,) = [e for e in around if not any(c.parent == r.events.index(e) for c in ops)]
        assert op.end <= node.start
        assert op.stack[0].line == node.stack[0].line


def test_events_are_nested_and_sorted():
    x = leaf(4)
    with Recording() as r:
        region = events.begin_region("step", "first")
        for _ in range(5):
            (x.exp() * 2).sum().backward()
        events.end_region(region)
    outer = r.events[0]
    assert (outer.kind, outer.name, outer.args) == ("region", "step", "first")
    for place, event in enumerate(r.events):
        assert event.start <= event.end
        if event.parent >= 0:
            around = r.events[event.parent]
            assert event.parent < place and around.start <= event.start and event.end <= around.end
    starts = [e.start for e in r.events]
    assert starts == sorted(starts)


def test_the_clock_is_that_of_perf_counter():
    before = time.perf_counter_ns()
    with Recording() as r:
        ag.ones(2) + 1
        time.sleep(0.02)
        ag.ones(2) + 1
    after = time.perf_counter_ns()
    first, second = r.of("add")
    assert before < first.start < second.end < after
    assert second.start - first.end >= 0.02e9


def test_shapes_strides_and_types():
    x = ag.ones(2, 3)
    with Recording(shapes=True) as r:
        y = x.t() @ x.to(ag.float64).float()
        ag.cat([x, x])
    product = r.of("matmul")[0]
    assert [(a.shape, a.strides, a.dtype, a.itemsize) for a in product.operands] == [
        ((3, 2), (4, 12), "float32", 4), ((2, 3), (12, 4), "float32", 4)
    ]  # fmt: skip
    assert product.result.shape == y.shape
    assert [a.shape for a in r.of("cat")[0].operands] == [(2, 3)] * 2
    with Recording() as r:
        x + 1
    assert r.events[0].operands is None and r.events[0].result is None


def test_what_events_have_in_common_is_made_once():
    x, wide = ag.ones(2, 3), ag.ones(3, 2)
    with Recording(shapes=True, stack=True) as r:
        for y in (x, x, x.T, wide):
            y * 2
        x * 3
    *calls, elsewhere = r.of("mul")
    same, again, turned, other = (e.operands for e in calls)
    assert same is again is elsewhere.operands
    assert same != turned != other
    assert [a.shape for (a,) in (same, turned, other)] == [(2, 3), (3, 2), (3, 2)]
    assert [a.strides for (a,) in (same, turned, other)] == [(12, 4), (4, 12), (8, 4)]
    assert all(e.stack is calls[0].stack for e in calls)
    assert elsewhere.stack[0].line == calls[0].stack[0].line + 1


def test_stacks():
    def inner(x):
        return x + 1

    def outer(x):
        return inner(x)

    with Recording(stack=True) as r:
        outer(ag.ones(1))
    assert [f.function.rpartition(".")[2] for f in r.events[0].stack[:3]] == ["inner", "outer", "test_stacks"]
    with Recording() as r:
        outer(ag.ones(1))
    (frame,) = r.events[0].stack
    assert frame.file == __file__ and frame.function.endswith("inner")


def test_functions_and_hooks():
    class Cube(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    def scaled(g):
        return g * 2

    x = leaf(2)
    with Recording() as r:
        y = Cube.apply(x)
        y.register_hook(scaled)
        y.sum().backward()
    assert r.names("function") == ["Cube.forward", "Cube.backward"]
    (hook,) = [e for e in r.events if e.kind == "hook"]
    assert hook.name == "scaled"
    forward, backward = r.of("Cube.forward")[0], r.of("CubeBackward")[0]
    assert 0 <= backward.sequence_nr - forward.sequence_nr < forward.n_nodes
    assert r.events[r.of("Cube.backward")[0].parent] is backward


def test_phases_of_the_engine():
    x = leaf(600, 600)
    with Recording() as r:
        y = x.exp()
        (y.t() + y).sum().backward()
    assert r.names("engine")[:2] == ["backward", "count dependencies"]
    assert "sum gradients" in r.names("engine")
    for e in r.events:
        if e.name == "free saved tensors":  # which is an event where it takes long
            assert r.events[e.parent].name == "backward" and e.end - e.start > 100


def test_loops_that_threads_share():
    before = ag.get_num_threads()
    ag.set_num_threads(2)
    try:
        x = ag.ones(1000, 1000)
        with Recording() as r:
            for _ in range(3):
                x * 2
    finally:
        ag.set_num_threads(before)
    loops = [e for e in r.events if e.kind == "threads"]
    assert len(loops) == 3 and all(e.name == "shared loop" and r.events[e.parent].name == "mul" for e in loops)


def test_recorders_nest_and_overlap():
    x = ag.ones(2)
    one, two = Recorder(), Recorder(shapes=True)
    one.start()
    x + 1
    two.start()
    x * 1
    one.stop()
    x - 1
    two.stop()
    assert [e.name for e in one.events()] == ["add", "mul"]
    assert [e.name for e in two.events()] == ["mul", "sub"]
    assert one.events()[1].operands is None and two.events()[0].operands is not None
    assert not events.is_recording()


def test_an_event_that_goes_on():
    """Its end is that of the Recorder, and what ends it afterwards ends nothing."""
    x = leaf(2)
    recorder = Recorder()
    y = x * 2
    y.register_hook(lambda g: recorder.stop())
    recorder.start()
    y.sum().backward()
    last = recorder.events()[-1]
    assert all(e.end >= e.start for e in recorder.events()) and last.end <= time.perf_counter_ns()
    with Recording() as r:
        x + 1
    assert r.names() == ["add"]


def test_errors_leave_events_whole():
    x = leaf(2)
    y = x * 2
    y.register_hook(lambda g: 1 / 0)
    with Recording() as r:
        with pytest.raises(RuntimeError):
            x + ag.ones(3)
        with pytest.raises(ZeroDivisionError):
            y.sum().backward()
        x + 1
    names = r.names("op")
    assert names == ["add", "sum", "add"] and r.events[-1].parent == -1
    for e in r.events:
        assert e.parent < 0 or r.events[e.parent].end >= e.end


def test_a_full_ring_says_what_it_dropped():
    x = ag.ones(1)
    with Recording(capacity=10) as r:
        for _ in range(25):
            x + 1
    assert len(r.events) == 10 and r.recorder.dropped == 15
    with pytest.raises(ValueError):
        Recorder(capacity=-1)


def test_threads():
    def work(n):
        x = leaf(2)
        for _ in range(n):
            (x * 2).sum().backward()

    with Recording() as r:
        threads = [threading.Thread(target=work, args=(n,), name=f"worker {n}") for n in (3, 5)]
        for t in threads:
            t.start()
        work(2)
        for t in threads:
            t.join()
    names = [name for _, name in r.recorder.threads]
    assert names[0] == "MainThread" and sorted(names[1:]) == ["worker 3", "worker 5"]
    for place, name in enumerate(names):
        n = 2 if place == 0 else int(name.split()[1])
        assert sum(e.name == "MulBackward0" and e.thread == place for e in r.events) == n
        assert {r.events[e.parent].thread for e in r.events if e.thread == place and e.parent >= 0} == {place}


def test_deeply_nested_backward():
    @ag.enable_grad()
    def deeper(x, depth):
        y = x * 2
        if depth:
            y.register_hook(lambda g: deeper(leaf(1), depth - 1))
        y.sum().backward()

    with Recording() as r:
        deeper(leaf(1), 45)
    assert len(r.of("MulBackward0")) == 46
    for e in r.events:
        assert e.parent < 0 or r.events[e.parent].start <= e.start <= e.end <= r.events[e.parent].end


def test_blocks_of_memory():
    x = ag.ones(512, 512)
    with Recording(memory=True) as r:
        y = x + 1
        z = y * 2
        del y
        del z
    blocks = r.recorder.memory()
    assert [b.nbytes for b in blocks] == [1 << 20, 1 << 20, -(1 << 20), -(1 << 20)]
    assert [r.events[b.event].name if b.event >= 0 else "" for b in blocks] == ["add", "mul", "", ""]
    assert blocks[0].address == blocks[2].address


def program(n=40):
    """Gradients of small and large tensors, with broadcasting, views and writes."""
    rng = np.random.default_rng(n)
    results = []
    for size in (4, 300):
        x, w = (ag.tensor(rng.normal(size=(size, size)), requires_grad=True) for _ in range(2))
        y = x
        for k in range(n):
            y = (y @ w).tanh() * 0.5 + x if k % 8 == 0 else (y * w + w[0]).sigmoid()
        z = y.clone()
        z[0].mul_(2)
        (z.t().softmax(0) * x).sum().backward()
        results += [z.detach().numpy().copy(), x.grad.numpy(), w.grad.numpy()]
    return results


@pytest.mark.parametrize("options", [{}, {"shapes": True, "stack": True, "memory": True}])
def test_the_same_bits(options):
    plain = program()
    with Recording(**options) as r:
        recorded = program()
    assert len(r.events) > 200 and r.recorder.dropped == 0
    for a, b in zip(plain, recorded, strict=True):
        assert a.tobytes() == b.tobytes()


def test_the_same_path():
    """As many arrays come from the pool as without."""

    def misses():
        x = leaf(300, 300)
        before = ag.memory.memory_stats()
        (((x * 2).tanh() + x).exp() * x).sum().backward()
        after = ag.memory.memory_stats()
        return after["hits"] + after["misses"] - before["hits"] - before["misses"]

    plain = misses()
    with Recording(shapes=True):
        assert misses() == plain


def test_subclasses_and_handlers_while_calls_are_events():
    class Named(ag.Tensor):
        pass

    x = ag.ones(2).as_subclass(Named)
    with Recording() as r:
        assert type(x + 1) is Named and type(-x) is Named

        class Later(ag.Tensor):
            pass

        assert type(ag.ones(2).as_subclass(Later) * 2) is Later
    assert r.names("op")[:2] == ["add", "neg"] and "mul" in r.names("op")
    assert type(x * 1) is Named


def test_within_vmap_and_checkpoints():
    from autograd_cy.utils.checkpoint import checkpoint

    x = leaf(3, 2)
    with Recording() as r:
        ag.vmap(lambda a: (a * 2).sum())(x).sum().backward()
        checkpoint(lambda a: a.exp() * 2, x, use_reentrant=False).sum().backward()
    assert {"mul", "sum", "exp"} <= set(r.names("op")) and len(r.of("exp")) == 2
    assert "ExpBackward0" in r.names("backward")


def test_nothing_is_kept():
    def function(x):
        return x * 2

    def used():
        gc.collect()
        return sys.getrefcount(function.__code__), sys.getrefcount(ag.mul), sys.getrefcount(type(x.grad_fn))

    x = leaf(2) * 1
    function(x)
    before = used()
    for _ in range(3):
        with Recording(shapes=True, stack=True):
            for _ in range(100):
                function(x)
        thread = threading.Thread(target=function, args=(x,))
        with Recording():
            thread.start()
            thread.join()
    after = used()
    assert all(abs(a - b) <= 1 for a, b in zip(before, after, strict=True))


def test_misuse():
    recorder = Recorder()
    with pytest.raises(RuntimeError, match="is not on"):
        recorder.stop()
    recorder.start()
    with pytest.raises(RuntimeError, match="is on already"):
        recorder.start()
    recorder.stop()
    assert events.begin_region("nobody records") is None
    events.end_region(None)
