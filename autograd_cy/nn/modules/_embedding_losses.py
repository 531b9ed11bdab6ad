"""Losses of distances between embeddings (facade)."""

from collections.abc import Callable
from typing import Any

from ..._core.graph.tensor import Tensor
from ._loss_layer import _Loss
from .distance import PairwiseDistance

__all__ = [
    "CosineEmbeddingLoss", "HingeEmbeddingLoss", "MarginRankingLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


class HingeEmbeddingLoss(_Loss, function="hinge_embedding_loss"):
    """``HingeEmbeddingLoss(margin=1.0, size_average=None, reduce=None, reduction="mean")``: of distances.

    The input where the target is 1, max(0, margin - input) where it is -1.

    >>> import autograd_cy as ag
    >>> ag.nn.HingeEmbeddingLoss(reduction="none")(ag.tensor([0.2, 0.2]), ag.tensor([1.0, -1.0]))
    tensor([0.2000, 0.8000])
    """

    margin: float = 1.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"


class MarginRankingLoss(_Loss, function="margin_ranking_loss"):
    """``MarginRankingLoss(margin=0.0, size_average=None, reduce=None, reduction="mean")``: called with input1, input2, target.

    max(0, -target * (input1 - input2) + margin): input1 should be larger where the target is 1, smaller where it is -1.

    >>> import autograd_cy as ag
    >>> ag.nn.MarginRankingLoss()(ag.tensor([1.0]), ag.tensor([3.0]), ag.tensor([1.0]))
    tensor(2.)
    """

    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    _inputs = ("input1", "input2", "target")


class CosineEmbeddingLoss(_Loss, function="cosine_embedding_loss"):
    """``CosineEmbeddingLoss(margin=0.0, size_average=None, reduce=None, reduction="mean")``: of two inputs.

    1 - cosine of the angle between rows where the target is 1, max(0, cosine - margin) where it is -1.

    >>> import autograd_cy as ag
    >>> ag.nn.CosineEmbeddingLoss()(ag.tensor([[1.0, 0.0]]), ag.tensor([[0.0, 1.0]]), ag.tensor([1.0]))
    tensor(1.)
    """

    margin: float = 0.0
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    _inputs = ("input1", "input2", "target")


class _TripletLoss(_Loss, function=None):
    """A loss of an anchor, which should be nearer to the positive than to the negative."""

    def _check_margin(self, margin: float) -> None:
        if margin <= 0:
            raise ValueError(f"{type(self).__name__}: expected margin to be greater than 0, got {margin} instead")

    _inputs = ("anchor", "positive", "negative")


class TripletMarginLoss(_TripletLoss, function="triplet_margin_loss"):
    """``TripletMarginLoss(margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None, reduction="mean")``.

    max(0, distance to the positive - distance to the negative + margin), in the p-norm. With `swap` the negative's
    distance from the positive counts, where it is less (Balntas et al. 2016).

    >>> import autograd_cy as ag
    >>> ag.nn.TripletMarginLoss()(ag.zeros(1, 1), ag.tensor([[2.0]]), ag.tensor([[1.0]]))
    tensor(2.)
    """

    margin: float = 1.0
    p: float = 2.0
    eps: float = 1e-6
    swap: bool = False
    size_average: bool | None = None
    reduce: bool | None = None
    reduction: str = "mean"

    def _store(self, settings: dict[str, Any]) -> None:
        self._check_margin(settings["margin"])
        super()._store(settings)


class TripletMarginWithDistanceLoss(_TripletLoss, function="triplet_margin_with_distance_loss"):
    """``TripletMarginWithDistanceLoss(*, distance_function=None, margin=1.0, swap=False, reduction="mean")``.

    TripletMarginLoss with the given distance, by default PairwiseDistance().

    >>> import autograd_cy as ag
    >>> loss = ag.nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: (a - b).abs().sum(-1))
    >>> loss(ag.zeros(1, 1), ag.tensor([[2.0]]), ag.tensor([[1.0]]))
    tensor(2.)
    """

    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None
    margin: float = 1.0
    swap: bool = False

    def __init__(
        self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0,
        swap: bool = False, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(reduction=reduction)
        self._check_margin(margin)
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin, self.swap = margin, swap
