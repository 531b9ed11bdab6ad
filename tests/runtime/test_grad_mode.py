"""no_grad, enable_grad and set_grad_enabled: as contexts, decorators and on generators."""

import inspect
import threading

import pytest
from common import leaf

import autograd_cy as torch

enabled = torch.is_grad_enabled


def test_grad_mode_is_on_by_default():
    assert enabled() is True


def test_nothing_is_recorded_under_no_grad():
    x = leaf(2.0)
    with torch.no_grad():
        y = x * 3
        made = leaf(1.0)
    assert not y.requires_grad and y.grad_fn is None and x.requires_grad
    assert made.requires_grad and (made * 2).requires_grad


def test_a_recorded_graph_runs_backward_under_no_grad():
    x = leaf(2.0)
    y = x * x
    with torch.no_grad():
        y.backward()
    assert x.grad.item() == 4.0


def test_grad_records_under_no_grad_if_asked_to():
    x = leaf(2.0)
    y = x * x * x
    with torch.no_grad():
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert torch.autograd.grad(g, x)[0].item() == 12.0


def test_modes_nest_and_come_back():
    modes = []
    with torch.no_grad():
        modes.append(enabled())
        with torch.enable_grad():
            modes.append(enabled())
            with torch.set_grad_enabled(False):
                modes.append(enabled())
            modes.append(enabled())
        modes.append(enabled())
    assert [*modes, enabled()] == [False, True, False, True, False, True]


@pytest.mark.parametrize("mode", [torch.no_grad, lambda: torch.set_grad_enabled(False)])
def test_an_exception_restores_the_mode(mode):
    @mode()
    def decorated():
        raise KeyError

    with pytest.raises(KeyError), mode():
        raise KeyError
    with pytest.raises(KeyError):
        decorated()
    assert enabled()


def test_set_grad_enabled_works_as_a_function():
    torch.set_grad_enabled(False)
    try:
        assert not enabled()
    finally:
        torch.set_grad_enabled(mode=True)
    assert enabled()


@pytest.mark.parametrize("wrong", ["a", 1, None])
def test_set_grad_enabled_takes_a_bool(wrong):
    with pytest.raises(TypeError, match=f"must be bool, not {type(wrong).__name__}"):
        torch.set_grad_enabled(wrong)
    assert enabled()


# Decorators


DECORATORS = {
    "no_grad": (torch.no_grad, False),
    "no_grad()": (torch.no_grad(), False),
    "enable_grad": (torch.enable_grad, True),
    "enable_grad()": (torch.enable_grad(), True),
    "set_grad_enabled(False)": (torch.set_grad_enabled, False),
}


def decorate(name, function):
    """`function` decorated; set_grad_enabled sets the mode until it decorates, so it is made late."""
    decorator, mode = DECORATORS[name]
    return decorator(mode)(function) if decorator is torch.set_grad_enabled else decorator(function)


@pytest.mark.parametrize("outside", [True, False])
@pytest.mark.parametrize("name", DECORATORS)
def test_decorated_functions_run_in_their_mode(name, outside):
    def modes(argument, *, option):
        """Documented."""
        return argument, option, enabled()

    with torch.set_grad_enabled(outside):
        decorated = decorate(name, modes)
        assert enabled() == outside
        assert decorated(1, option=2) == decorated(1, option=2) == (1, 2, DECORATORS[name][1])
        assert enabled() == outside
    assert decorated.__name__ == "modes" and decorated.__doc__ == "Documented."


def test_a_decorated_function_may_call_itself():
    @torch.no_grad()
    def countdown(n):
        return [enabled()] + (countdown(n - 1) if n else []) + [enabled()]

    assert not any(countdown(3)) and enabled()


def test_methods_can_be_decorated():
    class Model:
        @torch.no_grad()
        def predict(self, x):
            return x * 2

    assert not Model().predict(leaf(2.0)).requires_grad


def test_decorating_a_class_is_deprecated():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @torch.no_grad()
        class Model:
            def __init__(self):
                self.mode = enabled()

    assert Model().mode is False and enabled()


# Generators


def test_a_decorated_generator_has_its_mode_while_it_runs_only():
    @torch.no_grad()
    def modes():
        yield enabled()
        with torch.enable_grad():
            yield enabled()
        yield enabled()

    seen = []
    for mode in modes():
        seen += [mode, enabled()]
    assert seen == [False, True, True, True, False, True] and inspect.isgeneratorfunction(modes)


def test_the_callers_mode_may_change_while_a_generator_waits():
    @torch.enable_grad()
    def modes():
        while True:
            yield enabled()

    running = modes()
    with torch.no_grad():
        assert next(running) and not enabled()
    assert next(running) and enabled()


def test_send_throw_close_and_return_reach_a_decorated_generator():
    log = []

    @torch.no_grad()
    def echo():
        received = yield "ready"
        try:
            while received != "stop":
                try:
                    received = yield received, enabled()
                except ValueError as error:
                    received = yield str(error), enabled()
            return "returned"
        finally:
            log.append(enabled())

    running = echo()
    assert next(running) == "ready"
    assert running.send(1) == (1, False)
    assert running.throw(ValueError("thrown")) == ("thrown", False)
    with pytest.raises(StopIteration) as stopped:
        running.send("stop")
    assert stopped.value.value == "returned"
    closed = echo()
    next(closed)
    closed.send(1)
    closed.close()
    assert log == [False, False] and enabled()


def test_an_exception_in_a_decorated_generator_restores_the_mode():
    @torch.no_grad()
    def failing():
        yield 1
        raise KeyError

    with pytest.raises(KeyError):
        list(failing())
    assert enabled()


# Threads and backward


def test_a_new_thread_starts_enabled_and_keeps_its_mode_to_itself():
    seen = []

    def other():
        seen.append(enabled())
        torch.set_grad_enabled(False)
        seen.append(enabled())

    with torch.no_grad():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [True, False] and enabled()


@pytest.mark.parametrize("create_graph", [False, True])
def test_backward_runs_in_the_mode_that_create_graph_says(create_graph):
    seen = []

    class Watch(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(enabled())
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(enabled())
            return g

    x = leaf(2.0)
    with torch.enable_grad():
        y = Watch.apply(x)
    with torch.set_grad_enabled(not create_graph):
        torch.autograd.grad(y, x, create_graph=create_graph)
        assert enabled() != create_graph
    assert seen == [False, create_graph]


def test_a_failing_backward_restores_the_mode():
    def fail(g):
        torch.set_grad_enabled(True)
        raise KeyError

    x = leaf(2.0)
    y = x * 2
    y.register_hook(fail)
    with pytest.raises(KeyError), torch.no_grad():
        try:
            y.backward()
        finally:
            inside = enabled()
    assert inside is False and enabled()
