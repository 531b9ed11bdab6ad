"""What parameters and samples of distributions have to satisfy: ``constraint.check(value)`` is a tensor of bools (facade)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import linalg
from .._core.graph.tensor import Tensor
from ._formulas import holds as _holds

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "dependent", "dependent_property", "greater_than",
    "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent", "less_than",
    "lower_cholesky", "lower_triangular", "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite",
    "positive_integer", "real", "real_vector", "simplex", "square", "symmetric", "unit_interval",
]  # fmt: skip


class Constraint:
    """A region of values. ``check(value)`` says which lie in it, one bool for each ``event_dim`` last dimensions.

    >>> import autograd_cy as ag
    >>> ag.distributions.constraints.positive, ag.distributions.constraints.positive.check(ag.tensor([-1.0, 2.0]))
    (GreaterThan(lower_bound=0.0), tensor([False,  True]))
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """``check(value)``: a tensor of bools."""
        raise NotImplementedError

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__.lstrip('_')}({bounds})"


class _Dependent(Constraint):
    """Depends on other parameters: there is nothing to check a value against."""

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):
    """A property of a distribution that is a constraint; ``@dependent_property(is_discrete=False, event_dim=0)``, too."""

    def __init__(self, fn: Callable[..., Any] | None = None, *, is_discrete: bool = False, event_dim: int = 0):
        super().__init__(fn)
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> "dependent_property":
        return dependent_property(fn, is_discrete=self.is_discrete, event_dim=self.event_dim)


def is_dependent(constraint: Constraint) -> bool:
    """``is_dependent(constraint)``: whether it depends on other parameters.

    >>> import autograd_cy as ag
    >>> ag.distributions.constraints.is_dependent(ag.distributions.constraints.real)
    False
    """
    return isinstance(constraint, _Dependent)


class _IndependentConstraint(Constraint):
    """Holds where the base constraint holds for all of the last dimensions."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        return result.reshape(*result.shape[: result.dim() - self.reinterpreted_batch_ndims], -1).all(-1)

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # not for NaN


@dataclass(eq=False, repr=False)
class _GreaterThan(Constraint):
    lower_bound: Any

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


@dataclass(eq=False, repr=False)
class _GreaterThanEq(Constraint):
    lower_bound: Any

    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


@dataclass(eq=False, repr=False)
class _LessThan(Constraint):
    upper_bound: Any

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


@dataclass(eq=False, repr=False)
class _Interval(Constraint):
    lower_bound: Any
    upper_bound: Any

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & super().check(value)


class _IntegerGreaterThan(_GreaterThanEq):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & super().check(value)


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class MixtureSameFamilyConstraint(Constraint):
    """``MixtureSameFamilyConstraint(base)`` holds where the base constraint holds for each component.

    >>> import autograd_cy as ag
    >>> c = ag.distributions.constraints
    >>> c.MixtureSameFamilyConstraint(c.greater_than(ag.tensor([0.0, 1.0]))).check(ag.tensor(0.5))
    tensor(False)
    """

    def __init__(self, base_constraint: Constraint):
        self.base_constraint = base_constraint
        self.is_discrete, self.event_dim = base_constraint.is_discrete, base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        return self.base_constraint.check(value.unsqueeze(-1 - self.event_dim)).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return value.new_ones(value.shape[:-2], dtype=_bool_of(value)) & (value.shape[-2] == value.shape[-1])


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).all(-1).all(-1)


class _LowerCholesky(_LowerTriangular):
    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return (value - value.mT).abs().le(1e-6 + 1e-5 * value.mT.abs()).all(-1).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return linalg.cholesky_ex(value).info.eq(0) if _holds(symmetric) else symmetric


def _bool_of(value: Tensor) -> Any:
    return (value == value).dtype


dependent = _Dependent()
independent = _IndependentConstraint
boolean = _Boolean()
real = _Real()
real_vector = independent(real, 1)
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan
interval, half_open_interval, integer_interval = _Interval, _HalfOpenInterval, _IntegerInterval
positive, nonnegative, unit_interval = greater_than(0.0), greater_than_eq(0.0), interval(0.0, 1.0)
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
simplex, one_hot = _Simplex(), _OneHot()
lower_triangular, lower_cholesky = _LowerTriangular(), _LowerCholesky()
square, symmetric, positive_definite = _Square(), _Symmetric(), _PositiveDefinite()
