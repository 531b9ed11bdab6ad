"""What distributions refuse, with PyTorch's texts."""

import math

import pytest

import autograd_cy as ag


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


@pytest.mark.parametrize("bad", [
    lambda T: T.distributions.Normal(math.nan, 1.0), lambda T: T.distributions.Normal(0.0, -1.0),
    lambda T: T.distributions.Normal("a", 1.0), lambda T: T.distributions.Uniform(T.tensor(1.0), 0.0),
    lambda T: T.distributions.Categorical(), lambda T: T.distributions.Categorical(T.tensor(1.0)),
    lambda T: T.distributions.Categorical(T.tensor([-1.0, 2.0])), lambda T: T.distributions.Bernoulli(2.0),
    lambda T: T.distributions.Bernoulli(0.5, 0.5), lambda T: T.distributions.Dirichlet(T.tensor(1.0)),
    lambda T: T.distributions.Beta(1.0, 0.0), lambda T: T.distributions.MultivariateNormal(T.tensor(1.0), T.eye(2)),
    lambda T: T.distributions.MultivariateNormal(T.zeros(2)),
    lambda T: T.distributions.MultivariateNormal(T.zeros(2), T.ones(2)),
    lambda T: T.distributions.MultivariateNormal(T.zeros(2), -T.eye(2)),
    lambda T: T.distributions.MultivariateNormal(T.zeros(2), T.tensor([[1.0, 0.5], [0.0, 1.0]])),
    lambda T: T.distributions.MultivariateNormal(T.zeros(2), scale_tril=T.ones(2, 2)),
    lambda T: T.distributions.Normal(0.0, 1.0).log_prob(1.0),
    lambda T: T.distributions.Normal(0.0, 1.0).log_prob(T.tensor(math.nan)),
    lambda T: T.distributions.Categorical(T.ones(3)).log_prob(T.tensor([0, 3])),
    lambda T: T.distributions.Normal(T.zeros(3), 1.0).log_prob(T.zeros(2)),
    lambda T: T.distributions.Dirichlet(T.ones(3)).log_prob(T.ones(3)),
    lambda T: T.distributions.Dirichlet(T.ones(3)).log_prob(T.ones(2)),
    lambda T: T.distributions.Uniform(0.0, 1.0).log_prob(T.tensor(2.0)),
    lambda T: T.distributions.Beta(1.0, 1.0).log_prob(T.tensor(2.0)),
    lambda T: T.distributions.Exponential(1.0).log_prob(T.tensor(-1.0)),
    lambda T: T.distributions.Bernoulli(0.5).log_prob(T.tensor(0.5)),
    lambda T: T.distributions.Independent(T.distributions.Normal(0.0, 1.0), 1),
    lambda T: T.distributions.Gamma(T.ones(2, dtype=T.int64), 1).sample(),
    lambda T: T.distributions.Dirichlet(T.tensor([[1.0, -1.0]])),
    lambda T: T.distributions.Independent(T.distributions.Bernoulli(T.ones(2)), 1).enumerate_support(),
    lambda T: T.distributions.Geometric(T.tensor([0.0, 0.5])), lambda T: T.distributions.Binomial(2),
    lambda T: T.distributions.Binomial(2, 0.5).log_prob(T.tensor(3.0)), lambda T: T.distributions.Poisson(-1.0),
    lambda T: T.distributions.Poisson(1.0).log_prob(T.tensor(0.5)), lambda T: T.distributions.Chi2(0.0),
    lambda T: T.distributions.Binomial(T.tensor([2, 3]), T.tensor([0.5, 0.5])).entropy(),
    lambda T: T.distributions.Binomial(T.tensor([2, 3]), T.tensor([0.5, 0.5])).enumerate_support(),
    lambda T: T.distributions.OneHotCategorical(T.ones(2)).log_prob(T.ones(2)),
    lambda T: T.distributions.Pareto(1.0, 1.0).log_prob(T.tensor(0.5)),
    lambda T: T.distributions.MixtureSameFamily(T.distributions.Normal(0.0, 1.0), T.distributions.Normal(0.0, 1.0)),
    lambda T: T.distributions.MixtureSameFamily(T.distributions.Categorical(T.ones(2)), T.ones(2)),
    lambda T: T.distributions.MixtureSameFamily(
        T.distributions.Categorical(T.ones(2)), T.distributions.Normal(T.ones(3), 1.0)),
    lambda T: T.distributions.MixtureSameFamily(
        T.distributions.Categorical(T.ones(3, 2)), T.distributions.Normal(T.ones(4, 2), 1.0)),
    lambda T: T.distributions.LKJCholesky(1),
    lambda T: T.distributions.Wishart(T.tensor(1.0), T.eye(3)), lambda T: T.distributions.Wishart(3.0, T.ones(3)),
    lambda T: T.distributions.Wishart(3.0, T.ones(2, 2)),
    lambda T: T.distributions.Multinomial(T.tensor([1, 2]), T.ones(2, 2)),
    lambda T: T.distributions.Multinomial(3, T.ones(2)).log_prob(T.tensor([2.0, 2.0])),
    lambda T: T.distributions.LowRankMultivariateNormal(T.tensor(1.0), T.ones(3, 1), T.ones(3)),
    lambda T: T.distributions.LowRankMultivariateNormal(T.ones(3), T.ones(3), T.ones(3)),
    lambda T: T.distributions.LowRankMultivariateNormal(T.ones(3), T.ones(2, 1), T.ones(3)),
    lambda T: T.distributions.LowRankMultivariateNormal(T.ones(3), T.ones(3, 1), T.ones(2)),
    lambda T: T.distributions.NegativeBinomial(3), lambda T: T.distributions.NegativeBinomial(3, 1.0),
    lambda T: T.distributions.NegativeBinomial(3, 0.5).log_prob(T.tensor(-1.0)),
    lambda T: T.distributions.ContinuousBernoulli(1.5, validate_args=True),
    lambda T: T.distributions.ContinuousBernoulli(0.5, 0.5),
    lambda T: T.distributions.ContinuousBernoulli(0.5).log_prob(T.tensor(1.5)),
    lambda T: T.distributions.VonMises(0.0, -1.0), lambda T: T.distributions.Kumaraswamy(0.0, 1.0),
    lambda T: T.distributions.InverseGamma(1.0, 1.0).log_prob(T.tensor(-1.0)),
    lambda T: T.distributions.FisherSnedecor(1.0, 1.0).log_prob(T.tensor(-1.0)),
    lambda T: T.distributions.GeneralizedPareto(1.0, 2.0, -0.4).log_prob(T.tensor(9.0)),
    lambda T: T.distributions.GeneralizedPareto(1.0, 0.0, -0.4),
    lambda T: T.distributions.LogisticNormal(T.zeros(2), 1.0).log_prob(T.ones(3)),
    lambda T: T.distributions.biject_to(T.distributions.constraints.dependent),
    lambda T: T.distributions.transform_to(3), lambda T: T.distributions.constraints.dependent.event_dim,
    lambda T: T.distributions.constraints.dependent(event_dim=1).is_discrete,
    lambda T: T.distributions.utils.vec_to_tril_matrix(T.ones(5)),
    lambda T: T.distributions.utils.tril_matrix_to_vec(T.ones(3, 3), 5),
])  # fmt: skip
def test_refusals_are_those_of_pytorch(torch, bad):
    with pytest.raises((ValueError, NotImplementedError)) as theirs:
        bad(torch)
    with pytest.raises(theirs.type) as ours:
        bad(ag)
    assert str(ours.value) == str(theirs.value)
