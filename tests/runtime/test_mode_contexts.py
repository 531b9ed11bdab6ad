"""Modes belong to contexts: asyncio tasks, threads, generators, copied contexts."""

import asyncio
import contextvars
import inspect
import threading

import pytest
from common import IS_TORCH, differs, in_threads, leaf

import autograd_cy as torch
from autograd_cy import autograd

enabled = torch.is_grad_enabled


def recorded():
    """Whether an operation is recorded here, and the flag says so."""
    y = leaf(2.0) * 3
    assert y.requires_grad == enabled()
    return y.requires_grad


def run(*coroutines):
    """What the coroutines return, run at once as tasks of one loop."""

    async def gather():
        return await asyncio.gather(*coroutines)

    return asyncio.run(gather())


async def looks(times, log):
    for _ in range(times):
        log.append(recorded())
        await asyncio.sleep(0)
    return log


MODES = {
    "no_grad": lambda: torch.no_grad(),
    "set_grad_enabled": lambda: torch.set_grad_enabled(False),
    "inference_mode": lambda: torch.inference_mode(),
}


# Tasks


@differs("in tasks of asyncio", "a mode leaks into other coroutines")
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_a_mode_stays_in_its_task(mode):
    async def unrecorded():
        seen = [recorded()]
        with mode():
            for _ in range(3):
                seen.append(recorded())
                await asyncio.sleep(0)
        return [*seen, recorded()]

    ours, others = run(unrecorded(), looks(5, []))
    assert ours == [True, False, False, False, True]
    assert others == [True] * 5 and recorded()


@differs("in tasks of asyncio", "a mode leaks into other coroutines")
def test_a_statement_stays_in_its_task():
    async def switch():
        torch.set_grad_enabled(False)
        await asyncio.sleep(0)
        return recorded()

    ours, others = run(switch(), looks(3, []))
    assert ours is False and others == [True] * 3 and recorded()


@differs("in tasks of asyncio", "a mode leaks into other coroutines")
def test_opposite_modes_at_once():
    async def task(number):
        with torch.set_grad_enabled(bool(number % 2)):
            seen = await looks(4, [])
            with torch.set_grad_enabled(not number % 2):
                return seen, await looks(3, [])

    with torch.no_grad():
        for number, (outer, inner) in enumerate(run(*map(task, range(6)))):
            assert outer == [bool(number % 2)] * 4
            assert inner == [not number % 2] * 3
        assert not recorded()
    assert recorded()


@differs("in tasks of asyncio", "a task looks at the thread's mode")
def test_a_task_inherits_the_mode_in_which_it_was_made():
    async def main():
        with torch.no_grad():
            inside = asyncio.create_task(looks(3, []))
        outside = asyncio.create_task(looks(3, []))
        return await inside, await outside, recorded()

    assert asyncio.run(main()) == ([False] * 3, [True] * 3, True)
    assert recorded()


@differs("in tasks of asyncio", "a mode leaks into other coroutines")
def test_an_exception_in_a_task_ends_its_mode_only():
    async def fail():
        with torch.no_grad():
            await asyncio.sleep(0)
            raise KeyError

    async def main():
        with torch.no_grad():
            failing = asyncio.create_task(fail())
            with torch.enable_grad():
                seen = await looks(3, [])
            with pytest.raises(KeyError):
                await failing
            return seen, recorded()

    assert asyncio.run(main()) == ([True] * 3, False)
    assert recorded()


@differs("in tasks of asyncio", "a mode leaks into other coroutines")
def test_a_cancelled_task_ends_its_mode_only():
    async def sleeper():
        with torch.inference_mode():
            await asyncio.sleep(60)

    async def main():
        task = asyncio.create_task(sleeper())
        await asyncio.sleep(0)
        seen = recorded()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen, recorded()

    assert asyncio.run(main()) == (True, True)


@differs("in tasks of asyncio", "the mode is on while the coroutine is made, off while it runs")
def test_a_decorated_coroutine_function_runs_in_its_mode():
    @torch.no_grad()
    async def unrecorded():
        """Documented."""
        return await looks(3, [])

    assert inspect.iscoroutinefunction(unrecorded) and unrecorded.__doc__ == "Documented."
    assert run(unrecorded(), looks(3, [])) == [[False] * 3, [True] * 3]


@differs("in tasks of asyncio", "the mode is on while the generator is made, off while it runs")
def test_a_decorated_async_generator_function_runs_in_its_mode():
    log = []

    @torch.no_grad()
    async def numbers():
        try:
            got = yield recorded()
            log.append(got)
            await asyncio.sleep(0)
            try:
                yield recorded()
            except KeyError:
                log.append(recorded())
            yield recorded()
        finally:
            log.append(recorded())

    async def main():
        generator = numbers()
        seen = [await anext(generator), recorded(), await generator.asend("sent"), recorded()]
        seen += [await generator.athrow(KeyError), recorded()]
        await generator.aclose()
        return [*seen, recorded()]

    assert asyncio.run(main()) == [False, True, False, True, False, True, True]
    assert log == ["sent", False, False]


@differs("in tasks of asyncio", "a mode leaks into other coroutines")
def test_backward_and_functions_in_tasks_keep_their_modes():
    modes = []

    class Probe(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            modes.append(enabled())
            return x * 2

        @staticmethod
        def backward(ctx, g):
            modes.append(enabled())
            return g * 2

    async def train():
        x = leaf(3.0)
        with torch.enable_grad():
            for _ in range(3):
                await asyncio.sleep(0)
                Probe.apply(x).backward()
        return x.grad.item()

    async def idle():
        with torch.no_grad():
            await looks(4, [])

    assert run(train(), idle()) == [6.0, None]
    assert modes == [False, False] * 3


# The core's own switches


def test_a_copied_context_within_backward_does_not_record():
    seen = []
    x = leaf(2.0)
    with torch.enable_grad():
        y = x * x
        y.register_hook(lambda g: seen.append(contextvars.copy_context().run(recorded)))
        y.backward()
        assert recorded()
    assert seen == [False]


def test_what_a_hook_sets_ends_with_its_backward():
    x = leaf(2.0)
    with torch.no_grad(), torch.enable_grad():
        y = x * x
        y.register_hook(lambda g: [torch.set_grad_enabled(mode) for mode in (True, False, True, False)] and None)
        y.backward()
        assert recorded()
    assert recorded()


def test_a_loop_within_forward_is_not_recorded():
    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            Nested.seen = run(looks(2, []), looks(2, []))
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g

    for mode in (torch.enable_grad(), torch.set_grad_enabled(True)):
        with mode:
            assert Nested.apply(leaf(1.0)).requires_grad
        assert Nested.seen == [[False] * 2] * 2
    assert recorded()


def test_a_mode_within_a_hook_holds_in_copied_contexts():
    seen = []

    def hook(g):
        with torch.enable_grad():
            seen.append(contextvars.copy_context().run(recorded))
        seen.append(contextvars.copy_context().run(recorded))

    with torch.enable_grad():
        y = leaf(2.0) * 2
        y.register_hook(hook)
        y.backward()
    assert seen == [True, False]


# Threads


def test_a_new_thread_records():
    seen = []

    def look():
        seen.append(recorded())
        with torch.no_grad():
            seen.append(recorded())
        seen.append(recorded())

    with torch.no_grad():
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert not recorded()
    assert seen == [True, False, True]


def test_a_thread_in_a_copied_context_records():
    async def main():
        def look():
            seen = [recorded()]
            with torch.enable_grad():
                seen.append(recorded())
            with torch.no_grad():
                seen.append(recorded())
            return [*seen, recorded()]

        with torch.no_grad():
            return await asyncio.to_thread(look)

    assert asyncio.run(main()) == [True, True, False, True]
    assert recorded()


def test_threads_with_loops_of_their_own():
    async def task(number):
        with torch.set_grad_enabled(bool(number % 2)):
            return await looks(20, [])

    def work(number):
        results = run(*map(task, range(4))) if not IS_TORCH else [[False] * 20, [True] * 20] * 2
        assert results == [[bool(n % 2)] * 20 for n in range(4)]
        assert recorded()

    in_threads(4, work)


# Generators and contexts


def test_a_suspended_generator_shares_its_callers_mode():
    def suspended():
        with torch.no_grad():
            yield

    generator = suspended()
    next(generator)
    assert not recorded()
    generator.close()
    assert recorded()


def test_a_decorated_generator_does_not():
    @torch.inference_mode()
    def numbers():
        got = yield recorded()
        try:
            yield got, recorded()
        except KeyError:
            yield recorded()

    generator = numbers()
    assert next(generator) is False and recorded()
    assert generator.send(1) == (1, False) and recorded()
    assert generator.throw(KeyError) is False and recorded()
    generator.close()
    assert recorded()


@differs("copied contexts", "contexts don't matter")
def test_a_context_keeps_what_was_set_in_it():
    context = contextvars.copy_context()
    context.run(torch.set_grad_enabled, False)
    assert recorded() and not context.run(recorded)
    inner = context.run(contextvars.copy_context)
    context.run(torch.set_grad_enabled, True)
    assert recorded() and context.run(recorded) and not inner.run(recorded)
    del inner
    assert recorded() and context.run(recorded)


def test_a_foreign_value_of_the_variable_does_no_harm():
    context = contextvars.copy_context()
    with torch.no_grad():
        variables = [v for v in contextvars.copy_context() if v.name == "autograd_cy.modes"]
        for variable in variables:
            context.run(variable.set, "nonsense")
            assert context.run(recorded)
        assert not recorded()
    assert recorded() and context.run(recorded)


def packs(log):
    return autograd.graph.saved_tensors_hooks(lambda x: log.append(x) or x, lambda x: x)


def saves():
    """Whether an operation is recorded that saves its input."""
    return leaf(2.0).square().requires_grad


def test_saved_tensor_hooks_outlast_a_mode_around_them():
    log = []
    mode, hooks = torch.no_grad(), packs(log)
    mode.__enter__()
    hooks.__enter__()
    mode.__exit__(None, None, None)
    assert saves()
    assert log
    hooks.__exit__(None, None, None)
    del log[:]
    assert saves()
    assert not log


def test_a_mode_outlasts_the_saved_tensor_hooks_around_it():
    log = []
    with packs(log):
        before = torch.is_grad_enabled()
        torch.set_grad_enabled(False)
    try:
        assert not saves()
        assert not log
    finally:
        torch.set_grad_enabled(before)
    assert saves()
    assert not log


@pytest.mark.skipif(IS_TORCH, reason="guard_buffers() is ours")
def test_guards_and_saved_tensor_hooks_end_in_any_order():
    log = []
    guards, hooks = autograd.graph.guard_buffers(), packs(log)
    guards.__enter__()
    hooks.__enter__()
    guards.__exit__(None, None, None)
    x = leaf([1.0, 2.0])
    y = x * x
    assert log
    hooks.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="was not entered"):
        hooks.__exit__(None, None, None)
    x.detach()[0] = 3.0                     # nothing guards it
    assert y.grad_fn is not None


def test_a_mode_object_that_was_left_can_be_entered_again():
    mode = torch.set_grad_enabled(False)
    seen = []
    for _ in range(2):
        with mode:
            seen.append(recorded())
        seen.append(recorded())
    assert seen == [False, True] * 2


# Modes that change nothing here, but can be asked for

SWITCHES = {
    "set_multithreading_enabled": (autograd.set_multithreading_enabled, autograd.is_multithreading_enabled, True),
    "_force_original_view_tracking": (autograd._force_original_view_tracking, autograd.is_view_replay_enabled, False),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_switches_are_seen_in_their_block_and_thread(name):
    switch, ask, usual = SWITCHES[name]
    seen = [ask()]
    with switch(not usual):
        seen.append(ask())
        thread = threading.Thread(target=lambda: seen.append(ask()))
        thread.start()
        thread.join()
        with switch(usual):
            seen.append(ask())
        seen.append(ask())
        assert recorded()
    switch(not usual)
    seen.append(ask())
    switch(usual)
    assert [*seen, ask()] == [usual, not usual, usual, usual, not usual, not usual, usual]


@pytest.mark.parametrize("name", [*SWITCHES, "enforce_grad_layout_policy"])
@pytest.mark.parametrize("wrong", ["a", 1, None])
def test_switches_take_a_bool(name, wrong):
    with pytest.raises(TypeError, match=f"must be bool, not {type(wrong).__name__}"):
        getattr(autograd, name)(wrong)


@pytest.mark.parametrize("enforced, strides", [(True, (1, 3)), (False, (2, 1))])
def test_a_new_gradient_has_the_strides_of_its_tensor(enforced, strides):
    x = torch.ones(2, 3).t().requires_grad_()
    with autograd.enforce_grad_layout_policy(enforced):
        x.register_hook(lambda g: torch.ones(3, 2))
        (x * 1).sum().backward()
    assert x.grad.stride() == strides


def test_decorators_of_switches():
    @autograd.set_multithreading_enabled(False)
    def ask():
        return autograd.is_multithreading_enabled()

    assert autograd.is_multithreading_enabled() and ask() is False and autograd.is_multithreading_enabled()
