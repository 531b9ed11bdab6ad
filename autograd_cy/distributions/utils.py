"""What the constructors of distributions share (facade)."""

from collections.abc import Callable
from numbers import Number
from typing import Any

from .. import _names as _ops
from .._core.engine.freed import is_freed_since as _is_freed_since
from .._core.graph.tensor import Tensor
from .._creation import get_default_dtype
from .._data import tensor
from .._types import finfo
from ..autograd.grad_mode import enable_grad

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits"]


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """``broadcast_all(loc, scale)``: numbers and tensors as tensors of one shape. Numbers get the dtype of the first tensor.

    >>> import autograd_cy as ag
    >>> ag.distributions.utils.broadcast_all(ag.zeros(2), 1.0)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not all(isinstance(value, (Number, Tensor)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    dtype = next((value.dtype for value in values if isinstance(value, Tensor)), get_default_dtype())
    return _ops.broadcast_tensors(*(v if isinstance(v, Tensor) else tensor(v, dtype=dtype) for v in values))


class lazy_property:
    """A parameter derived from another one at the first read, and recorded even within no_grad.

    It is computed again once a backward has freed its graph, so that each backward through a distribution may be the last of
    its graph. A value that is assigned takes its place.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function, self.name, self.__doc__ = function, function.__name__, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self.name] = value

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        if self.name in vars(instance):
            return vars(instance)[self.name]
        computed = vars(instance).setdefault("_computed", {})
        value = computed.get(self.name)
        if value is None or (isinstance(value, Tensor) and _is_freed_since(value, vars(instance).get("_since", 0))):
            with enable_grad():
                value = computed[self.name] = self.function(instance)
        return value


def clamp_probs(probs: Tensor) -> Tensor:
    """``clamp_probs(probs)``: probabilities that are at least eps of their dtype away from 0 and from 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """``probs_to_logits(probs)``: logarithms of probabilities; with is_binary, of the odds."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """``logits_to_probs(logits)``: the softmax of the last dimension; with is_binary, the sigmoid."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)
