"""Workloads of function transforms: vmap, per-sample gradients, Jacobians, forward mode."""

import numpy as np

from benchmarks.workloads import Library, Step, Tensor, Workload


def arrays(torch: Library, *shapes: tuple[int, ...]) -> list[Tensor]:
    """arrays(torch, *shapes) -> a float32 tensor for each shape; the values are fixed, spread by 0.3 around 0."""
    random = np.random.default_rng(0)
    return [torch.tensor(np.asarray(0.3 * random.standard_normal(shape), dtype=np.float32)) for shape in shapes]


def sample_gradients(torch: Library) -> Step:
    """The gradient of each sample's loss, for a network of two layers."""
    *parameters, x, y = arrays(torch, (32, 16), (32,), (1, 32), (1,), (64, 16), (64, 1))

    def loss(parameters: tuple, x: Tensor, y: Tensor) -> Tensor:
        weight, bias, out_weight, out_bias = parameters
        hidden = torch.nn.functional.linear(x, weight, bias).tanh()
        return ((torch.nn.functional.linear(hidden, out_weight, out_bias) - y) ** 2).mean()

    step = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: step(tuple(parameters), x, y)


def digits_gradients(torch: Library) -> Step:
    """The same for a classifier of 8 x 8 pixels, with cross entropy."""
    *parameters, x = arrays(torch, (64, 64), (64,), (10, 64), (10,), (128, 64))
    labels = torch.tensor(np.arange(128) % 10)

    def loss(parameters: tuple, x: Tensor, label: Tensor) -> Tensor:
        weight, bias, out_weight, out_bias = parameters
        scores = torch.relu(x @ weight.t() + bias) @ out_weight.t() + out_bias
        return torch.nn.functional.cross_entropy(scores.unsqueeze(0), label.unsqueeze(0))

    step = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: step(tuple(parameters), x, labels)


def ten_operations(x: Tensor) -> Tensor:
    """A function of a vector to a vector."""
    a = x.sin() * x.mean() + 1
    b = a.exp() * 0.1
    d = (b * a).tanh() - x * 2
    return d * b + b.sqrt()


def jacobian_backward(torch: Library) -> Step:
    (x,) = arrays(torch, (16,))
    return lambda: (torch.func.jacrev(ten_operations)(x),)


def jacobian_forward(torch: Library) -> Step:
    (x,) = arrays(torch, (16,))
    return lambda: (torch.func.jacfwd(ten_operations)(x),)


def functional_jacobian(torch: Library) -> Step:
    (x,) = arrays(torch, (16,))
    return lambda: (torch.autograd.functional.jacobian(ten_operations, x),)


def rosenbrock_hessian(torch: Library) -> Step:
    (x,) = arrays(torch, (12,))

    def function(x: Tensor) -> Tensor:
        return ((x[1:] - x[:-1] ** 2) ** 2 * 100 + (1 - x[:-1]) ** 2).sum() + x.sum() ** 2

    return lambda: (torch.func.hessian(function)(x),)


def tangent_chain(torch: Library) -> Step:
    """Forward mode along a chain of 200 multiplications."""
    (x,) = arrays(torch, (4, 4))
    b = torch.tensor(np.linspace(0.99, 1.01, 16, dtype=np.float32).reshape(4, 4))

    def function(y: Tensor) -> Tensor:
        for _ in range(200):
            y = y * b
        return y

    return lambda: torch.func.jvp(function, (x,), (b,))


TRANSFORMS = (
    Workload("sample_gradients", "vmap(grad(loss)) of an MLP 16-32-1, batch 64", 6, sample_gradients),
    Workload("jacobian_backward", "jacrev of ten operations, R^16 to R^16", 6, jacobian_backward),
    Workload("jacobian_forward", "jacfwd of ten operations, R^16 to R^16", 6, jacobian_forward),
    Workload("functional_jacobian", "autograd.functional.jacobian of the same", 6, functional_jacobian),
    Workload("rosenbrock_hessian", "hessian of 12 variables, forward over reverse", 6, rosenbrock_hessian),
    Workload("tangent_chain", "jvp of the chain of 200 multiplications", 8, tangent_chain),
    Workload("digits_gradients", "gradients of each sample, digits network, batch 128", 1.5, digits_gradients),
)
