"""Several threads at once, on graphs of their own and on what they share: right sums, nothing lost. With a GIL and without."""

import gc
import os
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest
from common import define, in_threads, leaf

import autograd_cy as torch

ROUNDS = 40
THREADS, OFTEN = 4, 100


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


def test_graphs_of_their_own():
    def run(k):
        x = leaf(np.arange(6.0).reshape(2, 3) + k)
        for _ in range(OFTEN):
            (x * x + x.sin() @ torch.ones(3, 3, dtype=torch.float64)).sum().backward()
        expected = OFTEN * (2 * x.detach() + 3 * x.detach().cos())
        np.testing.assert_allclose(x.grad, expected, rtol=1e-12)

    in_threads(THREADS, run)


def test_a_graph_that_the_first_one_frees():
    """The others get its gradient, or the error of a second backward."""
    x = leaf(np.arange(6.0) / 6)
    expected = torch.autograd.grad(((x * x).exp() * x).sum(), x)[0]
    turn = threading.Barrier(THREADS)
    made = []

    def run(k):
        for _ in range(OFTEN):
            if turn.wait() == 0:
                made[:] = [((x * x).exp() * x).sum()]
            turn.wait()
            try:
                assert torch.equal(torch.autograd.grad(made[0], x)[0], expected)
            except RuntimeError as error:
                assert "second time" in str(error)

    in_threads(THREADS, run)


def test_views_that_all_find_stale():
    x = leaf(np.arange(6.0))
    turn = threading.Barrier(THREADS)
    views = []

    def run(k):
        for _ in range(OFTEN // 4):
            if turn.wait() == 0:
                base = x * 2.0
                views[:] = [base[:3], base[3:], base.view(2, 3)]
                base.mul_(3.0)
            turn.wait()
            total = sum(view.sum() for view in views)
            assert (torch.autograd.grad(total, x, retain_graph=True)[0] == 12.0).all()

    in_threads(THREADS, run)


def test_rows_of_one_tensor_written_by_different_threads():
    x = torch.zeros(THREADS, 5)

    def run(k):
        for _ in range(OFTEN):
            x[k].add_(1)

    in_threads(THREADS, run)
    assert (x == OFTEN).all() and x._version == THREADS * OFTEN


def test_hooks_come_and_go():
    x = leaf(np.ones(3))
    y = x * 2
    seen, ids = [], []

    def run(k):
        for _ in range(OFTEN):
            with (x.register_hook(lambda g: seen.append(k)) as first,
                  y.grad_fn.register_hook(lambda before, after: None) as second):
                torch.autograd.grad(y.sum(), x, retain_graph=True)
            ids.extend((first.id, second.id))

    in_threads(THREADS, run)
    assert len(seen) >= THREADS * OFTEN and len(set(ids)) == len(ids)
    seen.clear()
    torch.autograd.grad(y.sum(), x)
    assert not seen


def test_what_is_made_when_it_is_first_needed():
    """Extras, hooks, counters and the node of a leaf: each is one object, whoever asked first."""

    def ask(x, y):
        y.grad_fn.metadata[threading.get_ident()] = True
        return id(y.grad_fn.next_functions[0][0]), id(y.grad_fn.metadata), x.detach()._version

    for _ in range(OFTEN):
        x = leaf([1.0])
        y = x * 2
        found = []
        in_threads(THREADS, lambda k, x=x, y=y, found=found: found.append(ask(x, y)))
        assert len(set(found)) == 1 and len(y.grad_fn.metadata) == THREADS


def test_graphs_that_are_handed_over():
    """Nodes, tensors and arrays die in other threads than those that made them."""
    x = leaf(np.ones(3))
    boxes = [[] for _ in range(THREADS)]

    def run(k):
        for _ in range(OFTEN):
            boxes[(k + 1) % THREADS].append((x * 2 + k).exp())
            if boxes[k]:
                y = boxes[k].pop()
                (g,) = torch.autograd.grad(y.sum(), x)
                assert (g == 2 * y.detach()).all()

    in_threads(THREADS, run)


def test_dual_levels_belong_to_their_thread():
    """They were one stack for all threads: a level was closed that another thread was in, and its tangent was lost."""

    def run(k):
        x = torch.tensor([1.0 + k, 2.0])
        for _ in range(OFTEN):
            _, tangent = torch.func.jvp(lambda z: (z * z * z).sum(), (x,), (torch.ones(2),))
            assert tangent == 3 * ((1.0 + k) ** 2 + 4)

    in_threads(THREADS, run)


def test_numbers_that_take_each_others_place():
    """The last numbers are kept as arrays, in 256 places by their address: here all have one."""
    numbers = [i + 0.5 for i in range(256 * 4 * THREADS)]
    place = id(numbers[0]) >> 4 & 255
    alike = [number for number in numbers if id(number) >> 4 & 255 == place]
    x = torch.ones((), dtype=torch.float64)

    def work(number):
        factor = alike[number]
        for _ in range(200 * OFTEN):
            assert (x * factor).item() == factor

    in_threads(THREADS, work)


def test_modes_belong_to_their_thread():
    x = leaf([1.0])

    def run(k):
        for _ in range(OFTEN):
            with torch.no_grad():
                assert not (x * 2).requires_grad
            with torch.inference_mode():
                assert (x * 2).is_inference()
            assert (x * 2).requires_grad

    in_threads(THREADS, run)


def test_vmap_in_all_of_them():
    batch = torch.tensor(np.arange(12.0).reshape(4, 3))

    def run(k):
        for _ in range(OFTEN // 10):
            assert (torch.func.vmap(torch.func.grad(lambda z: (z * z).sum()))(batch) == 2 * batch).all()

    in_threads(THREADS, run)


def test_one_module_in_all_of_them():
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
    data = torch.ones(5, 4, dtype=torch.float64)
    model(data).sum().backward()
    once = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    in_threads(THREADS, lambda k: [model(data).sum().backward() for _ in range(OFTEN // 4)])
    for p, g in zip(model.parameters(), once, strict=True):
        np.testing.assert_allclose(p.grad, g * (THREADS * (OFTEN // 4)), rtol=1e-9)


def test_while_the_collector_runs():
    def run(k):
        for _ in range(OFTEN // 10):
            if k == 0:
                gc.collect()
            else:
                x = leaf(np.ones(3))
                x.register_hook(lambda g, x=x: None)        # a cycle
                x.exp().sum().backward()
                assert torch.equal(x.grad, x.detach().exp())

    in_threads(THREADS, run)


def test_while_another_one_turns_the_pool_on_and_off():
    def work(number):
        for _ in range(20 * OFTEN):
            if number == 0:
                with torch.autograd.graph.parallel_backward(2):
                    pass
            else:
                (gradient,) = torch.autograd.grad(small(x).sum(), x)
                assert gradient.tolist() == [6.0, 6.0]

    x = leaf([1.0, 2.0])
    in_threads(THREADS, work)


def test_while_others_record_events():
    def run(k):
        x = leaf(np.ones(3))
        for _ in range(OFTEN // 10):
            if k < 2:
                with torch.profiler.profile() as profile:
                    x.exp().sum().backward()
                assert {"aten::exp", "aten::sum", "ExpBackward0"} <= {event.name for event in profile.events()}
            else:
                x.exp().sum().backward()

    in_threads(THREADS, run)


def test_importing_the_package_leaves_the_gil_off():
    """Nothing keeps it off: one module that doesn't say that it needs none would switch it on."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this interpreter always has a GIL")
    program = "import sys, autograd_cy; autograd_cy.nn, autograd_cy.fft; print(sys._is_gil_enabled())"
    usual = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=usual)
    assert found.stdout.strip() == "False"
