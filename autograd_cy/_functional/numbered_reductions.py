"""Losses as PyTorch has them outside nn.functional, where the reduction is a number: 0 none, 1 mean, 2 sum (facade).

Imported when asked for.
"""

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from ..nn import functional as F


def _word(reduction: int) -> str:
    if reduction not in (0, 1, 2):
        raise ValueError(f"{reduction} is not a valid value for reduction: 0 is none, 1 the mean, 2 the sum")
    return ("none", "mean", "sum")[reduction]


@public
def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 1
) -> Tensor:
    """``binary_cross_entropy_with_logits(input, target)`` is the same as in nn.functional.

    >>> import autograd_cy as ag
    >>> ag.binary_cross_entropy_with_logits(ag.zeros(2), ag.ones(2))
    tensor(0.6931)
    """
    return F.binary_cross_entropy_with_logits(
        input, target, weight, reduction=_word(reduction), pos_weight=pos_weight
    )


@public
def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1) -> Tensor:
    """``cosine_embedding_loss(input1, input2, target)`` is the same as in nn.functional.

    >>> import autograd_cy as ag
    >>> ag.cosine_embedding_loss(ag.ones(1, 2), ag.ones(1, 2), ag.ones(1), reduction=2)
    tensor(0.)
    """
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=_word(reduction))


@public
def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 1) -> Tensor:
    """``hinge_embedding_loss(input, target)`` is the same as in nn.functional.

    >>> import autograd_cy as ag
    >>> ag.hinge_embedding_loss(ag.ones(2), ag.ones(2))
    tensor(1.)
    """
    return F.hinge_embedding_loss(input, target, margin, reduction=_word(reduction))


@public
def kl_div(input: Tensor, target: Tensor, reduction: int = 1, *, log_target: bool = False) -> Tensor:
    """``kl_div(input, target)`` is the same as in nn.functional.

    >>> import autograd_cy as ag
    >>> ag.kl_div(ag.zeros(2), ag.ones(2))
    tensor(0.)
    """
    word = _word(reduction)
    total = F.kl_div(input, target, reduction="none" if word == "none" else "sum", log_target=log_target)
    return total if word != "mean" else total / max(input.numel(), 1)


@public
def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 1) -> Tensor:
    """``margin_ranking_loss(input1, input2, target)`` is the same as in nn.functional.

    >>> import autograd_cy as ag
    >>> ag.margin_ranking_loss(ag.zeros(2), ag.ones(2), ag.ones(2))
    tensor(1.)
    """
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=_word(reduction))


@public
def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Tensor:
    """``poisson_nll_loss(input, target, log_input, full, eps, reduction)`` is the same as in nn.functional.

    >>> import autograd_cy as ag
    >>> ag.poisson_nll_loss(ag.zeros(2), ag.ones(2), True, False, 1e-8, 1)
    tensor(1.)
    """
    return F.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=_word(reduction))


@public
def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
    swap: bool = False, reduction: int = 1,
) -> Tensor:  # fmt: skip
    """``triplet_margin_loss(anchor, positive, negative)`` is the same as in nn.functional.

    >>> import autograd_cy as ag
    >>> ag.triplet_margin_loss(ag.zeros(1, 2), ag.ones(1, 2), ag.ones(1, 2))
    tensor(1.0000)
    """
    return F.triplet_margin_loss(
        anchor, positive, negative, margin, p, eps, swap, reduction=_word(reduction)
    )
