"""Several threads record and walk graphs at once: of their own, and such that they share. The same with a GIL and without."""

import gc
import subprocess
import sys
import sysconfig
import threading

import numpy as np
import pytest
from common import in_threads, leaf

import autograd_cy as ag

THREADS = 4
ROUNDS = 100


@pytest.fixture(autouse=True)
def threads_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_graphs_of_their_own():
    def run(k):
        x = leaf(np.arange(6.0).reshape(2, 3) + k)
        for _ in range(ROUNDS):
            (x * x + x.sin() @ ag.ones(3, 3, dtype=ag.float64)).sum().backward()
        expected = ROUNDS * (2 * x.detach() + 3 * x.detach().cos())
        np.testing.assert_allclose(x.grad, expected, rtol=1e-12)

    in_threads(THREADS, run)


@pytest.mark.parametrize("size", [6, 20_000])
def test_sums_in_the_grad_of_one_leaf(size):
    """Whole numbers: no order of summing them has other bits."""
    x = leaf(np.arange(float(size)))

    def run(k):
        for _ in range(ROUNDS):
            ((x * 2.0).sum() + x.sum()).backward()

    in_threads(THREADS, run)
    assert (x.grad == 3.0 * THREADS * ROUNDS).all()


def test_one_graph_walked_by_all():
    x = leaf(np.arange(6.0) + 1)
    y = ((x * x).exp().log() * x).sum()
    expected = ag.autograd.grad(y, x, retain_graph=True)[0].numpy().tobytes()

    def run(k):
        for _ in range(ROUNDS):
            assert ag.autograd.grad(y, x, retain_graph=True)[0].numpy().tobytes() == expected

    in_threads(THREADS, run)


def test_a_graph_that_the_first_one_frees():
    """The others get its gradient, or the error of a second backward."""
    x = leaf(np.arange(6.0) + 1)
    turn = threading.Barrier(THREADS)
    made = []

    def run(k):
        for _ in range(ROUNDS):
            if turn.wait() == 0:
                made[:] = [((x * x).exp() * x).sum()]
            turn.wait()
            try:
                ag.autograd.grad(made[0], x)
            except RuntimeError as error:
                assert "second time" in str(error)

    in_threads(THREADS, run)


def test_views_that_all_find_stale():
    x = leaf(np.arange(6.0))
    turn = threading.Barrier(THREADS)
    views = []

    def run(k):
        for _ in range(ROUNDS // 4):
            if turn.wait() == 0:
                base = x * 2.0
                views[:] = [base[:3], base[3:], base.view(2, 3)]
                base.mul_(3.0)
            turn.wait()
            total = sum(view.sum() for view in views)
            assert (ag.autograd.grad(total, x, retain_graph=True)[0] == 12.0).all()

    in_threads(THREADS, run)


def test_rows_of_one_tensor_written_by_different_threads():
    x = ag.zeros(THREADS, 5)

    def run(k):
        for _ in range(ROUNDS):
            x[k].add_(1)

    in_threads(THREADS, run)
    assert (x == ROUNDS).all() and x._version == THREADS * ROUNDS


def test_hooks_come_and_go():
    x = leaf(np.ones(3))
    y = x * 2
    seen = []

    def run(k):
        for _ in range(ROUNDS):
            with x.register_hook(lambda g: seen.append(k)), y.grad_fn.register_hook(lambda before, after: None):
                ag.autograd.grad(y.sum(), x, retain_graph=True)

    in_threads(THREADS, run)
    assert len(seen) >= THREADS * ROUNDS
    ag.autograd.grad(y.sum(), x)
    assert len({x.register_hook(print).id for _ in range(100)}) == 100


def test_what_is_made_when_it_is_first_needed():
    """Extras, hooks, counters and the node of a leaf: each is one object, whoever asked first."""

    def ask(x, y):
        y.grad_fn.metadata[threading.get_ident()] = True
        return id(y.grad_fn.next_functions[0][0]), id(y.grad_fn.metadata), x.detach()._version

    for _ in range(ROUNDS):
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
        for _ in range(ROUNDS):
            boxes[(k + 1) % THREADS].append((x * 2 + k).exp())
            if boxes[k]:
                y = boxes[k].pop()
                (g,) = ag.autograd.grad(y.sum(), x)
                assert (g == 2 * y.detach()).all()

    in_threads(THREADS, run)


def test_dual_levels_belong_to_their_thread():
    """They were one stack for all threads: a level was closed that another thread was in, and its tangent was lost."""

    def run(k):
        x = ag.tensor([1.0 + k, 2.0])
        for _ in range(ROUNDS):
            _, tangent = ag.func.jvp(lambda z: (z * z * z).sum(), (x,), (ag.ones(2),))
            assert tangent == 3 * ((1.0 + k) ** 2 + 4)

    in_threads(THREADS, run)


def test_modes_belong_to_their_thread():
    x = leaf([1.0])

    def run(k):
        for _ in range(ROUNDS):
            with ag.no_grad():
                assert not (x * 2).requires_grad
            with ag.inference_mode():
                assert (x * 2).is_inference()
            assert (x * 2).requires_grad

    in_threads(THREADS, run)


def test_vmap_in_all_of_them():
    batch = ag.tensor(np.arange(12.0).reshape(4, 3))

    def run(k):
        for _ in range(ROUNDS // 10):
            assert (ag.func.vmap(ag.func.grad(lambda z: (z * z).sum()))(batch) == 2 * batch).all()

    in_threads(THREADS, run)


def test_one_module_in_all_of_them():
    model = ag.nn.Sequential(ag.nn.Linear(4, 8), ag.nn.Tanh(), ag.nn.Linear(8, 1)).double()
    data = ag.ones(5, 4, dtype=ag.float64)
    model(data).sum().backward()
    once = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    in_threads(THREADS, lambda k: [model(data).sum().backward() for _ in range(ROUNDS // 4)])
    for p, g in zip(model.parameters(), once, strict=True):
        np.testing.assert_allclose(p.grad, g * (THREADS * (ROUNDS // 4)), rtol=1e-9)


def test_while_the_collector_runs():
    def run(k):
        for _ in range(ROUNDS // 10):
            if k == 0:
                gc.collect()
            else:
                x = leaf(np.ones(3))
                x.register_hook(lambda g, x=x: None)        # a cycle
                x.exp().sum().backward()

    in_threads(THREADS, run)


def test_while_others_record_events():
    def run(k):
        x = leaf(np.ones(3))
        for _ in range(ROUNDS // 10):
            if k == 0:
                with ag.profiler.profile():
                    x.exp().sum().backward()
            else:
                x.exp().sum().backward()

    in_threads(THREADS, run)


def test_importing_the_package_leaves_the_gil_off():
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("this interpreter always has a GIL")
    program = "import sys, autograd_cy; print(sys._is_gil_enabled())"
    found = subprocess.run([sys.executable, "-X", "gil=0", "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
