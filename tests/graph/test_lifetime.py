"""Who keeps whom alive: ordinary graphs die at once, and need no collector."""

import gc
import subprocess
import sys
import weakref

import pytest
from common import Double, Fail, SaveBoth, alive, leaf, measures_memory, watch

import autograd_cy as torch


def unrun():
    x = leaf([1.0, 2.0])
    y = x * x
    return x, y, y.sum()


def run():
    x, y, z = unrun()
    z.backward()
    return x, x.grad, y, z


def retained():
    x, y, z = unrun()
    z.backward(retain_graph=True)
    return x, x.grad, y, z


def of_saved_outputs():
    x = leaf([1.0, 2.0])
    return x, x.exp(), x.tanh(), x.sqrt(), x.sigmoid(), x.softmax(0), x.logsumexp(0), x**0.5


def of_views():
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    return x, x.t(), x.view(4), x[0], x[:, 1:], x.t().expand(3, 2, 2)


def of_many_outputs():
    x = leaf([1.0, 2.0])
    parts = x.unbind(0)
    return (x, *parts, torch.stack(parts))


def of_a_function():
    x = leaf([1.0, 2.0])
    y, z = SaveBoth.apply(x), Double.apply(x)
    (y + z).sum().backward()
    return x, y, z


def with_hooks():
    x = leaf([1.0, 2.0])
    y = x * x
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: None)
    y.sum().backward()
    return x, y


def with_retained_grad():
    x = leaf([1.0, 2.0])
    y = x * x
    y.retain_grad()
    y.sum().backward()
    return x, y, y.grad


def twice_differentiated():
    x = leaf(3.0)
    y = x * x * x
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x, create_graph=True)
    return x, y, g, h


def failed():
    x = leaf(3.0)
    y = Fail.apply(x * x)
    try:
        y.backward()
    except ArithmeticError:
        return x, y


def forward_mode():
    x, t = leaf(3.0), torch.tensor(1.0, dtype=torch.float64)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, t)
        y = dual * dual.exp()
        return x, t, dual, y, torch.autograd.forward_ad.unpack_dual(y).tangent


def descended():
    p = leaf([1.0, 2.0])
    (p * p).sum().backward()
    with torch.no_grad():
        p -= 0.1 * p.grad
    return p, p.grad


@pytest.mark.parametrize("build", [
    unrun, run, retained, of_saved_outputs, of_views, of_many_outputs, of_a_function, with_hooks,
    with_retained_grad, twice_differentiated, failed, forward_mode, descended,
])
def test_ordinary_graphs_die_without_the_collector(build, no_collector):
    assert not any(alive(watch(build)))


def test_a_node_keeps_its_inputs_and_not_its_output(no_collector):
    x = leaf(2.0)
    y = x.exp()
    z = y * y
    node, refs = z.grad_fn, [weakref.ref(t) for t in (x, y, z)]
    del x, y, z
    assert alive(refs) == [True, True, False]
    del node
    assert not any(alive(refs))


def test_saved_tensors_die_as_the_nodes_finish(no_collector):
    x, refs, seen = leaf(1.0), [], []
    y = x
    for _ in range(5):
        y = y * y
        refs.append(weakref.ref(y))
    x.register_hook(lambda g: seen.extend(alive(refs)))
    root = y + 0
    del y
    root.backward()
    assert seen == [False] * 5


def test_gradients_die_as_the_nodes_finish(no_collector):
    x, refs, seen = leaf(1.0), [], []
    y = x
    for _ in range(5):
        y = y * y
        y.register_hook(lambda g: refs.append(weakref.ref(g)))
    x.register_hook(lambda g: seen.extend(alive(refs)))
    (y * 1).backward()
    assert seen == [False] * 5


def test_backward_releases_what_a_freed_graph_saved(no_collector):
    x = leaf([1.0, 2.0])
    c = torch.ones(2, dtype=torch.float64)
    y, ref = (x * c).sum(), weakref.ref(c)
    del c
    assert ref() is not None
    y.backward()
    assert ref() is None and y.grad_fn is not None


def test_a_tensor_that_its_finalizer_brings_back_is_collected_like_any_other():
    """Python tracked it then, and the collector's handler tracked it again: the interpreter ended."""
    kept = []

    class Undead(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl  # results are Tensors

        def __del__(self):
            kept.append(self)

    x = Undead(torch.ones(3))
    (x.requires_grad_() * 2).sum().backward()
    del x
    gc.collect()
    assert kept[0].sum().item() == 3.0
    kept.clear()
    gc.collect()


@measures_memory
def test_empty_cache_frees_the_spares() -> None:
    """In a process of its own: what is allocated is that of the whole process."""
    code = """
import sys
import autograd_cy as ag
from autograd_cy.memory import empty_cache
def blocks_with_graph():
    y = x = ag.ones(2).requires_grad_()
    for _ in range(1000):
        y = y + 1.0
    del x, y
    return sys.getallocatedblocks()
blocks_with_graph()
kept = blocks_with_graph()
empty_cache()
assert sys.getallocatedblocks() < kept - 900
assert blocks_with_graph() < kept + 50
empty_cache()
empty_cache()
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
