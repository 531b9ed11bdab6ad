"""Distributions against SciPy: densities, distribution functions, moments and entropies; integrals where it has no formula."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats as st
from distribution_rows import CASES, given

import autograd_cy as ag
from autograd_cy import distributions as D

CONTINUOUS = {
    "Normal": st.norm, "LogNormal": lambda m, s: st.lognorm(s, scale=np.exp(m)), "Laplace": st.laplace,
    "Uniform": lambda low, high: st.uniform(low, np.subtract(high, low)), "Exponential": lambda rate: st.expon(scale=1 / rate),
    "Gamma": lambda a, rate: st.gamma(a, scale=1 / rate), "Beta": st.beta, "Cauchy": st.cauchy, "Chi2": st.chi2,
    "Gumbel": st.gumbel_r, "HalfCauchy": lambda scale: st.halfcauchy(scale=scale),
    "HalfNormal": lambda scale: st.halfnorm(scale=scale), "Pareto": lambda scale, a: st.pareto(a, scale=scale),
    "StudentT": st.t, "Weibull": lambda scale, k: st.weibull_min(k, scale=scale), "FisherSnedecor": st.f,
    "InverseGamma": lambda a, rate: st.invgamma(a, scale=rate), "GeneralizedPareto": lambda m, s, k: st.genpareto(k, m, s),
    "VonMises": lambda m, k: st.vonmises(k, m),
}  # fmt: skip
DISCRETE = {
    "Bernoulli": st.bernoulli, "Binomial": st.binom, "Geometric": lambda p: st.geom(p, -1), "Poisson": st.poisson,
    "NegativeBinomial": lambda n, p: st.nbinom(n, 1 - p),
}  # fmt: skip
WITHOUT_MOMENTS = {"Cauchy", "HalfCauchy", "VonMises", "StudentT", "Pareto"}
WITHOUT_ENTROPY = {"Poisson", "NegativeBinomial", "FisherSnedecor", "VonMises"}


def tensor(numbers, **options):
    return ag.tensor(numbers, dtype=ag.float64, **options)


def same(found, expected, rtol=1e-9):
    np.testing.assert_allclose(found.numpy(), expected, rtol=rtol, atol=1e-13)


@pytest.mark.parametrize("name", [*CONTINUOUS, *DISCRETE])
def test_univariate_distributions_are_those_of_scipy(name):
    parameters, value = CASES[name]
    d = getattr(D, name)(*given(ag, parameters))
    reference = {**CONTINUOUS, **DISCRETE}[name](*map(np.array, parameters))
    log_density = reference.logpdf if name in CONTINUOUS else reference.logpmf
    same(d.log_prob(tensor(value)), log_density(value))
    if name in CONTINUOUS and type(d).cdf is not D.Distribution.cdf:
        same(d.cdf(tensor(value)), reference.cdf(value))
    if name not in WITHOUT_MOMENTS:
        same(d.mean, reference.mean())
        same(d.variance, reference.var())
    if name not in WITHOUT_ENTROPY:
        same(d.entropy(), reference.entropy())


def test_multivariate_distributions_are_those_of_scipy():
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    x = [0.3, 0.1]
    same(D.MultivariateNormal(tensor([0.5, -1.0]), tensor(matrix)).log_prob(tensor(x)),
         st.multivariate_normal([0.5, -1.0], matrix).logpdf(x))  # fmt: skip
    wishart, reference = D.Wishart(4.5, tensor(matrix)), st.wishart(4.5, matrix)
    value = np.array([[3.0, -0.4], [-0.4, 2.0]])
    same(wishart.log_prob(tensor(value)), reference.logpdf(value))
    same(wishart.entropy(), reference.entropy())
    for found, expected in zip((wishart.mean, wishart.variance), (reference.mean(), reference.var()), strict=True):
        same(found, expected)
    same(wishart.mode, reference.mode())
    p = np.array([0.2, 0.5, 0.3])
    counts, reference = D.Multinomial(6, tensor(p)), st.multinomial(6, p)
    same(counts.log_prob(tensor([1.0, 2.0, 3.0])), reference.logpmf([1, 2, 3]))
    same(counts.entropy(), reference.entropy())
    same(D.Dirichlet(tensor([1.5, 2.0, 3.0])).log_prob(tensor(p)), st.dirichlet([1.5, 2.0, 3.0]).logpdf(p))


@pytest.mark.parametrize("make", [
    *[lambda x=x: D.ContinuousBernoulli(logits=tensor(x)) for x in (-30.0, -3.0, -0.21, -0.19, 0.0, 1e-3, 0.5, 4.0, 30.0)],
    *[lambda a=a, b=b: D.Kumaraswamy(tensor(a), tensor(b)) for a, b in ((1.5, 2.0), (1.0, 1.0), (3.0, 1.4))],
])  # fmt: skip
def test_moments_and_entropies_on_the_unit_interval_are_integrals(make):
    d = make()

    def integral(f, end=1.0):
        return scipy.integrate.quad(lambda x: f(x) * d.log_prob(tensor(x)).exp().item(), 0, end, epsabs=1e-13, epsrel=1e-12)[0]

    mean = integral(lambda x: x)
    assert integral(lambda x: 1.0) == pytest.approx(1, abs=1e-10)
    assert d.mean.item() == pytest.approx(mean, rel=1e-9)
    assert d.variance.item() == pytest.approx(integral(lambda x: (x - mean) ** 2), rel=1e-8)
    assert d.entropy().item() == pytest.approx(-integral(lambda x: d.log_prob(tensor(x)).item()), abs=1e-9)
    for x in (0.1, 0.5, 0.9):
        assert d.cdf(tensor(x)).item() == pytest.approx(integral(lambda x: 1.0, x), rel=1e-9)
        p = d.cdf(tensor(x))
        if 1e-6 < p.item() < 1 - 1e-6:
            assert d.icdf(p).item() == pytest.approx(x, rel=1e-9)


@pytest.mark.parametrize("method", ["log_prob", "cdf", "icdf", "mean", "variance", "entropy"])
def test_continuous_bernoullis_are_smooth_where_their_logits_are_0(method):
    """The formulas are quotients of two zeros there."""

    def asked(x):
        found = getattr(D.ContinuousBernoulli(logits=x), method)
        return found if isinstance(found, ag.Tensor) else found(*[tensor(0.3)] * (method != "entropy"))

    for at in (0.0, 1e-6, 0.2):
        x = tensor(at, requires_grad=True)
        (slope,) = ag.autograd.grad(asked(x), x, create_graph=True)
        (bend,) = ag.autograd.grad(slope, x)
        low, high = (asked(tensor(at + h)).item() for h in (-1e-3, 1e-3))
        assert slope.item() == pytest.approx((high - low) / 2e-3, abs=1e-6)
        assert bend.item() == pytest.approx((high + low - 2 * asked(x).item()) / 1e-6, abs=1e-5)


def test_a_generalized_pareto_of_concentration_0_is_exponential():
    k = tensor(0.0, requires_grad=True)
    d, reference = D.GeneralizedPareto(tensor(1.0), tensor(2.0), k), D.Exponential(tensor(0.5))
    for method, at in (("log_prob", 3.0), ("cdf", 3.0), ("icdf", 0.7)):
        found = getattr(d, method)(tensor(at))
        shift = 1.0 if method == "icdf" else 0.0
        expected = getattr(reference, method)(tensor(at if shift else at - 1.0)) + shift
        assert found.item() == pytest.approx(expected.item(), rel=1e-12)
        (slope,) = ag.autograd.grad(found, k)
        values = [getattr(D.GeneralizedPareto(tensor(1.0), tensor(2.0), h), method)(tensor(at)).item() for h in (-1e-3, 1e-3)]
        assert slope.item() == pytest.approx((values[1] - values[0]) / 2e-3, rel=1e-5)
    assert D.GeneralizedPareto(0.0, 1.0, 0.6).variance.isnan() and D.GeneralizedPareto(0.0, 1.0, 1.5).mean.isnan()


def test_von_mises_draws_have_its_circular_moments():
    ag.manual_seed(0)
    d = D.VonMises(tensor(2.5), tensor(1.5))
    angles = d.sample((40_000,))
    assert angles.abs().max() <= math.pi
    assert 1 - (angles - 2.5).cos().mean().item() == pytest.approx(d.variance.item(), abs=0.01)
    assert (angles - 2.5).sin().mean().item() == pytest.approx(0, abs=0.02)


def test_the_mode_of_a_kumaraswamy_is_where_its_density_is_largest():
    d = D.Kumaraswamy(tensor([1.5, 3.0, 0.5, 1.0]), tensor([2.0, 1.4, 2.0, 1.0]))
    x = ag.linspace(1e-4, 1 - 1e-4, 9999, dtype=ag.float64).unsqueeze(-1)
    highest = x[d.log_prob(x).argmax(0), 0]
    assert d.mode[:2].tolist() == pytest.approx(highest[:2].tolist(), abs=2e-4) and d.mode[2:].isnan().all()
