"""Distances between pairs of vectors (facade)."""

from typing import ClassVar

from ..._core.graph.tensor import Tensor
from .. import functional as _F
from ._function_layer import FunctionLayer as _FunctionLayer
from .module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """``PairwiseDistance(p=2.0, eps=1e-6, keepdim=False)``: the p-norm of x1 - x2 + eps along the last dimension.

    >>> import autograd_cy as ag
    >>> ag.nn.PairwiseDistance()(ag.tensor([[3.0, 4.0]]), ag.zeros(1, 2))
    tensor([5.0000])
    """

    __constants__: ClassVar[list[str]] = ["norm", "eps", "keepdim"]

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        return _F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(_FunctionLayer, function="cosine_similarity"):
    """``CosineSimilarity(dim=1, eps=1e-8)``: the cosine of the angle between x1 and x2 along `dim`.

    >>> import autograd_cy as ag
    >>> ag.nn.CosineSimilarity(dim=0)(ag.tensor([1.0, 0.0]), ag.tensor([1.0, 1.0]))
    tensor(0.7071)
    """

    dim: int = 1
    eps: float = 1e-8

    _inputs, _shown = ("x1", "x2"), ()
