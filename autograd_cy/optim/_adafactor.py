"""Adafactor (facade)."""

from collections.abc import Callable, Iterable
from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import zeros_like
from .._types.limits import finfo
from ..autograd.grad_mode import no_grad
from ._fused import loss_of, scalar
from .optimizer import Optimizer

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """``Adafactor(params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0)``.

    Of the squared gradients of a matrix only the averages of rows and columns are kept, and steps are relative to the
    parameter's size (Shazeer and Stern, 2018). `d` limits the root mean square of a step. Complex parameters are refused.

    >>> import autograd_cy as ag
    >>> w = ag.ones(2, 2, requires_grad=True)
    >>> optimizer = ag.optim.Adafactor([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]], requires_grad=True)
    """

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-2, beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
        foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for fits, message in (
            (lr >= 0.0, f"Learning rate should be >= 0 but is: {lr}"),
            (beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}"),
            (eps[0] is None or eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}"),
            (eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}"),
            (d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}"),
            (weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}"),
        ):
            if not fits:
                raise ValueError(message)
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group.setdefault("foreach", None)
            for param in group["params"]:
                kept = self.state.get(param) or {}
                if "step" in kept and not isinstance(kept["step"], Tensor):
                    kept["step"] = scalar(float(kept["step"]), group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """``step(closure=None)`` updates each parameter that has a gradient; returns what the closure returned, or None."""
        loss = loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        self._update(param, group)
        return loss

    def _update(self, param: Any, group: dict[str, Any]) -> None:
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state = self.state[param]
        if not state:
            state.update(_new_state(param, group))
        grad = -param.grad if group["maximize"] else param.grad
        lr, step = float(group["lr"]), state["step"].add_(1).item()
        smallest = finfo(param.dtype).eps if group["eps"][0] is None else group["eps"][0]
        scale = param.norm(2).item() / max(param.numel(), 1) ** 0.5
        size = max(group["eps"][1], scale) * min(lr, 1 / step**0.5)
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        variance = _variance(grad, state, step ** group["beta2_decay"], smallest)
        update = variance.clamp_(min=smallest * smallest).rsqrt_().mul_(grad)
        limited = max(1.0, update.norm(2).item() / (max(update.numel(), 1) ** 0.5 * group["d"]))
        param.add_(update, alpha=-size / limited)


def _new_state(param: Any, group: dict[str, Any]) -> dict[str, Tensor]:
    grad, step = param.grad.detach(), scalar(0.0, group)
    if grad.dim() < 2:
        return {"step": step, "variance": zeros_like(grad)}
    rows, columns = [*grad.shape[:-1], 1], [*grad.shape[:-2], 1, grad.shape[-1]]
    return {"step": step, "row_var": grad.new_zeros(rows), "col_var": grad.new_zeros(columns)}


def _variance(grad: Tensor, state: dict[str, Any], weight: float, smallest: float) -> Tensor:
    """The estimate of the squared gradient, from the averages after their update by this gradient."""
    if grad.dim() < 2:
        return state["variance"].lerp_(grad * grad, weight).clone()
    rows, columns = state["row_var"], state["col_var"]
    rows.lerp_(grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1)), weight)
    columns.lerp_(grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2)), weight)
    return (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=smallest))
