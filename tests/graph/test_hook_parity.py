"""Random graphs with random hooks of all kinds, run by this package and by PyTorch: the same calls with the same gradients."""

import random

import numpy as np
import pytest

import autograd_cy as ag

torch = pytest.importorskip("torch")


def values(g):
    return None if g is None else [round(float(x), 9) for x in np.ravel(g.detach().numpy())]


def all_values(gradients):
    return [values(g) for g in gradients]


class Program:
    """One random program; `log` is what happened."""

    def __init__(self, lib, seed):
        self.lib, self.dice = lib, random.Random(seed)
        self.log, self.handles = [], []
        self.tensors = [self.leaf() for _ in range(3)]
        for _ in range(self.dice.randint(2, 8)):
            self.tensors.append(self.operation())
        # PyTorch loses the hooks of an AccumulateGrad without another reference
        self.nodes = [lib.autograd.graph.get_gradient_edge(t).node for t in self.tensors]
        for i in range(len(self.tensors)):
            for k in range(self.dice.randint(0, 5)):
                self.hook(i, k)

    def leaf(self):
        data = [self.dice.choice([1.0, 2.0, 0.5]), self.dice.choice([1.0, -1.0])]
        return self.lib.tensor(data, dtype=self.lib.float64, requires_grad=True)

    def operation(self):
        a, b = self.dice.choice(self.tensors), self.dice.choice(self.tensors)
        kind = self.dice.choice(["+", "*", "-", "sin", "sum", "unbind"])
        if kind == "unbind":
            first, second = a.unbind(0)
            return self.lib.stack([second, first])
        made = {"+": lambda: a + b, "*": lambda: a * b, "-": lambda: a - b * 2, "sin": a.sin, "sum": lambda: a * b.sum()}
        return made[kind]()

    def hook(self, i, k):
        t, node, log = self.tensors[i], self.nodes[i], self.log
        kind = self.dice.choice(["tensor", "times ten", "pre", "pre doubles", "post", "accumulated", "retain", "remove"])
        if kind == "tensor":
            self.handles.append(t.register_hook(lambda g: log.append((kind, i, k, values(g)))))
        elif kind == "times ten":
            self.handles.append(t.register_hook(lambda g: None if g is None else g * 10))
        elif kind == "pre":
            self.handles.append(node.register_prehook(lambda out: log.append((kind, i, k, all_values(out)))))
        elif kind == "pre doubles":
            doubled = lambda out: tuple(None if g is None else g * 2 for g in out)  # noqa: E731
            self.handles.append(node.register_prehook(doubled))
        elif kind == "post":
            hook = lambda ins, outs: log.append((kind, i, k, all_values(ins), all_values(outs)))  # noqa: E731
            self.handles.append(node.register_hook(hook))
        elif kind == "accumulated" and t.is_leaf:
            hook = lambda leaf: log.append((kind, i, k, values(leaf.grad)))  # noqa: E731
            self.handles.append(t.register_post_accumulate_grad_hook(hook))
        elif kind == "retain":
            t.retain_grad()
        elif kind == "remove" and self.handles:
            handle = self.dice.choice(self.handles)
            t.register_hook(lambda g: log.append((kind, i)) or handle.remove())

    def run(self):
        """Two backwards of any kind from one root, and the gradients that they leave."""
        roots = self.dice.sample(self.tensors[3:], min(2, len(self.tensors) - 3))
        root = sum((t.sum() for t in roots[1:]), roots[0].sum())
        for _ in range(2):
            self.backward(root, self.dice.sample(self.tensors, self.dice.randint(1, 3)))
            kept = [t for t in self.tensors if t.is_leaf or t.retains_grad]
            self.log.append(all_values(t.grad for t in kept))
        return self.log

    def backward(self, root, inputs):
        way = self.dice.choice(["backward", "backward(inputs=)", "grad", "create_graph"])
        try:
            if way.startswith("backward"):
                root.backward(inputs=inputs if "inputs" in way else None, retain_graph=True)
            else:
                options = {"create_graph": way == "create_graph", "retain_graph": True, "allow_unused": True}
                self.log.append(all_values(self.lib.autograd.grad(root, inputs, **options)))
        except RuntimeError as error:
            self.log.append(type(error))


@pytest.mark.parametrize("block", range(10))
def test_random_programs(block):
    lengths = 0
    for seed in range(100 * block, 100 * block + 100):
        found, expected = Program(ag, seed).run(), Program(torch, seed).run()
        assert found == expected, f"seed {seed}"
        lengths += len(found)
    assert lengths > 700  # the programs do something
