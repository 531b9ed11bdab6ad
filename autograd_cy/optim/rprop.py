"""Rprop (facade)."""

from collections.abc import Iterable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from .._creation.filled import full_like
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import check_lr as _check_lr
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options

__all__ = ["Rprop"]


class Rprop(_FusedOptimizer):
    """``Rprop(params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50))``: resilient backpropagation.

    Each element has its own step size, initially `lr`. It grows by `etas[1]` while the gradient keeps its sign. When the sign
    changes it shrinks by `etas[0]`, and the element rests (Riedmiller and Braun, 1993). `step_sizes` are its limits.

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0, -3.0], requires_grad=True)
    >>> optimizer = ag.optim.Rprop([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -2.5000], requires_grad=True)
    """

    _rule = "rprop"
    _later_options: ClassVar[dict[str, Any]] = {
        "foreach": None, "maximize": False, "differentiable": False, "capturable": False,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        _check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("prev", "step_size")

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (*group["etas"], *group["step_sizes"], _sign_of(group))

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        lr = float(group["lr"])
        size = full_like(param.detach(), complex(lr, lr) if param.is_complex() else lr)
        return super()._new_state(param, group) | {"step_size": size}

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        (less, more), (least, most) = options["etas"], options["step_sizes"]
        turn = (g * kept["prev"]).detach()
        factor = turn.sign().masked_fill(turn > 0, more).masked_fill(turn < 0, less).masked_fill(turn == 0, 1)
        size = (kept["step_size"] * factor).clamp(least, most)
        g = g.masked_fill(turn < 0, 0)
        return p - g.sign() * size, {"prev": g, "step_size": size}
