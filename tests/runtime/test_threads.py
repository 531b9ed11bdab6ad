"""Backward in several threads at once: shared leaves, one retained graph, right sums."""

import sys

import pytest
from common import define, in_threads, leaf

import autograd_cy as torch

ROUNDS = 40


@pytest.fixture(autouse=True)
def eager_switches():
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


pause = define(lambda ctx, x: x * 1, lambda ctx, g: g * 1)  # Python code, where a thread may lose its turn


def small(w):
    """6 * w, by many paths."""
    a = w * 2
    return a + (a - w) + w * 3


def paused(w):
    """6 * w, handing over to other threads on the way."""
    a = pause.apply(w * 2)
    return pause.apply(a + pause.apply(a - w)) + w * 3


def scaled(w):
    """6 * w, whose gradient is added to a `.grad` in the pass that computes it."""
    return w * 6


def parted(w):
    """6 * w, by parts whose gradients are added to what waits for the whole."""
    n = w.shape[0] // 2
    return torch.cat([w[:n] * 2, w[n:] * 2]) + w * 4


GRAPHS = [
    pytest.param(small, 4, id="small"),
    pytest.param(paused, 4, id="paused"),
    pytest.param(paused, 20_000, id="large"),
    pytest.param(scaled, 40_000, id="scaled"),
    pytest.param(parted, 40_000, id="parted"),
]


@pytest.mark.parametrize("threads", [2, 8])
@pytest.mark.parametrize("graph, size", GRAPHS)
def test_graphs_with_shared_leaves(graph, size, threads):
    w = torch.zeros(size, dtype=torch.float64, requires_grad=True)

    def work(number):
        for _ in range(ROUNDS):
            (graph(w) * (number + 1)).sum().backward()

    in_threads(threads, work)
    expected = 6 * ROUNDS * sum(range(1, threads + 1))
    assert w.grad.min().item() == w.grad.max().item() == expected


@pytest.mark.parametrize("threads", [2, 8])
@pytest.mark.parametrize("graph, size", GRAPHS)
def test_one_retained_graph(graph, size, threads):
    w = torch.zeros(size, dtype=torch.float64, requires_grad=True)
    root = graph(w).sum()
    in_threads(threads, lambda number: [root.backward(retain_graph=True) for _ in range(ROUNDS)])
    assert w.grad.min().item() == w.grad.max().item() == 6 * ROUNDS * threads


@pytest.mark.parametrize("graph, size", GRAPHS)
def test_each_thread_gets_the_gradient_of_its_own_seed(graph, size):
    w = torch.zeros(size, dtype=torch.float64, requires_grad=True)
    root, results = graph(w), {}

    def work(number):
        seed = torch.full((size,), number + 1.0, dtype=torch.float64)
        results[number] = [torch.autograd.grad(root, w, seed, retain_graph=True)[0] for _ in range(ROUNDS)]

    in_threads(8, work)
    assert w.grad is None
    for number, gradients in results.items():
        assert all((g == 6.0 * (number + 1)).all() for g in gradients)


def test_second_derivatives_of_shared_leaves():
    w = leaf([2.0])

    def work(number):
        for _ in range(ROUNDS):
            (g,) = torch.autograd.grad(pause.apply(w * w * w).sum(), w, create_graph=True)
            pause.apply(g).sum().backward()

    in_threads(8, work)
    assert w.grad.item() == 8 * ROUNDS * 12.0


def test_threads_agree_on_the_accumulate_grad_of_a_leaf():
    for _ in range(ROUNDS):
        w, nodes = leaf(1.0), []
        in_threads(4, lambda number, w=w, nodes=nodes: nodes.append((w * 2).grad_fn))
        assert len({id(node.next_functions[0][0]) for node in nodes}) == 1


def test_a_failure_in_one_thread_is_its_own():
    w, root_failures = leaf(1.0), []

    def fail(ctx, g):
        raise ArithmeticError

    failing = define(lambda ctx, x: x * 1, fail)

    def work(number):
        for _ in range(ROUNDS):
            if number % 2:
                paused(w).backward()
            else:
                with pytest.raises(ArithmeticError):
                    failing.apply(paused(w.detach().requires_grad_())).backward()
                root_failures.append(number)

    in_threads(4, work)
    assert w.grad.item() == 6 * 2 * ROUNDS and len(root_failures) == 2 * ROUNDS
