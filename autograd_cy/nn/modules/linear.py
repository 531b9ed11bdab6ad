"""Layers that multiply by a matrix (facade)."""

import math
from typing import Any

from ..._core.graph.tensor import Tensor
from ..._core.runtime.entry import public as _public
from ..._creation.filled import empty
from ...autograd.grad_mode import no_grad
from .. import functional as _F
from .. import init, parameter
from ..parameter import Parameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear", "NonDynamicallyQuantizableLinear"]


class Identity(Module):
    """``Identity(*args, **kwargs)`` returns its input; the arguments are ignored.

    >>> import autograd_cy as ag
    >>> ag.nn.Identity(54, unused=True)(ag.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """``Linear(in_features, out_features, bias=True)``: x @ weight.T + bias.

    weight: (out_features, in_features); bias: (out_features,); input: (*, in_features), output: (*, out_features).
    Both are drawn uniformly from [-k, k] with k = 1 / sqrt(in_features).

    >>> import autograd_cy as ag
    >>> layer = ag.nn.Linear(2, 3)
    >>> layer(ag.ones(5, 2)).shape
    torch.Size([5, 3])
    """

    weight: Tensor
    bias: Any

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(empty(out_features, in_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """``reset_parameters()`` draws weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return _F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear under PyTorch's name for the output projection of MultiheadAttention."""


class Bilinear(Module):
    """``Bilinear(in1_features, in2_features, out_features, bias=True)``: y[k] = x1 @ weight[k] @ x2 + bias[k].

    weight: (out_features, in1_features, in2_features); inputs: (*, in1_features) and (*, in2_features), output:
    (*, out_features). Both parameters are drawn uniformly from [-k, k] with k = 1 / sqrt(in1_features).

    >>> import autograd_cy as ag
    >>> layer = ag.nn.Bilinear(2, 3, 4)
    >>> layer(ag.ones(5, 2), ag.ones(5, 3)).shape
    torch.Size([5, 4])
    """

    weight: Tensor
    bias: Any

    @_public
    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        super().__init__()
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self.weight = Parameter(empty(out_features, in1_features, in2_features, device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(empty(out_features, device=device, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """``reset_parameters()`` draws weight and bias anew."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return _F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """``LazyLinear(out_features, bias=True)``: takes in_features from its first input, and becomes a Linear.

    >>> import autograd_cy as ag
    >>> layer = ag.nn.LazyLinear(3)
    >>> layer(ag.ones(5, 2)).shape, layer.in_features
    (torch.Size([5, 3]), 2)
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = parameter.UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = parameter.UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """``initialize_parameters(input)`` gives weight and bias their shapes and initial values."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))  # type: ignore[attr-defined]
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        elif self.in_features == 0:  # a state dict was loaded
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from self.weight: "
                    f"{self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]
