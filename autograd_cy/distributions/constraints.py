"""Constraints on parameters and samples of distributions: ``constraint.check(value)`` is a tensor of bools (facade)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .. import linalg
from .._core.graph.tensor import Tensor
from .._functional import names as _ops
from .._types.limits import finfo
from ._formulas import holds as _holds

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property",
    "greater_than", "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent",
    "less_than", "lower_cholesky", "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot",
    "positive", "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector", "simplex", "square",
    "stack", "symmetric", "unit_interval",
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
        bounds = ", ".join(f"{name}={getattr(self, name)}" for name in getattr(self, "__match_args__", ()))
        return f"{type(self).__name__.lstrip('_')}({bounds})"


class _Dependent(Constraint):
    """Depends on other parameters: there is nothing to check a value against.

    ``dependent(is_discrete=True, event_dim=1)`` says what is known; NotImplementedError where the rest is asked for.
    """

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self._known("is_discrete")

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self._known("event_dim")

    def _known(self, name: str) -> Any:
        value = getattr(self, f"_{name}")
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> "_Dependent":
        return _Dependent(**self._changed(is_discrete, event_dim))

    def _changed(self, is_discrete: Any, event_dim: Any) -> dict[str, Any]:
        return {
            "is_discrete": self._is_discrete if is_discrete is NotImplemented else is_discrete,
            "event_dim": self._event_dim if event_dim is NotImplemented else event_dim,
        }

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property of a distribution that is a constraint; ``@dependent_property(is_discrete=False, event_dim=0)``, too."""

    def __init__(
        self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable[..., Any]) -> "_DependentProperty":  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


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


class _IntegerLessThan(_LessThan):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _Multinomial(Constraint):
    """Counts that are not negative and sum up to at most `upper_bound`."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


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


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return linalg.eigvalsh(value).ge(0).all(-1) if _holds(symmetric) else symmetric


class _CorrCholesky(Constraint):
    """Lower factors of correlations: rows of length 1, up to some roundings."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        tolerance = 10 * finfo(value.dtype).eps * value.shape[-1]
        unit = (value.detach().pow(2).sum(-1).sqrt() - 1).abs().le(tolerance).all(-1)
        return lower_cholesky.check(value) & unit


class _Joined(Constraint):
    """Constraints of the parts along a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        if not all(isinstance(constraint, Constraint) for constraint in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(constraint.is_discrete for constraint in self.cseq)

    def _parts(self, value: Tensor) -> list[Tensor]:
        raise NotImplementedError

    def _checked(self, value: Tensor) -> list[Tensor]:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {value.dim()} dimensions")
        return [part.check(v) for part, v in zip(self.cseq, self._parts(value), strict=True)]


class _Cat(_Joined):
    """``cat(constraints, dim=0, lengths=None)``: each holds for as many of the elements along `dim` as its length says."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return max(constraint.event_dim for constraint in self.cseq)

    def _parts(self, value: Tensor) -> list[Tensor]:
        return list(value.narrow(self.dim, 0, sum(self.lengths)).split(self.lengths, self.dim))

    def check(self, value: Tensor) -> Tensor:
        return _ops.cat(self._checked(value), self.dim)


class _Stack(_Joined):
    """``stack(constraints, dim=0)``: each holds for one of the elements along `dim`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        dim = max(constraint.event_dim for constraint in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def _parts(self, value: Tensor) -> list[Tensor]:
        return [value.select(self.dim, k) for k in range(len(self.cseq))]

    def check(self, value: Tensor) -> Tensor:
        return _ops.stack(self._checked(value), self.dim)


def _bool_of(value: Tensor) -> Any:
    return (value == value).dtype


dependent, dependent_property = _Dependent(), _DependentProperty
cat, stack, multinomial = _Cat, _Stack, _Multinomial
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
corr_cholesky = _CorrCholesky()
square, symmetric = _Square(), _Symmetric()
positive_semidefinite, positive_definite = _PositiveSemidefinite(), _PositiveDefinite()
