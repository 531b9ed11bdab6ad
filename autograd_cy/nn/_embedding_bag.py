"""Sums, means and largest elements of bags of rows of a table (facade): made of operations, so right to any order."""

from math import inf
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._core.ops.operations import OPS
from .._core.runtime.entry import public
from .._data import as_tensor

__all__ = ["embedding_bag"]

_rows_of = OPS["nn.functional.embedding"].function


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
    `offsets`, the last of which is the end with `include_last_offset`. The result is (bags, d), 0 for an empty bag. Row
    `padding_idx` counts for nothing; 'sum' takes `per_sample_weights`, shaped as the input. ValueError for shapes that
    don't fit, IndexError for an index out of range, NotImplementedError for sparse=True.

    >>> import autograd_cy as ag
    >>> table = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ag.nn.functional.embedding_bag(ag.tensor([0, 1, 1]), table, ag.tensor([0, 2]))
    tensor([[2., 3.],
            [3., 4.]])
    """
    _check(input, weight, offsets, mode, scale_grad_by_freq, sparse, per_sample_weights)
    starts = _starts(input, offsets, include_last_offset)
    padding = None if padding_idx is None else _padding_row(padding_idx, weight.shape[0])
    numbers = input.reshape(-1)
    rows = _rows_of(numbers, weight, padding, max_norm, norm_type, scale_grad_by_freq)
    skipped = None if padding is None else (numbers == padding).unsqueeze(-1)
    if mode == "max":
        return _largest(rows, starts, skipped)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    return _added(rows, starts, skipped, mode == "mean")


def _check(input: Any, weight: Any, offsets: Any, mode: str, scaled: bool, sparse: bool, factors: Any) -> None:
    if factors is not None and input.shape != factors.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({factors.shape}) is not None, "
            f"then it must have the same shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if not weight.is_floating_point():
        raise RuntimeError(f"embedding_bag(): expected weight of a floating type, but got {weight.dtype}")
    if input.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if input.ndim == 2 and offsets is not None:
        raise ValueError(f"if input is 2D, then offsets has to be None, but found offsets of type {type(offsets)}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scaled:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if sparse:
        raise NotImplementedError("embedding_bag(): sparse=True is not supported: there are no sparse tensors")
    if factors is not None and mode != "sum":
        raise NotImplementedError(f"embedding_bag: per_sample_weights is only supported for mode='sum' (got mode='{mode}')")
    if factors is not None and factors.dtype != weight.dtype:
        raise RuntimeError(f"embedding_bag(): per_sample_weights has to be {weight.dtype}, as weight, not {factors.dtype}")


def _starts(input: Tensor, offsets: Any, include_last_offset: bool) -> np.ndarray:
    """Where each bag begins, and where the last one ends."""
    if input.ndim == 2:
        return np.arange(input.shape[0] + 1) * input.shape[1]
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    starts, length = offsets.numpy(), input.shape[0]
    if starts.dtype not in (np.int32, np.int64):
        raise RuntimeError(f"embedding_bag(): offsets have to be int32 or int64, not {offsets.dtype}")
    if include_last_offset and not starts.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if starts.size and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
            f"However, got {starts[0]}"
        )
    if starts.size and starts[-1] > length:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {length} but got offsets[-1] of {starts[-1]}"
        )
    if (np.diff(starts) < 0).any():
        raise RuntimeError("embedding_bag(): offsets must not decrease")
    return (starts if include_last_offset else np.append(starts, length if starts.size else 0)).astype(np.int64)


def _padding_row(padding_idx: int, n: int) -> int:
    if not -n <= padding_idx < n:
        raise RuntimeError(f"padding_idx must be within the number of embeddings, {-n} through {n - 1}, but got {padding_idx}")
    return padding_idx % n


def _added(rows: Tensor, starts: np.ndarray, skipped: Tensor | None, mean: bool) -> Tensor:
    sizes = np.diff(starts)
    bags = as_tensor(np.repeat(np.arange(sizes.size), sizes))
    rows = rows if skipped is None else rows.masked_fill(skipped, 0)
    rows = rows[: bags.shape[0]]
    sums = rows.new_zeros((sizes.size, rows.shape[1])).index_add(0, bags, rows)
    if not mean:
        return sums
    counts = as_tensor(sizes).unsqueeze(-1)
    if skipped is not None:
        counts = counts.index_add(0, bags, -skipped[: bags.shape[0]].long())
    return sums / counts.clamp(1).to(sums.dtype)


def _largest(rows: Tensor, starts: np.ndarray, skipped: Tensor | None) -> Tensor:
    """The first largest element of each bag, from bags filled up to one length."""
    sizes = np.diff(starts)
    if not rows.shape[0] or not sizes.size:
        return rows.new_zeros((sizes.size, rows.shape[1])) + rows.sum()
    places = np.arange(max(sizes.max(), 1))
    outside = as_tensor(places >= sizes[:, None]).unsqueeze(-1)
    at = as_tensor(np.minimum(starts[:-1, None] + places, rows.shape[0] - 1))
    outside = outside if skipped is None else outside | skipped[at]
    filled = rows[at].masked_fill(outside, -inf)
    largest = filled.gather(1, filled.detach().argmax(1, keepdim=True)).squeeze(1)
    return largest.masked_fill(outside.all(1), 0)
