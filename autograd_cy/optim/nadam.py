"""NAdam (facade)."""

from collections.abc import Iterable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import check_betas as _check_betas
from ._fused import check_lr as _check_lr
from ._fused import check_not_negative as _check_not_negative
from ._fused import scalar as _scalar
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options
from ._recorded import moments as _moments

__all__ = ["NAdam"]


class NAdam(_FusedOptimizer):
    """``NAdam(params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3)``.

    Adam with Nesterov's momentum: a step looks one step ahead, with a momentum that grows over time (Dozat, 2016).

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0], requires_grad=True)
    >>> optimizer = ag.optim.NAdam([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.4718], requires_grad=True)
    """

    _rule = "nadam"
    _scalars = ("step", "mu_product")
    _later_options: ClassVar[dict[str, Any]] = {
        "maximize": False, "foreach": None, "capturable": False, "differentiable": False, "decoupled_weight_decay": False,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        _check_not_negative(eps=eps)
        _check_betas(betas)
        _check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("exp_avg", "exp_avg_sq")

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (
            group["lr"], *group["betas"], group["eps"], group["weight_decay"], group["decoupled_weight_decay"],
            _sign_of(group), group["momentum_decay"],
        )  # fmt: skip

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return super()._new_state(param, group) | {"mu_product": _scalar(1.0, group)}

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        (first, second), t, lr = options["betas"], numbers["step"], options["lr"]
        p, g, mean, square = _moments(p, g, kept, options)
        mu, ahead = (first * (1 - 0.5 * 0.96 ** (k * options["momentum_decay"])) for k in (t, t + 1))
        product = numbers["mu_product"] = numbers["mu_product"] * mu
        scale = (square / (1 - second**t)).sqrt() + options["eps"]
        p = p - lr * (1 - mu) / (1 - product) * g / scale - lr * ahead / (1 - product * ahead) * mean / scale
        return p, {"exp_avg": mean, "exp_avg_sq": square}
