"""ASGD (facade)."""

from collections.abc import Iterable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import check_lr as _check_lr
from ._fused import check_not_negative as _check_not_negative
from ._fused import scalar as _scalar
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options
from ._recorded import decayed as _decayed

__all__ = ["ASGD"]


class ASGD(_FusedOptimizer):
    """``ASGD(params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0)``: averaged stochastic gradient descent.

    Steps become smaller, `eta = lr / (1 + lambd * lr * step) ** alpha`, and ``state[param]["ax"]`` is the average of the
    parameter from step `t0` on (Polyak and Juditsky, 1992).

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0], requires_grad=True)
    >>> optimizer = ag.optim.ASGD([w], lr=0.25, lambd=0.0)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5000], requires_grad=True)
    """

    _rule = "asgd"
    _scalars = ("step", "eta", "mu")
    _later_options: ClassVar[dict[str, Any]] = {
        "foreach": None, "maximize": False, "differentiable": False, "capturable": False,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        _check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("ax",)

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (group["lr"], group["lambd"], group["alpha"], group["t0"], group["weight_decay"], _sign_of(group))

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        start = {"eta": _scalar(float(group["lr"]), group), "mu": _scalar(1.0, group)}
        return super()._new_state(param, group) | start

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        g, lr, lambd = _decayed(p, g, options), float(options["lr"]), options["lambd"]
        eta, mu, t = numbers["eta"], numbers["mu"], numbers["step"]
        p = p * (1 - lambd * eta) - eta * g
        numbers["eta"] = lr / (1 + lambd * lr * t) ** options["alpha"]
        numbers["mu"] = 1 / max(1, t - options["t0"])
        return p, {"ax": p if mu == 1 else kept["ax"] + (p - kept["ax"]) * mu}
