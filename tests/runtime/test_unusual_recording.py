"""Recorders used in wrong ways: nothing crashes, nothing stays on, nothing is kept, and events stay nested."""

import contextlib
import ctypes
import functools
import gc
import os
import subprocess
import sys
import sysconfig
import threading
import time
import weakref

import pytest

import autograd_cy as ag
from autograd_cy._core.inspection.recorder import Recorder
from autograd_cy._core.ops import costs
from autograd_cy._core.recording import events
from autograd_cy.profiler import profile, record_function

# The first free-threaded CPython keeps classes for ever, and what a script leaves behind for longer than its modules.
classes_die = pytest.mark.skipif(
    bool(sysconfig.get_config_var("Py_GIL_DISABLED")) and sys.version_info < (3, 14), reason="classes live for ever there"
)


def leaf(*shape):
    return ag.ones(*shape, requires_grad=True)


@contextlib.contextmanager
def recording(**options):
    recorder = Recorder(**options)
    recorder.start()
    try:
        yield recorder
    finally:
        recorder.stop()


@pytest.fixture(autouse=True)
def nothing_stays_on():
    yield
    gc.collect()
    assert not events.is_recording()


def check_nesting(found):
    starts: dict = {}
    for place, event in enumerate(found):
        assert starts.get(event.thread, 0) <= event.start <= event.end
        starts[event.thread] = event.start
        if event.parent >= 0:
            around = found[event.parent]
            assert event.parent < place and around.thread == event.thread
            assert around.start <= event.start and event.end <= around.end


def names(recorder):
    return [event.name for event in recorder.events()]


def parents(recorder):
    found = recorder.events()
    return {event.name: found[event.parent].name if event.parent >= 0 else None for event in found}


# regions


def test_regions_ended_out_of_order():
    """The inner one ended later than the one around it, which went on to be around what came after it."""
    x = ag.ones(2)
    with recording() as r:
        outer, inner = events.begin_region("outer"), events.begin_region("inner")
        events.end_region(outer)
        x + 1
        events.end_region(inner)
        x * 2
        events.end_region(inner)
        events.end_region(outer)
        x - 1
    check_nesting(r.events())
    assert parents(r) == {"outer": None, "inner": "outer", "add": None, "mul": None, "sub": None}


def test_a_region_that_another_thread_ends():
    """The numbers of its nodes were counted with those of the other thread: 4294967245 of them."""
    x = leaf(2)
    with recording() as r:
        region = events.begin_region("region")
        x * 2
        thread = threading.Thread(target=events.end_region, args=(region,))
        thread.start()
        thread.join()
        x + 1
    check_nesting(r.events())
    assert parents(r) == {"region": None, "mul": "region", "add": None}
    assert all(event.n_nodes <= 1 for event in r.events())


def test_a_region_that_outlives_its_thread():
    """The ring of the thread was freed, and written to by the region's end."""
    tokens = []
    for n in range(20):
        with recording(capacity=100 + n):
            thread = threading.Thread(target=lambda: tokens.append(events.begin_region("region")))
            thread.start()
            thread.join()
    for token in tokens:
        events.end_region(token)
    with recording() as r:
        for token in tokens:
            events.end_region(token)
    assert r.events() == []


def test_generators_and_tasks_hold_regions_open():
    x = ag.ones(1)

    def generator(name):
        with record_function(name):
            for _ in range(4):
                yield x + 1

    with recording() as r:
        one, two = generator("one"), generator("two")
        next(one), next(two), next(one)
        one.close()
        next(two), next(two)
        with record_function("three"):
            list(two)
        abandoned = generator("abandoned")
        next(abandoned)
        del abandoned
        x * 2
    check_nesting(r.events())
    assert parents(r)["mul"] is None and parents(r)["three"] is None


def test_a_region_that_ends_within_a_hook():
    x = leaf(600, 600)
    with recording() as r:
        region = events.begin_region("region")
        y = x * 2
        y.register_hook(lambda g: events.end_region(region))
        (y.exp() + y).sum().backward()
        x + 1
    check_nesting(r.events())
    assert parents(r)["add"] is None and all(event.start >= r.start_time for event in r.events())


def test_what_is_no_region():
    for wrong in ("text", 1, Recorder()):
        with pytest.raises(TypeError):
            events.end_region(wrong)
    for wrong in (None, 1, b"name"):
        with pytest.raises(TypeError, match="must be a str"):
            events.begin_region(wrong)


def test_names_of_a_subclass_of_str():
    class Name(str):
        __slots__ = ()

    with profile() as prof, record_function(Name("mine")):
        pass
    assert [event.name for event in prof.events()] == ["mine"]


# hooks


def hook_of(name, representation):
    class Hook:
        @property
        def __name__(self):
            return name()

        def __repr__(self):
            return representation()

        def __call__(self, g):
            return g * 2

    return Hook()


def failing():
    raise ValueError("no name")


def test_hooks_whose_names_fail():
    """A hook without a name, or with one that is no str, made a backward fail that is recorded, and no other one."""
    for hook in (hook_of(failing, failing), hook_of(lambda: 5, failing), hook_of(lambda: None, failing)):
        x = leaf(2)
        y = x * 2
        y.register_hook(hook)
        with recording() as r:
            y.sum().backward()
        assert x.grad.tolist() == [4.0, 4.0] and "Hook" in names(r)


def test_partials_have_the_name_of_their_function():
    """Their repr was the name, with the tensors in it, which were printed for that."""

    def scaled(factor, g):
        return g * factor

    y = leaf(2) * 2
    y.register_hook(functools.partial(functools.partial(scaled), ag.ones(2)))
    with recording() as r:
        y.sum().backward()
    assert [event.name for event in r.events() if event.kind == "hook"] == ["scaled"]


# Recorders


def test_a_recorder_that_nobody_holds_stops():
    recorder = Recorder(memory=True)
    recorder.start()
    ag.ones(2) + 1
    del recorder
    assert not events.is_recording()
    prof = profile()
    prof.start()
    del prof
    gc.collect()
    assert not events.is_recording()
    with recording() as r:
        ag.ones(2) * 1
    assert "add" not in names(r)


def test_one_that_nobody_holds_leaves_others_on():
    kept, dropped = Recorder(), Recorder(shapes=True)
    kept.start()
    dropped.start()
    dropped = None
    ag.ones(2) + 1
    kept.stop()
    assert "add" in names(kept) and dropped is None


def test_sizes_that_are_none():
    """2**62 events are 0 bytes, modulo 2**64, and the first one was written beyond them."""
    for capacity in (-1, 1 << 29, 1 << 62, (1 << 63) - 1):
        with pytest.raises(ValueError, match="number of events"):
            Recorder(capacity=capacity)
    with pytest.raises(OverflowError):
        Recorder(capacity=1 << 64)


def test_one_that_was_not_made_by_its_class():
    r = Recorder.__new__(Recorder)
    r.start()
    ag.ones(2) + 1
    with pytest.raises(RuntimeError, match="is on already"):
        r.__init__(shapes=True)
    r.stop()
    assert "add" in names(r)


@pytest.mark.parametrize("capacity", [1, 2, 7, 64])
def test_little_room(capacity):
    x = leaf(2, 2)
    with recording(capacity=capacity, shapes=True, stack=True, memory=True) as r:
        for _ in range(50):
            (x @ x + x).sum().backward()
    check_nesting(r.events())
    assert len(r.events()) == capacity and r.dropped > 0


def test_more_operands_than_are_counted():
    many = [ag.ones(1)] * 400
    with recording(shapes=True) as r:
        ag.cat(many)
    (event,) = r.events()
    assert len(event.operands) == 255 and event.result.shape == (400,)


def test_many_dimensions():
    x = ag.ones([1] * 32)
    with recording(shapes=True, stack=True) as r:
        x + x
    assert r.events()[0].operands[0].shape == (1,) * 32


def given_up(step):
    """Record a step so that only the ring holds its events when the last Recorder stops."""
    first, last = Recorder(capacity=200), Recorder()
    first.start()
    step()
    last.start()
    first.stop()
    del first
    last.stop()


def test_what_is_given_up_records():
    """It was given up twice: a Recorder within a `__del__` emptied the ring that was being emptied."""

    class Records:
        def __init__(self, depth):
            self.depth = depth

        def __del__(self):
            given_up(self.step)

        def step(self):
            ag.ones(2) + 1
            if self.depth:
                events.end_region(events.begin_region("inner", Records(self.depth - 1)))

    def step():
        for _ in range(10):
            events.end_region(events.begin_region("region", Records(3)))

    before = sys.getrefcount(step.__code__)
    for _ in range(5):
        given_up(step)
    assert abs(sys.getrefcount(step.__code__) - before) < 5


def test_what_is_given_up_starts_a_recorder_and_leaves_it_on():
    left = []

    class Starts:
        def __del__(self):
            left.append(Recorder(capacity=77))
            left[-1].start()

    given_up(lambda: events.begin_region("region", Starts()))
    assert events.is_recording()
    ag.ones(1) + 1
    left[0].stop()
    assert "add" in names(left[0])


@classes_die
def test_the_rest_of_a_backward_keeps_nothing():
    """What ran after the last Recorder had stopped was noted, and kept until the next one stopped."""

    class Mine(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    node_class = weakref.ref(Mine._backward_cls)
    recorder = Recorder()
    y = Mine.apply(leaf(2)) * 1
    y.register_hook(lambda g: recorder.stop())
    recorder.start()
    y.sum().backward()
    del y, Mine
    gc.collect()
    assert node_class() is None


def test_one_that_starts_and_one_that_stops_in_each_hook():
    recorders = []

    def toggle(g):
        if recorders and len(recorders) % 2:
            recorders[-1].stop()
            recorders.append(None)
        else:
            recorders.append(Recorder(capacity=100 + len(recorders), shapes=True))
            recorders[-1].start()

    x = leaf(3)
    y = x
    for _ in range(10):
        y = y * 1.5
        y.register_hook(toggle)
    plain = ag.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist()
    assert not events.is_recording()
    y.sum().backward()
    assert x.grad.tolist() == plain == [1.5**10] * 3
    for recorder in filter(None, recorders):
        check_nesting(recorder.events())


# threads


def test_started_in_one_thread_and_stopped_in_another():
    r = Recorder()
    for step in (r.start, lambda: ag.ones(1) + 1, r.stop):
        thread = threading.Thread(target=step)
        thread.start()
        thread.join()
    assert "add" in names(r)


def test_deeply_nested_with_recorders_that_start_inside():
    started = []

    @ag.enable_grad()
    def deeper(depth):
        y = leaf(1) * 2
        if depth:
            y.register_hook(lambda g: deeper(depth - 1))
        if depth % 7 == 0:
            started.append(Recorder(capacity=1000 + depth))
            started[-1].start()
        y.sum().backward()
        if depth % 14 == 0:
            started.pop(0).stop()

    for _ in range(2):
        deeper(120)
        found = [r.stop() or r for r in started]
        started.clear()
        for recorder in found:
            check_nesting(recorder.events())


def test_many_threads():
    x = ag.ones(1)
    with recording(shapes=True) as r:
        threads = [threading.Thread(target=lambda: [x + 1 for _ in range(5)]) for _ in range(300)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert names(r).count("add") == 1500
    assert len(r.threads) == len({name for _, name in r.threads})


def test_toggled_while_threads_compute():
    """Threads that end while others read, with large loops in them: rings were freed that were being read."""
    ending = time.monotonic() + 1.5
    errors = []

    def work(size):
        x = leaf(size)
        for _ in range(3):
            (x * 2).exp().sum().backward()

    def toggle(n):
        try:
            while time.monotonic() < ending:
                with recording(capacity=500 + 300 * n, shapes=n == 1, memory=True) as r:
                    threads = [threading.Thread(target=work, args=(size,)) for size in (10, 300_000)]
                    for thread in threads:
                        thread.start()
                check_nesting(r.events())
                for thread in threads:
                    thread.join()
        except BaseException as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        togglers = [threading.Thread(target=toggle, args=(n,)) for n in range(3)]
        for thread in togglers:
            thread.start()
        for thread in togglers:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert errors == []


def test_threads_that_python_does_not_know_stay_so():
    """They were entered as dummies among threading's, where they stay for ever."""
    import _thread

    done = threading.Event()
    before = threading.active_count()
    with recording() as r:
        _thread.start_new_thread(lambda: (ag.ones(1) + 1, done.set()), ())
        assert done.wait(10)
    assert threading.active_count() == before
    assert any(name.startswith("thread ") for _, name in r.threads)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls pthreads by ctypes")
def test_a_thread_of_the_system_that_enters_python_twice():
    """Its ring was freed with Python's thread, and used again by the next one of the same thread of the system."""
    pthreads = ctypes.CDLL(None)
    key, thread, counts = ctypes.c_uint(), ctypes.c_ulong(), []

    @ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    def first(_):
        ag.ones(1) + 1
        pthreads.pthread_setspecific(key, ctypes.c_void_p(1))

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def at_its_end(_):
        outer.stop()
        with recording() as r:
            ag.ones(1) + 1
        counts.append(names(r))

    pthreads.pthread_key_create(ctypes.byref(key), at_its_end)
    outer = Recorder()
    outer.start()
    pthreads.pthread_create(ctypes.byref(thread), None, first, None)
    pthreads.pthread_join(thread, None)
    pthreads.pthread_key_delete(key)
    assert "add" in names(outer) and "add" in counts[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_forked_child_goes_on():
    x = leaf(2)
    waiting, going = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (x + 1, waiting.set(), going.wait(10), x + 1))
    with recording(shapes=True) as r:
        region = events.begin_region("around")
        thread.start()
        waiting.wait(10)
        child = os.fork()
        if child == 0:
            try:
                (x * 2).sum().backward()
                events.end_region(region)
                r.stop()
                with recording() as again:
                    x * 2
                os._exit(0 if "MulBackward0" in names(r) and names(again) == ["mul"] else 1)
            finally:
                os._exit(2)
        going.set()
        thread.join()
        assert os.waitpid(child, 0)[1] == 0
    check_nesting(r.events())


def test_recorders_in_callbacks_of_the_collector():
    found = []

    def callback(phase, info):
        with recording(capacity=100 + len(found) % 3) as r:
            ag.ones(1) + 1
        found.append(len(r.events()))

    threshold = gc.get_threshold()
    gc.callbacks.append(callback)
    gc.set_threshold(5)
    try:
        for _ in range(5):
            x = leaf(2)
            with recording(shapes=True, stack=True) as r:
                (x * 2).exp().sum().backward()
                gc.collect(0)       # without a GIL, few new objects are no reason to collect
            check_nesting(r.events())
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(callback)
    assert found and min(found) >= 1


def test_an_exception_stays_while_memory_is_freed():
    """That may be the first event of a thread, which then gets its ring while an exception is on its way."""
    seen = []

    def work(held):
        try:
            (held.pop(), 1 // 0)
        except BaseException as error:
            seen.append(type(error))

    held = [ag.ones(512, 512) * 2]
    with recording(memory=True) as r:
        thread = threading.Thread(target=work, args=(held,))
        thread.start()
        thread.join()
    assert seen == [ZeroDivisionError] and [block.nbytes for block in r.memory()] == [-(1 << 20)]


# what was there before


def test_operators_are_as_they_were():
    """Subclasses, handlers and Recorders come and go, in all orders."""
    script = """
import itertools
import autograd_cy as ag
from autograd_cy._core.inspection.recorder import Recorder
from autograd_cy._core.ops.overrides import calls_handed_to

def handler(function, args, kwargs):
    return "handled"

def check(recorder, handled):
    x = ag.ones(2)
    for result in (x + 1, -x, x == x, x[0], ag.exp(x), x ** 2):
        assert (result == "handled") is True if handled else isinstance(result, ag.Tensor), result
    assert type(x.as_subclass(Sub) * 2) is Sub if Sub and not handled else True

Sub = None
for order in itertools.product("rhs", repeat=6):
    recorder, handing = None, None
    for act in order:
        if act == "r":
            if recorder is None:
                recorder = Recorder(shapes=True)
                recorder.start()
            else:
                recorder.stop()
                assert len(recorder.events()) > 0
                recorder = None
        elif act == "h":
            if handing is None:
                handing = calls_handed_to(handler)
                handing.__enter__()
            else:
                handing.__exit__(None, None, None)
                handing = None
        else:
            class Sub(ag.Tensor):
                pass
        check(recorder, handing is not None)
    if handing is not None:
        handing.__exit__(None, None, None)
    if recorder is not None:
        recorder.stop()
    check(None, False)
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@classes_die
def test_an_exit_that_is_recorded():
    script = """
import threading, time
import autograd_cy as ag
from autograd_cy._core.inspection.recorder import Recorder

class AtExit:
    def __del__(self):
        (ag.ones(2, requires_grad=True) * 2).sum().backward()

kept = AtExit()
r = Recorder(shapes=True, stack=True, memory=True)
r.start()
x = ag.ones(2000, 2000, requires_grad=True)
def work():
    while True:
        (x * 2).sum().backward()
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_event_takes_what_it_took():
    assert costs.event_ns(1000) < 10_000
