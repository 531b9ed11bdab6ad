"""A Function with a double backward and forward mode, checked by gradcheck, used for Newton's method. Written for PyTorch."""

import json

import torch
import torch.autograd.forward_ad as fwAD
from torch.autograd import Function, grad, gradcheck, gradgradcheck
from torch.autograd.function import once_differentiable


class SoftAbs(Function):
    """sqrt(x**2 + eps)"""

    @staticmethod
    def forward(ctx, x, eps):
        y = torch.sqrt(x * x + eps)
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(x, y)
        ctx.eps = eps
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return g * x / y, None

    @staticmethod
    def jvp(ctx, t, _):
        x, y = ctx.saved_tensors
        return t * x / y


class LargestOfEach(Function):
    """The largest of each row, and where it is."""

    @staticmethod
    def forward(ctx, x):
        values, indices = x.max(1)
        ctx.mark_non_differentiable(indices)
        ctx.save_for_backward(indices)
        ctx.size = x.shape
        return values, indices

    @staticmethod
    @once_differentiable
    def backward(ctx, g, _):
        (indices,) = ctx.saved_tensors
        result = torch.zeros(ctx.size, dtype=g.dtype)
        result[torch.arange(len(indices)), indices] = g
        return result


def newton(x):
    """Minimize the sum of soft absolute values of x - 1 and x + 2, weighted 2 to 1."""
    for _ in range(6):
        x = x.detach().requires_grad_()
        loss = (2 * SoftAbs.apply(x - 1, 0.5) + SoftAbs.apply(x + 2, 0.5)).sum()
        (g,) = grad(loss, x, create_graph=True)
        (h,) = grad(g.sum(), x)
        x = x - g / h
    return x.detach()


def main():
    x = torch.tensor([0.3, -1.2, 2.0], dtype=torch.float64, requires_grad=True)
    assert gradcheck(SoftAbs.apply, (x, 0.1), check_forward_ad=True)
    assert gradgradcheck(SoftAbs.apply, (x, 0.1))
    top, where = LargestOfEach.apply(torch.stack([x * 2, -x]))
    assert top.grad_fn.name() == "LargestOfEachBackward" and not where.requires_grad
    (top * torch.tensor([1.0, 10.0], dtype=torch.float64)).sum().backward()
    try:
        (g,) = grad(LargestOfEach.apply(x.view(3, 1))[0].prod(), x, create_graph=True)
        g.sum().backward()
    except RuntimeError as error:
        message = str(error)
    assert "marked with @once_differentiable" in message
    with fwAD.dual_level():
        dual = fwAD.make_dual(x.detach(), torch.ones_like(x))
        tangent = fwAD.unpack_dual(SoftAbs.apply(dual, 0.1)).tangent
    found = {"top": top, "where": where, "grad": x.grad, "tangent": tangent, "newton": newton(torch.zeros(2).double())}
    print(json.dumps({name: value.tolist() for name, value in found.items()}))


if __name__ == "__main__":
    main()
