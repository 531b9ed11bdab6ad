"""``torch.distributions.transforms``: functions between regions of values, for distributions of their results (facade)."""

import math
from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import ones_like
from .._functional import names as _ops
from .._functional.queries import broadcast_shapes
from .._types import Size
from .._types.limits import finfo
from . import constraints
from ._formulas import softplus as _softplus
from ._joined_transforms import CatTransform, CumulativeDistributionTransform, ReshapeTransform, StackTransform
from ._matrix_transforms import CorrCholeskyTransform, LowerCholeskyTransform, PositiveDefiniteTransform
from ._transform import ComposeTransform, IndependentTransform, Transform
from ._transform import _InverseTransform as _InverseTransform

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class _Plain(Transform):
    """A transform without parameters: two of a type are the same."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)


class _Growing(_Plain):
    """One of single numbers, which grows."""

    domain = constraints.real
    bijective = True
    sign = +1


class ExpTransform(_Growing):
    """``ExpTransform()``: y = exp(x).

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.ExpTransform()(ag.tensor(0.0))
    tensor(1.)
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class SigmoidTransform(_Growing):
    """``SigmoidTransform()``: y = 1 / (1 + exp(-x)), held apart from 0 and 1, and x = log(y) - log(1 - y).

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.SigmoidTransform()(ag.tensor(0.0))
    tensor(0.5000)
    """

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _inside_unit(x.sigmoid())

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside_unit(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -_softplus(-x) - _softplus(x)


class SoftplusTransform(_Growing):
    """``SoftplusTransform()``: y = log(1 + exp(x)).

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.SoftplusTransform()(ag.tensor(0.0))
    tensor(0.6931)
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return _softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-(-y).expm1()).log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -_softplus(-x)


class TanhTransform(_Growing):
    """``TanhTransform()``: y = tanh(x).

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.TanhTransform()(ag.tensor(0.0))
    tensor(0.)
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - _softplus(-2.0 * x))


class AbsTransform(_Plain):
    """``AbsTransform()``: y = abs(x), with inverse x = y.

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.AbsTransform()(ag.tensor(-1.0))
    tensor(1.)
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """``PowerTransform(exponent)``: y = x ** exponent, of positive numbers.

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.PowerTransform(ag.tensor(2.0)).inv(ag.tensor(9.0))
    tensor(3.)
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Any:
        return self.exponent.sign() if isinstance(self.exponent, Tensor) else int(math.copysign(1, self.exponent))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _all_equal(self.exponent, other.exponent)

    def _call(self, x: Tensor) -> Tensor:
        return x**self.exponent

    def _inverse(self, y: Tensor) -> Tensor:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Size:
        return Size(broadcast_shapes(shape, getattr(self.exponent, "shape", ())))

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """``AffineTransform(loc, scale, event_dim=0)``: y = loc + scale * x, of numbers, vectors (1) or matrices (2).

    >>> import autograd_cy as ag
    >>> t = ag.distributions.transforms.AffineTransform(1.0, -2.0)
    >>> t(ag.tensor(3.0)), t.inv(ag.tensor(-5.0)), t.sign
    (tensor(-5.), tensor(3.), -1)
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    codomain = domain

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _all_equal(self.loc, other.loc) and _all_equal(self.scale, other.scale)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        shape, n = x.shape, self.event_dim
        scale = self.scale if isinstance(self.scale, Tensor) else x.new_tensor(self.scale)
        stretched = scale.abs().log().expand(broadcast_shapes(shape, scale.shape))
        return stretched.sum(tuple(range(-n, 0))) if n else stretched

    def forward_shape(self, shape: Any) -> Size:
        return Size(broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())))

    inverse_shape = forward_shape


class SoftmaxTransform(_Plain):
    """``SoftmaxTransform()``: y = softmax(x) along the last dimension; log(y) is one of many x.

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.SoftmaxTransform()(ag.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Tensor:
        return x.softmax(-1)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Size:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return Size(shape)

    inverse_shape = forward_shape


class StickBreakingTransform(_Plain):
    """``StickBreakingTransform()``: n numbers say which share of the rest each of n + 1 parts of 1 gets.

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.StickBreakingTransform()(ag.zeros(2))
    tensor([0.3333, 0.3333, 0.3333])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        shares = _inside_unit((x - self._offset(x)).sigmoid())
        rest, one = (1 - shares).cumprod(-1), ones_like(x[..., :1])
        return _ops.cat([shares, one], -1) * _ops.cat([one, rest], -1)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = y[..., :-1]
        rest = (1 - parts.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return parts.log() - rest.log() + self._offset(parts)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        z = x - self._offset(x)
        return (-z - _softplus(-z) + y[..., :-1].log()).sum(-1)

    def _offset(self, x: Tensor) -> Tensor:
        """What makes zeros equal shares: the logarithms of how many parts come after."""
        return (x.shape[-1] + 1 - ones_like(x.detach()).cumsum(-1)).log()

    def forward_shape(self, shape: Any) -> Size:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return Size(shape[:-1]) + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Size:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return Size(shape[:-1]) + (shape[-1] - 1,)


def _inside_unit(y: Tensor) -> Tensor:
    kind = finfo(y.dtype)
    return y.clamp(min=kind.tiny, max=1.0 - kind.eps)


def _all_equal(a: Any, b: Any) -> bool:
    return a is b or bool(a == b if not isinstance(a, Tensor) and not isinstance(b, Tensor) else (a == b).all())


identity_transform = ComposeTransform([])
