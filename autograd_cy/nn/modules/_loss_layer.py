"""Bases of losses: reduction and weights (facade)."""

import warnings
from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ._function_layer import FunctionLayer

_BUFFERS = ("weight", "pos_weight")
_LEGACY = ("size_average", "reduce")


class _Loss(FunctionLayer, function=None):
    """A loss; `size_average` and `reduce` are the deprecated forms of `reduction`."""

    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    _inputs: ClassVar[tuple[str, ...]] = ("input", "target")
    _not_passed = _LEGACY
    _shown = ()

    def _store(self, settings: dict[str, Any]) -> None:
        size_average, reduce = (settings.pop(name, None) for name in _LEGACY)
        if size_average is not None or reduce is not None:
            settings["reduction"] = _reduction_of(size_average, reduce)
        for name in _BUFFERS:
            if name in settings:
                self.register_buffer(name, settings.pop(name))
        super()._store(settings)


class _WeightedLoss(_Loss, function=None):
    """A loss with a weight for each class or element, which is a buffer."""

    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


def _reduction_of(size_average: bool | None, reduce: bool | None) -> str:
    if reduce is not None and not reduce:
        reduction = "none"
    else:
        reduction = "mean" if size_average is None or size_average else "sum"
    text = f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead."
    warnings.warn(text, stacklevel=5)
    return reduction
