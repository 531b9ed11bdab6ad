"""Random numbers that distributions transform into their draws (facade)."""

from collections.abc import Callable
from typing import Any

from .._core.batching.batched import HiddenLevels, one_sample
from .._core.graph.tensor import Tensor
from .._core.ops.drawing import drawing_levels
from .._creation.filled import empty


def noise(like: Tensor, shape: Any, fill: Callable[..., Tensor], *limits: float) -> Tensor:
    """``noise(like, shape, Tensor.normal_)``: a tensor of that shape and the dtype of `like`, filled by a method.

    Within vmap its `randomness` says whether samples draw their own numbers, whichever of the parameters are batched.
    """
    levels = drawing_levels()
    sizes = [level.size for level in reversed(levels)]
    with HiddenLevels(levels):
        numbers = fill(empty((*sizes, *shape), dtype=like.dtype), *limits)
    return one_sample(numbers, levels)
