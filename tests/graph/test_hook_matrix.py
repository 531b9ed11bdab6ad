"""Which hooks fire, in which order and with what: each kind, on roots, on what was asked for and on all else."""

import itertools
import os

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.filterwarnings("ignore:Using backward", "ignore:The .grad attribute")

KINDS = ["tensor", "times ten", "pre", "post", "accumulated", "retain"]
SEVERAL = ["unbind", "split", "Function", "Function of None"]
ROOTS = ["b", "p", "q", "x", "b c", "p q", "q p", "b other", "a b", "p p", "b p", "other a", "x b", "a x", "u other"]
INPUTS = ["x", "w", "a", "p", "q", "b", "other", "a x", "p w", "q p", "b a", "x x"]
WAYS = ["backward", "grad", "create_graph", "grad of edges"]


def values(g):
    return None if g is None else [round(float(x), 9) for x in np.ravel(g.detach().numpy())]


def pair_of(lib, kind, a):
    """Two tensors that one node computed."""
    if kind == "unbind":
        return lib.stack([a, a * 3]).unbind(0)
    if kind == "split":
        return lib.cat([a, a * 3]).split(2)

    class Pair(lib.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.set_materialize_grads(kind == "Function")
            return a * 2, a * 3

        @staticmethod
        def backward(ctx, g, h):
            if g is None or h is None:
                return h * 3 if g is None else g * 2
            return g * 2 + h * 3

    return Pair.apply(a)


def graph(lib, several):
    """The tensors of a small graph by name; a hook that is registered on its node is kept alive there."""
    made = {name: lib.tensor(data, dtype=lib.float64, requires_grad=True)
            for name, data in {"x": [1.0, 2.0], "w": [3.0, -1.0], "u": [5.0, 7.0]}.items()}  # fmt: skip
    a = made["a"] = made["x"] * 2
    p, q = made["p"], made["q"] = pair_of(lib, several, a)
    made |= {"b": p * made["w"], "c": q * q, "other": made["w"] * 5}
    return made


def add_hooks(tensor, node, name, kinds, log):
    for kind in kinds:
        if kind == "tensor":
            tensor.register_hook(lambda g, kind=kind: log.append((kind, name, values(g))))
        elif kind == "times ten":
            tensor.register_hook(lambda g: None if g is None else g * 10)
        elif kind == "pre":
            node.register_prehook(lambda out, kind=kind: log.append((kind, name, [values(g) for g in out])))
        elif kind == "post":
            seen = lambda ins, out, kind=kind: log.append((kind, name, [values(g) for g in (*ins, *out)]))  # noqa: E731
            node.register_hook(seen)
        elif kind == "accumulated" and tensor.is_leaf:
            tensor.register_post_accumulate_grad_hook(lambda t, kind=kind: log.append((kind, name, values(t.grad))))
        elif kind == "retain":
            tensor.retain_grad()


def run(lib, several, kinds, roots, inputs, way):
    """What happened: the calls of the hooks, the result, and all `.grad`."""
    log, made = [], graph(lib, several)
    nodes = {name: lib.autograd.graph.get_gradient_edge(t).node for name, t in made.items()}
    for name, tensor in made.items():
        add_hooks(tensor, nodes[name], name, kinds, log)
    edge = lib.autograd.graph.get_gradient_edge
    wrap = edge if way == "grad of edges" else lambda t: t
    ends = [made[name] for name in roots.split()]
    seeds = [lib.ones_like(t) * (k + 1) for k, t in enumerate(ends)]
    ends, wanted = [wrap(t) for t in ends], [wrap(made[name]) for name in inputs.split()]
    if way == "backward":
        lib.autograd.backward(ends, seeds, inputs=wanted or None)
    else:
        options = {"create_graph": way == "create_graph", "allow_unused": True}
        log.append([values(g) for g in lib.autograd.grad(ends, wanted, seeds, **options)])
    return log, {name: values(t.grad) for name, t in made.items()}


SHARE = int(os.environ.get("AUTOGRAD_CY_HOOK_SHARE", "5"))  # one case in so many; 1 runs all 20 000
SEED = int(os.environ.get("AUTOGRAD_CY_SEED", "0"))  # which of them
CASES = [(way, inputs) for way in WAYS for inputs in INPUTS] + [("backward", "")]


@pytest.mark.parametrize("several", SEVERAL)
@pytest.mark.parametrize("kinds", [*[[kind] for kind in KINDS], KINDS], ids=str)
def test_hooks_fire_as_in_pytorch(several, kinds):
    every = list(itertools.product(ROOTS, CASES))
    first = (SEED + SEVERAL.index(several) + len(kinds[0])) % SHARE
    for roots, (way, inputs) in every[first::SHARE]:
        case = several, kinds, roots, inputs, way
        found, expected = run(ag, *case), run(torch, *case)
        assert found == expected, case
