"""Normalization over the features of each sample, and over neighbouring channels (facade)."""

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ..._creation.filled import empty
from .. import functional as _F
from .. import init
from ..parameter import Parameter
from ._function_layer import FunctionLayer as _FunctionLayer
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class _AffineNorm(Module):
    """Normalization with a weight, initially 1, and a bias, initially 0, or neither."""

    weight: Any
    bias: Any

    def _register(self, affine: bool, bias: bool, shape: Any, device: Any, dtype: Any) -> None:
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(empty(shape, device=device, dtype=dtype)) if wanted else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """``reset_parameters()`` sets the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_AffineNorm):
    """``LayerNorm(normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None)``.

    Each sample with mean 0 and variance 1 over the last dimensions, of sizes `normalized_shape`, times weight plus
    bias of that shape. Ba, Kiros and Hinton 2016, arXiv:1607.06450.

    >>> import autograd_cy as ag
    >>> ag.nn.LayerNorm(2)(ag.tensor([[1.0, 3.0]])).detach()
    tensor([[-1.0000,  1.0000]])
    """

    __constants__: ClassVar[list[str]] = ["normalized_shape", "eps", "elementwise_affine"]

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._register(elementwise_affine, bias, self.normalized_shape, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return _F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine, bias = self.elementwise_affine, self.bias is not None
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={affine}, bias={bias}"


class RMSNorm(_AffineNorm):
    """``RMSNorm(normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None)``.

    Each sample divided by the root of the mean of its squares over the last dimensions, plus `eps` (the dtype's
    distance from 1 to the next number if None). Zhang and Sennrich 2019, arXiv:1910.07467.

    >>> import autograd_cy as ag
    >>> ag.nn.RMSNorm(2)(ag.tensor([[1.0, 7.0]])).detach()
    tensor([[0.2000, 1.4000]])
    """

    __constants__: ClassVar[list[str]] = ["normalized_shape", "eps", "elementwise_affine"]
    bias = None

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        shape = self.normalized_shape
        self.register_parameter("weight", Parameter(empty(shape, device=device, dtype=dtype)) if elementwise_affine else None)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        return _F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(_AffineNorm):
    """``GroupNorm(num_groups, num_channels, eps=1e-5, affine=True, device=None, dtype=None, *, bias=True)``.

    The channels of (N, C, *) in groups, each with mean 0 and variance 1 in each sample, times weight (C,) plus bias (C,).
    Wu and He 2018, arXiv:1803.08494.

    >>> import autograd_cy as ag
    >>> ag.nn.GroupNorm(2, 4)(ag.tensor([[1.0, 3.0, 10.0, 30.0]])).detach()
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    __constants__: ClassVar[list[str]] = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
        dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._register(affine, bias, num_channels, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        return _F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        affine, bias = self.affine, self.bias is not None
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={affine}, bias={bias}"


class LocalResponseNorm(_FunctionLayer, function="local_response_norm"):
    """``LocalResponseNorm(size, alpha=1e-4, beta=0.75, k=1.0)``: x / (k + alpha * mean of neighbours' squares) ** beta.

    The neighbours are `size` channels of (N, C, *). Krizhevsky et al. 2012, ImageNet classification.

    >>> import autograd_cy as ag
    >>> ag.nn.LocalResponseNorm(2)(ag.ones(1, 3, 4)).shape
    torch.Size([1, 3, 4])
    """

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """``CrossMapLRN2d(size, alpha=1e-4, beta=0.75, k=1)``: LocalResponseNorm of (N, C, H, W), an older class.

    The neighbours of a channel are (size - 1) // 2 on each side.

    >>> import autograd_cy as ag
    >>> ag.nn.CrossMapLRN2d(3)(ag.ones(1, 3, 2, 2)).shape
    torch.Size([1, 3, 2, 2])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        channels, beside = input.size(1), (self.size - 1) // 2
        squares = _F.pad(input * input, (0, 0, 0, 0, beside, beside))
        total = sum(squares[:, i : i + channels] for i in range(2 * beside + 1))
        return input * (total * (self.alpha / self.size) + self.k) ** -self.beta

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def _as_shape(sizes: int | Sequence[int]) -> tuple[int, ...]:
    return (int(sizes),) if isinstance(sizes, numbers.Integral) else tuple(sizes)  # type: ignore[arg-type]
