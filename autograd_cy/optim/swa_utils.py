"""Averages of a model's weights over training, under the names of torch.optim.swa_utils (facade)."""

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.data import tensor
from .._functional.names import int64
from ..autograd.grad_mode import no_grad
from ..nn.modules.module import Module
from .lr_scheduler._scheduler import LRScheduler
from .lr_scheduler._scheduler import for_each_group as _for_each_group
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Tensor]:
    """``get_ema_avg_fn(decay=0.999)``: f(average, value, n) is `decay * average + (1 - decay) * value`.

    ValueError for a decay outside [0, 1].

    >>> import autograd_cy as ag
    >>> ag.optim.swa_utils.get_ema_avg_fn(0.5)(ag.tensor(1.0), ag.tensor(3.0), 1)
    tensor(2.)
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Tensor]:
    """``get_swa_avg_fn()``: f(average, value, n) is the average of n + 1 values, given the average of n.

    >>> import autograd_cy as ag
    >>> ag.optim.swa_utils.get_swa_avg_fn()(ag.tensor(1.0), ag.tensor(4.0), 2)
    tensor(2.)
    """

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _for_lists(update: Callable[..., Tensor]) -> Callable[..., None]:
    """The same function for lists of tensors; it writes the averages in place."""

    @no_grad()
    def update_all(averaged: Iterable[Tensor], current: Iterable[Tensor], num_averaged: Any) -> None:
        for average, value in zip(averaged, current, strict=True):
            average.copy_(update(average, value, num_averaged))

    return update_all


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """``get_ema_multi_avg_fn(decay=0.999)``: f(averages, values, n) writes the exponential averages of lists of tensors.

    >>> import autograd_cy as ag
    >>> average = ag.tensor(1.0)
    >>> ag.optim.swa_utils.get_ema_multi_avg_fn(0.5)([average], [ag.tensor(3.0)], 1)
    >>> average
    tensor(2.)
    """
    return _for_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """``get_swa_multi_avg_fn()``: f(averages, values, n) writes the averages of n + 1 values of lists of tensors.

    >>> import autograd_cy as ag
    >>> average = ag.tensor(1.0)
    >>> ag.optim.swa_utils.get_swa_multi_avg_fn()([average], [ag.tensor(4.0)], 2)
    >>> average
    tensor(2.)
    """
    return _for_lists(get_swa_avg_fn())


class AveragedModel(Module):
    """``AveragedModel(model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False)``: a model of averages.

    It is a copy of the model. Each `update_parameters(model)` averages the model's parameters into the copy (Izmailov and
    others, 2018), or uses the result of `avg_fn(average, value, n)`, or calls `multi_avg_fn(averages, values, n)`. Buffers
    are copied, or averaged with `use_buffers`.

    >>> import autograd_cy as ag
    >>> model = ag.nn.Linear(1, 1)
    >>> averaged = ag.optim.swa_utils.AveragedModel(model)
    >>> averaged.update_parameters(model)
    >>> averaged.n_averaged
    tensor(1)
    """

    n_averaged: Tensor

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Callable[..., Tensor] | None = None,
        multi_avg_fn: Callable[..., None] | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, dtype=int64, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged model's output."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """``update_parameters(model)`` adds the model's parameters to the averages; the first call copies them."""
        averaged, current = _tensors_of(self.module, self.use_buffers), _tensors_of(model, self.use_buffers)
        if self.n_averaged == 0:
            for average, value in zip(averaged, current, strict=True):
                average.copy_(value)
        elif self.avg_fn is not None:
            _for_lists(self.avg_fn)(averaged, current, self.n_averaged)
        else:
            self._update_lists(averaged, current)
        if not self.use_buffers:
            for average, value in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(value.detach())
        self.n_averaged += 1

    def _update_lists(self, averaged: list[Tensor], current: list[Tensor]) -> None:
        """Call the function for lists once for each type."""
        update = self.multi_avg_fn or get_swa_multi_avg_fn()
        for wanted in dict.fromkeys(average.dtype for average in averaged):
            pairs = [pair for pair in zip(averaged, current, strict=True) if pair[0].dtype is wanted]
            update([average for average, _ in pairs], [value for _, value in pairs], self.n_averaged)


def _tensors_of(model: Module, with_buffers: bool) -> list[Tensor]:
    tensors = itertools.chain(model.parameters(), model.buffers()) if with_buffers else model.parameters()
    return [x.detach() for x in tensors]


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """``update_bn(loader, model, device=None)`` recomputes the running statistics of batch norm layers over all batches.

    A batch is an input, or a list or tuple that starts with one. Models without such layers are left unchanged.

    >>> import autograd_cy as ag
    >>> ag.optim.swa_utils.update_bn([ag.ones(2, 1)], ag.nn.Linear(1, 1))
    """
    layers = {module: module.momentum for module in model.modules() if _is_batch_norm(module)}
    if not layers:
        return
    was_training = model.training
    model.train()
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # a plain average
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(x if device is None else x.to(device))
    for layer, momentum in layers.items():
        layer.momentum = momentum
    model.train(was_training)


def _is_batch_norm(module: Any) -> bool:
    return hasattr(module, "reset_running_stats") and hasattr(module, "momentum")


class SWALR(LRScheduler):
    """``SWALR(optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos")``: from the rate to `swa_lr`, and then constant.

    Along a cosine or linearly ("linear"), in `anneal_epochs` steps. ValueError for other values.

    >>> import autograd_cy as ag
    >>> optimizer = ag.optim.SGD([ag.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = ag.optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> optimizer.step(), scheduler.step(), scheduler.get_last_lr()
    (None, None, [0.75])
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: Any = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:
        swa_lrs = _for_each_group("swa_lr", optimizer, swa_lr)
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for lr, group in zip(swa_lrs, optimizer.param_groups, strict=True):
            group["swa_lr"] = lr
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """The fraction of the way from the first rate to the last."""
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Any]:
        self._check_caller()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            last = group["swa_lr"]
            first = last if before == 1 else (group["lr"] - before * last) / (1 - before)
            rates.append(last * now + first * (1 - now))
        return rates
