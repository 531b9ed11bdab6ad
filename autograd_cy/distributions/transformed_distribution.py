"""Distributions of transformed draws (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._types import Size
from ..autograd.grad_mode import no_grad
from . import constraints
from ._formulas import sum_rightmost as _sum_rightmost
from ._transform import ComposeTransform, Transform
from .distribution import Distribution
from .independent import Independent

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """``TransformedDistribution(base_distribution, transforms)``: of draws of the base, put through the transforms in turn.

    ValueError unless `transforms` is a Transform or a list of them, and for a base with too few dimensions.

    >>> import autograd_cy as ag
    >>> from autograd_cy.distributions import Normal, TransformedDistribution, transforms
    >>> d = TransformedDistribution(Normal(0.0, 1.0), [transforms.ExpTransform()])
    >>> d.log_prob(ag.tensor(2.0)) == ag.distributions.LogNormal(0.0, 1.0).log_prob(ag.tensor(2.0))
    tensor(True)
    """

    arg_constraints: Any = {}
    base_dist: Any

    def __init__(self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(self.transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        shape = base_distribution.batch_shape + base_distribution.event_shape
        dims, whole = len(base_distribution.event_shape), ComposeTransform(self.transforms)
        taken, given = whole.domain.event_dim, whole.codomain.event_dim
        if len(shape) < taken:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {taken}, but got {shape}."
            )
        after = whole.forward_shape(shape)
        before = whole.inverse_shape(after)
        if shape != before:  # parameters of the transforms are wider
            base_distribution = base_distribution.expand(before[: len(before) - dims])
        self.base_dist = Independent(base_distribution, taken - dims) if taken > dims else base_distribution
        cut = len(after) - max(given, dims + given - taken)
        super().__init__(after[:cut], after[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        shape = Size(batch_shape) + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """That of the base."""
        return self.base_dist.has_rsample

    @constraints.dependent_property
    def support(self) -> constraints.Constraint:
        """The codomain of the last transform, or the base's support."""
        if not self.transforms:
            return self.base_dist.support
        region = self.transforms[-1].codomain
        more = len(self.event_shape) - region.event_dim
        return constraints.independent(region, more) if more > 0 else region

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        with no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        dims, stretched = len(self.event_shape), value.new_zeros(())
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            size = transform.log_abs_det_jacobian(x, value)
            stretched = stretched + _sum_rightmost(size, dims - transform.domain.event_dim)
            value = x
        own = len(self.base_dist.event_shape)
        return _sum_rightmost(self.base_dist.log_prob(value), dims - own) - stretched

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._through(self.base_dist.icdf(self._turned(value)))

    def _through(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def _turned(self, p: Tensor) -> Tensor:
        """The probability from the other end where the transforms fall."""
        sign = ComposeTransform(self.transforms).sign
        return p if isinstance(sign, int) and sign == 1 else sign * (p - 0.5) + 0.5
