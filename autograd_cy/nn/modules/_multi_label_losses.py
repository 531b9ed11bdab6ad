"""Losses with margins over classes (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from ._loss_layer import _Loss, _WeightedLoss

__all__ = ["MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "SoftMarginLoss"]


class SoftMarginLoss(_Loss, function="soft_margin_loss"):
    """``SoftMarginLoss(size_average=None, reduce=None, reduction="mean")``: log(1 + exp(-target * input)), targets 1 or -1.

    >>> import autograd_cy as ag
    >>> ag.nn.SoftMarginLoss()(ag.tensor([0.0]), ag.tensor([1.0]))
    tensor(0.6931)
    """


class MultiLabelMarginLoss(_Loss, function="multilabel_margin_loss"):
    """``MultiLabelMarginLoss(size_average=None, reduce=None, reduction="mean")``: hinge loss of several classes at once.

    Rows of the target are the classes that are right, and end at -1; the loss is the mean over classes of
    max(0, 1 - (right one - wrong one)), summed over the pairs.

    >>> import autograd_cy as ag
    >>> ag.nn.MultiLabelMarginLoss()(ag.tensor([[0.1, 0.2, 0.4, 0.8]]), ag.tensor([[3, 0, -1, 1]]))
    tensor(0.8500)
    """


class MultiLabelSoftMarginLoss(_WeightedLoss, function="multilabel_soft_margin_loss"):
    """``MultiLabelSoftMarginLoss(weight=None, size_average=None, reduce=None, reduction="mean")``: mean over classes of BCE.

    Input and target, of zeros and ones, are (N, C); the input is logits.

    >>> import autograd_cy as ag
    >>> ag.nn.MultiLabelSoftMarginLoss()(ag.zeros(1, 2), ag.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """


class MultiMarginLoss(_WeightedLoss, function="multi_margin_loss"):
    """``MultiMarginLoss(p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean")``.

    Hinge loss of one class: the mean over the other classes of max(0, margin - right one + other one) ** p.

    >>> import autograd_cy as ag
    >>> ag.nn.MultiMarginLoss()(ag.tensor([[0.1, 0.2, 0.4, 0.8]]), ag.tensor([3]))
    tensor(0.3250)
    """

    p: int = 1
    margin: float = 1.0
    weight: Tensor | None = None
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def _store(self, settings: dict[str, Any]) -> None:
        if settings["p"] not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        weight = settings["weight"]
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        super()._store(settings)
