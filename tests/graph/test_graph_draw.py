"""autograd.graph.draw: each node once, repetitions folded, nothing changed; node_creation_hook and region."""

import re
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from common import IS_TORCH, Double, leaf

import autograd_cy as torch
from autograd_cy.autograd._graph_folding import Fold, folded

pytestmark = pytest.mark.skipif(IS_TORCH, reason="PyTorch has none")

draw = None if IS_TORCH else torch.autograd.graph.draw
region = None if IS_TORCH else torch.autograd.graph.region
creation_hook = None if IS_TORCH else torch.autograd.graph.node_creation_hook


def rows(x, **kwargs):
    """The lines of a picture below its summary, without places."""
    return [re.sub(r"\s+(\[[\w/]+\]  )?[\w.]+\.py:\d+$", "", line) for line in draw(x, **kwargs).text().splitlines()[1:]]


# what is shown


def test_a_chain_reads_downwards():
    x = torch.ones(2, 3, requires_grad=True)
    assert rows((x.exp() * 2.0).sum()) == [
        "SumBackward0  [] float32",
        "MulBackward0",
        "ExpBackward0  [2, 3] float32  saves 24 B",
        "AccumulateGrad  [2, 3] float32",
    ]


def test_a_branch_is_indented_and_the_deepest_goes_on():
    a, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    assert rows((a.exp().sin() + b.cos()).sum()) == [
        "SumBackward0  [] float32",
        "AddBackward0",
        "├─ CosBackward0  [2] float32  saves 8 B",
        "│  AccumulateGrad  [2] float32",
        "SinBackward0  [2] float32  saves 8 B",
        "ExpBackward0  [2] float32  saves 8 B",
        "AccumulateGrad  [2] float32",
    ]


def test_a_shared_node_is_drawn_once_and_referred_to():
    x = torch.ones(2, requires_grad=True)
    h = x.exp()
    lines = rows((h.sin() + h).sum())
    assert lines[2] == "├─ → ExpBackward0 #1"
    assert [line for line in lines if line.startswith("ExpBackward0 #1")] == ["ExpBackward0 #1  [2] float32  saves 8 B"]


def test_lines_of_origin():
    x = leaf(1.0)
    y = x.exp()
    line = sys._getframe().f_lineno - 1
    assert f"test_graph_draw.py:{line}" in str(draw(y))


def test_hooks_are_counted_by_kind():
    x = leaf(1.0)
    y = x.exp()
    y.register_hook(lambda g: g)
    y.register_hook(lambda g: g)
    y.grad_fn.register_prehook(lambda g: None)
    x.register_post_accumulate_grad_hook(lambda p: None)
    first, second = rows(y)
    assert "2 tensor hooks" in first and "1 node pre hook" in first and "1 post accumulate hook" in second


def test_norms_of_gradients():
    x = leaf([3.0, 4.0])
    y = x * 1.0
    y.retain_grad()
    (y * y).sum().backward()
    first, second = rows(y)
    assert "|grad| 10" in first and "|grad| 10" in second


def test_nan_is_red():
    x = leaf([0.0, 1.0])
    y = (x / x.detach()).log()
    y.sum().backward()
    picture = draw(y)
    assert "NaN" in picture.text() and "\x1b[31m" not in str(picture)
    red = [line for line in picture.text(color=True).splitlines() if line.startswith("\x1b[31m")]
    assert red and all("NaN" in line for line in red)
    assert "#d00" in picture._repr_html_() and "#dd0000" in picture.dot()


def test_nan_among_what_was_saved_is_found():
    y = (leaf([0.0]) / torch.zeros(1)).exp().sin()
    assert [("NaN" in line) for line in rows(y)] == [True, True, False, False]


def test_a_norm_of_large_and_infinite_gradients():
    for number, text in ((1e200, "1.41e+200"), (np.inf, "inf"), (0.0, "0")):
        x = leaf([1.0, 1.0])
        x.grad = torch.full((2,), number, dtype=x.dtype)
        wanted = text if x.dtype == torch.float64 or number != 1e200 else "inf"
        assert f"|grad| {wanted}" in str(draw(x))


def test_freed_graphs_functions_and_writes():
    x = leaf([1.0, 2.0])
    y = Double.apply(x * 1.0)
    y[0] = y[1] * 3.0
    loss = y.sin().sum()
    assert "CopySlices" in str(draw(loss)) and "DoubleBackward" in str(draw(loss))
    loss.backward()
    assert "freed" in str(draw(loss))


def test_several_outputs_roots_and_nodes():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    a, b = x.unbind(0)
    picture = draw([a.sum(), b.exp()])
    assert picture.n_nodes == 4 and str(picture).count("UnbindBackward0") == 2
    assert draw(a.grad_fn).n_nodes == 2 and draw(x).n_nodes == 1


def test_what_is_no_graph_is_refused():
    with pytest.raises(TypeError, match=r"draw\(\): expected a Tensor, a node"):
        draw("x")
    with pytest.raises(RuntimeError, match="does not require grad"):
        draw(torch.ones(2))
    with pytest.raises(ValueError, match="max_lines"):
        draw(leaf(1.0), max_lines=0)


# folding


def test_a_repeated_line_is_shown_once():
    x = y = leaf(1.0)
    for _ in range(200):
        y = y.exp()
    lines = rows(y)
    assert lines[0].endswith("x 200") and len(lines) == 2 and draw(y).n_nodes == 201 and x.is_leaf


def test_a_repeated_block_is_shown_once():
    w, x = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    y = x
    for _ in range(12):
        h = y
        for _ in range(3):
            h = (h @ w).tanh()
        y = y + h
    lines = rows(y.sum())
    assert len(lines) < 35 and any(re.fullmatch(r"╭ \d+ times", line) for line in lines)


@pytest.mark.parametrize("seed", range(20))
def test_folds_unfold_to_what_was_folded(seed):
    rng = np.random.default_rng(seed)
    kinds = np.array([], int)
    for _ in range(rng.integers(1, 6)):
        block = rng.integers(0, 3, rng.integers(1, 5))
        again = np.tile(kinds[-rng.integers(1, 30) :], rng.integers(1, 4))
        kinds = np.concatenate([again, np.tile(block, rng.integers(1, 5))])

    def unfolded(parts):
        found = []
        for part in parts:
            found += [int(kinds[part])] if isinstance(part, int) else unfolded(part.parts) * part.times
        return found

    parts = folded(kinds)
    assert unfolded(parts) == kinds.tolist()
    assert all(isinstance(part, (int, Fold)) for part in parts)


def test_nothing_and_one_line_fold_to_themselves():
    assert folded(np.array([], int)) == [] and folded(np.array([7])) == [0] and folded(np.array([7, 7])) == [0, 1]


def test_large_graphs_are_summarized():
    rng, x = np.random.default_rng(0), leaf(1.0)
    y = x
    for k in rng.integers(0, 3, 30_000).tolist():
        y = y.sin() if k == 0 else y * x if k == 1 else y.tanh() + x
    picture = draw(y, max_lines=30)
    assert picture.n_nodes > 30_000 and len(picture.text().splitlines()) < 60
    assert "more lines" in str(picture) and "nodes: " in str(picture)
    assert len(picture.dot().splitlines()) < 150


def test_a_deep_graph_is_no_recursion():
    x = y = leaf(1.0)
    for _ in range(100_000):
        y = y * x
    assert len(str(draw(y)).splitlines()) < 10


def test_a_wide_graph():
    x = leaf(1.0)
    y = torch.stack([x * float(i) for i in range(3000)]).sum()
    assert "x 3000" in str(draw(y)) or "3000 times" in str(draw(y)) or "2999 times" in str(draw(y))


def test_a_picture_holds_nothing_and_changes_nothing():
    used = lambda: torch.memory.memory_stats()["used_bytes"]  # noqa: E731
    x = torch.ones(300, 300, requires_grad=True)
    y = (x.exp() * x).sum()
    before = used()
    picture = draw(y)
    assert used() == before
    text = str(picture)
    del y
    assert used() <= before - 4 * 300 * 300 and str(picture) == text


# dot and svg


def test_dot_has_each_node_that_is_shown_and_its_edges():
    x = torch.ones(2, requires_grad=True)
    h = x.exp()
    text = draw((h.sin() + h).sum()).dot()
    assert text.startswith("digraph") and text.count("->") == 5
    assert len(re.findall(r"^ +n\d+ \[label=", text, re.MULTILINE)) == 5


def test_dot_frames_what_repeats():
    w, y = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2)
    for _ in range(10):
        y = (y @ w).tanh()
    text = draw(y.sum()).dot()
    assert "subgraph cluster_0" in text and 'label="x 9"' in text and text.count("{") == text.count("}")


def test_names_are_quoted():
    with region('say "a\\b"'):
        y = leaf(1.0).exp()
    assert r"say \"a\\b\"" in draw(y).dot()


def test_html_is_escaped():
    with region("<b>"):
        y = leaf(1.0).exp()
    assert "&lt;b&gt;" in draw(y)._repr_html_() and "<b>" not in draw(y)._repr_html_()


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
def test_graphviz_reads_dot():
    w, y = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2)
    for _ in range(10):
        y = (y @ w).tanh()
    done = subprocess.run(["dot", "-Tsvg"], input=draw(y.sum()).dot(), capture_output=True, text=True)
    assert done.returncode == 0 and "<svg" in done.stdout and not done.stderr


def test_svg_is_drawn_by_graphviz(tmp_path, monkeypatch):
    seen = []

    class Source:
        def __init__(self, text):
            seen.append(text)

        def pipe(self, format, encoding):
            return "<svg/>"

    fake = type(sys)("graphviz")
    fake.Source, fake.ExecutableNotFound = Source, OSError
    monkeypatch.setitem(sys.modules, "graphviz", fake)
    picture = draw(leaf(1.0).exp())
    assert picture.svg(tmp_path / "graph.svg") == "<svg/>" == (tmp_path / "graph.svg").read_text()
    assert seen == [picture.dot()]


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match=r"autograd_cy\[graph\]"):
        draw(leaf(1.0)).svg()

    class Missing(RuntimeError):
        pass

    def source(text):
        raise Missing()

    fake = type(sys)("graphviz")
    fake.Source, fake.ExecutableNotFound = source, Missing
    monkeypatch.setitem(sys.modules, "graphviz", fake)
    with pytest.raises(RuntimeError, match="apt-get install graphviz"):
        draw(leaf(1.0)).svg()


# node_creation_hook and region


def recorded(function):
    names = []
    with creation_hook(lambda node: names.append(node.name())):
        result = function()
    return names, result


def test_each_recorded_node_is_announced_once():
    x = leaf([1.0, 2.0])
    names, y = recorded(lambda: Double.apply((x * 2.0).exp()).sum())
    assert names == ["MulBackward0", "ExpBackward0", "DoubleBackward", "SumBackward0"] and y.requires_grad


def test_a_node_has_its_edges_and_saved_tensors():
    x, seen = leaf(3.0), []
    with creation_hook(lambda node: seen.append((node, node.next_functions, node._saved_self, node._saved_other))):
        y = x * x
    ((node, edges, a, b),) = seen
    assert node is y.grad_fn and [target.variable for target, _ in edges] == [x, x] and a is x and b is x


def test_what_is_not_recorded_is_not_announced():
    def unrecorded():
        with torch.no_grad():
            leaf(1.0).exp()
        torch.ones(2).exp()

    assert recorded(unrecorded)[0] == []


def test_writes_are_announced():
    def written():
        y = leaf([1.0, 2.0]) * 1.0
        y.mul_(2.0)
        y[0].mul_(3.0)
        return y

    names, y = recorded(written)
    assert names == ["MulBackward0", "MulBackward0", "SelectBackward0", "MulBackward0", "torch::autograd::CopySlices"]
    assert y.tolist() == [6.0, 4.0]


def test_nodes_of_a_gradients_gradient_are_announced():
    x = leaf(3.0)
    y = x**3
    names, _ = recorded(lambda: torch.autograd.grad(y, x, create_graph=True))
    assert names and all(name.endswith("Backward0") for name in names)


def test_hooks_nest_and_end():
    log, x = [], leaf(1.0)
    with creation_hook(lambda node: log.append("outer")):
        with creation_hook(lambda node: log.append("inner")):
            x.exp()
        x.exp()
    x.exp()
    assert log == ["outer", "inner", "outer"]


def test_what_a_hook_records_is_not_announced():
    log, x = [], leaf(1.0)
    with creation_hook(lambda node: log.append(x.exp())):
        x.sin()
        x.cos()
    assert len(log) == 2


def test_what_a_hook_raises_comes_out_and_it_goes_on():
    x = leaf([1.0])

    def refuse(node):
        raise KeyError("no")

    with creation_hook(refuse):
        with pytest.raises(KeyError):
            x.exp()
        y = x.detach() * 1.0
        with pytest.raises(KeyError):
            y.mul_(x)
        assert y.tolist() == [1.0] and not y.requires_grad
    x.exp()


def test_another_thread_is_not_seen():
    log = []

    def run():
        leaf(1.0).exp()

    with creation_hook(log.append):
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    assert log == []


def test_asyncio_tasks_have_regions_of_their_own():
    import asyncio

    async def task(name):
        with region(name):
            await asyncio.sleep(0)
            y = leaf(1.0).exp()
            await asyncio.sleep(0)
        return y.grad_fn.metadata.get("region"), leaf(1.0).exp().grad_fn.metadata.get("region")

    async def both():
        return await asyncio.gather(task("a"), task("b"))

    assert asyncio.run(both()) == [("a", None), ("b", None)]


def test_hooks_and_regions_decorate():
    @region("block")
    def block(x, depth):
        return block(x, depth - 1) if depth else x.exp()

    assert block(leaf(1.0), 2).grad_fn.metadata == {"region": "block/block/block"}
    assert block(leaf(1.0), 0).grad_fn.metadata == {"region": "block"}


def test_regions_are_drawn():
    with region("head"):
        y = leaf(1.0).exp()
    assert "[head]" in str(draw(y.sin())) and "head" in draw(y).dot()


def test_bits_are_the_same_within_a_region():
    x = torch.linspace(-1, 1, 50).requires_grad_()

    def step():
        return ((x.exp() * x).view(5, 10)[1:] @ torch.ones(10, 2)).tanh().sum()

    plain = step()
    (g,) = torch.autograd.grad(plain, x)
    with region("a"):
        named = step()
        (h,) = torch.autograd.grad(named, x)
    np.testing.assert_array_equal(g.numpy(), h.numpy())
    assert plain.item() == named.item()


def test_what_is_no_hook_and_no_name_is_refused():
    with pytest.raises(TypeError, match="a hook must be callable"):
        creation_hook(3)
    with pytest.raises(TypeError, match="the name must be a str"):
        region(3)
