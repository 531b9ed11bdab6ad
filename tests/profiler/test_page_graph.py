"""The graph of a tensor in the model of the page."""

import gc
import json

import pytest

import autograd_cy as ag
from autograd_cy.profiler import profile
from autograd_cy.profiler._graph import graph_of


def chain(x, n):
    for _ in range(n):
        x = x.exp()
    return x


def by_name(graph):
    return {node["name"]: node for node in graph["nodes"]}


def named_edges(graph):
    names = {node["id"]: node["name"] for node in graph["nodes"]}
    return sorted((names[a], names[b]) for a, b in graph["edges"])


def test_nodes_of_one_line_are_one():
    x = ag.ones(100, requires_grad=True)
    graph = graph_of(chain(x, 5).sum())
    nodes = by_name(graph)
    assert {name: node["count"] for name, node in nodes.items()} == {"SumBackward0": 1, "ExpBackward0": 5, "AccumulateGrad": 1}
    assert (nodes["ExpBackward0"]["file"], nodes["ExpBackward0"]["line"]) == (__file__, chain.__code__.co_firstlineno + 2)
    assert nodes["ExpBackward0"]["bytes"] == 5 * 400
    assert (nodes["AccumulateGrad"]["shape"], nodes["AccumulateGrad"]["dtype"]) == ("[100]", "float32")
    assert (nodes["AccumulateGrad"]["file"], nodes["AccumulateGrad"]["line"]) == ("", -1)
    assert named_edges(graph) == [
        ("ExpBackward0", "AccumulateGrad"), ("ExpBackward0", "ExpBackward0"), ("SumBackward0", "ExpBackward0"),
    ]  # fmt: skip


def test_shared_memory_counts_once_and_leaves_not_at_all():
    x = ag.ones(100, requires_grad=True)
    h = x * 2
    loss = ((h * h) * (h.view(10, 10).reshape(100) * x)).sum()
    kept = sum(node["bytes"] for node in graph_of(loss)["nodes"])
    assert kept == 3 * 400  # h, and both factors


def test_leaves_of_other_shapes_stand_apart():
    w, b = ag.ones(3, 4, requires_grad=True), ag.ones(4, requires_grad=True)
    graph = graph_of((ag.ones(2, 3) @ w + b).sum())
    assert sorted(node["shape"] for node in graph["nodes"] if node["name"] == "AccumulateGrad") == ["[3, 4]", "[4]"]


def test_freed_and_packed_tensors_count_nothing():
    x = ag.ones(100, requires_grad=True)
    loss = chain(x, 3).sum()
    loss.backward()
    assert sum(node["bytes"] for node in graph_of(loss)["nodes"]) == 0

    def unpack(packed):
        raise AssertionError("nothing is unpacked")

    with ag.autograd.graph.saved_tensors_hooks(lambda tensor: "packed", unpack):
        loss = chain(x, 3).sum()
    assert sum(node["bytes"] for node in graph_of(loss)["nodes"]) == 0


def test_looking_changes_no_gradient():
    x = ag.randn(50, requires_grad=True)
    grads = []
    for look in (False, True):
        loss = (x.exp() * x.tanh() / (x * x + 1)).sum()
        if look:
            graph_of(loss)
        grads.append(ag.autograd.grad(loss, x)[0])
    assert grads[0].tolist() == grads[1].tolist()


def test_a_deep_graph_is_no_recursion():
    x = ag.ones(1, requires_grad=True)
    graph = graph_of(chain(x, 20_000))
    assert by_name(graph)["ExpBackward0"]["count"] == 20_000
    del graph
    gc.collect()


def test_a_function_has_its_saved_tensors():
    class Square(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x * 1)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = ag.ones(100, requires_grad=True)
    assert by_name(graph_of(Square.apply(x)))["SquareBackward"]["count"] == 1


@pytest.mark.parametrize(
    ("graph", "error", "text"),
    [(3, TypeError, "graph must be a Tensor, not int"), (ag.ones(1), RuntimeError, "does not require grad")],
)
def test_what_has_no_graph_is_refused(graph, error, text, tmp_path):
    with profile() as prof:
        pass
    with pytest.raises(error, match=text):
        prof.export_html(tmp_path / "page.html", graph=graph)
    assert not (tmp_path / "page.html").exists()


def test_the_page_has_it(tmp_path):
    x = ag.ones(100, requires_grad=True)
    with profile(record_shapes=True) as prof:
        loss = chain(x, 5).sum()
    prof.export_html(tmp_path / "page.html", graph=loss)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert json.dumps(graph_of(loss)["nodes"][1]["name"]) in text
