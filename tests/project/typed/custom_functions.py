"""Functions of a user with their derivatives: both forms of a Function, gradient checks, modes, hooks and the graph."""

from typing import Any

import autograd_cy as torch
from autograd_cy import Tensor
from autograd_cy.autograd import Function, gradcheck, gradgradcheck
from autograd_cy.autograd.function import FunctionCtx, once_differentiable


class Exp(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor) -> Tensor:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: FunctionCtx, grad_output: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        return grad_output * y


class Scaled(torch.autograd.Function):
    """With setup_context, as transforms of torch.func take it."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor, factor: float) -> Tensor:
        return x * factor

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Tensor, float], output: Tensor) -> None:
        ctx.factor = inputs[1]

    @staticmethod
    def backward(ctx: FunctionCtx, grad_output: Tensor) -> tuple[Tensor, None]:
        factor: float = ctx.factor
        return grad_output * factor, None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, _: None) -> Tensor:
        factor: float = ctx.factor
        return tangent * factor


class Twice(Function):
    @staticmethod
    def forward(ctx: FunctionCtx, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        indices = a.argsort()
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(a, b)
        return a * b, indices

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor | None, _: Tensor | None) -> tuple[Tensor | None, Tensor | None]:
        a, b = ctx.saved_tensors
        if g is None:
            return None, None
        return g * b, g * a


def scaled(x: Tensor, factor: float = 2.0) -> Tensor:
    y: Tensor = Scaled.apply(x, factor)
    return y


@torch.no_grad()
def without_gradients(x: Tensor) -> Tensor:
    return x * 2


def penalty(x: Tensor) -> Tensor:
    with torch.enable_grad():
        y = x.pow(3).sum()
        (g,) = torch.autograd.grad(y, x, create_graph=True)
    return g.square().sum()


def main() -> None:
    torch.manual_seed(0)
    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert gradcheck(Exp.apply, (x,), eps=1e-6, atol=1e-4) and gradgradcheck(scaled, (x,))
    product, order = Twice.apply(x, x * 2)
    product.sum().backward()
    assert x.grad is not None and order.dtype is torch.int64
    x.grad.zero_()
    penalty(x).backward(retain_graph=True)
    with torch.no_grad():
        x -= 0.1 * x.grad
    assert not without_gradients(x).requires_grad
    handle = x.register_hook(lambda grad: grad.clamp(-1, 1))
    y = (x * x).sum()
    assert y.grad_fn is not None and y.grad_fn.name() == "SumBackward0" and y.grad_fn.next_functions
    y.backward()
    handle.remove()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t), torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.detach(), torch.ones(3, dtype=torch.float64))
        primal, tangent = torch.autograd.forward_ad.unpack_dual(dual.sin())
        assert tangent is not None and torch.allclose(tangent, x.cos()) and primal.shape == (3,)


if __name__ == "__main__":
    main()
