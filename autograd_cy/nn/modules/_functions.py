"""The node by which a module's backward hooks see all gradients at once (facade)."""

from typing import Any

from ...autograd.function import Function


class BackwardHookFunction(Function):
    """An identity of several tensors, so that their gradients arrive at one node."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        return args
