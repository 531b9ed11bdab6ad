"""Array kernels and formulas on Tensors are two texts of one derivative: both give the same gradients, watched or not."""

import itertools

import numpy as np
import pytest
from crossings import backwards, expanded, in_order, permuted, sliced, transposed
from op_calls import Call, each_sample, finite, seeds_for, to_numpy
from opinfo import DIFFERENTIABLE

import autograd_cy as ag

pytestmark = pytest.mark.filterwarnings("ignore:The given NumPy array is not writ")

LAYOUTS = (in_order, transposed, permuted, sliced, backwards, expanded)
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}


def gradients(call, wanted, layout, watch=None, recorded=False):
    """The gradients of the wanted inputs, as arrays."""
    leaves = [leaf.requires_grad_(is_wanted) for leaf, is_wanted in zip(call.leaves(False), wanted, strict=True)]
    outputs = [y for y in call.function(*leaves) if y.requires_grad]
    seeds = [ag.from_numpy(layout(seed)) for seed in seeds_for(outputs)]
    asked = [leaf for leaf, is_wanted in zip(leaves, wanted, strict=True) if is_wanted]
    options = {"create_graph": recorded, "allow_unused": True}
    if watch is None:
        found = ag.autograd.grad(outputs, asked, seeds, **options)
    else:
        with watch(outputs):
            found = ag.autograd.grad(outputs, asked, seeds, **options)
    return [None if g is None else to_numpy(g).copy() for g in found]


class Hooks:
    """Hooks before and after every node of a graph."""

    def __init__(self, outputs):
        nodes, seen = [y.grad_fn for y in outputs], set()      # None for an output that is its input: conj of real numbers
        while nodes:
            node = nodes.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            node.register_prehook(lambda grad_outputs: None)
            node.register_hook(lambda grad_inputs, grad_outputs: None)
            nodes += [following for following, _ in node.next_functions]

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Observer:
    """A global hook, which sees the operations and the nodes."""

    def __init__(self, outputs):
        self.nodes, self.seen = [y.grad_fn for y in outputs if y.grad_fn], []

    def __enter__(self):
        self.handle = ag.autograd.graph.register_op_hook(backward=lambda *args: self.seen.append(args[0]))
        return self

    def __exit__(self, *error):
        self.handle.remove()
        assert bool(self.seen) == bool(self.nodes)


def masks(n):
    """Which inputs require grad: all, and (of up to three) each other choice of at least one."""
    return [m for m in itertools.product((True, False), repeat=n) if any(m)] if n <= 3 else [(True,) * n]


@each_sample(DIFFERENTIABLE, lambda row: row.dtypes, finite)
def test_kernels_and_formulas_agree(row, sample):
    call = Call(row, sample)
    layouts = LAYOUTS if len(call.arrays) < 4 else LAYOUTS[:2]
    for wanted, layout in itertools.product(masks(len(call.arrays)), layouts):
        plain = gradients(call, wanted, layout)
        formula = gradients(call, wanted, layout, recorded=True)
        for array, other in zip(plain, formula, strict=True):
            assert (array is None) == (other is None)
            if array is not None:
                assert array.dtype == other.dtype and array.shape == other.shape
                bound = TOLERANCE[array.dtype.name]
                if array.tobytes() != other.tobytes():      # which is faster to see than that they are near
                    np.testing.assert_allclose(array, other, rtol=bound, atol=bound, err_msg=f"{wanted} {layout.__name__}")


@each_sample(DIFFERENTIABLE, lambda row: row.dtypes, finite)
def test_who_watches_sees_the_plain_gradients(row, sample):
    """To the last bit."""
    call = Call(row, sample)
    wanted = (True,) * len(call.arrays)
    plain = gradients(call, wanted, in_order)
    for watch in (Hooks, Observer):
        watched = gradients(call, wanted, in_order, watch)
        for array, other in zip(plain, watched, strict=True):
            assert (array is None) == (other is None)
            assert array is None or array.tobytes() == other.tobytes(), watch.__name__
