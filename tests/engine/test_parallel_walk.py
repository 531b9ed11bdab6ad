"""A backward in several threads: the bits of that in one, its error, and what threads, forks, signals and exits do to it."""

import asyncio
import contextvars
import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from typing import ClassVar

import numpy as np
import pytest
from common import leaf
from crossings import thresholds
from parallel_programs import Failure, Fragile, ParallelProgram, several

import autograd_cy as ag
from autograd_cy._core.engine.engine import queue_callback
from autograd_cy.autograd.graph import current_node, parallel_backward

PROGRAMS = int(os.environ.get("AUTOGRAD_CY_PARALLEL_PROGRAMS", "60"))
FIRST = int(os.environ.get("AUTOGRAD_CY_SEED", "0"))
SMALL = {"large_bytes": 1, "unlocked_work": 1, "unlocked_product": 1}  # small arrays take the ways of large ones


class Wait(ag.autograd.Function):
    """Waits in backward, and notes in which thread."""

    threads: ClassVar[list] = []

    @staticmethod
    def forward(ctx, x, seconds):
        ctx.seconds = seconds
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        Wait.threads.append(threading.current_thread())
        time.sleep(ctx.seconds)
        return g, None


def branches(x, seconds, count):
    return sum(Wait.apply(x * k, seconds) for k in range(count))


def called(function):
    """The identity, whose backward calls the function first."""

    class Call(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            function()
            return g

    return Call.apply


# the bits of one thread


@pytest.mark.parametrize("part", range(6))
def test_random_programs(part):
    for seed in range(FIRST + part, FIRST + PROGRAMS, 6):
        with thresholds(SMALL if seed % 3 else {}):
            program = ParallelProgram(seed)
            expected = program.run(1)
            for n in (2, 3, 8):
                assert program.run(n) == expected, (seed, n)


def test_no_layout_depends_on_who_is_first():
    """A gradient was added to a transposed one where another thread held it no longer: half of these runs had its strides."""
    with thresholds(SMALL):
        program = ParallelProgram(11001215)
        expected = program.run(1)
        for _ in range(10):
            for n in (2, 3, 8):
                assert program.run(n) == expected


@pytest.mark.parametrize("part", range(3))
def test_the_error_is_that_of_one_thread(part):
    for seed in range(FIRST + part, FIRST + PROGRAMS // 4, 3):
        program = ParallelProgram(seed)
        for failing in range(program.steps):
            expected = program.run(1, failing)
            assert program.run(3, failing) == expected, (seed, failing)


@pytest.mark.parametrize("n", [2, 8])
def test_sums_are_in_the_order_of_one_thread(n):
    """Numbers of many sizes: each order of summing them has other bits."""

    def gradient(threads):
        x = leaf(np.ones(3))
        terms = [Wait.apply(x * 10.0 ** (k * 7 % 11 - 5) / 3, 0.004 * (k % 3)) for k in range(12)]
        with several(threads) if threads > 1 else parallel_backward(1):
            sum(terms).sum().backward()
        return x.grad.numpy().tobytes()

    assert gradient(n) == gradient(1)


def test_a_part_leaves_minus_zero_elsewhere_as_it_is():
    def gradient(threads):
        x = leaf(np.ones((4, 3)))
        y = x * 1
        with thresholds({"large_bytes": 1}):
            first = (y * -0.0).sum()
            parts = [Wait.apply(y[k], 0.003 * (3 - k)).sum() for k in range(3)]
            with several(threads) if threads > 1 else parallel_backward(1):
                (parts[0] + parts[1] + parts[2] + first).backward()
        return x.grad.numpy().tobytes()

    assert gradient(3) == gradient(1)


def test_random_numbers_keep_their_order():
    def drawn(threads):
        ag.manual_seed(1)
        seen = {}
        x = leaf([1.0])
        terms = []
        for k in range(6):
            def draw(k=k):
                time.sleep(0.002 * (6 - k))
                seen[k] = ag.rand(1).item()
            terms.append(called(draw)(x))
        with several(threads) if threads > 1 else parallel_backward(1):
            sum(terms).backward()
        return seen, ag.rand(1).item()

    assert drawn(4) == drawn(1)


# branches run side by side


def test_branches_that_wait_wait_together():
    x = leaf([1.0, 2.0])
    y = branches(x, 0.05, 8).sum()
    Wait.threads.clear()
    with parallel_backward(8):
        y.backward()
    assert len(set(Wait.threads)) > 3
    assert x.grad.tolist() == [28.0, 28.0]


def test_threads_are_set_for_all():
    assert ag.get_num_interop_threads() == 1
    ag.set_num_interop_threads(4)
    try:
        Wait.threads.clear()
        branches(leaf([1.0]), 0.01, 4).backward()
        assert len(set(Wait.threads)) > 1
        with parallel_backward(1):
            assert ag.get_num_interop_threads() == 1
            Wait.threads.clear()
            branches(leaf([1.0]), 0.001, 4).backward()
            assert set(Wait.threads) == {threading.current_thread()}
    finally:
        ag.set_num_interop_threads(1)


def test_it_is_a_decorator():
    @parallel_backward(3)
    def threads():
        return ag.get_num_interop_threads()

    assert (threads(), ag.get_num_interop_threads()) == (3, 1)


@pytest.mark.parametrize(("error", "n"), [(TypeError, 2.0), (RuntimeError, 0), (RuntimeError, 10**6)])
def test_wrong_numbers_of_threads(error, n):
    with pytest.raises(error, match="parallel_backward expects"):
        parallel_backward(n)


def test_other_threads_may_be_forbidden():
    Wait.threads.clear()
    with several(4), ag.autograd.set_multithreading_enabled(False):
        branches(leaf([1.0]), 0.001, 4).backward()
    assert set(Wait.threads) == {threading.current_thread()}


def test_create_graph_takes_one_thread():
    x = leaf([1.0])
    Wait.threads.clear()
    with several(4):
        (g,) = ag.autograd.grad(branches(x, 0.001, 4), x, create_graph=True)
    assert set(Wait.threads) == {threading.current_thread()}
    assert g.requires_grad is False or g.item() == 6.0


# what travels


def test_modes_and_contexts_travel():
    seen = []
    variable = contextvars.ContextVar("variable", default=0)

    def look():
        time.sleep(0.002)
        seen.append((ag.is_grad_enabled(), ag.is_anomaly_enabled(), variable.get(), current_node() is not None))

    def pack(t):
        return t

    x = leaf([1.0])
    variable.set(7)
    with ag.autograd.set_detect_anomaly(True, check_nan=False), ag.autograd.graph.saved_tensors_hooks(pack, pack):
        y = sum(called(look)(x * k) for k in range(6))
        with several(3):
            y.backward()
    assert seen == [(False, True, 7, True)] * 6
    assert not ag.is_anomaly_enabled() and ag.is_grad_enabled()


def test_each_thread_has_its_own_node():
    nodes = []
    x = leaf([1.0])
    terms = [Wait.apply(x, 0.0) for _ in range(6)]
    for term in terms:
        term.register_hook(lambda g, node=term.grad_fn: nodes.append((time.sleep(0.002), current_node() is node)[1]))
    with several(3):
        sum(terms).backward()
    assert nodes == [True] * 6


def test_needs_input_grad_is_that_of_the_running_backward():
    seen = []

    class Both(ag.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a * b

        @staticmethod
        def backward(ctx, g):
            time.sleep(0.002)
            seen.append(ctx.needs_input_grad)
            return g, g

    a, b = leaf([1.0]), leaf([2.0])
    y = sum(Both.apply(a, b) for _ in range(5))
    with several(3):
        ag.autograd.grad(y, a)
    assert seen == [(True, False)] * 5


def test_callbacks_run_in_the_callers_thread_as_the_last():
    order = []
    x = leaf([1.0])

    def queue():
        queue_callback(lambda: order.append(threading.current_thread()))
        time.sleep(0.002)
        order.append("node")

    with several(3):
        sum(called(queue)(x) for _ in range(4)).backward()
    assert order == ["node"] * 4 + [threading.current_thread()] * 4


def test_there_is_no_execution_order():
    errors = []

    def ask():
        try:
            ag.autograd.graph.execution_order()
        except RuntimeError as error:
            errors.append(str(error))

    with several(2):
        sum(called(ask)(leaf([1.0])) for _ in range(2)).backward()
    assert len(errors) == 2 and "set_multithreading_enabled(False)" in errors[0]


# errors


def test_the_error_comes_with_its_note_and_the_graph_can_run_again():
    x = leaf([1.0])
    y = sum(Fragile.apply(Wait.apply(x, 0.001), k) for k in range(5))
    Fragile.number = 2
    try:
        with several(3), pytest.raises(Failure) as caught:
            y.backward(retain_graph=True)
    finally:
        Fragile.number = -1
    assert "This happened in the backward of <FragileBackward>" in caught.value.__notes__[0]
    x.grad = None
    with several(3):
        y.backward()
    assert x.grad.tolist() == [5.0]


def test_nothing_waits_for_a_turn_that_does_not_come():
    x = leaf([1.0])

    def fail():
        time.sleep(0.003)
        raise Failure

    def draw():
        ag.rand(1)

    with several(4), pytest.raises(Failure):
        sum(called(f)(x) for f in (draw, draw, draw, fail)).backward()


def test_a_graph_that_is_cut_meanwhile():
    """Gradients that don't come any more are not waited for: it ends."""
    x = leaf([1.0])
    y = x * 2
    z = y * 3
    terms = [Wait.apply(z, 0.004) + z[:1] for _ in range(3)]
    with several(3):
        (sum(terms) + called(lambda: ag.autograd.graph.unchain_backward(z))(x) + called(lambda: ag.rand(1))(x)).backward()


# reentrancy, threads


class Deep(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x, levels):
        ctx.levels = levels
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        if ctx.levels:
            with ag.enable_grad():
                (Deep.apply(leaf([1.0, 2.0]), ctx.levels - 1) + leaf([1.0, 1.0])).sum().backward()
        return g, None


def test_hundreds_of_levels():
    x = leaf([1.0, 2.0])
    with several(3, slow=0.01):
        (Deep.apply(x, 300) + Deep.apply(x, 20)).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_branches_of_a_nested_backward_run_side_by_side():
    def inner():
        with ag.enable_grad():
            branches(leaf([1.0]), 0.03, 4).backward()

    Wait.threads.clear()
    x = leaf([1.0])
    y = called(inner)(x) + called(inner)(x)
    with parallel_backward(8):
        y.backward()
    assert len(set(Wait.threads)) > 2


def test_several_callers():
    x = leaf([1.0, 2.0])
    failures = []

    def call():
        try:
            for _ in range(5):
                with several(3):
                    ag.autograd.backward(branches(x, 0.0005, 4).sum())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert x.grad.tolist() == [90.0, 90.0]


def test_one_graph_in_several_threads():
    x = leaf([1.0])
    y = branches(x, 0.001, 4)

    def call():
        with parallel_backward(3):
            y.backward(retain_graph=True)

    threads = [threading.Thread(target=call) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.item() == 18.0


def test_asyncio_and_generators():
    async def work(n):
        with parallel_backward(n):
            await asyncio.sleep(0)
            x = leaf([1.0])
            branches(x, 0.001, 3).backward()
            return ag.get_num_interop_threads(), x.grad.item()

    async def both():
        return await asyncio.gather(work(2), work(3))

    assert asyncio.run(both()) == [(2, 3.0), (3, 3.0)]

    @parallel_backward(2)
    def generate():
        for _ in range(2):
            x = leaf([1.0])
            branches(x, 0.001, 3).backward()
            yield ag.get_num_interop_threads(), x.grad.item()

    assert [(ag.get_num_interop_threads(), item) for item in generate()] == [(1, (2, 3.0))] * 2


# lifetimes


def test_nothing_is_kept():
    x = leaf(np.ones(4))
    value = x * 2
    arrays = [weakref.ref(value)]
    y = branches(value, 0.001, 4).sum()
    del value
    with several(3):
        y.backward()
    del y
    gc.collect()
    assert [ref() for ref in arrays] == [None]
    with several(3), pytest.raises(Failure):
        z = x * 2
        arrays.append(weakref.ref(z))
        Fragile.number = 1
        sum(Fragile.apply(Wait.apply(z, 0.001), k) for k in range(3)).sum().backward()
    Fragile.number = -1
    del z
    gc.collect()
    assert [ref() for ref in arrays] == [None, None]


def run_script(script, timeout=30):
    return subprocess.run([sys.executable, "-c", HEADER + script], capture_output=True, text=True, timeout=timeout)


HEADER = """
import os, signal, sys, threading, time
import autograd_cy as ag
from autograd_cy.autograd.graph import parallel_backward

seen = set()    # threads in which something waited

class Wait(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x, seconds):
        ctx.seconds = seconds
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        seen.add(threading.get_native_id())
        end = time.monotonic() + ctx.seconds
        while time.monotonic() < end:
            time.sleep(0.005)
        return g, None

def step(seconds, count=4):
    x = ag.ones(2, requires_grad=True)
    with parallel_backward(4):
        sum(Wait.apply(x * k, seconds) for k in range(count)).sum().backward()
    return x.grad.tolist()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_has_its_own_threads():
    found = run_script("""
step(0.01)
child = os.fork()
seen.clear()
found = step(0.1)
assert found == [6.0, 6.0] and len(seen) > 1, (found, seen)
if child:
    assert os.waitpid(child, 0)[1] == 0
os._exit(0)
""")
    assert found.returncode == 0, found.stderr


def test_the_interpreter_ends_while_a_backward_runs():
    found = run_script("""
threading.Thread(target=step, args=(3.0,), daemon=True).start()
time.sleep(0.2)
print("ends")
""")
    assert (found.returncode, found.stdout, found.stderr) == (0, "ends\n", "")


def test_the_interpreter_waits_for_a_thread_that_runs_a_backward():
    found = run_script("""
threading.Thread(target=lambda: print(step(0.2)), daemon=False).start()
""")
    assert (found.returncode, found.stdout, found.stderr) == (0, "[6.0, 6.0]\n", "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("count", [1, 4])
def test_ctrl_c(count):
    """It reaches the caller, whether that runs a node or waits; afterwards all is as before."""
    found = run_script(f"""
signal.signal(signal.SIGINT, signal.default_int_handler)    # jobs in the background of a shell ignore it
threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    step(0.4, {count})
except KeyboardInterrupt:
    print("stopped")
print(step(0.01))
""")
    assert (found.returncode, found.stdout) == (0, "stopped\n[6.0, 6.0]\n"), found.stderr
