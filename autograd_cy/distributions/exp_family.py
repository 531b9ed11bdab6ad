"""Exponential families (facade)."""

from typing import Any

from .._core.graph.tensor import Tensor
from .._creation.filled import ones_like
from ..func import vjp
from ._formulas import sum_rightmost as _sum_rightmost
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base of distributions whose density is h(x) exp(t(x) . eta - A(eta)), with natural parameters eta.

    A subclass has `_natural_params`, ``_log_normalizer(*eta)`` (A) and `_mean_carrier_measure` (the mean of log h). The mean
    of t(x) is the gradient of A, so that entropy() and divergences of two of one family need nothing else: Nielsen and Nock,
    "Entropies and cross-entropies of exponential families", 2010.

    >>> import autograd_cy as ag
    >>> d = ag.distributions.Normal(0.0, 1.0)
    >>> ag.distributions.ExponentialFamily.entropy(d), d.entropy()
    (tensor(1.4189), tensor(1.4189))
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        carrier = self._mean_carrier_measure
        natural, log_normalizer, means = self._expected_statistics()
        result = log_normalizer - carrier
        for eta, mean in zip(natural, means, strict=True):
            result = result - _sum_rightmost(eta * mean, eta.dim() - log_normalizer.dim())
        return result

    def _expected_statistics(self) -> tuple[tuple[Tensor, ...], Tensor, tuple[Tensor, ...]]:
        """The natural parameters, the logarithm of what normalizes, and its gradients: the means of the statistics."""
        natural = self._natural_params
        log_normalizer, pull = vjp(self._log_normalizer, *natural)
        return natural, log_normalizer, pull(ones_like(log_normalizer))
