"""Activations: layers that apply a function to each element, and the softmax family (facade)."""

import warnings
from typing import Any, ClassVar

from ..._core.graph.tensor import Tensor
from ..._creation.filled import empty
from .. import functional as _F
from .. import init as _init
from ..parameter import Parameter
from ._attention import MultiheadAttention
from ._function_layer import FunctionLayer as _FunctionLayer
from ._shrinking import Hardshrink, Softshrink, Tanhshrink, Threshold
from ._softmaxes import LogSoftmax, Softmax, Softmax2d, Softmin
from .module import Module

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "MultiheadAttention",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
]  # fmt: skip


class ReLU(_FunctionLayer, function="relu"):
    """``ReLU(inplace=False)``: max(x, 0) of each element.

    >>> import autograd_cy as ag
    >>> ag.nn.ReLU()(ag.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    inplace: bool = False


class RReLU(_FunctionLayer, function="rrelu"):
    """``RReLU(lower=1/8, upper=1/3, inplace=False)``: leaky ReLU with a random slope.

    In training each negative element gets a slope uniform in [lower, upper), in evaluation their mean
    (Xu et al. 2015, arXiv:1505.00853).

    >>> import autograd_cy as ag
    >>> ag.nn.RReLU(0.2, 0.4).eval()(ag.tensor([-1.0, 2.0]))
    tensor([-0.3000,  2.0000])
    """

    lower: float = 1 / 8
    upper: float = 1 / 3
    inplace: bool = False

    def forward(self, input: Tensor) -> Tensor:
        function = _F.rrelu_ if self.inplace else _F.rrelu
        return function(input, self.lower, self.upper, self.training)


class Hardtanh(_FunctionLayer, function="hardtanh"):
    """``Hardtanh(min_val=-1.0, max_val=1.0, inplace=False)``: elements clipped to [min_val, max_val].

    >>> import autograd_cy as ag
    >>> ag.nn.Hardtanh(-2, 2)(ag.tensor([-3.0, 1.0]))
    tensor([-2.,  1.])
    """

    min_val: float = -1.0
    max_val: float = 1.0
    inplace: bool = False

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
        min_value: float | None = None, max_value: float | None = None,
    ) -> None:  # fmt: skip
        for old, value in (("min", min_value), ("max", max_value)):
            if value is not None:
                text = f"keyword argument `{old}_value` is deprecated and renamed to `{old}_val`"
                warnings.warn(text, FutureWarning, stacklevel=2)
        super().__init__()
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")


class ReLU6(Hardtanh):
    """``ReLU6(inplace=False)``: min(max(x, 0), 6) of each element.

    >>> import autograd_cy as ag
    >>> ag.nn.ReLU6()(ag.tensor([-1.0, 8.0]))
    tensor([0., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(_FunctionLayer, function="sigmoid"):
    """``Sigmoid()``: 1 / (1 + exp(-x)) of each element.

    >>> import autograd_cy as ag
    >>> ag.nn.Sigmoid()(ag.tensor([0.0]))
    tensor([0.5000])
    """


class Hardsigmoid(_FunctionLayer, function="hardsigmoid"):
    """``Hardsigmoid(inplace=False)``: x / 6 + 1 / 2, clipped to [0, 1].

    >>> import autograd_cy as ag
    >>> ag.nn.Hardsigmoid()(ag.tensor([-3.0, 0.0, 5.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """

    _shown = ()
    inplace: bool = False


class Tanh(_FunctionLayer, function="tanh"):
    """``Tanh()``: the hyperbolic tangent of each element.

    >>> import autograd_cy as ag
    >>> ag.nn.Tanh()(ag.tensor([0.0]))
    tensor([0.])
    """


class SiLU(_FunctionLayer, function="silu"):
    """``SiLU(inplace=False)``: x * sigmoid(x), the swish function (arXiv:1710.05941).

    >>> import autograd_cy as ag
    >>> ag.nn.SiLU()(ag.tensor([0.0, 20.0]))
    tensor([ 0., 20.])
    """

    inplace: bool = False


class Mish(_FunctionLayer, function="mish"):
    """``Mish(inplace=False)``: x * tanh(softplus(x)) (arXiv:1908.08681).

    >>> import autograd_cy as ag
    >>> ag.nn.Mish()(ag.tensor([0.0, 20.0]))
    tensor([ 0., 20.])
    """

    inplace: bool = False


class Hardswish(_FunctionLayer, function="hardswish"):
    """``Hardswish(inplace=False)``: x * hardsigmoid(x) (arXiv:1905.02244).

    >>> import autograd_cy as ag
    >>> ag.nn.Hardswish()(ag.tensor([-3.0, 3.0]))
    tensor([-0., 3.])
    """

    _shown = ()
    inplace: bool = False


class ELU(_FunctionLayer, function="elu"):
    """``ELU(alpha=1.0, inplace=False)``: x where it is positive, else alpha * (exp(x) - 1) (arXiv:1511.07289).

    >>> import autograd_cy as ag
    >>> ag.nn.ELU(2.0)(ag.tensor([-50.0, 3.0]))
    tensor([-2.,  3.])
    """

    alpha: float = 1.0
    inplace: bool = False


class CELU(_FunctionLayer, function="celu"):
    """``CELU(alpha=1.0, inplace=False)``: max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) (arXiv:1704.07483).

    >>> import autograd_cy as ag
    >>> ag.nn.CELU(2.0)(ag.tensor([-100.0, 3.0]))
    tensor([-2.,  3.])
    """

    alpha: float = 1.0
    inplace: bool = False


class SELU(_FunctionLayer, function="selu"):
    """``SELU(inplace=False)``: ELU scaled to preserve mean 0 and variance 1 (arXiv:1706.02515).

    >>> import autograd_cy as ag
    >>> ag.nn.SELU()(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 1.0507])
    """

    inplace: bool = False


class GLU(_FunctionLayer, function="glu"):
    """``GLU(dim=-1)``: the first half along a dimension times the sigmoid of the second (arXiv:1612.08083).

    >>> import autograd_cy as ag
    >>> ag.nn.GLU()(ag.tensor([4.0, 0.0]))
    tensor([2.])
    """

    dim: int = -1


class GELU(_FunctionLayer, function="gelu"):
    """``GELU(approximate="none")``: x times the normal distribution function of x, or "tanh" (arXiv:1606.08415).

    >>> import autograd_cy as ag
    >>> ag.nn.GELU()(ag.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8413])
    """

    approximate: str = "none"


class LeakyReLU(_FunctionLayer, function="leaky_relu"):
    """``LeakyReLU(negative_slope=0.01, inplace=False)``: x where it is positive, else negative_slope * x.

    >>> import autograd_cy as ag
    >>> ag.nn.LeakyReLU(0.5)(ag.tensor([-1.0, 2.0]))
    tensor([-0.5000,  2.0000])
    """

    negative_slope: float = 0.01
    inplace: bool = False


class LogSigmoid(_FunctionLayer, function="logsigmoid"):
    """``LogSigmoid()``: log(sigmoid(x)), exact for large negative x, too.

    >>> import autograd_cy as ag
    >>> ag.nn.LogSigmoid()(ag.tensor([-500.0, 0.0]))
    tensor([-500.0000,   -0.6931])
    """


class Softplus(_FunctionLayer, function="softplus"):
    """``Softplus(beta=1.0, threshold=20.0)``: log(1 + exp(beta * x)) / beta, and x where beta * x exceeds `threshold`.

    >>> import autograd_cy as ag
    >>> ag.nn.Softplus()(ag.tensor([0.0, 30.0]))
    tensor([ 0.6931, 30.0000])
    """

    beta: float = 1.0
    threshold: float = 20.0


class Softsign(_FunctionLayer, function="softsign"):
    """``Softsign()``: x / (1 + abs(x)).

    >>> import autograd_cy as ag
    >>> ag.nn.Softsign()(ag.tensor([1.0]))
    tensor([0.5000])
    """


class PReLU(Module):
    """``PReLU(num_parameters=1, init=0.25, device=None, dtype=None)``: leaky ReLU with a learned slope.

    There is one slope for all elements, or one for each channel (dimension 1) (arXiv:1502.01852).

    >>> import autograd_cy as ag
    >>> ag.nn.PReLU()(ag.tensor([-1.0, 2.0])).detach()
    tensor([-0.2500,  2.0000])
    """

    __constants__: ClassVar[list[str]] = ["num_parameters"]

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """``reset_parameters()`` sets the slopes to `init`."""
        _init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return _F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
