"""RAdam (facade)."""

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
from ._recorded import moments as _moments

__all__ = ["RAdam"]


class RAdam(_FusedOptimizer):
    """``RAdam(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0)``: Adam with a rectified step.

    While there are too few gradients to estimate their variance, a step only uses their average (Liu and others, 2019).

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0], requires_grad=True)
    >>> optimizer = ag.optim.RAdam([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5000], requires_grad=True)
    """

    _rule = "radam"
    _later_options: ClassVar[dict[str, Any]] = {
        "foreach": None, "maximize": False, "differentiable": False, "decoupled_weight_decay": False, "capturable": False,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        _check_not_negative(eps=eps)
        _check_betas(betas)
        _check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("exp_avg", "exp_avg_sq")

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (
            group["lr"], *group["betas"], group["eps"], group["weight_decay"], group["decoupled_weight_decay"],
            _sign_of(group),
        )  # fmt: skip

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        (first, second), t = options["betas"], numbers["step"]
        p, g, mean, square = _moments(p, g, kept, options)
        longest, power = 2 / (1 - second) - 1, second**t
        length = longest - 2 * t * power / (1 - power)
        step = mean / (1 - first**t) * options["lr"]
        if length > 5:
            rectified = ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5
            step = step * ((1 - power) ** 0.5 / (square.sqrt() + options["eps"])) * rectified
        return p - step, {"exp_avg": mean, "exp_avg_sq": square}
