"""SparseAdam, which there is none of (facade)."""

from typing import Any

from .optimizer import Optimizer

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """``SparseAdam(params)`` raises NotImplementedError: it steps along sparse gradients, and gradients here are dense.

    >>> import autograd_cy as ag
    >>> ag.optim.SparseAdam([ag.ones(2, requires_grad=True)])
    Traceback (most recent call last):
    NotImplementedError: SparseAdam needs sparse gradients, and this package's are dense: use Adam, or SGD
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("SparseAdam needs sparse gradients, and this package's are dense: use Adam, or SGD")
