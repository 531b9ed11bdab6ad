"""Adamax (facade)."""

from collections.abc import Iterable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import check_betas as _check_betas
from ._fused import check_lr as _check_lr
from ._fused import check_not_negative as _check_not_negative
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options
from ._recorded import decayed as _decayed

__all__ = ["Adamax"]


class Adamax(_FusedOptimizer):
    """``Adamax(params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0)``: Adam with the largest gradient.

    A step divides by `u = max(beta2 * u, |g| + eps)` instead of the root of an average (Kingma and Ba, 2014).

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0], requires_grad=True)
    >>> optimizer = ag.optim.Adamax([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.7500], requires_grad=True)
    """

    _rule = "adamax"
    _later_options: ClassVar[dict[str, Any]] = {
        "foreach": None, "maximize": False, "differentiable": False, "capturable": False,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        _check_not_negative(eps=eps)
        _check_betas(betas)
        _check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("exp_avg", "exp_inf")

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (group["lr"], *group["betas"], group["eps"], group["weight_decay"], False, _sign_of(group))

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        (first, second), g = options["betas"], _decayed(p, g, options)
        mean = kept["exp_avg"] + (1 - first) * (g - kept["exp_avg"])
        largest = (kept["exp_inf"] * second).maximum(g.abs() + options["eps"])
        size = options["lr"] / (1 - first ** numbers["step"])
        return p - size * mean / largest, {"exp_avg": mean, "exp_inf": largest}
