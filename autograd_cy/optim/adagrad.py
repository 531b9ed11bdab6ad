"""Adagrad (facade)."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from .._creation.filled import full_like
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import check_fused as _check_fused
from ._fused import check_lr as _check_lr
from ._fused import check_not_negative as _check_not_negative
from ._fused import scalar as _scalar
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options
from ._recorded import decayed as _decayed

__all__ = ["Adagrad"]


class Adagrad(_FusedOptimizer):
    """``Adagrad(params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10)``.

    A step is the gradient over the root of the sum of all its squares (Duchi and others, 2011), times
    `lr / (1 + (step - 1) * lr_decay)`.

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0], requires_grad=True)
    >>> optimizer = ag.optim.Adagrad([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([0.5000], requires_grad=True)
    """

    _rule = "adagrad"
    _later_options: ClassVar[dict[str, Any]] = {
        "foreach": None, "maximize": False, "differentiable": False, "fused": None,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        _check_not_negative(
            lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, eps=eps
        )
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        _check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param].update(self._new_state(param, group))

    def _sparse_update(self, group: dict[str, Any], update_dense: Callable[[list[Tensor]], None]) -> None:
        from ..sparse._steps import adagrad  # only for sparse gradients

        adagrad(group, self.state, update_dense)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("sum",)

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (group["lr"], group["lr_decay"], group["eps"], group["weight_decay"], _sign_of(group))

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        start = self.defaults["initial_accumulator_value"]
        value = complex(start, start) if param.is_complex() else start
        return {"step": _scalar(0.0, group), "sum": full_like(param.detach(), value)}

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        g = _decayed(p, g, options)
        total = kept["sum"] + g * g
        size = options["lr"] / (1 + (numbers["step"] - 1) * options["lr_decay"])
        return p - size * g / (total.sqrt() + options["eps"]), {"sum": total}
