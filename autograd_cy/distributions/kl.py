"""Kullback-Leibler divergences, by the types of the two distributions (facade)."""

import math
import warnings
from collections.abc import Callable
from typing import Any

from .. import linalg
from .._core.graph.tensor import Tensor
from .._functional import names as _ops
from ._formulas import EULER as _EULER
from ._formulas import half_log_det as _half_log_det
from ._formulas import softplus as _softplus
from ._formulas import standardized as _standardized
from ._formulas import sum_rightmost as _sum_rightmost
from ._kl_of_pairs import PAIRS as _PAIRS
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_cauchy import HalfCauchy
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .log_normal import LogNormal
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform

__all__ = ["kl_divergence", "register_kl"]

_FORMULAS: dict[tuple[type, type], Callable[..., Tensor]] = dict(_PAIRS)


def register_kl(type_p: Any, type_q: Any) -> Callable[[Any], Any]:
    """``@register_kl(P, Q)``: the decorated function computes KL(p || q) for these types and those derived from them.

    Any classes are allowed, not only distributions. TypeError unless both are classes.

    >>> import autograd_cy as ag
    >>> class Point(ag.distributions.Normal): pass
    >>> @ag.distributions.register_kl(Point, Point)
    ... def kl_of_points(p, q):
    ...     return ag.zeros(p.batch_shape)
    >>> ag.distributions.kl_divergence(Point(0.0, 1.0), Point(1.0, 1.0))
    tensor(0.)
    """
    for side, cls in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(cls, type):
            raise TypeError(f"Expected {side} to be a Distribution subclass but got {cls}")

    def decorator(function: Any) -> Any:
        _FORMULAS[type_p, type_q] = function
        return function

    return decorator


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """``kl_divergence(p, q)`` is the expected value, under p, of p.log_prob(x) - q.log_prob(x); of the batch's shape.

    NotImplementedError for a pair of types without a formula. The formula of the nearest base classes is used; if one
    is nearer to p and another nearer to q, the former, with a RuntimeWarning.

    >>> import autograd_cy as ag
    >>> from autograd_cy.distributions import Normal, kl_divergence
    >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    found = [
        (steps_p, steps_q, (cls_p, cls_q))
        for steps_p, cls_p in enumerate(type(p).__mro__)
        for steps_q, cls_q in enumerate(type(q).__mro__)
        if (cls_p, cls_q) in _FORMULAS
    ]
    if not found:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    by_p, by_q = min(found)[2], min(found, key=lambda steps: steps[1::-1])[2]
    if _FORMULAS[by_p] is not _FORMULAS[by_q]:
        named = [f"({one.__name__}, {other.__name__})" for one, other in (by_p, by_q)]
        text = f"Ambiguous kl_divergence({type(p).__name__}, {type(q).__name__}). Please register_kl{named[0]}"
        warnings.warn(f"{text}: it is nearer to the first type, {named[1]} to the second one", RuntimeWarning, stacklevel=2)
    return _FORMULAS[by_p](p, q)


# ------------------------------------------------------------------------------------------------------------


@register_kl(Normal, Normal)
def _normals(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(LogNormal, LogNormal)
def _log_normals(p: LogNormal, q: LogNormal) -> Tensor:
    return _normals(p.base_dist, q.base_dist)


@register_kl(HalfCauchy, HalfCauchy)
@register_kl(HalfNormal, HalfNormal)
def _folded(p: Any, q: Any) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Cauchy, Cauchy)
def _cauchys(p: Cauchy, q: Cauchy) -> Tensor:
    """Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions", 2019."""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Gumbel, Gumbel)
def _gumbels(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return distance - ratio.log() + ratio * _EULER + ((1 + ratio).lgamma() - distance).exp() - (1 + _EULER)


@register_kl(Pareto, Pareto)
def _paretos(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return result.masked_fill(p.scale < q.scale, math.inf)


@register_kl(Laplace, Laplace)
def _laplaces(p: Laplace, q: Laplace) -> Tensor:
    ratio, distance = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Exponential, Exponential)
def _exponentials(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Uniform, Uniform)
def _uniforms(p: Uniform, q: Uniform) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return result.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Categorical, Categorical)
def _categoricals(p: Categorical, q: Categorical) -> Tensor:
    return _term(p.probs, q.probs, p.logits - q.logits).sum(-1)


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Bernoulli, q: Bernoulli) -> Tensor:
    ones = _term(p.probs, q.probs, _softplus(-q.logits) - _softplus(-p.logits))
    return ones + _term(p._rest, q._rest, _softplus(q.logits) - _softplus(p.logits))


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hots(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categoricals(p._categorical, q._categorical)


@register_kl(Binomial, Binomial)
def _binomials(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    trial = p.probs * (p.logits - q.logits) + p._log_rest - q._log_rest
    return (p.total_count * trial).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Geometric, Geometric)
def _geometrics(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - q._log_rest / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poissons(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


def _term(p: Tensor, q: Tensor, log_ratio: Tensor) -> Tensor:
    """The contribution of one value: infinite if only q excludes it, 0 if p does."""
    return (p * log_ratio).masked_fill(q == 0, math.inf).masked_fill(p == 0, 0.0)


@register_kl(Gamma, Gamma)
def _gammas(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    result = b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma()
    return result + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    constant = a.sum(-1).lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
    return constant + ((a - b) * (a.digamma() - a.sum(-1, True).digamma())).sum(-1)


@register_kl(Beta, Beta)
def _betas(p: Beta, q: Beta) -> Tensor:
    return _dirichlets(p._dirichlet, q._dirichlet)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normals(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    _refuse_other_events(p, q, "two Multivariate Normals")
    trace = linalg.solve_triangular(q.scale_tril, p.scale_tril, upper=False).pow(2).sum((-2, -1))
    distance = _standardized(q.scale_tril, q.loc - p.loc).pow(2).sum(-1)
    return _half_log_det(q.scale_tril) - _half_log_det(p.scale_tril) + 0.5 * (trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _to_low_rank(p: Any, q: LowRankMultivariateNormal) -> Tensor:
    """The trace of the quotient of the covariances from the columns of a factor of the first one."""
    _refuse_other_events(p, q, "two (Low Rank) Multivariate Normals")
    if isinstance(p, MultivariateNormal):
        columns, half_log_det = p._unbroadcasted_scale_tril, _half_log_det(p._unbroadcasted_scale_tril)
    else:
        columns, half_log_det = _ops.cat([p.cov_factor, p.cov_diag.sqrt().diag_embed()], -1), p._half_log_det()
    trace = q._squared_distance(columns.mT.movedim(-2, 0)).sum(0)
    distance = q._squared_distance(q.loc - p.loc)
    return q._half_log_det() - half_log_det + 0.5 * (trace + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank_to_multivariate_normal(p: LowRankMultivariateNormal, q: MultivariateNormal) -> Tensor:
    _refuse_other_events(p, q, "two (Low Rank) Multivariate Normals")
    factor = q._unbroadcasted_scale_tril
    columns = _ops.cat([p.cov_factor, p.cov_diag.sqrt().diag_embed()], -1)
    trace = linalg.solve_triangular(factor, columns, upper=False).pow(2).sum((-2, -1))
    distance = _standardized(factor, q.loc - p.loc).pow(2).sum(-1)
    return _half_log_det(factor) - p._half_log_det() + 0.5 * (trace + distance - p.event_shape[0])


def _refuse_other_events(p: Any, q: Any, pair: str) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between {pair} with different event shapes cannot be computed")


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoullis(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    return p.mean * (p.logits - q.logits) - p._log_normalizer(p.logits) + q._log_normalizer(q.logits)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_families(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """Nielsen and Nock, "Entropies and cross-entropies of exponential families", 2010: a Bregman divergence."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman divergences"
        )
    natural, log_normalizer, means = p._expected_statistics()
    others = q._natural_params
    result = q._log_normalizer(*others) - log_normalizer
    for eta, other, mean in zip(natural, others, means, strict=True):
        result = result - _sum_rightmost((other - eta) * mean, mean.dim() - log_normalizer.dim())
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    same = p.transforms == q.transforms and p.event_shape == q.event_shape
    if not same or not all(transform.bijective for transform in p.transforms):
        raise NotImplementedError("KL(p || q) of TransformedDistribution is for equal bijective transforms, and event shapes")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independents(p: Independent[Any], q: Independent[Any]) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("KL(p || q) of Independent is for equal reinterpreted_batch_ndims")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
