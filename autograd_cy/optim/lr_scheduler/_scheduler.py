"""LRScheduler: the base of all schedules (facade)."""

import functools
import warnings
import weakref
from typing import Any

from ..._core.graph.tensor import Tensor
from ..optimizer import Optimizer

_ORDER = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
    "used instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use "
    "case: https://github.com/pytorch/pytorch/issues/new/choose."
)
_RESUMING = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
)


class LRScheduler:
    """``LRScheduler(optimizer, last_epoch=-1)`` is the base of all schedules: a subclass has `get_lr()`.

    `get_lr()` returns the rate of each parameter group at `self.last_epoch`; it may use the current rates. TypeError unless
    `optimizer` is an Optimizer; KeyError if a `last_epoch` is given and groups have no "initial_lr".

    >>> import autograd_cy as ag
    >>> class Halving(ag.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [lr / 2**self.last_epoch for lr in self.base_lrs]
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = Halving(optimizer)
    >>> for _ in range(2):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(_RESUMING.format(i))
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _watch_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """``state_dict()``: all attributes except the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """``load_state_dict(state_dict)`` restores the result of `state_dict()`."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """``get_last_lr()``: the rate of each parameter group, as the last step set it."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """``get_lr()`` computes the rates for `last_epoch`; it is called by `step()`."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """``step()`` sets the rates for the next epoch. UserWarning if the optimizer did not step first."""
        if self._step_count == 1:
            self._warn_of_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _warn_of_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
                f"make sure to call `optimizer.step()` before `lr_scheduler.step()`. {_ORDER}",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should "
                "call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
                f"result in PyTorch skipping the first value of the learning rate schedule. {_ORDER}",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            values = self.get_lr() if closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        self._set_lr(values)

    def _set_lr(self, values: list[Any]) -> None:
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            set_value(group, "lr", value)
        self._last_lr = values_of(self.optimizer, "lr")

    def _check_caller(self) -> None:
        """Warn of a `get_lr()` outside of `step()`: its epoch may not be the one that the caller expects."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )


def check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _watch_steps(optimizer: Optimizer) -> None:
    """Make the optimizer's steps leave a mark, for the warning about the wrong order."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    reference, step = weakref.ref(optimizer), optimizer.step.__func__  # type: ignore[attr-defined]

    @functools.wraps(step)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        alive = reference()
        alive._opt_called = True  # type: ignore[union-attr]
        return step(alive, *args, **kwargs)

    wrapper._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = wrapper  # type: ignore[method-assign]


# options of groups, which may be Tensors


def copied(value: Any) -> Any:
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, key: str) -> list[Any]:
    """The option of each group; copies of Tensors."""
    return [copied(group[key]) for group in optimizer.param_groups]


def set_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Set a group's option; if it is a Tensor, write the number into it."""
    if isinstance(group[key], Tensor):
        group[key].fill_(value.squeeze() if isinstance(value, Tensor) and value.dim() else value)
    else:
        group[key] = value


def for_each_group(name: str, optimizer: Optimizer, values: Any) -> list[Any]:
    """One value for each group, from a common value or a list."""
    if not isinstance(values, (list, tuple)):
        return [copied(values) for _ in optimizer.param_groups]
    if len(values) != len(optimizer.param_groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(values)} values, param_groups has "
            f"{len(optimizer.param_groups)}."
        )
    return [copied(value) for value in values]
