"""Distribution, the base class: shapes, checks of arguments, and the common methods (facade)."""

import warnings
from typing import Any

from .._core.graph.node import sequence_number as _sequence_number
from .._core.graph.tensor import Tensor
from .._types import Size
from ..autograd.grad_mode import no_grad
from . import constraints
from ._formulas import holds as _holds
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """Base of distributions: ``sample(shape)`` draws, ``rsample(shape)`` draws differentiably where has_rsample says so.

    A sample's shape is the asked one, then `batch_shape` (independent parameters), then `event_shape` (one draw).
    Arguments are checked against `arg_constraints` and `support` unless validate_args is False: ValueError for those
    outside. NotImplementedError for what a distribution has no formula for.

    >>> import autograd_cy as ag
    >>> d = ag.distributions.Normal(ag.zeros(3), 1.0)
    >>> d, d.batch_shape, d.sample((2,)).shape
    (Normal(loc: torch.Size([3]), scale: torch.Size([3])), torch.Size([3]), torch.Size([2, 3]))
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """``set_default_validate_args(False)``: check arguments only where validate_args=True is asked for."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = Size(), event_shape: Any = Size(), validate_args: bool | None = None):
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        self._since = _sequence_number()  # derived parameters are recorded from this number on
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters, without what belongs to one draw."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw."""
        return self._event_shape

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """``expand(batch_shape)``: the distribution with parameters expanded to this shape; no memory is copied."""
        shape = Size(batch_shape)
        new = object.__new__(type(self)) if _instance is None else _instance
        given = dict(vars(new))  # by the caller, whose class sets more than this one
        vars(new).update(vars(self), _batch_shape=shape, _computed={})
        for name in self.arg_constraints:
            if name in vars(self):
                value = vars(self)[name]
                vars(new)[name] = value.expand(shape + value.shape[len(self._batch_shape) :])
        vars(new).update(given)
        return new

    @property
    def arg_constraints(self) -> Any:
        """The constraints of the parameters by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint of draws."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The expected value."""
        raise NotImplementedError(f"{type(self).__name__} has no mean")

    @property
    def mode(self) -> Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The expected squared distance to the mean."""
        raise NotImplementedError(f"{type(self).__name__} has no variance")

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> Tensor:
        """``sample(shape)``: draws without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n: int) -> Tensor:
        """``sample_n(n)`` is ``sample((n,))``, its name before PyTorch 0.4."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def rsample(self, sample_shape: Any = Size()) -> Tensor:
        """``rsample(shape)``: draws that are differentiable functions of the parameters."""
        raise NotImplementedError(f"{type(self).__name__} has no rsample(): its draws have no gradients")

    def log_prob(self, value: Tensor) -> Tensor:
        """``log_prob(value)``: the logarithm of the density, or of the probability, at a value."""
        raise NotImplementedError(f"{type(self).__name__} has no log_prob()")

    def cdf(self, value: Tensor) -> Tensor:
        """``cdf(value)``: the probability of values up to this one."""
        raise NotImplementedError(f"{type(self).__name__} has no cdf()")

    def icdf(self, value: Tensor) -> Tensor:
        """``icdf(p)``: the inverse of cdf()."""
        raise NotImplementedError(f"{type(self).__name__} has no icdf()")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """``enumerate_support(expand=True)``: all values along a new first dimension, for each of the batch if expanded."""
        raise NotImplementedError(f"{type(self).__name__} has no enumerate_support()")

    def entropy(self) -> Tensor:
        """``entropy()``: the expected value of -log_prob, in nats."""
        raise NotImplementedError(f"{type(self).__name__} has no entropy()")

    def perplexity(self) -> Tensor:
        """``perplexity()``: exp of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape: Any = Size()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _given(self) -> list[str]:
        """The names of parameters that are not derived from others."""
        return [name for name in self.arg_constraints if name in vars(self)]

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """The values along a new first dimension."""
        values = values.view(-1, *(1,) * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        """The object that ``cls.expand`` fills: the given one, or a new one where the class has the constructor of cls."""
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a "
                "custom .expand() method."
            )
        return object.__new__(type(self)) if _instance is None else _instance

    def _validate_parameters(self) -> None:
        try:
            required = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        for name, constraint in required.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self._given() and isinstance(getattr(type(self), name, None), lazy_property):
                continue
            value = getattr(self, name)
            if not _holds(constraint.check(value)):
                raise ValueError(
                    f"Expected parameter {name} ({_shaped(value)}) of distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        last = value.shape[value.dim() - len(self._event_shape) :]
        if last != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.shape), reversed(expected), strict=False):
            if 1 != i != j != 1:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not _holds(support.check(value)):
            raise ValueError(
                f"Expected value argument ({_shaped(value)}) to be within the support ({support!r}) of the "
                f"distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        names = {*self._given(), *vars(self).get("_computed", ())}
        values = {name: getattr(self, name) for name in self.arg_constraints if name in names}
        shown = (f"{name}: {v if v.numel() == 1 else v.shape}" for name, v in values.items())
        return f"{type(self).__name__}({', '.join(shown)})"


def _shaped(value: Tensor) -> str:
    return f"Tensor of shape {tuple(value.shape)}"
