"""GradScaler: losses are scaled up, gradients down, and steps with infinite gradients are left out (facade)."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.runtime.once import warn_user as _warn_user
from .._creation.filled import full
from .._functional.names import float16, float32, int32
from .._types import device as _Device
from ..autograd.grad_mode import no_grad

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """What was done for an optimizer since the last update().

    >>> import autograd_cy as ag
    >>> [state.name for state in ag.amp.grad_scaler.OptState]
    ['READY', 'UNSCALED', 'STEPPED']
    """

    READY, UNSCALED, STEPPED = range(3)


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


@no_grad()
def _amp_foreach_non_finite_check_and_unscale_(self: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor) -> None:
    """Multiply gradients by inv_scale, in place; found_inf becomes 1 if an element was infinite or NaN."""
    factor = inv_scale.item()
    for gradient in self:
        if not bool(gradient.isfinite().all()):
            found_inf.fill_(1)
        gradient.mul_(factor)


@no_grad()
def _amp_update_scale_(
    self: Tensor, growth_tracker: Tensor, found_inf: Tensor, scale_growth_factor: float, scale_backoff_factor: float,
    growth_interval: int,
) -> Tensor:  # fmt: skip
    """Lower the scale if found_inf is not 0, raise it after growth_interval steps without; the tracker counts these."""
    if found_inf.item():
        self.mul_(scale_backoff_factor)
        growth_tracker.zero_()
    elif growth_tracker.item() + 1 == growth_interval:
        grown = self * scale_growth_factor
        if bool(grown.isfinite().all()):
            self.copy_(grown)
        growth_tracker.zero_()
    else:
        growth_tracker.add_(1)
    return self


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
        self._init_scale, self._init_growth_tracker = float(init_scale), 0
        self._scale: Any = None  # tensors from the first use on
        self._growth_tracker: Any = None
        self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_refresh_per_optimizer_state)  # by id

    def scale(self, outputs: Any) -> Any:
        """``scale(loss)``: the product with the scale; of a list or a tuple of tensors, one of products."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = full((), self._init_scale, dtype=float32)
            self._growth_tracker = full((), self._init_growth_tracker, dtype=int32)
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
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = self._scale.double().reciprocal().float()
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, full((), 0.0, dtype=float32), False)
        state["stage"] = OptState.UNSCALED

    def _unscale_grads_(self, optimizer: Any, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool) -> dict[Any, Tensor]:
        """Unscale the gradients of an optimizer's parameters; found_inf, by its device."""
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if not allow_fp16 and any(p.grad.dtype is float16 for p in parameters):
            raise ValueError("Attempting to unscale FP16 gradients.")
        for parameter in parameters:
            if parameter.grad.is_sparse and parameter.grad.dtype is float16:  # sums of entries at one place may overflow
                parameter.grad = parameter.grad.coalesce()
        values = [p.grad._values() if p.grad.is_sparse else p.grad for p in parameters]
        _amp_foreach_non_finite_check_and_unscale_(values, found_inf, inv_scale)
        return {found_inf.device: found_inf}

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``step(optimizer)``: unscale the gradients, and call optimizer.step() if all are finite; what it returns, or None.

        RuntimeError if it was called since the last update(), or with a closure.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_used("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        is_infinite = any(found.item() for found in state["found_inf_per_device"].values())
        result = None if is_infinite else optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: Any = None) -> None:
        """``update()``: lower the scale if a gradient was infinite, raise it after growth_interval steps without."""
        if not self._enabled:
            return
        self._check_used("update")
        if new_scale is not None:
            self._scale.fill_(float(new_scale))
        else:
            found = [inf for state in self._per_optimizer_states.values() for inf in state["found_inf_per_device"].values()]
            assert found, "No inf checks were recorded prior to update."
            _amp_update_scale_(
                self._scale, self._growth_tracker, sum(found, start=found[0] * 0), self._growth_factor, self._backoff_factor,
                self._growth_interval,
            )  # fmt: skip
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def get_scale(self) -> float:
        """``get_scale()``: the scale; 1.0 if disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

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

    def set_growth_factor(self, new_factor: float) -> None:
        """``set_growth_factor(factor)``: what raises the scale from now on."""
        self._growth_factor = new_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """``set_backoff_factor(factor)``: what lowers the scale from now on."""
        self._backoff_factor = new_factor

    def set_growth_interval(self, new_interval: int) -> None:
        """``set_growth_interval(steps)``: after how many steps the scale is raised from now on."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def state_dict(self) -> dict[str, Any]:
        """``state_dict()``: the numbers for load_state_dict(); empty if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker(),
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """``load_state_dict(state)``: go on from what state_dict() returned; RuntimeError if that is empty."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        names = ("growth_factor", "backoff_factor", "growth_interval", "scale", "_growth_tracker")
        growth, backoff, interval, scale, tracker = (state_dict[name] for name in names)
        self._growth_factor, self._backoff_factor, self._growth_interval = growth, backoff, interval
        self._init_scale, self._init_growth_tracker = scale, tracker
        if self._scale is not None:
            self._scale.fill_(scale)
            self._growth_tracker.fill_(tracker)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self))
        if self._enabled:
            assert not self._per_optimizer_states, (
                "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after "
                "scaler.update()."
            )
            state |= {"_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker()}
            state |= {"_scale": None, "_growth_tracker": None}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _check_used(self, name: str) -> None:
        done = f"Attempted {name} but _scale is None.  "
        assert self._scale is not None, (
            f"{done}This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
        )
