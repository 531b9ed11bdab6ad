"""Schedules that multiply the rate by a factor at some epochs (facade)."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ..optimizer import Optimizer
from ._scheduler import LRScheduler


class _FactorLR(LRScheduler):
    """A schedule with a factor for the current epoch (`_factor`), and the product since the first (`_overall`)."""

    def _factor(self) -> float:
        raise NotImplementedError

    def _overall(self) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        self._check_caller()
        factor = self._factor()
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        factor = self._overall()
        return [lr * factor for lr in self.base_lrs]


class StepLR(_FactorLR):
    """``StepLR(optimizer, step_size, gamma=0.1)`` multiplies the rate by `gamma` every `step_size` epochs.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ag.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    >>> for _ in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1 if self.last_epoch == 0 or self.last_epoch % self.step_size != 0 else self.gamma

    def _overall(self) -> float:
        return self.gamma ** (self.last_epoch // self.step_size)


class MultiStepLR(_FactorLR):
    """``MultiStepLR(optimizer, milestones, gamma=0.1)`` multiplies the rate by `gamma` at each epoch of `milestones`.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ag.optim.lr_scheduler.MultiStepLR(optimizer, [1, 3], gamma=0.5)
    >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.5])
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return self.gamma ** self.milestones[self.last_epoch] if self.last_epoch in self.milestones else 1

    def _overall(self) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), self.last_epoch)


class ConstantLR(_FactorLR):
    """``ConstantLR(optimizer, factor=1/3, total_iters=5)``: the rate times `factor` until epoch `total_iters`.

    ValueError for a factor outside [0, 1].

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> ag.optim.lr_scheduler.ConstantLR(optimizer, 0.5).get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:  # fmt: skip
        if not 0 <= factor <= 1.0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.factor
        return 1.0 / self.factor if self.last_epoch == self.total_iters else 1

    def _overall(self) -> float:
        return self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)


class LinearLR(_FactorLR):
    """``LinearLR(optimizer, start_factor=1/3, end_factor=1.0, total_iters=5)``: the rate times a linear factor.

    From `start_factor` at epoch 0 to `end_factor` at epoch `total_iters`. ValueError for factors outside [0, 1], or a
    `start_factor` of 0.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ag.optim.lr_scheduler.LinearLR(optimizer, 0.5, total_iters=2)
    >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.75])
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1.0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1.0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        change = self.end_factor - self.start_factor
        return 1.0 + change / (self.total_iters * self.start_factor + (self.last_epoch - 1) * change)

    def _overall(self) -> float:
        change = self.end_factor - self.start_factor
        return self.start_factor + change * min(self.total_iters, self.last_epoch) / self.total_iters


class ExponentialLR(_FactorLR):
    """``ExponentialLR(optimizer, gamma)`` multiplies the rate by `gamma` at each epoch.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ag.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.5])
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        return 1 if self._is_initial else self.gamma

    def _overall(self) -> float:
        return self.gamma**self.last_epoch


class PolynomialLR(_FactorLR):
    """``PolynomialLR(optimizer, total_iters=5, power=1.0)``: the rate times `(1 - epoch / total_iters) ** power`, then zero.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ag.optim.lr_scheduler.PolynomialLR(optimizer, 4, power=2)
    >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.5625])
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float:
        if self._is_initial or self.last_epoch > self.total_iters:
            return 1
        left, before = 1.0 - self.last_epoch / self.total_iters, 1.0 - (self.last_epoch - 1) / self.total_iters
        return (left / before) ** self.power

    def _overall(self) -> float:
        return (1.0 - min(self.total_iters, self.last_epoch) / self.total_iters) ** self.power
