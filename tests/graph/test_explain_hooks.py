"""explain_hooks() foretells what backward and grad will call, in order. PyTorch has nothing like it."""

import random

import pytest
from common import IS_TORCH, leaf

import autograd_cy as torch

pytestmark = pytest.mark.skipif(IS_TORCH, reason="PyTorch has none")

graph = torch.autograd.graph


def noting(log, word):
    """A hook of any kind, named after what it notes."""

    def hook(*gradients):
        log.append(word)

    hook.__qualname__ = word
    return hook


def hooked(log, chance=lambda: True):
    """A small graph with hooks of all kinds: its leaves, a computed tensor and its root."""
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = x * w
    u = y.exp() + y.unbind(0)[1]
    z = (u * w).sum()
    for name, t in {"x": x, "w": w, "y": y, "u": u, "z": z}.items():
        node = graph.get_gradient_edge(t).node
        for k in range(2):
            if chance():
                t.register_hook(noting(log, f"{name} tensor {k}"))
            if chance():
                node.register_hook(noting(log, f"{name} post {k}"))
            if chance():
                node.register_prehook(noting(log, f"{name} pre {k}"))
            if t.is_leaf and chance():
                t.register_post_accumulate_grad_hook(noting(log, f"{name} accumulated {k}"))
    return x, w, y, z


WAYS = {
    "backward": (lambda x, w, y: (), True),
    "backward(inputs=leaf)": (lambda x, w, y: (x,), True),
    "backward(inputs=computed)": (lambda x, w, y: (y,), True),
    "grad(leaf)": (lambda x, w, y: (w,), False),
    "grad(computed)": (lambda x, w, y: (y,), False),
    "grad(both)": (lambda x, w, y: (x, y), False),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(5))
def test_it_lists_what_is_called(way, seed):
    inputs_of, accumulate = WAYS[way]
    log, dice = [], random.Random(seed)
    x, w, y, z = hooked(log, lambda: dice.random() < 0.6)
    inputs = inputs_of(x, w, y)
    plan = graph.explain_hooks(z, inputs or None, accumulate=accumulate)
    assert log == []
    if accumulate:
        z.backward(inputs=inputs or None)
    else:
        torch.autograd.grad(z, inputs)
    assert [call.name for call in plan if call.hook] == log and log


def test_it_changes_nothing():
    log = []
    x, _w, _y, z = hooked(log)
    first, second = graph.explain_hooks(z), graph.explain_hooks(z)
    assert first == second
    z.backward()
    assert x.grad is not None


def test_it_names_nodes_tensors_functions_and_places():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()

    def clip(g):
        return g

    y.register_hook(clip)
    x.register_post_accumulate_grad_hook(clip)
    plan = graph.explain_hooks(y)
    assert [call.kind for call in plan] == ["tensor", "retain_grad", "run", "accumulate", "post accumulate"]
    assert plan[0].hook is clip and plan[0].node is y.grad_fn and plan[0].output_nr == 0
    assert plan[0].location == f"{__file__}:{clip.__code__.co_firstlineno}"
    assert plan[1].tensor is y and plan[4].tensor is x


def test_as_a_string():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(abs)
    y.retain_grad()
    at_y = ["MulBackward0: tensor abs", "MulBackward0 keeps .grad", "MulBackward0 runs"]
    assert str(graph.explain_hooks(y)).splitlines() == [*at_y, "AccumulateGrad adds to .grad"]


def test_outputs_are_numbered():
    parts = leaf([1.0, 2.0]).unbind(0)
    parts[1].register_hook(abs)
    assert str(graph.explain_hooks(parts[0])[0]) == "UnbindBackward0 output 1: tensor abs"


def test_hooks_on_several_tensors_go_by_the_name_of_their_function():
    x = leaf(1.0)

    def both(gradients):
        pass

    handle = graph.register_multi_grad_hook([x], both)
    (call,) = [call for call in graph.explain_hooks(x * 2) if call.hook]
    assert call.name.endswith("both") and call.location.endswith(f":{both.__code__.co_firstlineno}")
    handle.remove()
    assert not [call for call in graph.explain_hooks(x * 2) if call.hook]


def test_hooks_on_all_operations_come_last_at_each_node():
    y = leaf(1.0) * 2
    with graph.register_op_hook(backward=abs):
        assert [call.kind for call in graph.explain_hooks(y)] == ["run", "op", "accumulate", "op"]


def test_methods_partials_and_objects_are_named():
    import functools

    class Clip:
        def __call__(self, g):
            return g

        def method(self, g):
            return g

    x = leaf(1.0)
    for hook in (Clip().method, functools.partial(abs), Clip()):
        x.register_hook(hook)
    names = [call.name for call in graph.explain_hooks(x * 2) if call.hook]
    assert names[0].endswith("Clip.method") and "partial" in names[1] and "Clip object" in names[2]


def test_edges_and_several_roots():
    log = []
    _x, w, y, z = hooked(log)
    plan = graph.explain_hooks([graph.get_gradient_edge(y), z], {"w": w})
    assert {call.node for call in plan} <= {node for node, _ in [(call.node, 0) for call in graph.explain_hooks(z)]}


REFUSED = {
    "a constant": (lambda: (torch.ones(1), None), "element 0 of tensors does not require grad"),
    "an input without gradient": (lambda: (leaf(1.0) * 2, [torch.ones(1)]), "does not require grad"),
    "an int": (lambda: ([3], None), "neither a Tensor nor a GradientEdge"),
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_it_refuses_what_backward_refuses(wrong):
    make, message = REFUSED[wrong]
    roots, inputs = make()
    with pytest.raises(RuntimeError, match=message):
        graph.explain_hooks(roots, inputs)


def test_a_deep_graph():
    y = x = leaf(1.0)
    for _ in range(50_000):
        y = y + 1
    x.register_hook(abs)
    assert len(graph.explain_hooks(y)) == 50_002
