"""Schedules that go up and down, with the momentum in the opposite direction (facade)."""

import functools
import math
from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from ._functions import known
from ._scheduler import LRScheduler, check_optimizer, for_each_group, set_value


class _WithMomentum(LRScheduler):
    """A schedule of the rate, and of the momentum or the first of two betas."""

    def _begin_momentum(self, cycle_momentum: bool, base_momentum: Any, max_momentum: Any, last_epoch: int) -> None:
        """Start each group with its highest momentum; ValueError for an optimizer without momentum."""
        self.cycle_momentum, optimizer = cycle_momentum, self.optimizer
        if not cycle_momentum:
            return
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = for_each_group("base_momentum", optimizer, base_momentum)
        self.max_momentums = for_each_group("max_momentum", optimizer, max_momentum)
        if last_epoch == -1:
            limits = zip(self.max_momentums, self.base_momentums, optimizer.param_groups, strict=True)
            for highest, lowest, group in limits:
                self._set_momentum(group, highest)
                group["max_momentum"], group["base_momentum"] = highest, lowest

    def _set_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_WithMomentum):
    """``CyclicLR(optimizer, base_lr, max_lr, step_size_up=2000, step_size_down=None, mode="triangular", gamma=1.0, ...)``.

    The rate goes linearly from `base_lr` to `max_lr` and back (Smith, 2015). Mode "triangular2" halves the height with each
    cycle, "exp_range" multiplies it by `gamma` at each step; `scale_fn` is any other function of the cycle or the step
    (`scale_mode` "cycle", "iterations"). With `cycle_momentum`, the momentum goes the other way.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], momentum=0.9)
    >>> scheduler = ag.optim.lr_scheduler.CyclicLR(optimizer, 0.0, 1.0, step_size_up=2)
    >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.5])
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle", cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = for_each_group("base_lr", optimizer, base_lr)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_value(group, "lr", lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        self.mode, self.gamma, self.scale_mode, self._scale_fn_custom = mode, gamma, scale_mode, scale_fn
        self._init_scale_fn()
        self._begin_momentum(cycle_momentum, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is None:
            self.scale_mode = "iterations" if self.mode == "exp_range" else "cycle"
            functions: dict[str, Callable[[float], float]] = {
                "triangular": _constant, "triangular2": _halved, "exp_range": functools.partial(pow, self.gamma),
            }  # fmt: skip
            self._scale_fn_ref = functions[self.mode]

    def scale_fn(self, x: float) -> float:
        """``scale_fn(x)``: the height at a cycle or step, relative to the first."""
        return self._scale_fn_ref(x) if self._scale_fn_custom is None else self._scale_fn_custom(x)

    def get_lr(self) -> list[Any]:
        self._check_caller()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            limits = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for lowest, highest, group in limits:
                self._set_momentum(group, highest - (highest - lowest) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """``state_dict()``: all attributes except the optimizer and a plain function."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        custom = self._scale_fn_custom
        return state | {"_scale_fn_custom": None if custom is None else known(custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """``load_state_dict(state_dict)`` restores the result of `state_dict()`."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if state_dict["_scale_fn_custom"] is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])
        self._init_scale_fn()


def _constant(x: float) -> float:
    return 1.0


def _halved(x: float) -> float:
    return 1 / 2.0 ** (x - 1)


class OneCycleLR(_WithMomentum):
    """``OneCycleLR(optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, pct_start=0.3, ...)``.

    The rate goes from `max_lr / div_factor` up to `max_lr` in the first `pct_start` of all steps, and down to the initial
    rate divided by `final_div_factor`, along a cosine or linearly (`anneal_strategy` "cos", "linear"). With `three_phase` it
    passes the initial rate on the way down (Smith and Topin, 2017). With `cycle_momentum` the momentum goes the other way.
    ValueError for a step after the last.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], momentum=0.9)
    >>> scheduler = ag.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=10, pct_start=0.5)
    >>> for _ in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [1.0]
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: Any = 0.3, anneal_strategy: str = "cos", cycle_momentum: bool = True,
        base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0, final_div_factor: float = 1e4,
        three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _steps_of(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(pct_start * self.total_steps, self.total_steps - 1, three_phase)
        max_lrs = for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for lr, group in zip(max_lrs, optimizer.param_groups, strict=True):
                group["initial_lr"], group["max_lr"] = lr / div_factor, lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self._begin_momentum(cycle_momentum, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._check_caller()
        step, start = self.last_epoch, 0.0
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        for phase in self._schedule_phases:
            if step <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            start = phase["end_step"]
        share = (step - start) / (phase["end_step"] - start)
        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                momentum = self._between(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                self._set_momentum(group, momentum)
        return [
            self._between(group[phase["start_lr"]], group[phase["end_lr"]], share) for group in self.optimizer.param_groups
        ]

    def _between(self, start: Any, end: Any, share: float) -> Any:
        if self._anneal_func_type == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * share) + 1)
        return (end - start) * share + start


def _steps_of(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    named = {"epochs": epochs, "steps_per_epoch": steps_per_epoch} if total_steps is None else {"total_steps": total_steps}
    for name, value in named.items():
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch if total_steps is None else total_steps


def _phases(peak: float, last: int, three_phase: bool) -> list[dict[str, Any]]:
    """The end of each phase, and the options of a group between which it goes."""
    ends = [float(peak) - 1, float(2 * peak) - 2, last] if three_phase else [float(peak) - 1, last]
    rates = ["initial_lr", "max_lr", "initial_lr", "min_lr"] if three_phase else ["initial_lr", "max_lr", "min_lr"]
    momentums = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"]
    return [
        {
            "end_step": end, "start_lr": rates[i], "end_lr": rates[i + 1], "start_momentum": momentums[i],
            "end_momentum": momentums[i + 1],
        }
        for i, end in enumerate(ends)
    ]  # fmt: skip
