"""The timed workloads: small functions of the API that autograd_cy and torch share.

A workload is a function of the library. It makes its leaves and returns a step: a call without arguments that builds a
graph, runs it backward, frees it, and returns its results (mostly gradients), so that a test can compare the
libraries. A step leaves no gradient behind: every call does the same work.

Values are chosen so that neither results nor gradients grow, vanish or become denormal along the long chains.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Library = Any  # autograd_cy or torch
Tensor = Any
Step = Callable[[], tuple]


def leaves(
    torch: Library, *shapes: tuple[int, ...], dtype: type = np.float32, mean: float = 0.0
) -> list[Tensor]:
    """leaves(torch, *shapes) -> a leaf for each shape; the values are fixed, spread by 0.1 around `mean`."""
    random = np.random.default_rng(0)
    values = [mean + 0.1 * random.standard_normal(shape) for shape in shapes]
    return [torch.tensor(np.asarray(value, dtype=dtype), requires_grad=True) for value in values]


def take_gradients(*tensors: Tensor) -> tuple:
    """take_gradients(*leaves) -> their gradients, which are set to None."""
    gradients = tuple(tensor.grad for tensor in tensors)
    for tensor in tensors:
        tensor.grad = None
    return gradients


def record(torch: Library) -> Step:
    """Recording alone: each product is freed at once, with its node."""
    a, b = leaves(torch, (4, 4), (4, 4))

    def step() -> tuple:
        for _ in range(99):
            a * b
        return (a * b,)

    return step


def multiply_chain(torch: Library) -> Step:
    """The usual small graph: every node saves both inputs and computes both gradients."""
    (x,) = leaves(torch, (4, 4))
    b = torch.tensor(np.linspace(0.99, 1.01, 16, dtype=np.float32).reshape(4, 4), requires_grad=True)

    def step() -> tuple:
        y = x
        for _ in range(200):
            y = y * b
        y.sum().backward()
        return take_gradients(x, b)

    return step


def mixed_ops(torch: Library) -> Step:
    """Five different operations, with a broadcast bias and a Python scalar."""
    x, shift, bias = leaves(torch, (4, 4), (4, 4), (4,))
    (b,) = leaves(torch, (4, 4), mean=1.0)

    def step() -> tuple:
        y = x
        for _ in range(40):
            y = ((y * b + bias).tanh() - shift) / 0.95
        y.sum().backward()
        return take_gradients(x, b, bias, shift)

    return step


def scalar_neuron(torch: Library) -> Step:
    """0-d tensors: each neuron's output is the next one's third input."""
    w1, w2, w3, b, *inputs = leaves(torch, *[()] * 7, mean=0.4)

    def step() -> tuple:
        x1, x2, x3 = inputs
        for _ in range(30):
            x1, x2, x3 = x2, x3, (w1 * x1 + w2 * x2 + w3 * x3 + b).tanh()
        x3.backward()
        return take_gradients(w1, w2, w3, b, *inputs)

    return step


def reuse(torch: Library) -> Step:
    """Fan-out: 500 gradients arrive at one leaf and are summed there."""
    (x,) = leaves(torch, (4, 4))

    def step() -> tuple:
        y = x
        for _ in range(500):
            y = y + x
        y.sum().backward()
        return take_gradients(x)

    return step


def add_chain(torch: Library, nodes: int = 100_000) -> Step:
    """A long graph that is alive when backward starts: memory, the collector, freeing."""
    x, b = leaves(torch, (4, 4), (4, 4))

    def step() -> tuple:
        y = x
        for _ in range(nodes):
            y = y + b
        y.sum().backward()
        return take_gradients(x, b)

    return step


def mlp_step(torch: Library) -> Step:
    """A training step for one sample, without the optimizer."""
    functional = torch.nn.functional
    x = torch.tensor(np.linspace(0.1, 1.0, 64, dtype=np.float32).reshape(1, 64))
    target = torch.tensor(np.array([3]))
    w1, b1, w2, b2 = leaves(torch, (16, 64), (16,), (10, 16), (10,))

    def step() -> tuple:
        hidden = functional.linear(x, w1, b1).tanh()
        functional.cross_entropy(functional.linear(hidden, w2, b2), target).backward()
        return take_gradients(w1, b1, w2, b2)

    return step


def python_function(torch: Library) -> Step:
    """50 calls of a user's Function that saves its input, with one backward."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Tensor) -> Tensor:
            (x,) = ctx.saved_tensors
            return 2 * x * g

    (x,) = leaves(torch, (4, 4))
    seed = torch.ones(4, 4)

    def step() -> tuple:
        outputs = [Square.apply(x) for _ in range(50)]
        torch.autograd.backward(outputs, [seed] * 50)
        return take_gradients(x)

    return step


def hessian_vector(torch: Library) -> Step:
    """Double backward: the product of a recorded gradient with a vector is differentiated again."""
    x, v = leaves(torch, (16,), (16,), mean=0.5)
    v = v.detach()

    def step() -> tuple:
        y = (x.tanh() * x * x).sum()
        (gradient,) = torch.autograd.grad(y, x, create_graph=True)
        return torch.autograd.grad(gradient.dot(v), x)

    return step


def gradcheck(torch: Library) -> Step:
    """A 12 x 24 Jacobian in float64, by rows and by finite differences."""
    a, b = leaves(torch, (3, 4), (3, 4), dtype=np.float64, mean=1.0)

    def step() -> tuple:
        return (torch.autograd.gradcheck(lambda a, b: (a * b).tanh() / b, (a, b)),)

    return step


def check_product(torch: Library) -> Step:
    """All checks of check_gradients for a matrix product; for torch, gradcheck of each entry."""
    a, b = leaves(torch, (60, 60), (60, 60), dtype=np.float64)
    if torch.__name__ == "autograd_cy":
        return lambda: (torch.testing.check_gradients(lambda a, b: a @ b, a, b).outcome == "right",)
    return lambda: (torch.autograd.gradcheck(lambda a, b: a @ b, (a, b)),)


@dataclass(frozen=True)
class Workload:
    """A row of the table: what is timed, and the required ratio."""

    name: str
    title: str
    minimum: float
    setup: Callable[[Library], Step]


WORKLOADS = (
    Workload("record", "100 recorded `a*b`, 4x4 float32", 8, record),
    Workload("multiply_chain", "chain of 200 multiplications, record + backward + free", 8, multiply_chain),
    Workload("mixed_ops", "chain of mul, add (4,)-bias, tanh, sub, div by scalar, 40 times", 6, mixed_ops),
    Workload("scalar_neuron", "0-d tensors, a neuron of three inputs, 30 times", 10, scalar_neuron),
    Workload("reuse", "one tensor used 500 times", 10, reuse),
    Workload("add_chain", "chain of 100 000 adds: build, backward, free", 8, add_chain),
    Workload("mlp_step", "MLP step, batch 1, 64-16-10, cross entropy", 4, mlp_step),
    Workload("python_function", "50 calls of a Python Function, both ways", 2, python_function),
    Workload("hessian_vector", "Hessian-vector product by double backward, 16 elements", 4, hessian_vector),
    Workload("gradcheck", "gradcheck of a two-input function of 12 elements each", 3, gradcheck),
    Workload("check_product", "a product of 60 x 60 matrices: check_gradients; torch: gradcheck", 15, check_product),
)
