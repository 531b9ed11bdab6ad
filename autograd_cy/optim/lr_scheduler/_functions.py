"""Schedules by a function of the epoch (facade)."""

import types
from collections.abc import Callable
from typing import Any

from ..optimizer import Optimizer
from ._scheduler import LRScheduler, values_of


class _FunctionLR(LRScheduler):
    """A schedule with a function for each parameter group.

    A state dict has the attributes of callable objects, but nothing for plain functions.
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)) and len(lr_lambda) != count:
            raise ValueError(f"Expected {count} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """``state_dict()``: all attributes except the optimizer and plain functions."""
        return super().state_dict() | {"lr_lambdas": [known(function) for function in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """``load_state_dict(state_dict)`` restores the result of `state_dict()`, including callable objects."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, attributes in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if attributes is not None:
                function.__dict__.update(attributes)


def known(function: Any) -> dict[str, Any] | None:
    """The attributes of a callable object; None for a plain function."""
    return None if isinstance(function, types.FunctionType) else function.__dict__.copy()


class LambdaLR(_FunctionLR):
    """``LambdaLR(optimizer, lr_lambda)``: the initial rate times a function of the epoch.

    `lr_lambda` is a function, or a list with one for each parameter group; ValueError for another number of them.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ag.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.5])
    """

    def get_lr(self) -> list[Any]:
        self._check_caller()
        return [lr * function(self.last_epoch) for function, lr in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_FunctionLR):
    """``MultiplicativeLR(optimizer, lr_lambda)``: the previous rate times a function of the epoch.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ag.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.5])
    """

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | list[Callable[[int], float]], last_epoch: int = -1
    ) -> None:
        for function in lr_lambda if isinstance(lr_lambda, (list, tuple)) else [lr_lambda]:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        self._check_caller()
        if self._is_initial:
            return values_of(self.optimizer, "lr")
        pairs = zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)
        return [group["lr"] * function(self.last_epoch) for function, group in pairs]
