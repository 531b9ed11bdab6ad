"""LinearCrossEntropyLoss: a linear layer and the cross entropy of its output (facade)."""

import math
from typing import Any

from ..._core.graph.tensor import Tensor
from .. import functional as F
from ._loss_layer import _WeightedLoss
from .linear import Linear

__all__ = ["LinearCrossEntropyLoss"]


class LinearCrossEntropyLoss(_WeightedLoss, function=None):
    """``LinearCrossEntropyLoss(in_features, num_classes, *, out_features=(), bias=False, ...)``: of ``self.linear(input)``.

    input: (N, in_features) or (in_features,); target: classes (N, *out_features), or probabilities (N, num_classes,
    *out_features). Further settings are as in Linear (`device`, `dtype`) and CrossEntropyLoss (`reduction`, `weight`,
    `ignore_index`, `label_smoothing`). RuntimeError for a weight that is not one number for each class.
    `options`, PyTorch's chunking of the work, change nothing.

    >>> import autograd_cy as ag
    >>> loss = ag.nn.LinearCrossEntropyLoss(3, 4)
    >>> loss(ag.zeros(2, 3), ag.tensor([0, 1]))
    tensor(1.3863, grad_fn=<NllLossBackward0>)
    """

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False,
        device: Any = None, dtype: Any = None, reduction: str = "mean", weight: Tensor | None = None,
        ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
    ) -> None:  # fmt: skip
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if label_smoothing < 0 or label_smoothing > 1.0:
            raise RuntimeError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, out_features
        self.ignore_index, self.label_smoothing, self.options = ignore_index, label_smoothing, options
        self.linear = Linear(in_features, math.prod(out_features, start=num_classes), bias, device, dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        rows, bias = (self.num_classes, *self.out_features), self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape(*rows, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(rows), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, out_features={self.out_features}, "
            f"bias={self.linear.bias is not None}, reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


LinearCrossEntropyLoss.__constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]
