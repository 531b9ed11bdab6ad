"""Adam (facade)."""

from collections.abc import Iterable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from ._fused import FusedOptimizer as _FusedOptimizer
from ._fused import check_betas as _check_betas
from ._fused import check_fused as _check_fused
from ._fused import check_lr as _check_lr
from ._fused import check_not_negative as _check_not_negative
from ._fused import sign_of as _sign_of
from ._recorded import Kept as _Kept
from ._recorded import Options as _Options
from ._recorded import moments as _moments

__all__ = ["Adam"]


class Adam(_FusedOptimizer):
    """``Adam(params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False)``.

    A step is `p -= lr * m / (sqrt(v) + eps)`, with running averages `m` of gradients and `v` of their squares, both with bias
    correction (Kingma and Ba, 2014). The weight decay is added to the gradient, or applied separately with
    `decoupled_weight_decay`; `amsgrad` divides by the largest `v` so far; `maximize` maximizes.

    >>> import autograd_cy as ag
    >>> w = ag.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = ag.optim.Adam([w], lr=0.5)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.5000], requires_grad=True)
    """

    _rule = "adam"
    _later_options: ClassVar[dict[str, Any]] = {
        "amsgrad": False, "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
        "decoupled_weight_decay": False, "fused": None,
    }  # fmt: skip

    def __init__(
        self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        _check_tensors(lr, betas, bool(foreach) and not capturable)
        _check_lr(lr)
        _check_not_negative(eps=eps)
        _check_betas(betas)
        _check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": tuple(map(_as_scalar, betas)), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)
        _check_fused(fused, foreach, differentiable)

    def _sparse_update(self, group: dict[str, Any], update_dense: Any) -> None:
        raise RuntimeError("Adam does not support sparse gradients, please consider SparseAdam instead")

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq" if group["amsgrad"] else None)

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        return (
            group["lr"], *group["betas"], group["eps"], group["weight_decay"], group["decoupled_weight_decay"],
            _sign_of(group),
        )  # fmt: skip

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: _Kept, numbers: _Kept, options: _Options) -> tuple[Tensor, _Kept]:
        (first, second), t = options["betas"], numbers["step"]
        p, g, mean, square = _moments(p, g, kept, options)
        new, most = {"exp_avg": mean, "exp_avg_sq": square}, square
        if options["amsgrad"]:
            most = new["max_exp_avg_sq"] = kept["max_exp_avg_sq"].maximum(square)
        size = options["lr"] / (1 - first**t)
        return p - size * mean / (most.sqrt() / (1 - second**t) ** 0.5 + options["eps"]), new


def _check_tensors(lr: Any, betas: Any, foreach: bool) -> None:
    """Check that Tensor options have one element, and that foreach is not True with them."""
    if foreach and isinstance(lr, Tensor):
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    if not all(isinstance(beta, float) for beta in betas) and not all(isinstance(beta, Tensor) for beta in betas):
        raise ValueError("betas must be either both floats or both Tensors")
    for i, beta in enumerate(betas):
        if foreach and isinstance(beta, Tensor):
            raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ValueError(f"Tensor betas[{i}] must be 1-element")


def _as_scalar(beta: Any) -> Any:
    return beta.squeeze() if isinstance(beta, Tensor) and beta.dim() != 0 else beta
