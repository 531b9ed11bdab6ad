"""Losses: layers that compare outputs with targets (facade)."""

import warnings

from ..._core.graph.tensor import Tensor
from ._embedding_losses import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)  # fmt: skip
from ._linear_cross_entropy import LinearCrossEntropyLoss
from ._loss_layer import _Loss, _WeightedLoss
from ._multi_label_losses import MultiLabelMarginLoss, MultiLabelSoftMarginLoss, MultiMarginLoss, SoftMarginLoss

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
    "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "MSELoss", "MarginRankingLoss",
    "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss",
    "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


class L1Loss(_Loss, function="l1_loss"):
    """``L1Loss(size_average=None, reduce=None, reduction="mean")``: the mean of abs(input - target).

    `reduction`, of this and of all losses, is "mean", "sum" or "none".

    >>> import autograd_cy as ag
    >>> ag.nn.L1Loss()(ag.tensor([1.0, 4.0]), ag.zeros(2))
    tensor(2.5000)
    """


class MSELoss(_Loss, function="mse_loss"):
    """``MSELoss(size_average=None, reduce=None, reduction="mean")``: the mean of (input - target) ** 2.

    >>> import autograd_cy as ag
    >>> ag.nn.MSELoss(reduction="sum")(ag.tensor([1.0, 4.0]), ag.zeros(2))
    tensor(17.)
    """


class SmoothL1Loss(_Loss, function="smooth_l1_loss"):
    """``SmoothL1Loss(size_average=None, reduce=None, reduction="mean", beta=1.0)``: L1Loss, but a square near 0.

    With d = abs(input - target) it is d * d / (2 * beta) where d < beta, else d - beta / 2 (arXiv:1504.08083).

    >>> import autograd_cy as ag
    >>> ag.nn.SmoothL1Loss(reduction="none")(ag.tensor([0.5, 4.0]), ag.zeros(2))
    tensor([0.1250, 3.5000])
    """

    beta: float = 1.0


class HuberLoss(_Loss, function="huber_loss"):
    """``HuberLoss(reduction="mean", delta=1.0)``: MSELoss / 2, but linear beyond `delta`.

    With d = abs(input - target) it is d * d / 2 where d <= delta, else delta * (d - delta / 2) (Huber 1964).

    >>> import autograd_cy as ag
    >>> ag.nn.HuberLoss(reduction="none")(ag.tensor([0.5, 4.0]), ag.zeros(2))
    tensor([0.1250, 3.5000])
    """

    delta: float = 1.0

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta


class NLLLoss(_WeightedLoss, function="nll_loss"):
    """``NLLLoss(weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean")``.

    The negative log likelihood of the target classes (N,) or (N, d1, ...) under log-probabilities (N, C) or (N, C, d1, ...);
    `weight` has one number for each class, and counts in the mean.

    >>> import autograd_cy as ag
    >>> ag.nn.NLLLoss()(ag.tensor([[-0.1, -2.0], [-3.0, -0.3]]), ag.tensor([0, 1]))
    tensor(0.2000)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"


class NLLLoss2d(NLLLoss):
    """``NLLLoss2d(...)``: the old name of NLLLoss, which warns.

    >>> import warnings
    >>> import autograd_cy as ag
    >>> with warnings.catch_warnings(action="ignore"):
    ...     isinstance(ag.nn.NLLLoss2d(), ag.nn.NLLLoss)
    True
    """

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        warnings.warn("`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead", FutureWarning, stacklevel=2)
        super().__init__(
            weight=weight, size_average=size_average, ignore_index=ignore_index, reduce=reduce, reduction=reduction
        )


class CrossEntropyLoss(_WeightedLoss, function="cross_entropy"):
    """``CrossEntropyLoss(weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0)``.

    The negative log likelihood under softmax(input): of classes, as NLLLoss, or of a target of probabilities in the
    input's shape.

    >>> import autograd_cy as ag
    >>> ag.nn.CrossEntropyLoss()(ag.zeros(1, 2), ag.tensor([0]))
    tensor(0.6931)
    """

    weight: Tensor | None = None
    size_average: bool | None = None
    ignore_index: int = -100
    reduce: bool | None = None
    reduction: str = "mean"
    label_smoothing: float = 0.0


class BCELoss(_WeightedLoss, function="binary_cross_entropy"):
    """``BCELoss(weight=None, size_average=None, reduce=None, reduction="mean")``: cross entropy of probabilities.

    -(target * log(input) + (1 - target) * log(1 - input)), where logarithms are at least -100.

    >>> import autograd_cy as ag
    >>> ag.nn.BCELoss()(ag.tensor([0.5]), ag.tensor([1.0]))
    tensor(0.6931)
    """


class BCEWithLogitsLoss(_WeightedLoss, function="binary_cross_entropy_with_logits"):
    """``BCEWithLogitsLoss(weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None)``.

    BCELoss of sigmoid(input), also exact for large inputs; `pos_weight` is the weight of positive targets.

    >>> import autograd_cy as ag
    >>> ag.nn.BCEWithLogitsLoss()(ag.tensor([0.0, 500.0]), ag.tensor([1.0, 1.0]))
    tensor(0.3466)
    """

    pos_weight: Tensor | None = None


class KLDivLoss(_Loss, function="kl_div"):
    """``KLDivLoss(size_average=None, reduce=None, reduction="mean", log_target=False)``: target * (log(target) - input).

    The input holds logarithms, with `log_target` the target, too; "batchmean" divides the sum by the size of dimension 0,
    which is the mean of the divergences.

    >>> import autograd_cy as ag
    >>> ag.nn.KLDivLoss(reduction="batchmean")(ag.tensor([[0.5, 0.5]]).log(), ag.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """

    log_target: bool = False


class PoissonNLLLoss(_Loss, function="poisson_nll_loss"):
    """``PoissonNLLLoss(log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean")``.

    The negative log likelihood of counts under Poisson's distribution with mean exp(input), or input unless `log_input`,
    without the constant log(target!), or with Stirling's approximation of it (`full`).

    >>> import autograd_cy as ag
    >>> ag.nn.PoissonNLLLoss()(ag.tensor([0.0]), ag.tensor([2.0]))
    tensor(1.)
    """

    log_input: bool = True
    full: bool = False
    size_average: bool | None = None
    eps: float = 1e-8
    reduce: bool | None = None
    reduction: str = "mean"

    _inputs = ("log_input", "target")


class GaussianNLLLoss(_Loss, function="gaussian_nll_loss"):
    """``GaussianNLLLoss(*, full=False, eps=1e-6, reduction="mean")``: called with input, target and variances.

    (log(var) + (input - target) ** 2 / var) / 2, with variances of at least `eps`, and the constant if `full`.

    >>> import autograd_cy as ag
    >>> ag.nn.GaussianNLLLoss()(ag.zeros(1), ag.tensor([2.0]), ag.ones(1))
    tensor(2.)
    """

    full: bool = False
    eps: float = 1e-6

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full, self.eps = full, eps

    _inputs = ("input", "target", "var")


class CTCLoss(_Loss, function="ctc_loss"):
    """``CTCLoss(blank=0, reduction="mean", zero_infinity=False)``: a loss of unaligned sequences.

    Called with log-probabilities (T, N, C) or (T, C), targets (N, S) or all in one row, and the lengths of both (Graves et al.
    2006, Connectionist temporal classification).

    >>> import autograd_cy as ag
    >>> log_probs = ag.log_softmax(ag.zeros(2, 1, 2), 2)
    >>> ag.nn.CTCLoss(reduction="sum")(log_probs, ag.tensor([[1]]), ag.tensor([2]), ag.tensor([1]))  # 3 of 4 paths
    tensor(0.2877)
    """

    blank: int = 0
    zero_infinity: bool = False

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    _inputs = ("log_probs", "targets", "input_lengths", "target_lengths")
