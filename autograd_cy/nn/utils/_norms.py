"""Computations of weight and spectral normalization (facade)."""

import sys
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.ops.matrices.decompositions import vector_norm
from ..._core.ops.products.matmul import mv
from ...autograd.grad_mode import no_grad


def norm_except_dim(v: Tensor, dim: int) -> Tensor:
    """The norms of the slices of v along a dimension, with the rank of v; for -1 the norm of all of v."""
    if dim == -1:
        return vector_norm(v)
    return vector_norm(v, 2, [d for d in range(v.ndim) if d != dim], True)


def weight_of(g: Tensor, v: Tensor, dim: int) -> Tensor:
    """v with its slices scaled to the lengths g."""
    return v * (g / norm_except_dim(v, dim))


def normalized(x: Tensor, eps: float) -> Tensor:
    """The vector scaled to length 1."""
    return x / vector_norm(x).clamp(min=eps)


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """The weight with that dimension first, the others as one."""
    return weight.movedim(dim, 0).flatten(1)


def random_direction(like: Tensor, size: int, eps: float) -> Tensor:
    with no_grad():
        return normalized(like.new_empty(size).normal_(0, 1), eps)


def power_iterations(matrix: Tensor, u: Tensor, v: Tensor, times: int, eps: float, v_first: bool) -> None:
    """Move u and v towards the first singular vectors of a matrix, in place."""
    with no_grad():
        for _ in range(times):
            if v_first:
                v.copy_(normalized(mv(matrix.mH, u), eps))
            u.copy_(normalized(mv(matrix, v), eps))
            if not v_first:
                v.copy_(normalized(mv(matrix.mH, u), eps))


def output_dim(module: Any) -> int:
    """The output dimension of a layer's weight."""
    conv = sys.modules.get(f"{__package__.rpartition('.')[0]}.modules.conv")
    transposed = conv and tuple(getattr(conv, f"ConvTranspose{n}d") for n in (1, 2, 3))
    return 1 if transposed and isinstance(module, transposed) else 0


def tensor_named(module: Any, name: str) -> Tensor:
    """The parameter or buffer of a module; else ValueError."""
    tensor = getattr(module, name, None)
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return tensor
