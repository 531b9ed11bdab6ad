"""Distributions of matrices, and those with matrices as parameters."""

import copy

import numpy as np
import pytest
from distribution_rows import FACTOR

import autograd_cy as ag
from autograd_cy import distributions as D
from autograd_cy.testing import check_gradients

MATRIX = [[2.0, 0.5], [0.5, 1.0]]
LOC, DIAGONAL = [0.5, -1.0, 0.3], [0.3, 0.5, 1.0]


def tensor(numbers, **options):
    return ag.tensor(numbers, dtype=ag.float64, **options)


def same(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-9, atol=1e-12)


@pytest.fixture(autouse=True)
def seeded():
    before = ag.get_rng_state()
    ag.manual_seed(0)
    yield
    ag.set_rng_state(before)


def low_rank(batch=()):
    parameters = [tensor(LOC).expand(*batch, 3).clone(), tensor(FACTOR), tensor(DIAGONAL)]
    return [p.requires_grad_() for p in parameters]


@pytest.mark.parametrize("batch", [(), (4,)])
def test_a_normal_distribution_of_low_rank_is_the_one_with_its_covariance(batch):
    loc, factor, diagonal = low_rank(batch)
    d = D.LowRankMultivariateNormal(loc, factor, diagonal)
    dense = D.MultivariateNormal(loc, factor @ factor.mT + diagonal.diag_embed())
    value = tensor([0.1, 0.2, -0.4])
    for name in ("mean", "mode", "variance", "covariance_matrix", "precision_matrix", "scale_tril"):
        same(getattr(d, name), getattr(dense, name))
        assert getattr(d, name).shape == getattr(dense, name).shape
    same(d.entropy(), dense.entropy())
    same(d.log_prob(value), dense.log_prob(value))
    found, expected = (ag.autograd.grad(x.log_prob(value).sum(), (loc, factor, diagonal)) for x in (d, dense))
    for one, other in zip(found, expected, strict=True):
        same(one, other)
    assert d.expand((2, *batch)).sample((5,)).shape == (5, 2, *batch, 3)


def test_divergences_of_normal_distributions_of_low_rank():
    p = D.LowRankMultivariateNormal(*low_rank())
    locations = tensor([[0.1, 0.0, 1.0], [0.3, 0.2, 0.1]])
    q = D.LowRankMultivariateNormal(locations, tensor([[0.5], [1.0], [0.2]]), tensor(DIAGONAL))
    p_dense, q_dense = (D.MultivariateNormal(d.loc, d.covariance_matrix) for d in (p, q))
    expected = D.kl_divergence(p_dense, q_dense)
    for pair in ((p, q), (p_dense, q), (p, q_dense)):
        same(D.kl_divergence(*pair), expected)
    back = D.kl_divergence(q_dense, p_dense)
    for pair in ((q, p), (q_dense, p), (q, p_dense)):
        same(D.kl_divergence(*pair), back)
    with pytest.raises(ValueError, match="different event shapes"):
        D.kl_divergence(p, D.MultivariateNormal(ag.zeros(2), ag.eye(2)))


def test_draws_of_a_normal_distribution_of_low_rank_have_its_covariance():
    d = D.LowRankMultivariateNormal(*low_rank())
    draws = d.sample((100_000,))
    np.testing.assert_allclose(draws.T.cov().numpy(), d.covariance_matrix.detach().numpy(), atol=0.03)


def test_one_factor_serves_a_batch_of_locations():
    """Library code reads the factor with the batch dimensions of the matrix alone."""
    d = D.MultivariateNormal(ag.zeros(5, 2), ag.tensor(MATRIX))
    assert d._unbroadcasted_scale_tril.shape == (2, 2) and d.scale_tril.shape == (5, 2, 2)
    wide = d.expand((3, 5))
    assert wide._unbroadcasted_scale_tril is d._unbroadcasted_scale_tril and wide.precision_matrix.shape == (3, 5, 2, 2)


def test_a_subclass_may_keep_the_factor_in_a_property_of_its_own():
    class Kept(D.MultivariateNormal):
        @property
        def _unbroadcasted_scale_tril(self):
            return self._factor_of_mine

        @_unbroadcasted_scale_tril.setter
        def _unbroadcasted_scale_tril(self, factor):
            self._factor_of_mine = factor

    reference = D.MultivariateNormal(ag.zeros(2), ag.tensor(MATRIX))
    d = Kept(ag.zeros(2), ag.tensor(MATRIX))
    assert d._factor_of_mine.equal(reference.scale_tril) and d.log_prob(ag.ones(2)) == reference.log_prob(ag.ones(2))


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (lambda: D.MultivariateNormal(tensor([0.0, 1.0]), tensor(MATRIX)), "_unbroadcasted_scale_tril", [0.5, 2.0]),
        (lambda: D.Wishart(tensor(4.5), tensor(MATRIX)), "_unbroadcasted_scale_tril", [[1.5, 0.25], [0.25, 1.0]]),
        (lambda: D.LowRankMultivariateNormal(*(p.detach() for p in low_rank())), "_capacitance_tril", [0.5, 2.0, 1.0]),
    ],
)
def test_a_factor_that_was_deleted_stays_away_like_an_attribute(make, name, value):
    """Libraries put a buffer of the same name in the factor's place: it came again after del, so the name was taken."""

    class Prior(ag.nn.Module, type(make())):
        def __init__(self, d):
            super().__init__()
            vars(self).update(vars(d))

    d, prior = make(), Prior(make())
    delattr(prior, name)
    assert not hasattr(prior, name) and not hasattr(copy.deepcopy(prior), name)
    with pytest.raises(AttributeError, match=name):
        delattr(prior, name)
    prior.register_buffer(name, getattr(d, name).detach())
    assert list(prior.state_dict()) == [name] and getattr(prior, name) is prior.state_dict(keep_vars=True)[name]
    same(prior.scale_tril, d.scale_tril)
    same(prior.log_prob(tensor(value)), d.log_prob(tensor(value)))


@pytest.mark.parametrize("given", ["covariance_matrix", "precision_matrix", "scale_tril"])
def test_draws_of_a_wishart_have_its_moments(given):
    reference = D.Wishart(tensor(4.5), tensor(MATRIX))
    d = D.Wishart(tensor([4.5, 4.5]), **{given: getattr(reference, given)})
    draws = d.sample((50_000,))
    assert draws.shape == (50_000, 2, 2, 2) and d.support.check(draws).all()
    np.testing.assert_allclose(draws.mean(0).numpy(), d.mean.numpy(), atol=0.1)
    np.testing.assert_allclose(draws.var(0).numpy(), d.variance.numpy(), rtol=0.05)
    same(d.log_prob(tensor(MATRIX)), reference.log_prob(tensor(MATRIX)).expand(2))


def test_divergences_of_wisharts_are_means_of_differences():
    p, q = D.Wishart(tensor([4.0, 5.5]), tensor(MATRIX)), D.Wishart(tensor(5.0), tensor([[1.0, 0.2], [0.2, 3.0]]))
    draws = p.sample((100_000,))
    estimate = (p.log_prob(draws) - q.log_prob(draws)).mean(0)
    np.testing.assert_allclose(D.kl_divergence(p, q).numpy(), estimate.numpy(), rtol=0.02)
    check_gradients(
        lambda a, b: D.kl_divergence(D.Wishart(a, tensor(MATRIX)), D.Wishart(b, tensor(MATRIX))),
        tensor([4.0, 5.5], requires_grad=True), tensor(5.0, requires_grad=True),
    )  # fmt: skip


def test_draws_of_a_wishart_are_differentiable_functions_of_its_parameters():
    def draw(df, factor):
        ag.manual_seed(0)
        return D.Wishart(df, scale_tril=factor.tril(), validate_args=False).rsample((3,)).diagonal(dim1=-2, dim2=-1)

    df, factor = tensor(6.0, requires_grad=True), tensor([[1.0, 0.0], [0.3, 0.8]], requires_grad=True)
    (slope,) = ag.autograd.grad(draw(df, factor).sum(), factor)
    for i, j in ((0, 0), (1, 0), (1, 1)):
        h = ag.zeros(2, 2, dtype=ag.float64)
        h[i, j] = 1e-6
        low, high = (draw(df.detach(), factor.detach() + sign * h).sum().item() for sign in (-1, 1))
        assert slope[i, j].item() == pytest.approx((high - low) / 2e-6, rel=1e-6)


def test_few_degrees_of_freedom_are_warned_of():
    with pytest.warns(UserWarning, match="Low df values detected"):
        D.Wishart(1.5, ag.eye(2))


@pytest.mark.parametrize(("dim", "eta"), [(2, 0.7), (3, 1.0), (4, 2.5)])
def test_correlations_of_an_lkj_are_beta_numbers(dim, eta):
    """Each is 2 x - 1 with x from Beta(a, a), a = eta - 1 + dim / 2: Lewandowski, Kurowicka and Joe, 2009, theorem 5."""
    d = D.LKJCholesky(dim, tensor(eta))
    factors = d.sample((40_000,))
    assert d.support.check(factors).all()
    correlations = factors @ factors.mT
    a = eta - 1 + dim / 2
    for i, j in zip(*np.tril_indices(dim, -1), strict=True):
        assert correlations[:, i, j].var().item() == pytest.approx(1 / (2 * a + 1), rel=0.05)
        assert correlations[:, i, j].mean().item() == pytest.approx(0, abs=0.02)


def test_the_density_of_an_lkj_integrates_to_1():
    """For dim 2, over the correlation, which is the cosine of an angle."""
    angle = ag.linspace(1e-9, np.pi - 1e-9, 20_001, dtype=ag.float64)
    r, rest = angle.cos(), angle.sin()
    factors = ag.stack([ag.stack([ag.ones_like(r), ag.zeros_like(r)], -1), ag.stack([r, rest], -1)], -2)
    for eta in (0.5, 1.0, 3.0):
        density = D.LKJCholesky(2, tensor(eta), validate_args=False).log_prob(factors).exp()
        assert ag.trapezoid(density * rest, angle).item() == pytest.approx(1, rel=1e-7)


@pytest.mark.filterwarnings("ignore:Singular sample")
def test_degrees_of_freedom_are_numbers_of_any_type():
    d = D.Wishart(ag.tensor(9), ag.eye(2))
    assert d.sample((3, 2)).shape == (3, 2, 2, 2) and d.sample().dtype == ag.float32
