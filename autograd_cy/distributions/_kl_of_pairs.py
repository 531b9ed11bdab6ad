"""Divergences between distributions of two types, by their moments (facade).

KL(p || q) is the expected value of -q.log_prob under p, less the entropy of p. Those values are sums of a few moments.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any

from .._core.graph.tensor import Tensor
from ._formulas import EULER
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform


def _mean_log_of_uniform(low: Tensor, high: Tensor) -> Tensor:
    """Of log x for x between these, which are not negative."""
    return (high.xlogy(high) - low.xlogy(low)) / (high - low) - 1


_MEAN_LOG: dict[type, Callable[[Any], Tensor]] = {  # of log x
    Beta: lambda p: p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma(),
    Exponential: lambda p: -p.rate.log() - EULER,
    Gamma: lambda p: p.concentration.digamma() - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _mean_log_of_uniform(p.low, p.high),
}
_LOG_MEAN_EXP: dict[type, Callable[[Any, Tensor], Tensor]] = {  # of exp(-t x), its logarithm
    Exponential: lambda p, t: -(t / p.rate).log1p(),
    Gamma: lambda p, t: -p.concentration * (t / p.rate).log1p(),
    Normal: lambda p, t: p.variance * t * t / 2 - p.loc * t,
    Uniform: lambda p, t: (-(-t * (p.high - p.low)).expm1()).log() - (t * (p.high - p.low)).log() - t * p.low,
}


def _to_normal(p: Any, q: Normal) -> Tensor:
    return _by_moments(p, q, p.mean, p.variance)


def _pareto_to_normal(p: Pareto, q: Normal) -> Tensor:
    a = p.alpha
    variance = p.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))  # finite even where p's variance is infinite
    return _by_moments(p, q, a * p.scale / (a - 1), variance).masked_fill(a <= 2, math.inf)


def _by_moments(p: Any, q: Normal, mean: Tensor, variance: Tensor) -> Tensor:
    spread = (variance + (mean - q.loc).pow(2)) / (2 * q.scale**2)
    return q.scale.log() + 0.5 * math.log(2 * math.pi) + spread - p.entropy()


def _to_exponential(p: Any, q: Exponential) -> Tensor:
    return _where_not_negative(p, q.rate * p.mean - q.rate.log() - p.entropy())


def _to_gamma(p: Any, q: Gamma) -> Tensor:
    a, rate = q.concentration, q.rate
    result = a.lgamma() - a * rate.log() - (a - 1) * _MEAN_LOG[_kind(p)](p) + rate * p.mean - p.entropy()
    return _where_not_negative(p, result)


def _to_gumbel(p: Any, q: Gumbel) -> Tensor:
    exponential = (q.loc / q.scale + _LOG_MEAN_EXP[_kind(p)](p, q.scale.reciprocal())).exp()
    return q.scale.log() + (p.mean - q.loc) / q.scale + exponential - p.entropy()


def _normal_to_laplace(p: Normal, q: Laplace) -> Tensor:
    d = (p.loc - q.loc) / (p.scale * math.sqrt(2))
    distance = p.scale * math.sqrt(2) * ((-d * d).exp() / math.sqrt(math.pi) + d * d.erf())
    return (2 * q.scale).log() + distance / q.scale - p.entropy()


def _uniform_to_beta(p: Uniform, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    constant = a.lgamma() + b.lgamma() - (a + b).lgamma()
    logs = (a - 1) * _MEAN_LOG[Uniform](p) + (b - 1) * _mean_log_of_uniform(1 - p.high, 1 - p.low)
    return (constant - logs - p.entropy()).masked_fill((p.low < 0) | (p.high > 1), math.inf)


def _unit_to_uniform(p: Any, q: Uniform) -> Tensor:
    return ((q.high - q.low).log() - p.entropy()).masked_fill((q.low > 0) | (q.high < 1), math.inf)


def _to_continuous_bernoulli(p: Any, q: ContinuousBernoulli) -> Tensor:
    result = q._log_normalizer(q.logits) - p.mean * q.logits - p.entropy()
    return result.masked_fill((p.low < 0) | (p.high > 1), math.inf) if isinstance(p, Uniform) else result


def _uniform_to_pareto(p: Uniform, q: Pareto) -> Tensor:
    result = (q.alpha + 1) * _MEAN_LOG[Uniform](p) - q.alpha.log() - q.alpha * q.scale.log() - p.entropy()
    return result.masked_fill(p.low < q.scale, math.inf)


def _bernoulli_to_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - p.probs * q.rate.log() - p.entropy()


def _infinite(p: Any, q: Any) -> Tensor:
    """Where p draws what q can't."""
    return p.mean.detach() * 0 + q.mean.detach() * 0 + math.inf


def _where_not_negative(p: Any, result: Tensor) -> Tensor:
    return result.masked_fill(p.low < 0, math.inf) if isinstance(p, Uniform) else result


def _kind(p: Any) -> type:
    """Which of the types of the tables it is of."""
    return next(kind for kind in type(p).__mro__ if kind in _MEAN_LOG or kind in _LOG_MEAN_EXP)


PAIRS: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {
    **{(p, Normal): _to_normal for p in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform)},
    **{(p, Exponential): _to_exponential for p in (Beta, ContinuousBernoulli, Gamma, Pareto, Uniform)},
    **{(p, Gamma): _to_gamma for p in (Beta, Exponential, Pareto, Uniform)},
    **{(p, Gumbel): _to_gumbel for p in (Exponential, Gamma, Normal, Uniform)},
    (Bernoulli, Poisson): _bernoulli_to_poisson,
    (Pareto, Normal): _pareto_to_normal,
    (Normal, Laplace): _normal_to_laplace,
    (Uniform, Beta): _uniform_to_beta,
    **{(p, Uniform): _unit_to_uniform for p in (Beta, ContinuousBernoulli)},
    **{(p, ContinuousBernoulli): _to_continuous_bernoulli for p in (Beta, Uniform)},
    (Uniform, Pareto): _uniform_to_pareto,
    **dict.fromkeys(itertools.product((Exponential, Gamma), (Beta, ContinuousBernoulli, Pareto, Uniform)), _infinite),
    **dict.fromkeys(
        itertools.product((Gumbel, Laplace, Normal), (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
        _infinite,
    ),
    **dict.fromkeys([(Beta, Pareto), (ContinuousBernoulli, Pareto), (Poisson, Bernoulli), (Poisson, Binomial)], _infinite),
    **dict.fromkeys(itertools.product((Pareto,), (Beta, ContinuousBernoulli, Uniform)), _infinite),
}
