"""What hooks may ask the running backward, and call at its end; the log of what it runs."""

import logging

import pytest
from common import IS_TORCH, Fail, define, differs, in_threads, leaf, ours

import autograd_cy as torch

engine = torch.autograd.Variable._execution_engine
current_node = torch._C._current_autograd_node
task_id = torch._C._current_graph_task_id
will_execute = torch._C._will_engine_execute_node
LOGGER = "torch.autograd.graph" if IS_TORCH else "autograd_cy.autograd.graph"


# Callbacks


def test_a_callback_is_called_when_the_last_node_has_run():
    log, x = [], leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: engine.queue_callback(lambda: log.append("callback")))
    x.register_post_accumulate_grad_hook(lambda t: log.append("leaf"))
    y.backward()
    log.append("done")
    assert log == ["leaf", "callback", "done"]


def test_a_callback_belongs_to_the_backward_in_which_it_was_queued():
    log, x = [], leaf(1.0)

    def nested(g):
        engine.queue_callback(lambda: log.append("outer"))
        z = leaf(1.0)
        z.register_hook(lambda g: engine.queue_callback(lambda: log.append("inner")))
        with torch.enable_grad():
            (z * 2).backward()
        log.append("nested is done")

    y = x * 2
    y.register_hook(nested)
    y.backward()
    assert log == ["inner", "nested is done", "outer"]


def test_a_callback_may_queue_another():
    log, x = [], leaf(1.0)

    def again():
        log.append((task_id() >= 0, torch.is_grad_enabled(), current_node()))
        if len(log) < 3:
            engine.queue_callback(again)

    x.register_hook(lambda g: engine.queue_callback(again))
    (x * 2).backward()
    assert log == [(True, False, None)] * 3


def test_a_callback_sees_grad_mode_under_create_graph():
    log, x = [], leaf(1.0)
    x.register_hook(lambda g: engine.queue_callback(lambda: log.append(torch.is_grad_enabled())))
    torch.autograd.grad(x * x, x, create_graph=True)
    assert log == [True]


def test_what_a_callback_raises_comes_out():
    x = leaf(1.0)

    def fail():
        raise ValueError("mine")

    handle = x.register_hook(lambda g: engine.queue_callback(fail))
    with pytest.raises(ValueError, match=r"^mine$"):
        (x * 2).backward()
    assert x.grad.item() == 2.0 and task_id() == -1
    handle.remove()
    (x * 2).backward()


def test_no_callback_after_a_failure():
    log, x = [], leaf(1.0)
    y = Fail.apply(x)
    y.register_hook(lambda g: engine.queue_callback(lambda: log.append("callback")))
    with pytest.raises(ArithmeticError):
        y.backward()
    assert log == []


def test_callbacks_are_for_a_running_backward():
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        engine.queue_callback(print)


@differs("a hook or callback", "fails when it is called")
def test_a_callback_is_callable():
    x = leaf(1.0)
    x.register_hook(lambda g: engine.queue_callback(3))
    with pytest.raises(TypeError, match="a callback must be callable, not int"):
        (x * 2).backward()


# Checkpoints


def test_a_checkpoint_is_valid_unless_inputs_were_given():
    seen, x = [], leaf(1.0)
    (x * 2).register_hook(print)

    def run(**options):
        y = x * 2
        y.grad_fn.register_prehook(lambda g: seen.append(engine.is_checkpoint_valid()))
        y.backward(**options)

    run()
    run(inputs=[x])
    assert seen == [True, False] and engine.is_checkpoint_valid()


def test_a_checkpoint_in_a_nested_backward_is_not_valid_either():
    seen, x = [], leaf(1.0)
    inside = leaf(1.0)
    inside.register_hook(lambda g: seen.append(engine.is_checkpoint_valid()))

    def nested(ctx, g):
        with torch.enable_grad():
            (inside * 2).backward()
        return g

    y = define(lambda ctx, x: x * 1, nested).apply(x)
    torch.autograd.grad(y * 2, x)
    assert seen == [False]


# The current node, task and order


def test_the_current_node():
    seen, x = [], leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: seen.append(current_node()))
    x.register_hook(lambda g: seen.append(current_node().name()))
    node = y.grad_fn
    y.exp().backward()
    assert seen[0] is node and "AccumulateGrad" in seen[1] and current_node() is None


def test_the_current_node_in_a_nested_backward():
    seen, x = [], leaf(1.0)
    z = leaf(1.0)

    def nested(ctx, g):
        with torch.enable_grad():
            z.exp().backward()
        seen.append(current_node().name())
        return g

    z.register_hook(lambda g: seen.append(current_node().name()))
    define(lambda ctx, x: x * 1, nested).apply(x).backward()
    assert [name.split("::")[-1] for name in seen] == ["AccumulateGrad", "FBackward"]


def test_each_backward_has_a_number():
    seen, x = [], leaf(1.0)
    x.register_hook(lambda g: seen.append(task_id()))
    for _ in range(2):
        (x * 2).backward()
    assert task_id() == -1 and 0 <= seen[0] < seen[1]


def test_nested_backwards_have_numbers_of_their_own():
    seen, x, z = [], leaf(1.0), leaf(1.0)
    z.register_hook(lambda g: seen.append(task_id()))

    def nested(g):
        seen.append(task_id())
        with torch.enable_grad():
            z.exp().backward()
        seen.append(task_id())

    x.register_hook(nested)
    (x * 2).backward()
    assert seen[0] == seen[2] != seen[1]


def test_another_thread_runs_no_backward():
    seen, x = [], leaf(1.0)
    x.register_hook(lambda g: in_threads(1, lambda _: seen.append((task_id(), current_node()))))
    (x * 2).backward()
    assert seen == [(-1, None)]


def test_which_nodes_will_run():
    seen, x = [], leaf(1.0)
    y = x * 2
    z, other = y.exp(), x * 3
    nodes = (z.grad_fn, y.grad_fn, other.grad_fn)
    z.register_hook(lambda g: seen.append([will_execute(node) for node in nodes]))
    root = z * 1
    root.backward(retain_graph=True)
    torch.autograd.grad(root, y)
    assert seen == [[True, True, False]] * 2


def test_nodes_that_ran_are_among_them():
    seen, x = [], leaf(1.0)
    y = x * 2
    z = y.exp()
    nodes = (z.grad_fn, y.grad_fn)
    x.register_hook(lambda g: seen.append([will_execute(node) for node in nodes]))
    (z * 1).backward()
    assert seen == [[True, True]]


@differs("which nodes a backward will run", "does not count the root")
def test_the_root_is_among_them():
    seen, y = [], leaf(1.0) * 2
    y.register_hook(lambda g: seen.append(will_execute(y.grad_fn)))
    y.backward()
    assert seen == [True]


def test_which_nodes_will_run_is_asked_of_a_running_backward():
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        will_execute((leaf(1.0) * 2).grad_fn)


def ordered(run):
    """The names of what torch would run, as seen when the root runs, with threads switched off there."""
    seen, x = [], leaf([1.0, 2.0])
    y = x * 2
    z = (y.exp() + y.sin()).sum()
    z.register_hook(lambda g: seen.append(torch._C._current_graph_task_execution_order()))
    with torch.autograd.set_multithreading_enabled(False):
        run(z, x, y)
    return [node.name().split("::")[-1] for node in seen[0]]


WHOLE = ["SumBackward0", "AddBackward0", "SinBackward0", "ExpBackward0", "MulBackward0"]
ORDERS = {
    "backward": (lambda z, x, y: z.backward(), [*WHOLE, "AccumulateGrad"]),
    "backward(inputs=)": (lambda z, x, y: z.backward(inputs=[y]), WHOLE),
    "grad": (lambda z, x, y: torch.autograd.grad(z, x), [*WHOLE, "AccumulateGrad"]),
    "grad of a computed tensor": (lambda z, x, y: torch.autograd.grad(z, y), WHOLE),
}


@pytest.mark.parametrize("run", ORDERS)
def test_the_order_in_which_nodes_will_run(run):
    call, expected = ORDERS[run]
    assert ordered(call) == expected


@ours("an assertion inside it fails")
def test_the_order_from_the_middle_on():
    seen, x = [], leaf(1.0)
    y = x * 2
    z = y.exp() + y.sin()
    y.register_hook(lambda g: seen.append(torch.autograd.graph.execution_order()))
    z.backward()
    assert [node.name() for node in seen[0]] == ["MulBackward0", "torch::autograd::AccumulateGrad"]


@ours("has no public names")
def test_the_public_names():
    graph = torch.autograd.graph
    assert graph.current_node is current_node and graph.current_graph_task_id is task_id
    assert graph.will_execute.__module__ != will_execute.__module__  # which has errors of its own


def test_the_order_is_asked_of_a_running_backward():
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        torch._C._current_graph_task_execution_order()


# The log


def logged(caplog, run, level=logging.DEBUG):
    caplog.clear()
    with caplog.at_level(level, LOGGER):
        run()
    return [record.getMessage() for record in caplog.records if record.name == LOGGER]


def test_each_node_that_runs_is_logged(caplog):
    x = leaf([1.0, 2.0], torch.float32)
    lines = logged(caplog, (x * 2).sum().backward)
    assert len(lines) == 3 and all(line.startswith("Executing: <") for line in lines)
    assert [line.rpartition("with grad_outputs: ")[2] for line in lines] == ["[f32[]]", "[f32[2]]", "[f32[2]]"]
    assert x.grad.tolist() == [2.0, 2.0]


def test_the_log_shows_outputs_without_gradient(caplog):
    parts = torch.ones(2, 3, requires_grad=True).unbind(0)
    lines = logged(caplog, parts[1].sum().backward)
    assert lines[1].endswith("with grad_outputs: [None,f32[3]]")


def test_who_shows_all_of_python_does_not_ask_for_each_node(caplog):
    """As in PyTorch: libraries that set the root logger to DEBUG paid for a line for each node."""
    run = (torch.ones(2, requires_grad=True) * 2).sum().backward
    with caplog.at_level(logging.DEBUG):
        run()
    assert not [record for record in caplog.records if record.name == LOGGER]
    assert logged(caplog, (torch.ones(2, requires_grad=True) * 2).sum().backward)


def test_nothing_is_logged_unless_asked_for(caplog):
    assert logged(caplog, (leaf([1.0, 2.0]) * 2).sum().backward, logging.INFO) == []


def test_gradients_are_the_same_with_the_log(caplog):
    def run():
        x = leaf([1.0, 2.0, 3.0])
        y = x.exp() * x + (x / (x + 1.0)).sum() + x.unbind(0)[0]
        return torch.autograd.grad(y.sum(), x)[0].tolist()

    found = []
    logged(caplog, lambda: found.append(run()))
    assert found == [run()]


def test_the_order_is_refused_while_threads_are_allowed():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g: torch._C._current_graph_task_execution_order())
    with pytest.raises(RuntimeError, match="expects the current backward to be executed with multithreading disabled"):
        y.backward()


# What _will_engine_execute_node refuses


def test_will_execute_wants_a_node():
    with pytest.raises(RuntimeError, match="_will_engine_execute_node expects an grad_fn, but got int"):
        will_execute(3)
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        will_execute((leaf(1.0) * 2).grad_fn)


def test_will_execute_of_a_leaf():
    """In grad() it is only captured; in backward() its node runs."""
    x, answers = leaf(1.0), []
    y = x * 2
    node = torch.autograd.graph.get_gradient_edge(x).node

    def ask(g):
        for what in (node, None):
            try:
                answers.append(will_execute(what))
            except RuntimeError as error:
                answers.append(str(error))

    y.register_hook(ask)
    torch.autograd.grad(y, x, retain_graph=True)
    y.backward()
    assert "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad()" in answers[0]
    assert answers[2] is True and all("but got NoneType" in answer for answer in answers[1::2])


@ours("has no such function")
def test_graph_will_execute_takes_leaves():
    x, answers = leaf(1.0), []
    y = x * 2
    node = torch.autograd.graph.get_gradient_edge(x).node
    y.register_hook(lambda g: answers.append(torch.autograd.graph.will_execute(node)))
    torch.autograd.grad(y, x)
    assert answers == [True]
    with pytest.raises(TypeError):
        torch.autograd.graph.will_execute(None)
