"""SGD (facade)."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import check_fused as _check_fused
from ._fused import check_lr as _check_lr
from ._fused import check_not_negative as _check_not_negative
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options
from ._recorded import decayed as _decayed

__all__ = ["SGD"]


class SGD(_FusedOptimizer):
    """``SGD(params, lr=1e-3, momentum=0, dampening=0, weight_decay=0, nesterov=False)``: stochastic gradient descent.

    A step is `p -= lr * b` with `b = momentum * b + (1 - dampening) * (g + weight_decay * p)`, and the first gradient as the
    first `b`; `nesterov` takes `g + momentum * b` (Sutskever and others, 2013). `maximize` maximizes.

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = ag.optim.SGD([w], lr=0.25, momentum=0.5)
    >>> for _ in range(2):
    ...     optimizer.zero_grad()
    ...     (w * w).sum().backward()
    ...     optimizer.step()
    >>> w
    tensor([0., 0.], requires_grad=True)
    """

    _rule = "sgd"
    _scalars = ()
    _later_options: ClassVar[dict[str, Any]] = {
        "nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        _check_not_negative(momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        _check_fused(fused, foreach, differentiable)

    def _sparse_update(self, group: dict[str, Any], update_dense: Callable[[list[Tensor]], None]) -> None:
        from ..sparse._steps import sgd  # only for sparse gradients

        sgd(group, self.state, update_dense)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("momentum_buffer",) if group["momentum"] != 0 else ()

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (
            group["lr"], group["momentum"], group["dampening"], group["weight_decay"], group["nesterov"], _sign_of(group),
        )  # fmt: skip

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        g, mu = _decayed(p, g, options), options["momentum"]
        if mu == 0:
            return p - options["lr"] * g, {}
        average = g if options["fresh"] else mu * kept["momentum_buffer"] + (1 - options["dampening"]) * g
        step = g + mu * average if options["nesterov"] else average
        return p - options["lr"] * step, {"momentum_buffer": average}
