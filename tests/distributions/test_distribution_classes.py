"""Distributions: PyTorch's numbers, texts and shapes where it is installed; without it, sums and moments of their own."""

import math
import warnings

import numpy as np
import pytest
from distribution_rows import CASES, MATRIX, OTHERS, WITH_RSAMPLE, WITHOUT_DIVERGENCE, WITHOUT_MEAN, given

import autograd_cy as ag
from autograd_cy import distributions as D
from autograd_cy.distributions._gamma_draws import gradient_of_draws
from autograd_cy.testing import check_gradients

# PyTorch's modes of Kumaraswamy are NaN, its Bessel functions of VonMises have 8 digits, and some of its numbers are of single
# precision: SciPy's are compared with in test_distribution_references.py.
WRONG_IN_PYTORCH = {
    ("Kumaraswamy", "mode"), ("Multinomial", "entropy"), ("Multinomial", "perplexity"), ("VonMises", "variance"),
    ("VonMises", "stddev"), ("VonMises", "log_prob"), ("GeneralizedPareto", "log_prob"), ("GeneralizedPareto", "cdf"),
    ("Wishart", "kl_divergence"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def seeded():
    before = ag.get_rng_state()
    ag.manual_seed(0)
    yield
    ag.set_rng_state(before)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def made(lib, name, parameters, **options):
    return getattr(lib.distributions, name)(*given(lib, parameters), **options)


def same(ours, theirs):
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-10, atol=1e-12)


def answer(function):
    try:
        return function()
    except NotImplementedError:
        return NotImplementedError


@pytest.mark.parametrize(
    ("name", "what"),
    [
        (name, what)
        for name in CASES
        for what in ("mean", "mode", "variance", "stddev", "entropy", "perplexity")
        if (name, what) not in WRONG_IN_PYTORCH
    ],
)
def test_properties_are_those_of_pytorch(torch, name, what):
    def asked(lib):
        value = getattr(made(lib, name, CASES[name][0]), what)
        return value() if callable(value) else value

    ours, theirs = answer(lambda: asked(ag)), answer(lambda: asked(torch))
    if theirs is NotImplementedError:
        pytest.skip("PyTorch has no formula")
    same(ours, theirs)


@pytest.mark.parametrize(
    ("name", "what"),
    [(name, what) for name in CASES for what in ("log_prob", "cdf", "icdf") if (name, what) not in WRONG_IN_PYTORCH],
)
def test_functions_of_values_are_those_of_pytorch(torch, name, what):
    parameters, value = CASES[name]
    value = [0.2, 0.9] if what == "icdf" else value

    def asked(lib):
        return getattr(made(lib, name, parameters), what)(lib.tensor(value, dtype=lib.float64))

    ours, theirs = answer(lambda: asked(ag)), answer(lambda: asked(torch))
    if theirs is NotImplementedError:
        assert ours is NotImplementedError
    else:
        same(ours, theirs)


@pytest.mark.parametrize("name", [name for name in CASES if (name, "kl_divergence") not in WRONG_IN_PYTORCH])
def test_divergences_are_those_of_pytorch(torch, name):
    def asked(lib, one, other):
        return lib.distributions.kl_divergence(made(lib, name, one), made(lib, name, other))

    for pair in ((CASES[name][0], OTHERS[name]), (OTHERS[name], CASES[name][0])):
        ours, theirs = answer(lambda: asked(ag, *pair)), answer(lambda: asked(torch, *pair))  # noqa: B023
        if NotImplementedError in (ours, theirs):
            assert ours is theirs and name in WITHOUT_DIVERGENCE
        else:
            same(ours, theirs)


@pytest.mark.parametrize("name", CASES)
def test_texts_and_shapes_are_those_of_pytorch(torch, name):
    for parameters in (CASES[name][0], OTHERS[name]):
        ours, theirs = made(ag, name, parameters), made(torch, name, parameters)
        assert repr(ours) == repr(theirs)
        for one, other in ((ours, theirs), (ours.expand((3, 2)), theirs.expand((3, 2)))):
            assert one.batch_shape == other.batch_shape and one.event_shape == other.event_shape
            with warnings.catch_warnings(action="ignore"):  # PyTorch's Wishart takes regular samples for singular ones
                expected = other.sample((4,)).shape
            assert one.sample((4,)).shape == one.sample([4]).shape == expected
            assert one.has_rsample == other.has_rsample and one.has_enumerate_support == other.has_enumerate_support
            if (name, "log_prob") not in WRONG_IN_PYTORCH:
                value = CASES[name][1]
                theirs_at = other.log_prob(torch.tensor(value, dtype=torch.float64))
                same(one.log_prob(ag.tensor(value, dtype=ag.float64)), theirs_at)
        assert repr(ours.support).partition("(")[0] == repr(theirs.support).partition("(")[0]


@pytest.mark.parametrize("name", sorted(set(CASES) - {"Categorical", "OneHotCategorical", "OneHotCategoricalStraightThrough"}))
def test_gradients_of_log_prob(name):
    parameters, value = CASES[name]
    value = ag.tensor(value, dtype=ag.float64)

    def log_prob(*tensors):
        if name in ("MultivariateNormal", "Wishart"):
            tensors = tensors[0], tensors[1] + tensors[1].mT
        counts = [p for p in parameters if isinstance(p, int)]
        return getattr(D, name)(*counts, *tensors, validate_args=False).log_prob(value)

    check_gradients(log_prob, *(p for p in given(ag, parameters, requires_grad=True) if not isinstance(p, int)))


@pytest.mark.parametrize("name", sorted(set(CASES) - WITHOUT_MEAN - {"VonMises"}))
def test_moments_of_samples(name):
    d = made(ag, name, OTHERS[name])
    numbers = d.sample((40_000,)).double()
    assert not numbers.requires_grad
    if name == "Categorical":
        shares = [(numbers == k).double().mean().item() for k in range(3)]
        assert shares == pytest.approx(d.probs.tolist(), abs=0.01)
        return
    np.testing.assert_allclose(numbers.mean(0).numpy(), d.mean.numpy(), atol=5 * d.stddev.max().item() / 200)
    if name not in ("LogNormal", "FisherSnedecor"):  # whose tails are too heavy
        np.testing.assert_allclose(numbers.var(0).numpy(), d.variance.numpy(), rtol=0.1)


@pytest.mark.parametrize("name", WITH_RSAMPLE)
def test_draws_have_the_gradients_of_their_moments(name):
    """The mean of many draws and its gradient estimate those of the mean."""
    parameters = given(ag, OTHERS[name], requires_grad=True)
    draws = getattr(D, name)(*parameters).rsample((40_000,))
    weights = ag.tensor([1.0, -2.0, 0.5], dtype=ag.float64)[: draws.shape[-1]] if draws.dim() > 1 else 1.0
    if draws.dim() > 2:  # symmetric matrices
        weights = weights.unsqueeze(-1) * weights
    estimated = ag.autograd.grad((draws.mean(0) * weights).sum(), parameters, allow_unused=True, materialize_grads=True)
    mean = (getattr(D, name)(*parameters).mean * weights).sum()
    exact = ag.autograd.grad(mean, parameters, allow_unused=True, materialize_grads=True)
    wide = 2.0 if name == "LogNormal" else 0.06
    for one, other in zip(estimated, exact, strict=True):
        assert one.numpy() == pytest.approx(other.numpy(), abs=wide, rel=0.2)


@pytest.mark.parametrize("a", [0.01, 0.1, 0.5, 1.0, 2.0, 10.0, 100.0, 1e4])
def test_gradients_of_gamma_draws_are_implicit_derivatives(a):
    special = pytest.importorskip("scipy.special")
    p = np.array([0.1, 0.3, 0.5, 0.9, 0.999])
    p = p[special.gammaincinv(a, p) > 1e-250]
    h = a * 1e-4
    near, far = (special.gammaincinv(a + k * h, p) - special.gammaincinv(a - k * h, p) for k in (1, 2))
    x = special.gammaincinv(a, p)
    found = gradient_of_draws(np.full(len(p), a), x, np.full(len(p), special.digamma(a)))
    np.testing.assert_allclose(found, (8 * near - far) / (12 * h), rtol=1e-7)


def test_small_concentrations_give_finite_draws_and_gradients():
    a = ag.tensor([1e-3, 1e-2, 1.0], requires_grad=True)
    draws = D.Gamma(a, 1.0).rsample((100,))
    draws.sum().backward()
    assert (draws > 0).all() and a.grad.isfinite().all()
    assert D.Dirichlet(ag.full((3,), 1e-3)).sample((100,)).isfinite().all()


def test_modes_of_dirichlet_distributions(torch):
    for concentration in ([0.5, 0.5], [0.4, 0.5], [0.5, 1.0], [1.0, 1.0], [[0.5, 0.4], [2.0, 3.0]]):
        same(*(lib.distributions.Dirichlet(lib.tensor(concentration)).mode for lib in (ag, torch)))


def test_no_grad_leaves_lazy_parameters_differentiable():
    probs = ag.tensor([0.3, 0.7], requires_grad=True)
    d = D.Categorical(probs)
    with ag.no_grad():
        assert d.logits.requires_grad
    d.log_prob(d.sample()).backward()
    assert probs.grad is not None


@pytest.mark.parametrize("given", ["precision_matrix", "scale_tril"])
def test_the_matrices_of_a_multivariate_normal_agree(given):
    matrix = ag.tensor(MATRIX, dtype=ag.float64)
    loc = ag.zeros(2, dtype=ag.float64)
    reference = D.MultivariateNormal(loc, matrix)
    d = D.MultivariateNormal(loc, **{given: getattr(reference, given)})
    for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
        np.testing.assert_allclose(getattr(d, name).numpy(), getattr(reference, name).numpy(), atol=1e-12)


def test_independent_sums_over_events():
    base = D.Normal(ag.zeros(2, 3), 1.0)
    d = D.Independent(base, 1)
    assert (d.batch_shape, d.event_shape) == ((2,), (3,))
    assert d.expand((4, 2)).sample().shape == (4, 2, 3)
    assert d.log_prob(ag.ones(2, 3)).tolist() == base.log_prob(ag.ones(2, 3)).sum(1).tolist()
    other = D.Independent(D.Normal(ag.ones(2, 3), 1.0), 1)
    assert D.kl_divergence(d, other).tolist() == pytest.approx([1.5, 1.5])
    assert repr(d) == "Independent(Normal(loc: torch.Size([2, 3]), scale: torch.Size([2, 3])), 1)"


def test_all_values_of_a_discrete_distribution():
    assert D.Bernoulli(ag.tensor([0.2, 0.3])).enumerate_support().tolist() == [[0, 0], [1, 1]]
    d = D.Categorical(ag.ones(2, 3))
    assert d.enumerate_support(expand=False).tolist() == [[0], [1], [2]]
    assert d.log_prob(d.enumerate_support()).exp().sum(0).tolist() == pytest.approx([1, 1])


def test_divergences_between_types_are_those_of_pytorch(torch):
    """All pairs of two types that PyTorch has formulas for, where both classes are here."""
    registry, seen = torch.distributions.kl._KL_REGISTRY, 0
    inside = {"Uniform": ([0.5, 0.1], [0.7, 0.9]), "Beta": ([0.5, 3.0], [2.0, 1.4])}
    for one, other in registry:
        names = one.__name__, other.__name__
        if one is other or not set(names) <= set(CASES) or set(names) == {"Poisson", "Binomial"}:
            continue
        if "LowRankMultivariateNormal" in names:  # test_distributions_of_matrices.py
            continue
        for first in (CASES[names[0]][0], inside.get(names[0], CASES[names[0]][0])):
            for second in (CASES[names[1]][0], OTHERS[names[1]], [0.05, 1.5] if names[1] == "Pareto" else OTHERS[names[1]]):
                ours, theirs = ((made(lib, names[0], first), made(lib, names[1], second)) for lib in (ag, torch))
                same(D.kl_divergence(*ours), torch.distributions.kl_divergence(*theirs))
                seen += 1
    assert seen > 200
    assert D.kl_divergence(D.Poisson(ag.ones(2)), D.Binomial(3, ag.ones(2) / 2)).tolist() == [math.inf] * 2
    with pytest.raises(NotImplementedError, match="KL between Binomials where"):
        D.kl_divergence(D.Binomial(2, 0.5), D.Binomial(3, 0.5))
    assert D.kl_divergence(D.Binomial(3, 0.5), D.Binomial(2, 0.5)).item() == math.inf


@pytest.mark.parametrize("event", [False, True])
def test_mixtures_are_those_of_pytorch(torch, event):
    def mixed(lib):
        D = lib.distributions
        loc = lib.tensor([[-1.0, 0.5, 2.0], [0.0, 1.0, 5.0]], dtype=lib.float64, requires_grad=True)
        weights = lib.tensor([0.2, 0.3, 0.5], dtype=lib.float64, requires_grad=True)
        parts = D.Normal(loc, 0.7)
        if event:
            parts = D.Independent(D.Normal(loc.unsqueeze(-1) * lib.tensor([1.0, 2.0], dtype=lib.float64), 0.7), 1)
        mixture = D.MixtureSameFamily(D.Categorical(weights), parts)
        value = lib.tensor([[0.1, 0.4], [0.3, -2.0]] if event else [0.1, 0.4], dtype=lib.float64)
        log_prob = mixture.log_prob(value)
        results = [mixture.mean, mixture.variance, log_prob, *lib.autograd.grad(log_prob.sum(), (loc, weights))]
        if not event:
            results.append(mixture.cdf(value))
        if lib is ag:  # PyTorch draws only where both have the same batch shape
            assert mixture.expand((3, 2)).sample((4,)).shape == (4, 3, 2, *mixture.event_shape)
            assert mixture.sample().shape == mixture.mean.shape
        return repr(mixture), repr(mixture.support), results

    (text, support, ours), (expected, region, theirs) = mixed(ag), mixed(torch)
    assert text == expected and support.partition("(")[0] == region.partition("(")[0]
    for one, other in zip(ours, theirs, strict=True):
        same(one, other)


def test_samples_of_a_mixture_have_its_moments():
    parts = D.Normal(ag.tensor([-3.0, 2.0]), ag.tensor([0.5, 1.0]))
    mixture = D.MixtureSameFamily(D.Categorical(ag.tensor([0.25, 0.75])), parts)
    drawn = mixture.sample((40_000,))
    assert drawn.mean().item() == pytest.approx(mixture.mean.item(), abs=0.05)
    assert drawn.var().item() == pytest.approx(mixture.variance.item(), rel=0.03)


def test_a_divergence_without_formula_is_refused():
    with pytest.raises(NotImplementedError, match=r"^No KL\(p \|\| q\) is implemented for p type Normal and q type Weibull$"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Weibull(1.0, 1.0))
    with pytest.raises(TypeError, match="Expected type_p to be a Distribution subclass but got 3"):
        D.register_kl(3, D.Normal)


def test_checks_can_be_turned_off():
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(0.0, -1.0)
    finally:
        D.Distribution.set_default_validate_args(True)


def test_a_class_of_ones_own():
    class Shifted(D.Normal):
        def __init__(self, loc):
            super().__init__(loc + 1, 1.0)

    d = Shifted(ag.zeros(2)).expand((3, 2))
    assert type(d) is Shifted and d.sample().shape == (3, 2)
    assert D.kl_divergence(d, D.Normal(1.0, 1.0)).tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("name", CASES)
def test_within_vmap_arguments_are_checked_for_all_samples(name):
    """The check of arguments branches on values: on those of all samples at once."""
    parameters, value = CASES[name]
    counts, tensors = ([p for p in given(ag, parameters) if isinstance(p, int) is kind] for kind in (True, False))
    value = ag.tensor(value, dtype=ag.float64)

    def log_prob(*tensors):
        return getattr(D, name)(*counts, *tensors).log_prob(value)

    found = ag.vmap(log_prob)(*[ag.stack([p, p]) for p in tensors])
    same(found, ag.stack([log_prob(*tensors)] * 2))
    spoiled = [ag.stack([p, p * math.nan]) for p in tensors]
    with pytest.raises(ValueError, match=r"Expected (parameter|value)|expected to be greater"):
        ag.vmap(log_prob)(*spoiled)


@pytest.mark.parametrize("count", [4, ag.tensor(4.0)], ids=["number", "tensor"])
def test_entropies_of_binomials_within_vmap(count):
    """The count, the same for all samples, was batched with the probabilities, and could not be read."""

    def entropy(p):
        return ag.distributions.Binomial(count, p).entropy()

    p = ag.tensor([0.2, 0.5, 0.7])
    assert ag.allclose(ag.vmap(entropy)(p), ag.stack([entropy(x) for x in p]))
