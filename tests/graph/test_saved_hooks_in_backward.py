"""Saved-tensor hooks that user code pushes, pops or refuses inside of backward, and ends of blocks that were not entered."""

import pytest
from common import define, leaf

import autograd_cy as torch

graph = torch.autograd.graph
autograd = torch._C._autograd


def logging(log):
    return graph.saved_tensors_hooks(lambda t: (log.append("pack"), t)[1], lambda t: t)


def saves():
    """Something that is recorded and saves one tensor."""
    with torch.enable_grad():
        leaf(1.0).exp()


PLACES = {
    "tensor hook": lambda y, f: y.register_hook(lambda g: f()),
    "node hook": lambda y, f: y.grad_fn.register_hook(lambda ins, outs: f()),
    "prehook": lambda y, f: y.grad_fn.register_prehook(lambda outs: f()),
    "callback": lambda y, f: y.register_hook(lambda g: torch.autograd.Variable._execution_engine.queue_callback(f)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fails", [False, True])
def test_hooks_that_are_pushed_end_with_their_node(place, fails):
    log, x = [], leaf([1.0, 2.0])
    y = x * 2

    def push():
        logging(log).__enter__()
        saves()
        assert log == ["pack"]
        if fails:
            raise ArithmeticError

    PLACES[place](y, push)
    x.register_hook(lambda g: saves())
    if fails:
        with pytest.raises(ArithmeticError):
            y.sum().backward()
    else:
        y.sum().backward()
    saves()
    assert log == ["pack"] and autograd._top_saved_tensors_default_hooks(False) is None


@pytest.mark.parametrize("place", PLACES)
def test_hooks_that_are_popped_are_back_afterwards(place):
    log, x = [], leaf([1.0, 2.0])
    y = x * 2
    hooks = logging(log)

    def pop():
        hooks.__exit__(None, None, None)
        saves()
        assert log == []

    PLACES[place](y, pop)
    with hooks:
        y.sum().backward()
        saves()
        assert log == ["pack"]
    saves()
    assert log == ["pack"]


def test_a_refusal_ends_with_its_node():
    x = leaf([1.0, 2.0])
    y = x * 2
    y.register_hook(lambda g: graph.disable_saved_tensors_hooks("no").__enter__())
    x.register_hook(lambda g: logging([]).__enter__())
    y.sum().backward()
    assert autograd._saved_tensors_hooks_is_enabled()


def test_a_nested_backward_keeps_the_hooks_around_it():
    """What a Function's backward pushed goes on to apply after a backward of its own."""
    log = []

    def backward(ctx, g):
        with logging(log):
            with torch.enable_grad():
                z = leaf(1.0)
                w = z * 2
                w.register_hook(lambda g: logging(log).__enter__())
                w.backward()
            saves()
        return g

    define(lambda ctx, x: x * 1, backward).apply(leaf(1.0)).backward()
    saves()
    assert log == ["pack"]  # exp() alone: z * 2 saves a number, which is not packed


def test_the_end_of_a_block_that_was_not_entered():
    with pytest.raises(RuntimeError):
        logging([]).__exit__(None, None, None)
    with pytest.raises(RuntimeError):
        graph.disable_saved_tensors_hooks("no").__exit__(None, None, None)
    hooks = logging([])
    with hooks:
        pass
    with pytest.raises(RuntimeError):
        hooks.__exit__(None, None, None)
    assert (leaf(2.0) * 1).exp().item() > 7


def test_register_hooks_takes_two():
    saved = leaf(1.0).exp().grad_fn._raw_saved_result
    for arguments in ((lambda t: t,), (), (lambda t: t, lambda t: t, 3), (3, 4)):
        with pytest.raises(TypeError, match=r"register_hooks\(\): incompatible function arguments"):
            saved.register_hooks(*arguments)


def test_hooks_by_the_names_of_the_core():
    log, x = [], leaf([1.0, 2.0])
    pack, unpack = (lambda t: (log.append("pack"), t)[1]), (lambda t: t)
    autograd._push_saved_tensors_default_hooks(pack, unpack)
    assert autograd._top_saved_tensors_default_hooks(False) == (pack, unpack)
    x.exp()
    autograd._pop_saved_tensors_default_hooks()
    x.exp()
    assert log == ["pack"] and autograd._saved_tensors_hooks_get_disabled_error_message() is None
    with graph.disable_saved_tensors_hooks("mine"):
        assert not autograd._saved_tensors_hooks_is_enabled()
        assert autograd._saved_tensors_hooks_get_disabled_error_message() == "mine"
    autograd._saved_tensors_hooks_disable("mine")
    assert not autograd._saved_tensors_hooks_is_enabled()
    autograd._saved_tensors_hooks_enable()
    assert autograd._saved_tensors_hooks_is_enabled()


def test_the_class_of_saved_tensors():
    saved = leaf(1.0).exp().grad_fn._raw_saved_result
    assert type(saved) is torch.autograd.SavedTensor is autograd.SavedTensor
    with pytest.raises(RuntimeError, match="Trying to create a SavedTensor object from Python is forbidden"):
        torch.autograd.SavedTensor()


def test_whether_the_running_backward_keeps_the_graph():
    x, seen = leaf(1.0), []
    y = x * x
    x.register_hook(lambda g: seen.append(autograd._get_current_graph_task_keep_graph()))
    y.backward(retain_graph=True)
    y.backward()
    assert seen == [True, False] and autograd._get_current_graph_task_keep_graph()


def test_a_post_hook_that_an_unpack_hook_registers_runs_at_once():
    """It replaces the node's results, and sees no incoming gradients: their memory may be in use again."""
    a, b, seen = leaf([1.0, 2.0]), leaf([3.0, 4.0]), []

    def halve(results, gradients):
        seen.append((len(results), gradients))
        return tuple(None if g is None else g / 2 for g in results)

    def unpack(tensor):
        node = torch._C._current_autograd_node()
        if node.name() not in seen:
            seen.append(node.name())
            node.register_hook(halve)
        return tensor

    with graph.saved_tensors_hooks(lambda t: t, unpack):
        y = (a * b).sum()
    y.backward()
    assert seen == ["MulBackward0", (2, (None,))]
    assert (a.grad.tolist(), b.grad.tolist()) == ([1.5, 2.0], [0.5, 1.0])


@pytest.mark.parametrize("boxed", [False, True])
def test_a_post_hook_that_backward_registers_runs_at_once(boxed):
    class Double(torch.autograd.Function):
        boxed_grads_call = boxed

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if boxed:
                g = g.pop()
            ctx.register_hook(lambda results, gradients: (seen.append(gradients), (results[0] * 10,))[1])
            return g * 2

    seen, x = [], leaf([1.0])
    Double.apply(x).sum().backward()
    assert seen == [(None,)]
    assert x.grad.tolist() == [20.0]
