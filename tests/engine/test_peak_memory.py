"""The peak of a step's memory: what the graph must hold, the result and the gradients, and no more than PyTorch's."""

import importlib.util
import os

import pytest
from common import measures_memory

import autograd_cy
from benchmarks import memory

pytestmark = pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="a peak that can be reset: Linux")

ROWS = (
    "chain_1e7", "gelu_1e6", "complex128_1e6", "exp_1e6", "sin_1e6", "broadcast", "var", "matmul", "attention_128", "mlp_2048",
    "cross_entropy_many",
)


@measures_memory
@pytest.mark.parametrize("name", ROWS)
def test_step_takes_what_it_must_hold(name: str) -> None:
    assert memory.measured(name, "autograd_cy") <= memory.LIMIT * memory.must_hold(autograd_cy, name)


@measures_memory
@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="compares with torch")
@pytest.mark.parametrize("name", ["chain_1e7", "gelu_1e6", "softmax", "var", "cross_entropy_many"])
def test_step_takes_no_more_than_in_torch(name: str) -> None:
    assert memory.measured(name, "autograd_cy") <= memory.measured(name, "torch") + memory.NOISE


def test_memory_is_counted_once_and_not_where_leaves_lie() -> None:
    leaf, other = autograd_cy.ones(8).numpy(), autograd_cy.ones(4).numpy()
    assert memory.bytes_once([leaf[2:], other, other[1:]], [leaf]) == other.nbytes


def test_what_a_graph_must_hold() -> None:
    """exp: its result, saved once, and the gradient. tanh(a * b) + a: tanh's result, the sum, two gradients."""
    assert memory.must_hold(autograd_cy, "exp_1e5") == 2 * 400_000
    assert memory.must_hold(autograd_cy, "chain_1e5") == 4 * 400_000


def test_a_layer_stands_beside_its_gradient() -> None:
    """MLP step: the hidden layer, saved, and the gradient that comes to relu, with those of the second layer's parameters."""
    layer, second = 2048 * 512 * 4, (10 * 512 + 10) * 4
    assert 2 * layer + second <= memory.must_hold(autograd_cy, "mlp_2048") <= 2.01 * layer + second
