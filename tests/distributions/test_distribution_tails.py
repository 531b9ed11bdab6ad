"""Distributions whose probability is next to 0 or 1: what is left of it counts, as the logits tell it."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import autograd_cy as ag
from autograd_cy import distributions as D

LOGITS = [-40.0, -20.0, -3.0, 0.5, 20.0, 40.0, 80.0]
N = 3


def p(x):
    return 1 / (1 + mp.exp(-x))


def log_p(x):
    return -mp.log(1 + mp.exp(-x))


def entropy(x):
    return -p(x) * log_p(x) - p(-x) * log_p(-x)


def of_binomial(x, k):
    return mp.log(mp.binomial(N, k)) + k * log_p(x) + (N - k) * log_p(-x)


def entropy_of_binomial(x):
    return -sum(mp.exp(of_binomial(x, k)) * of_binomial(x, k) for k in range(N + 1))


EXACT = {
    "Bernoulli.entropy": (lambda x: D.Bernoulli(logits=x).entropy(), entropy),
    "Bernoulli.variance": (lambda x: D.Bernoulli(logits=x).variance, lambda x: p(x) * p(-x)),
    "Binomial.variance": (lambda x: D.Binomial(N, logits=x).variance, lambda x: N * p(x) * p(-x)),
    "Binomial.entropy": (lambda x: D.Binomial(N, logits=x).entropy(), entropy_of_binomial),
    **{
        f"Binomial.log_prob of {k}": (
            lambda x, k=k: D.Binomial(N, logits=x).log_prob(ag.full_like(x.detach(), k)), lambda x, k=k: of_binomial(x, k)
        )
        for k in (0, N)
    },
    "Geometric.mean": (lambda x: D.Geometric(logits=x).mean, lambda x: mp.exp(-x)),
    "Geometric.variance": (lambda x: D.Geometric(logits=x).variance, lambda x: mp.exp(-x) / p(x)),
    "Geometric.entropy": (lambda x: D.Geometric(logits=x).entropy(), lambda x: entropy(x) / p(x)),
    "Geometric.log_prob": (
        lambda x: D.Geometric(logits=x).log_prob(ag.full_like(x.detach(), 2)), lambda x: 2 * log_p(-x) + log_p(x)
    ),
    "LogitRelaxedBernoulli.log_prob": (
        lambda x: D.relaxed_bernoulli.LogitRelaxedBernoulli(ag.ones_like(x), logits=x * 20).log_prob(ag.zeros_like(x)),
        lambda x: 20 * x - 2 * mp.log(1 + mp.exp(20 * x)),
    ),
    "KL of Bernoullis": (
        lambda x: D.kl_divergence(D.Bernoulli(logits=x), D.Bernoulli(logits=-x)), lambda x: (p(x) - p(-x)) * x
    ),
    "KL of Binomials": (
        lambda x: D.kl_divergence(D.Binomial(N, logits=x), D.Binomial(N, logits=-x)), lambda x: N * (p(x) - p(-x)) * x
    ),
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "rounding"), [(ag.float32, 2e-5), (ag.float64, 1e-13)])
@pytest.mark.parametrize("name", EXACT)
def test_what_is_left_of_a_probability_next_to_1_counts(name, dtype, rounding):
    function, exact = EXACT[name]
    x = ag.tensor(LOGITS, dtype=dtype, requires_grad=True)
    y = function(x)
    with mp.workdps(120):
        expected = [exact(mpf(v)) for v in LOGITS]
        slopes = [mp.diff(exact, mpf(v)) for v in LOGITS]
    np.testing.assert_allclose(y.detach().numpy(), np.array([float(e) for e in expected]), rtol=rounding)
    if "variance" not in name and "KL" not in name:
        (g,) = ag.autograd.grad(y.sum(), x)
        np.testing.assert_allclose(g.numpy(), np.array([float(s) for s in slopes]), rtol=50 * rounding)


def test_certain_trials_given_by_their_probability():
    assert D.Geometric(ag.tensor(1.0)).mean.item() == 0
    assert D.Geometric(ag.tensor(1.0)).log_prob(ag.tensor(0.0)).item() == 0
    assert D.Geometric(ag.tensor(1.0)).log_prob(ag.tensor(1.0)).item() == -math.inf
    assert D.Bernoulli(ag.tensor(1.0)).variance.item() == 0


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_draws_next_to_a_corner_are_inside(dtype):
    """Most draws were 0 or 1 exactly, where the density is infinite."""
    ag.manual_seed(0)
    a = ag.tensor(0.01, dtype=dtype)
    for draws in (D.Beta(a, a).sample((2000,)), D.Dirichlet(a.expand(3)).sample((2000,))):
        assert 0 < draws.min() and draws.max() < 1 and draws.log().isfinite().all()
    assert 0.4 < (D.Beta(a, a).sample((2000,)) < 0.5).double().mean() < 0.6
