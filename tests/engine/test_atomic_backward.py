"""backward(atomic=True): every leaf gets its gradient, or none does."""

import numpy as np
import pytest

import autograd_cy as ag


class FailsBackward(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        raise ValueError("no gradient here")


def leaves(n=4, size=3):
    return [ag.full((size,), float(k + 1)).requires_grad_() for k in range(n)]


def failing_loss(xs):
    """The last leaf is reached through a node that fails, after the others, which were recorded later."""
    total = FailsBackward.apply(xs[-1]).sum()
    for x in xs[:-1]:
        total = total + (x * x).sum()
    return total


@pytest.mark.filterwarnings("ignore:.*reference cycle")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_no_leaf_is_changed_where_a_node_fails(given, create_graph):
    for atomic in (False, True):
        xs = leaves()
        if given:
            for x in xs:
                x.grad = ag.full((3,), 10.0)
        before = [None if x.grad is None else (id(x.grad), x.grad._version) for x in xs]
        with pytest.raises(ValueError, match="no gradient here"):
            failing_loss(xs).backward(atomic=atomic, create_graph=create_graph)
        after = [None if x.grad is None else (id(x.grad), x.grad._version) for x in xs]
        assert (before == after) == atomic
        if given and atomic:
            assert all(x.grad.tolist() == [10.0] * 3 for x in xs)


@pytest.mark.parametrize("where", ["tensor", "intermediate", "prehook of the leaf's node"])
def test_no_leaf_is_changed_where_a_hook_fails(where):
    xs = leaves()
    y = xs[0] * 2

    def fail(*_):
        raise ValueError("no hook here")

    loss = sum((x * x).sum() for x in xs) + y.sum()
    if where == "tensor":
        xs[2].register_hook(fail)
    elif where == "intermediate":
        y.register_hook(fail)
    else:
        node = ag.autograd.graph.get_gradient_edge(xs[2]).node
        node.register_prehook(fail)
    with pytest.raises(ValueError, match="no hook here"):
        loss.backward(atomic=True)
    assert [x.grad for x in xs] == [None] * 4


def test_no_leaf_is_changed_where_one_cannot_take_its_gradient():
    xs = leaves()
    loss = sum((x * x).sum() for x in xs)
    with ag.inference_mode():
        frozen = ag.zeros(3)
    xs[1].grad = frozen
    with pytest.raises(RuntimeError, match=r"[Ii]nference"):
        loss.backward(atomic=True)
    assert [x.grad is None for x in xs] == [True, False, True, True] and xs[1].grad.tolist() == [0.0] * 3


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [3, 30_000])
@pytest.mark.filterwarnings("ignore:.*reference cycle")
@pytest.mark.parametrize("create_graph", [False, True])
def test_the_same_gradients_as_otherwise(create_graph, size, threads):
    found = []
    for atomic in (False, True):
        xs = leaves(5, size)
        with ag.autograd.graph.parallel_backward(threads):
            for _ in range(2):
                loss = sum((x * x * xs[0]).sum() for x in xs)
                loss.backward(atomic=atomic, create_graph=create_graph)
        found.append([x.grad.detach().numpy().copy() for x in xs])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_grad_that_is_there_is_added_to_in_place():
    x = ag.ones(3).requires_grad_()
    x.grad = grad = ag.ones(3)
    (x * 2).sum().backward(atomic=True)
    assert x.grad is grad and grad.tolist() == [3.0] * 3


def test_the_gradient_is_taken_over_without_a_copy():
    x = ag.ones(100_000).requires_grad_()
    seen = []
    y = x * 1.5
    y.register_hook(lambda g: seen.append(g))
    y.backward(ag.ones(100_000), atomic=True)
    assert not np.shares_memory(x.grad.numpy(), seen[0].numpy()) and x.grad.tolist()[:2] == [1.5, 1.5]


def test_post_accumulate_hooks_run_when_all_leaves_have_their_gradients():
    xs = leaves(3)
    seen = []
    for x in xs:
        x.register_post_accumulate_grad_hook(lambda _: seen.append([y.grad is not None for y in xs]))
    sum((x * x).sum() for x in xs).backward(atomic=True)
    assert seen == [[True] * 3] * 3


def test_hooks_of_the_leafs_node_see_what_they_see_otherwise():
    seen = {}
    for atomic in (False, True):
        x = ag.ones(2).requires_grad_()
        log = seen[atomic] = []
        node = ag.autograd.graph.get_gradient_edge(x).node
        node.register_prehook(lambda g, log=log: log.append(("pre", g[0].tolist())) or (g[0] * 10,))
        node.register_hook(lambda ins, outs, log=log: log.append(("post", ins, outs[0].tolist())))
        x.register_post_accumulate_grad_hook(lambda leaf, log=log: log.append(("accumulated", leaf.grad.tolist())))
        (x * 3).sum().backward(atomic=atomic)
    assert seen[True] == seen[False] and len(seen[True]) == 3


def test_errors_at_the_end_say_which_leaf():
    xs, seen = leaves(2), []
    xs[1].grad = ag.zeros(3)
    xs[1].grad.resize_(2)
    with pytest.raises(RuntimeError, match="given another shape") as error:
        (xs[0] * xs[1]).sum().backward(atomic=True)
    assert "AccumulateGrad" in error.value.__notes__[0] and xs[0].grad is None
    xs[1].grad = None
    xs[0].register_post_accumulate_grad_hook(lambda _: seen.append(ag.autograd.graph.current_node()))
    (xs[0] * xs[1]).sum().backward(atomic=True)
    assert seen == [ag.autograd.graph.get_gradient_edge(xs[0]).node]


def test_inputs_callbacks_and_other_tensors():
    x, w = leaves(2)
    y = x * w
    seen = []
    y.register_hook(lambda g: ag.autograd.Variable._execution_engine.queue_callback(lambda: seen.append(w.grad)))
    ag.autograd.backward(y.sum(), inputs=[w, y], atomic=True)
    assert x.grad is None and w.grad.tolist() == [1.0] * 3 and y.grad.tolist() == [1.0] * 3
    assert seen == [w.grad]


def test_a_subclass_is_told_only_where_it_was_asked_for():
    class Told(ag.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is ag.autograd.backward or getattr(func, "__name__", "") == "backward":
                told.append(dict(kwargs or {}))
            return super().__torch_function__(func, types, args, kwargs or {})

    told = []
    x = ag.ones(2).requires_grad_()
    y = (x * 2).sum().as_subclass(Told)
    y.backward(retain_graph=True)
    y.backward(atomic=True)
    assert x.grad.tolist() == [4.0, 4.0]
    assert not any("atomic" in kwargs for kwargs in told[:1])
