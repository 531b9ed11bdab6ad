"""Flattening of dimensions, and unflattening (facade)."""

from typing import Any

from ..._core.graph.tensor import Tensor
from ._function_layer import FunctionLayer as _FunctionLayer

__all__ = ["Flatten", "Unflatten"]


class Flatten(_FunctionLayer, function=None):
    """``Flatten(start_dim=1, end_dim=-1)``: the dimensions from `start_dim` to `end_dim` made one.

    >>> import autograd_cy as ag
    >>> ag.nn.Flatten()(ag.ones(5, 2, 3)).shape
    torch.Size([5, 6])
    """

    start_dim: int = 1
    end_dim: int = -1

    def forward(self, input: Tensor) -> Tensor:
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(_FunctionLayer, function=None):
    """``Unflatten(dim, unflattened_size)``: one dimension made several; one of the sizes may be -1.

    >>> import autograd_cy as ag
    >>> ag.nn.Unflatten(1, (2, -1))(ag.ones(5, 6)).shape
    torch.Size([5, 2, 3])
    """

    dim: int
    unflattened_size: tuple[int, ...] | list[int]

    def _store(self, settings: dict[str, Any]) -> None:
        sizes = settings["unflattened_size"]
        if not isinstance(sizes, (tuple, list)):
            raise TypeError(f"unflattened_size must be a tuple of ints, but found type {type(sizes).__name__}")
        for i, size in enumerate(sizes):
            if not isinstance(size, int):
                name = type(size).__name__
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type {name} at pos {i}")
        super()._store(settings)

    def forward(self, input: Tensor) -> Tensor:
        return input.unflatten(self.dim, self.unflattened_size)
