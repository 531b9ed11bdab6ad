"""Adadelta (facade)."""

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

__all__ = ["Adadelta"]


class Adadelta(_FusedOptimizer):
    """``Adadelta(params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0)``.

    A step is the gradient times the root of the average squared step over the average squared gradient (Zeiler, 2012).

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0], requires_grad=True)
    >>> optimizer = ag.optim.Adadelta([w], eps=0.1)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.1056], requires_grad=True)
    """

    _rule = "adadelta"
    _later_options: ClassVar[dict[str, Any]] = {
        "foreach": None, "maximize": False, "differentiable": False, "capturable": False,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        _check_not_negative(eps=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("square_avg", "acc_delta")

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (group["lr"], group["rho"], group["eps"], group["weight_decay"], _sign_of(group))

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        g, rho, eps = _decayed(p, g, options), options["rho"], options["eps"]
        square = rho * kept["square_avg"] + (1 - rho) * g * g
        step = (kept["acc_delta"] + eps).sqrt() / (square + eps).sqrt() * g
        return p - options["lr"] * step, {"square_avg": square, "acc_delta": rho * kept["acc_delta"] + (1 - rho) * step * step}
