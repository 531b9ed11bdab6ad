"""Random graphs: fan-out, fan-in, shared leaves, several roots. Their gradients against NumPy alone.

All ops here are analytic and keep values near [-1, 1], so the complex step is exact to the last digits.
"""

import collections
from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as ag

# Each takes the module, NumPy or ours, and two operands.
STEPS = {
    "sum": lambda m, a, b: (a + b) / 2,
    "difference": lambda m, a, b: 0.5 * (a - b),
    "product": lambda m, a, b: a * b,
    "quotient": lambda m, a, b: a / (2 + b),
    "square": lambda m, a, b: a * a,
    "sin": lambda m, a, b: m.sin(a),
    "cos": lambda m, a, b: m.cos(a + b),
    "tanh": lambda m, a, b: m.tanh(a) * b,
    "exp": lambda m, a, b: m.exp(a - 1),
    "mean": lambda m, a, b: a.mean() - b / 9,
    "bound": lambda m, a, b: m.sin(2 * b) * m.cos(a) / 3 + b * b / 3,
}
SHAPES = [(), (2,), (1, 2), (2, 1), (2, 2), (3, 2, 2)]
fw = ag.autograd.forward_ad
check_with = settings(max_examples=80, deadline=None)


@dataclass(frozen=True)
class Graph:
    """`steps` are (op, operand, operand); operands and roots count leaves first, then results."""

    shapes: tuple
    steps: tuple
    roots: tuple
    seed: int

    def arrays(self, salt: int = 0) -> list[np.ndarray]:
        """Values of the leaves (or, with salt, directions for them)."""
        rng = np.random.default_rng([self.seed, salt])
        return [np.asarray(rng.uniform(-1, 1, shape)) for shape in self.shapes]

    def run(self, module, leaves) -> list:
        """All values: the leaves, then each step's."""
        values = list(leaves)
        for op, i, j in self.steps:
            values.append(STEPS[op](module, values[i], values[j]))
        return values

    def seeds(self, values) -> list[np.ndarray]:
        rng = np.random.default_rng([self.seed, 9])
        return [rng.uniform(-1, 1, np.shape(values[r])) for r in self.roots]

    def loss(self, leaves) -> complex:
        """The roots, weighted by their seeds and summed, in NumPy."""
        values = self.run(np, leaves)
        return sum(np.sum(s * values[r]) for s, r in zip(self.seeds(values), self.roots, strict=True))


@st.composite
def graphs(draw):
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    steps = []
    for count in range(len(shapes), len(shapes) + draw(st.integers(1, 10))):
        operand = st.integers(0, count - 1)
        steps.append((draw(st.sampled_from(sorted(STEPS))), draw(operand), draw(operand)))
    roots = draw(st.lists(st.integers(0, len(shapes) + len(steps) - 1), min_size=1, max_size=3, unique=True))
    return Graph(tuple(shapes), tuple(steps), tuple(roots), draw(st.integers(0, 999)))


def record(graph, arrays):
    """Runs the graph on leaves over the arrays: (leaves, all values)."""
    leaves = [ag.tensor(a, requires_grad=True) for a in arrays]
    return leaves, graph.run(ag, leaves)


def backward(graph, arrays) -> list[np.ndarray]:
    leaves, values = record(graph, arrays)
    ag.autograd.backward([values[r] for r in graph.roots], [ag.tensor(s) for s in graph.seeds(values)])
    return [np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in leaves]


def differences(loss, arrays, step, scheme) -> list[np.ndarray]:
    """The derivative of `loss` by each element, by `scheme(loss at a displacement)`."""
    found = []
    for k, array in enumerate(arrays):
        gradient = np.zeros(array.shape)
        for index in np.ndindex(array.shape):

            def moved(h, k=k, index=index):
                copies = [a.astype(complex if np.iscomplexobj(h) else float) for a in arrays]
                copies[k][index] += h
                return loss(copies)

            gradient[index] = scheme(moved, step)
        found.append(gradient)
    return found


def complex_step(moved, h):
    return moved(1j * h).imag / h


def central(moved, h):
    return (moved(h) - moved(-h)) / (2 * h)


def assert_near(found, expected, near):
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=near, atol=near)


@check_with
@given(graphs())
def test_gradients(graph):
    arrays = graph.arrays()
    found = backward(graph, arrays)
    assert_near(found, differences(graph.loss, arrays, 1e-30, complex_step), 1e-12)
    assert_near(found, differences(graph.loss, arrays, 1e-5, central), 1e-8)


@check_with
@given(graphs())
def test_forward_mode(graph):
    arrays, directions = graph.arrays(), graph.arrays(salt=1)
    with fw.dual_level():
        pairs = zip(map(ag.tensor, arrays), map(ag.tensor, directions), strict=True)
        values = graph.run(ag, [fw.make_dual(primal, tangent) for primal, tangent in pairs])
        tangents = [fw.unpack_dual(values[r]).tangent.numpy() for r in graph.roots]
    found = sum(np.sum(s * t) for s, t in zip(graph.seeds(values), tangents, strict=True))
    moved = [a + 1e-30j * v for a, v in zip(arrays, directions, strict=True)]
    assert_near([found], [graph.loss(moved).imag / 1e-30], 1e-12)


@check_with
@given(graphs())
def test_second_derivative_along_a_direction(graph):
    """Backward through the backward, against central differences of the gradient."""
    arrays, directions = graph.arrays(), graph.arrays(salt=1)
    leaves, values = record(graph, arrays)
    roots, seeds = [values[r] for r in graph.roots], [ag.tensor(s) for s in graph.seeds(values)]
    gradients = ag.autograd.grad(roots, leaves, seeds, create_graph=True, materialize_grads=True)
    along = sum((g * ag.tensor(v)).sum() for g, v in zip(gradients, directions, strict=True))
    found = [np.zeros(a.shape) for a in arrays]
    if along.requires_grad:
        found = [g.numpy() for g in ag.autograd.grad(along, leaves, materialize_grads=True)]
    ahead, behind = (
        backward(graph, [a + h * v for a, v in zip(arrays, directions, strict=True)]) for h in (1e-5, -1e-5)
    )
    assert_near(found, [(x - y) / 2e-5 for x, y in zip(ahead, behind, strict=True)], 1e-7)


def nodes_below(nodes) -> list:
    """All nodes that can be reached from these, without recursion."""
    found, pending = {}, [node for node in nodes if node is not None]
    while pending:
        node = pending.pop()
        if id(node) not in found:
            found[id(node)] = node
            pending += [below for below, _ in node.next_functions if below is not None]
    return list(found.values())


@check_with
@given(graphs())
def test_each_node_runs_once_or_not_at_all(graph):
    """Once on the sum of what arrives, if a root needs it; never otherwise."""
    _, values = record(graph, graph.arrays())
    every = nodes_below([y.grad_fn for y in values])
    needed = {id(node) for node in nodes_below([values[r].grad_fn for r in graph.roots])}
    leaf_roots = [values[r] for r in graph.roots if values[r].is_leaf]
    runs = collections.Counter()
    for node in every:
        node.register_hook(lambda gradients, incoming, node=node: runs.update([id(node)]))
    ag.autograd.backward([values[r] for r in graph.roots], [ag.tensor(s) for s in graph.seeds(values)])
    for node in every:
        accumulates_root = any(getattr(node, "variable", None) is leaf for leaf in leaf_roots)
        assert runs[id(node)] == int(id(node) in needed or accumulates_root), node.name()


@check_with
@given(graphs(), st.data())
def test_grad_of_some_inputs_is_that_part_of_backward(graph, data):
    """`grad` gives for each value asked, leaf or not, what a hook on it sees in a whole backward."""
    _, values = record(graph, graph.arrays())
    roots, seeds = [values[r] for r in graph.roots], [ag.tensor(s) for s in graph.seeds(values)]
    asked = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=3, unique=True))
    inputs = [values[i] for i in asked]
    found = ag.autograd.grad(roots, inputs, seeds, retain_graph=True, materialize_grads=True)
    seen = {}
    for i in asked:
        values[i].register_hook(lambda g, i=i: seen.__setitem__(i, g.clone()))
    ag.autograd.backward(roots, seeds)
    for i, gradient in zip(asked, found, strict=True):
        want = seen[i].numpy() if i in seen else np.zeros(values[i].shape)
        np.testing.assert_allclose(gradient.numpy(), want, rtol=1e-13, atol=1e-15)
