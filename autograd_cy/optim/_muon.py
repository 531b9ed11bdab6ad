"""Muon (facade)."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._creation.data import from_numpy
from .._creation.filled import zeros_like
from ..autograd.grad_mode import no_grad
from ._fused import loss_of
from .optimizer import Optimizer

__all__ = ["Muon"]

_COEFFICIENTS = (3.4445, -4.7750, 2.0315)


class Muon(Optimizer):
    """``Muon(params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True)`` steps along orthogonalized momentum.

    For matrices only. `ns_steps` steps of Newton and Schulz, with `ns_coefficients`, bring all singular values of the momentum
    near one (Jordan and others, 2024); they are rounded to bfloat16, as PyTorch's are. `adjust_lr_fn`: the learning rate's
    dependence on the sizes, "original" (None) or "match_rms_adamw". ValueError unless all parameters are matrices.

    >>> import autograd_cy as ag
    >>> w = ag.eye(2).requires_grad_()
    >>> optimizer = ag.optim.Muon([w], lr=0.5, weight_decay=0.0)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> bool(w.detach().trace() < 1.5)
    True
    """

    def __init__(
        self, params: Iterable[Any], lr: Any = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
        nesterov: bool = True, ns_coefficients: tuple[float, float, float] = _COEFFICIENTS, eps: float = 1e-7,
        ns_steps: int = 5, adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}"
                    )

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """``step(closure=None)`` updates each parameter that has a gradient; returns what the closure returned, or None."""
        loss = loss_of(closure)
        with no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        self._update(param, group)
        return loss

    def _update(self, param: Any, group: dict[str, Any]) -> None:
        if param.is_complex():
            raise RuntimeError("Muon does not support complex parameters")
        state, grad = self.state[param], param.grad.detach()
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = zeros_like(grad)
        momentum = state["momentum_buffer"].lerp_(grad, 1 - group["momentum"])
        direction = grad.lerp(momentum, group["momentum"]) if group["nesterov"] else momentum
        update = _orthogonalized(direction.numpy(), group["ns_coefficients"], group["ns_steps"], group["eps"])
        lr = float(group["lr"])
        param.mul_(1 - lr * group["weight_decay"])
        size = lr * _ratio(group["adjust_lr_fn"], *param.shape)
        param.add_(from_numpy(update).to(param.dtype), alpha=-size)


def _ratio(adjust_lr_fn: str | None, rows: int, columns: int) -> float:
    if adjust_lr_fn == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))


def _orthogonalized(g: np.ndarray, coefficients: Any, steps: int, eps: float) -> np.ndarray:
    """The matrix with singular values near one: steps of Newton and Schulz, rounded to bfloat16, sums in float32."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = g.shape[0] > g.shape[1]
    x = _rounded(g.T if tall else g)
    x = _rounded(x / max(_rounded(np.linalg.norm(x)), _rounded(eps)))
    for _ in range(steps):
        gram = _rounded(x @ x.T)
        gram = _rounded(b * gram + c * (gram @ gram))
        x = _rounded(a * x + gram @ x)
    return np.ascontiguousarray(x.T if tall else x)


def _rounded(x: Any) -> np.ndarray:
    """float32 numbers rounded to bfloat16's eight bits, to nearest even."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + (0x7FFF + ((bits >> 16) & 1)).astype(np.uint32)) & np.uint32(0xFFFF0000)).view(np.float32)
