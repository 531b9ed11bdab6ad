"""Sums, means and largest elements of bags of rows of a table (facade): the operation, with PyTorch's signature here."""

from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._core.ops.operations import OPS
from .._core.runtime.entry import public
from .._creation.data import as_tensor
from ..autograd.grad_mode import no_grad

__all__ = ["embedding_bag"]

_rows_of = OPS["nn.functional.embedding"].function
_bags_of = OPS["embedding_bag"].function
_MODES = ("sum", "mean", "max")  # indexed by the operation's mode numbers


@public
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """embedding_bag(input, weight, offsets=None, ..., mode='mean') -> Tensor: 'sum', 'mean' or 'max' of bags of rows.

    The integers `input` name rows of `weight` (n, d). Each row of a 2-D input is a bag; a 1-D input has bags that begin at
    `offsets`; `include_last_offset`: the last one is an end. The result is (bags, d), 0 for an empty bag. Row
    `padding_idx` is skipped; 'sum' takes `per_sample_weights`, shaped as the input. ValueError for shapes that
    don't fit, RuntimeError for an index out of range. With `sparse`, the gradient of the weight is a sparse tensor.

    >>> import autograd_cy as ag
    >>> table = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ag.nn.functional.embedding_bag(ag.tensor([0, 1, 1]), table, ag.tensor([0, 2]))
    tensor([[2., 3.],
            [3., 4.]])
    """
    _check(input, weight, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights)
    if input.ndim == 2:
        offsets, include_last_offset = as_tensor(np.arange(input.shape[0]) * input.shape[1]), False
        input = input.reshape(-1)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    if max_norm is not None:
        with no_grad():
            _rows_of(input, weight, None, max_norm, norm_type)
    of = (scale_grad_by_freq, _MODES.index(mode), sparse, factors, include_last_offset, padding_idx)
    return _bags_of(weight, input, offsets, *of)[0]


def _check(input: Any, weight: Any, offsets: Any, mode: str, scaled: bool, sparse: bool, factors: Any) -> None:
    if factors is not None and input.shape != factors.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({factors.shape}) is not None, "
            f"then it must have the same shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if input.ndim == 2 and offsets is not None:
        raise ValueError(f"if input is 2D, then offsets has to be None, but found offsets of type {type(offsets)}")
    if input.ndim == 1 and offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if input.ndim == 1 and offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scaled:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if factors is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights is only supported for mode='sum' (got mode='{mode}')")
