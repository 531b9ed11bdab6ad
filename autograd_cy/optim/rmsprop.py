"""RMSprop (facade)."""

from collections.abc import Iterable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import check_lr as _check_lr
from ._fused import check_not_negative as _check_not_negative
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options
from ._recorded import decayed as _decayed

__all__ = ["RMSprop"]


class RMSprop(_FusedOptimizer):
    """``RMSprop(params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False)``.

    A step is the gradient over the root of its average square (Hinton, lecture 6e of his course), or with `centered` of its
    variance; `momentum` adds a fraction of the previous step.

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0], requires_grad=True)
    >>> optimizer = ag.optim.RMSprop([w], lr=0.25, alpha=0.75)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5000], requires_grad=True)
    """

    _rule = "rmsprop"
    _later_options: ClassVar[dict[str, Any]] = {
        "momentum": 0, "centered": False, "foreach": None, "maximize": False, "differentiable": False, "capturable": False,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, centered: bool = False, capturable: bool = False,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        _check_not_negative(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return (
            "square_avg", "momentum_buffer" if group["momentum"] > 0 else None, "grad_avg" if group["centered"] else None,
        )  # fmt: skip

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (group["lr"], group["alpha"], group["eps"], group["weight_decay"], group["momentum"], _sign_of(group))

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        g, alpha = _decayed(p, g, options), options["alpha"]
        square = spread = alpha * kept["square_avg"] + (1 - alpha) * g * g
        new = {"square_avg": square}
        if options["centered"]:
            mean = new["grad_avg"] = kept["grad_avg"] + (1 - alpha) * (g - kept["grad_avg"])
            spread = square - mean * mean
        step = g / (spread.sqrt() + options["eps"])
        if options["momentum"] > 0:
            step = new["momentum_buffer"] = options["momentum"] * kept["momentum_buffer"] + step
        return p - options["lr"] * step, new
