"""autograd.graph.memory: what a graph keeps alive agrees with what goes when it dies."""

import gc
import tracemalloc

import numpy as np
import pytest
from common import IS_TORCH, Double, leaf

import autograd_cy as torch

pytestmark = pytest.mark.skipif(IS_TORCH, reason="PyTorch has none")

N = 500  # (N, N) of float32 are 1 MB
SIZE = 4 * N * N


@pytest.fixture
def w():
    return torch.full((N, N), 0.5, requires_grad=True)


def used():
    return torch.memory.memory_stats()["used_bytes"]


def memory(x):
    return torch.autograd.graph.memory(x)


def values(x):
    return x * 2.0 - x.detach()  # in memory of its own


class Keeping(torch.autograd.Function):
    """Keeps an input, an output, and an array of its own."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(x, y)
        ctx.own = x.detach() + 1.0
        return y

    @staticmethod
    def backward(ctx, g):
        return g


def plain(w):
    h = (values(w) @ w).tanh()
    return ((h * h + h).exp() * w).sum()


def views(w):
    h = values(w).exp()
    return (h[: N // 2] * h.view(-1)[: N * N // 2].view(N // 2, N)).sum() + (h.t() * h).sum()


def function(w):
    return Keeping.apply(values(w)).sum()


def writes(w):
    y = values(w)
    y[: N // 2] = (y[: N // 2] * w[: N // 2]).sin()
    y[1:3].mul_(2)
    return (y.exp() * y).sum()


def checkpointed(w):
    return torch.utils.checkpoint.checkpoint(lambda x: (x @ w).tanh().exp().sum(), values(w), use_reentrant=False)


def packed_as_arrays(w):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (t.detach() + 1.0).numpy(), torch.from_numpy):
        return plain(w)


def packed_as_tensors(w):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach() + 1.0, lambda t: t):
        return plain(w)


def on_disk(w):
    with torch.autograd.graph.save_on_disk():
        return plain(w)


def guarded(w):
    with torch.autograd.graph.guard_buffers():
        return plain(w)


def with_handles(w):
    loss = plain(w)
    node = loss.grad_fn.next_functions[0][0]
    assert node._raw_saved_self is not None
    return loss


def freed(w):
    loss = plain(w)
    loss.backward()
    w.grad = None
    return loss


def retained(w):
    loss = plain(w)
    loss.backward(retain_graph=True)
    w.grad = None
    return loss


def hooked(w):
    loss, own = plain(w), w.detach() + 1.0
    loss.register_hook(lambda g: g * own.sum())
    return loss


def vector(w):
    return values(w).exp()


def several_outputs(w):
    a, b = values(w).split(N // 2)
    return (a * b).sum()


PROGRAMS = [plain, views, function, writes, checkpointed, packed_as_arrays, packed_as_tensors, on_disk, guarded, with_handles,
            freed, retained, hooked, vector, several_outputs]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_total_is_what_goes_with_the_graph(program, w):
    memory(program(w))  # what is made once is there
    gc.collect()
    tracemalloc.start()
    try:
        loss = program(w)
        told = memory(loss).total_bytes
        before = tracemalloc.get_traced_memory()[0]
        del loss
        gc.collect()  # a write through a view may close a cycle
        freed_bytes = before - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert freed_bytes == pytest.approx(told, rel=0.02, abs=20_000)


def test_total_agrees_with_the_pool_on_a_large_step():
    w = torch.full((1024, 1024), 0.001, requires_grad=True)
    x = torch.ones(1024, 1024)

    def step():
        h = x
        for _ in range(4):
            h = (h @ w).tanh() * 0.5
        return (h * h).sum()

    loss = step()
    m, before = memory(loss), used()
    assert m.total_bytes > 30_000_000
    del loss
    assert before - used() == pytest.approx(m.total_bytes, rel=0.02)


@pytest.mark.parametrize("program", [plain, function, views, checkpointed, packed_as_tensors, hooked])
def test_asking_changes_nothing(program, w):
    loss = program(w)
    before = used()
    first = memory(loss)
    assert memory(loss).total_bytes == first.total_bytes and used() == before
    loss.backward()
    wanted = program(w)
    g, w.grad = w.grad, None
    wanted.backward()
    np.testing.assert_array_equal(g.numpy(), w.grad.numpy())


def test_no_hook_is_called():
    calls, x = [], leaf([1.0, 2.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: calls.append(t) or t):
        y = (x * x).exp().sum()
    str(memory(y)), memory(y).nodes
    assert not calls


def test_the_answer_holds_nothing(w):
    loss = plain(w)
    m, before = memory(loss), used()
    del loss
    assert before - used() >= m.total_bytes * 0.98
    assert str(m) and m.nodes and m._repr_html_()


def test_leaves_and_what_others_hold_are_told_apart(w):
    h = values(w).exp()
    loss = (h * w).sum()
    m = memory(loss)
    assert (m.total_bytes, m.leaf_bytes, m.held_bytes) == (0, SIZE, SIZE)
    del h
    m = memory(loss)
    assert (m.total_bytes, m.leaf_bytes, m.held_bytes) == (SIZE, SIZE, 0)


def test_a_leaf_that_only_the_graph_holds_is_the_graphs():
    loss = (torch.ones(N, N, requires_grad=True) * 2.0).sum()
    assert memory(loss).total_bytes == SIZE and memory(loss).leaf_bytes == 0


def test_an_array_of_the_user_is_held_by_the_user(w):
    array = np.ones((N, N), np.float32)
    loss = (torch.from_numpy(array) * w).sum()
    assert memory(loss).held_bytes == SIZE
    part = loss.grad_fn.next_functions[0][0]._saved_self.numpy()[:2]
    del array
    assert memory(loss).held_bytes == SIZE  # a view holds all of it
    del part
    assert memory(loss).total_bytes == SIZE


def test_views_and_nodes_that_share_memory_count_once(w):
    h = values(w).exp()
    loss = (h[0] * h[1] * h[2]).sum() + (h * h.t()).sum()
    del h
    m = memory(loss)
    assert SIZE <= m.total_bytes <= SIZE + 8 * N
    (exp,) = [node for node in m.nodes if node.name == "ExpBackward0"]
    assert exp.bytes == SIZE


def test_the_sums_agree(w):
    m = memory(plain(w))
    rows = m.by_operation(), m.by_line(), m.by_function(), m.by_region(), m.nodes
    assert {sum(row.bytes for row in part) for part in rows} == {m.total_bytes}
    assert {sum(row.held_bytes for row in part) for part in rows} == {m.leaf_bytes + m.held_bytes}
    assert [sum(row.nodes for row in part) for part in rows[:4]] == [m.n_nodes] * 4


def test_lines_are_those_of_the_user(w):
    m = memory(plain(w))
    line = plain.__code__.co_firstlineno
    places = {row.place[1]: row for row in m.by_line() if row.place}
    assert set(places) == {line + 1, line + 2, values.__code__.co_firstlineno + 1}
    assert places[line + 1].bytes >= SIZE and f"test_graph_memory.py:{line + 1}, in plain" in str(m)
    assert "h = (values(w) @ w).tanh()" in str(m)


def test_regions(w):
    with torch.autograd.graph.region("head"):
        h = values(w).exp()
    with torch.autograd.graph.region("body"), torch.autograd.graph.region("inner"):
        loss = (h.exp() * h).sum()
    del h
    rows = {row.name: row for row in memory(loss).by_region()}
    assert rows["head"].bytes == rows["body/inner"].bytes == SIZE
    assert "by region" in str(memory(loss))
    assert {row.name for row in memory(loss).by_region(depth=1)} == {"(none)", "head", "body"}


def test_what_a_checkpoint_frees(w):
    """A function's own intermediates go; what it was given, and what is saved outside as well, stays."""

    def block(x):
        return (x.exp() * x.exp().sin()).tanh()

    def outer():
        return (block(values(w)) * w).sum()

    rows = {row.name: row for row in memory(outer()).by_function()}
    own = rows[block.__qualname__]
    x = values(w)
    before = memory((block(x) * w).sum()).total_bytes
    after = memory((torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) * w).sum()).total_bytes
    # the output, which the multiplication saves, stays
    assert own.checkpoint_bytes == pytest.approx(before - after, rel=0.02)
    assert 0 < own.checkpoint_bytes < before


def test_what_hooks_packed_into_something_else_is_told():
    x = leaf([1.0, 2.0])
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor):
        y = x.exp().sum()
    assert memory(y).unknown == 1 and "packed by hooks" in str(memory(y))


def test_a_graph_that_was_freed_holds_nothing(w):
    loss = plain(w)
    loss.backward()
    m = memory(loss)
    assert m.total_bytes == 0 and m.n_nodes == len(m.nodes) > 5


def test_several_roots_and_nodes(w):
    h = values(w).exp()
    a, b = (h * 2.0).sum(), h.sin().sum()
    del h
    assert memory([a, b]).total_bytes == SIZE == memory(a).held_bytes  # by the other graph
    assert memory(a.grad_fn).n_nodes == memory(a).n_nodes


def test_a_deep_graph_is_no_recursion():
    x = y = leaf(1.0)
    for _ in range(100_000):
        y = y * x
    assert memory(y).n_nodes == 100_001


def test_functions_within_functions(w):
    loss = Double.apply(Keeping.apply(w)).sum()
    assert memory(loss).total_bytes == 2 * SIZE  # the output, and the array of its own


def test_what_is_no_graph_is_refused():
    with pytest.raises(TypeError, match="expected a Tensor, a node"):
        memory(3)
    with pytest.raises(TypeError, match="at position 1"):
        memory([leaf(1.0), "x"])
    with pytest.raises(RuntimeError, match="does not require grad"):
        memory(torch.ones(2))
    with pytest.raises(ValueError, match="by must be one of"):
        memory(leaf(1.0)).table("moon")


def test_tables_fit_and_are_limited(w):
    m = memory(plain(w))
    assert max(map(len, str(m).splitlines())) <= 100
    assert "... " in m.table("operation", row_limit=2) and len(m.table("operation", row_limit=2).splitlines()) == 4
    assert "<table>" in m._repr_html_() and repr(m).startswith("<GraphMemory: ")


def test_nothing_stays_behind(w):
    loss = plain(w)
    before = len(gc.get_objects())
    for _ in range(3):
        memory(loss).by_line()
    gc.collect()
    assert len(gc.get_objects()) < before + 200
