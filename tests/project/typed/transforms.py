"""Transforms of functions: grad, vmap, jacobians, hessians, products with them, and per-sample gradients of a module."""

import autograd_cy as torch
from autograd_cy import Tensor, nn
from autograd_cy.autograd.functional import hessian as dense_hessian
from autograd_cy.autograd.functional import jacobian
from autograd_cy.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap


def energy(x: Tensor) -> Tensor:
    return (x.sin() * x).sum()


def loss(parameters: dict[str, Tensor], model: nn.Module, x: Tensor, target: Tensor) -> Tensor:
    prediction: Tensor = functional_call(model, parameters, (x.unsqueeze(0),))
    return (prediction - target).square().sum()


def per_sample(model: nn.Module, x: Tensor, target: Tensor) -> dict[str, Tensor]:
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    gradients: dict[str, Tensor] = vmap(grad(loss), in_dims=(None, None, 0, 0))(parameters, model, x, target)
    return gradients


def newton(x: Tensor) -> Tensor:
    step = torch.linalg.solve(hessian(energy)(x), grad(energy)(x))
    return x - step


def with_value(x: Tensor) -> tuple[Tensor, float]:
    g, value = grad_and_value(energy)(x)
    return g, value.item()


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(4, dtype=torch.float64)
    assert newton(x).shape == with_value(x)[0].shape
    batched: Tensor = torch.vmap(energy)(torch.randn(3, 4))
    assert batched.shape == (3,)
    assert torch.allclose(jacrev(torch.sin)(x), jacfwd(torch.sin)(x))
    _, tangent = jvp(torch.sin, (x,), (torch.ones_like(x),))
    _, pullback = vjp(torch.sin, x)
    (cotangent,) = pullback(torch.ones_like(x))
    assert torch.allclose(tangent, cotangent)
    assert jacobian(torch.sin, x).shape == dense_hessian(energy, x).shape == (4, 4)
    assert per_sample(nn.Linear(4, 2), torch.randn(5, 4), torch.randn(5, 2))["weight"].shape == (5, 2, 4)


if __name__ == "__main__":
    main()
