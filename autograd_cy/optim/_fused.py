"""FusedOptimizer: an optimizer with one loop over each parameter per step; and checks of options (facade)."""

from collections.abc import Callable
from typing import Any, ClassVar

from .._core.graph.tensor import Tensor
from .._core.optim.updates import SparseGradient, update
from .._creation.data import tensor
from .._creation.filled import get_default_dtype, zeros_like
from .._functional.names import float32, float64
from ..autograd.grad_mode import enable_grad
from ._recorded import Kept, Options, recorded_step
from .optimizer import Optimizer

_CAPTURABLE = ["cuda", "xpu", "hpu", "privateuseone", "xla"]


class FusedOptimizer(Optimizer):
    """What the optimizers with a loop of their own share; `_rule` names it, `_scalars` the numbers kept of a parameter."""

    _rule: ClassVar[str]
    _scalars: ClassVar[tuple[str, ...]] = ("step",)
    _later_options: ClassVar[dict[str, Any]] = {}  # missing in groups of old state dicts

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name, value in self._later_options.items():
                group.setdefault(name, value)
            for param in group["params"]:
                kept = self.state.get(param) or {}
                for name in self._scalars:
                    if name in kept and not isinstance(kept[name], Tensor):
                        kept[name] = scalar(float(kept[name]), group)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """``step(closure=None)`` updates each parameter that has a gradient; returns what the closure returned, or None.

        The closure, called with gradients on, recomputes the loss. RuntimeError for a gradient that differs from the
        parameter in shape or dtype.
        """
        loss = loss_of(closure)
        for group in self.param_groups:
            self._update(group)
        return loss

    def _update(self, group: dict[str, Any]) -> None:
        if group.get("capturable"):
            raise AssertionError(f"If capturable=True, params and state_steps must be on supported devices: {_CAPTURABLE}.")
        common = (
            f"{type(self).__name__}.step", group["params"], self.state, self._scalars, self._kept(group),
            lambda param: self._new_state(param, group),
        )  # fmt: skip
        if group.get("differentiable"):
            recorded_step(self._recorded_update, *common, group)
            return
        try:
            update(self._rule, *common, self._options(group))
        except SparseGradient:
            self._sparse_update(
                group, lambda params: update(self._rule, *common[:1], params, *common[2:], self._options(group))
            )

    def _sparse_update(self, group: dict[str, Any], update_dense: Callable[[list[Tensor]], None]) -> None:
        """The step of a group with a sparse gradient; `update_dense` makes the step of the given parameters."""
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")

    def _kept(self, group: dict[str, Any]) -> tuple[str | None, ...]:
        """The names of the loop's state tensors for a parameter, in its order."""
        raise NotImplementedError

    def _options(self, group: dict[str, Any]) -> tuple[float, ...]:
        """The options of the loop."""
        raise NotImplementedError

    @staticmethod
    def _recorded_update(p: Tensor, g: Tensor, kept: Kept, numbers: Kept, options: Options) -> tuple[Tensor, Kept]:
        """The loop's formula in Tensors, for differentiable=True; see `_recorded.py`."""
        raise NotImplementedError

    def _new_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        """The initial state of a parameter: zeros."""
        state = {name: scalar(0.0, group) for name in self._scalars}
        return state | {name: zeros_like(param.detach()) for name in self._kept(group) if name is not None}


def loss_of(closure: Callable[[], Any] | None) -> Any:
    """The closure's result, called with gradients on; None without a closure."""
    if closure is None:
        return None
    with enable_grad():
        return closure()


def sign_of(group: dict[str, Any]) -> int:
    return -1 if group["maximize"] else 1


def scalar(value: float, group: dict[str, Any]) -> Tensor:
    """A number in a parameter's state."""
    wide = not group.get("fused") and get_default_dtype() is float64
    return tensor(value, dtype=float64 if wide else float32)


# checks of options


def check_lr(lr: Any) -> None:
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_not_negative(**options: Any) -> None:
    """ValueError for the first option that is below zero."""
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {'epsilon' if name == 'eps' else name} value: {value}")


def check_betas(betas: Any) -> None:
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    if fused and differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
