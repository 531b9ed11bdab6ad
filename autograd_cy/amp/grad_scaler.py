"""GradScaler: losses are scaled up, gradients down, and steps with infinite gradients are left out (facade)."""

from collections.abc import Iterable
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.runtime.once import warn_user as _warn_user
from .._names import float16
from .._size import device as _Device
from ..autograd.grad_mode import no_grad

__all__ = ["GradScaler"]

_FIELDS = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")


class GradScaler:
    """``GradScaler("cpu")``: ``scale(loss).backward()``, then ``step(optimizer)`` and ``update()`` in each iteration.

    For "cuda", which is the default, a warning says that there is none, and it is disabled: scale() returns what it gets,
    step() steps, update() does nothing. AssertionError unless growth_factor > 1 > backoff_factor.

    >>> import autograd_cy as ag
    >>> scaler = ag.amp.GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(ag.tensor(2.0))
    tensor(8.)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ):
        if device != "cuda":
            _Device(device)
        elif enabled:
            _warn_user("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
        self._device, self._enabled = device, enabled and device != "cuda"
        if not self._enabled:
            return
        assert growth_factor > 1.0, "The growth factor must be > 1.0."
        assert backoff_factor < 1.0, "The backoff factor must be < 1.0."
        self._scale, self._growth_tracker, self._is_used = float(init_scale), 0, False
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._stages: dict[int, str] = {}  # of optimizers since the last update, by id
        self._infinite: dict[int, bool] = {}

    def scale(self, outputs: Any) -> Any:
        """``scale(loss)``: the product with the scale; of a list or a tuple of tensors, one of products."""
        if not self._enabled:
            return outputs
        self._is_used = True
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def unscale_(self, optimizer: Any) -> None:
        """``unscale_(optimizer)``: divide the gradients of its parameters by the scale, in place, before step() does.

        RuntimeError if that was done since the last update().
        """
        if not self._enabled:
            return
        self._check_used("unscale_")
        stage = self._stages.get(id(optimizer))
        if stage == "unscaled":
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if stage == "stepped":
            raise RuntimeError("unscale_() is being called after step().")
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if any(g.dtype is float16 for g in gradients):
            raise ValueError("Attempting to unscale FP16 gradients.")
        with no_grad():
            self._infinite[id(optimizer)] = not all(bool(g.isfinite().all()) for g in gradients)
            for g in gradients:
                g.mul_(1.0 / self._scale)
        self._stages[id(optimizer)] = "unscaled"

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``step(optimizer)``: unscale the gradients, and call optimizer.step() if all are finite; what it returns, or None.

        RuntimeError if it was called since the last update(), or with a closure.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_used("step")
        if self._stages.get(id(optimizer)) == "stepped":
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._stages:
            self.unscale_(optimizer)
        result = None if self._infinite[id(optimizer)] else optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = "stepped"
        return result

    def update(self, new_scale: Any = None) -> None:
        """``update()``: lower the scale if a gradient was infinite, raise it after growth_interval steps without."""
        if not self._enabled:
            return
        self._check_used("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            assert self._infinite, "No inf checks were recorded prior to update."
            self._follow(any(self._infinite.values()))
        self._stages, self._infinite = {}, {}

    def _follow(self, infinite: bool) -> None:
        self._growth_tracker = 0 if infinite else self._growth_tracker + 1
        if infinite:
            self._scale *= self._backoff_factor
        elif self._growth_tracker == self._growth_interval:
            self._scale, self._growth_tracker = self._scale * self._growth_factor, 0

    def get_scale(self) -> float:
        """``get_scale()``: the scale; 1.0 if disabled."""
        return self._scale if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """``is_enabled()``: whether anything is scaled."""
        return self._enabled

    def get_growth_factor(self) -> float:
        """``get_growth_factor()``: what raises the scale."""
        return self._growth_factor

    def get_backoff_factor(self) -> float:
        """``get_backoff_factor()``: what lowers the scale."""
        return self._backoff_factor

    def get_growth_interval(self) -> int:
        """``get_growth_interval()``: after how many steps without infinite gradients the scale is raised."""
        return self._growth_interval

    def state_dict(self) -> dict[str, Any]:
        """``state_dict()``: the numbers for load_state_dict(); empty if disabled."""
        return {name: getattr(self, f"_{name.lstrip('_')}") for name in _FIELDS} if self._enabled else {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """``load_state_dict(state)``: go on from what state_dict() returned; RuntimeError if that is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        loaded = {f"_{name.lstrip('_')}": state_dict[name] for name in _FIELDS}
        vars(self).update(loaded)

    def _check_used(self, name: str) -> None:
        done = f"Attempted {name} but _scale is None.  "
        assert self._is_used, (
            f"{done}This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        )
