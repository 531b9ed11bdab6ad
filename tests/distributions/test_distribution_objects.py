"""Distributions as objects: PyTorch's class hierarchy, lazy attributes, copies, draws within vmap, registered divergences."""

import copy
import pickle

import pytest
from distribution_rows import CASES, WITHOUT_RSAMPLE, given

import autograd_cy as ag
from autograd_cy import distributions as D
from autograd_cy.distributions import constraints, transforms

# Those without numbers of their own, or made of others.
NO_ROWS = {"Distribution", "ExponentialFamily", "Independent", "MixtureSameFamily", "RelaxedBernoulli",
           "RelaxedOneHotCategorical", "TransformedDistribution"}  # fmt: skip


def test_each_distribution_has_a_row():
    classes = [value for name in D.__all__ if isinstance(value := getattr(D, name), type)]
    assert {cls.__name__ for cls in classes if issubclass(cls, D.Distribution)} == set(CASES) | NO_ROWS


@pytest.mark.parametrize("name", ["Gumbel", "HalfCauchy", "HalfNormal", "InverseGamma", "Kumaraswamy", "LogNormal", "Pareto"])
def test_transformed_distributions_agree_with_their_transforms(name):
    """Formulas of their own have the values that the base and the transforms give."""
    parameters, value = CASES[name]
    d, value = getattr(D, name)(*given(ag, parameters)), ag.tensor(value, dtype=ag.float64)
    assert isinstance(d, D.TransformedDistribution)
    if name not in ("HalfCauchy", "HalfNormal"):  # abs() has no inverse
        assert ag.allclose(D.TransformedDistribution.log_prob(d, value), d.log_prob(value), rtol=1e-10)
    wide = d.expand((3, 2))
    assert type(wide) is type(d) and wide.base_dist.batch_shape == (3, 2) and wide.sample().shape == (3, 2)


def test_classes_are_derived_as_in_pytorch():
    torch = pytest.importorskip("torch")
    for name in torch.distributions.__all__:
        theirs = getattr(torch.distributions, name)
        if isinstance(theirs, type):
            ours = {cls.__name__ for cls in getattr(D, name).__mro__}
            assert {cls.__name__ for cls in theirs.__mro__} <= ours, name


def test_a_lazy_attribute_can_be_deleted():
    d = D.Bernoulli(ag.tensor([0.2, 0.9]))
    with pytest.raises(AttributeError, match="logits"):
        del d.logits
    logits = d.logits
    del d.logits
    assert d.logits is not logits and d.logits.equal(logits)
    d.logits = ag.zeros(2)
    del d.logits
    assert d.logits.equal(logits)


@pytest.mark.parametrize("name", CASES)
def test_distributions_can_be_copied(name):
    parameters, value = CASES[name]
    d, value = getattr(D, name)(*given(ag, parameters)), ag.tensor(value, dtype=ag.float64)
    for again in (copy.deepcopy(d), pickle.loads(pickle.dumps(d))):
        assert type(again) is type(d) and again.log_prob(value).equal(d.log_prob(value))


@pytest.mark.parametrize("name", sorted(set(CASES)))
@pytest.mark.parametrize("batched", ["all", "last"])
def test_samples_of_vmap_draw_their_own_numbers(name, batched):
    """Also where only some of the parameters are batched, and from gamma distributions."""
    parameters = given(ag, CASES[name][0])
    first = len(parameters) - 1 if batched == "last" else 0
    dims = tuple(0 if k >= first and isinstance(p, ag.Tensor) else None for k, p in enumerate(parameters))
    many = [ag.stack([p] * 20) if dim == 0 else p for p, dim in zip(parameters, dims, strict=True)]
    draws = ag.vmap(lambda *p: getattr(D, name)(*p).sample(), in_dims=dims, randomness="different")(*many)
    one = getattr(D, name)(*parameters)
    assert draws.shape == (20, *one.batch_shape, *one.event_shape) and one.support.check(draws).all()
    assert len({str(x.tolist()) for x in draws}) > 1
    if one.has_rsample and name not in WITHOUT_RSAMPLE:
        slopes = ag.vmap(ag.func.grad(lambda p, *more: getattr(D, name)(p, *more).rsample().sum()),
                         in_dims=dims, randomness="different")  # fmt: skip
        if dims[0] == 0:
            assert slopes(*many).shape == many[0].shape


def test_gamma_draws_have_tangents():
    a, t = ag.tensor([0.5, 3.0], dtype=ag.float64), ag.tensor([1.0, 1.0], dtype=ag.float64)

    def draw(a):
        ag.manual_seed(0)
        return D.Gamma(a, 1.0).rsample()

    _, tangent = ag.func.jvp(draw, (a,), (t,))
    (g,) = ag.func.vjp(draw, a)[1](t)
    assert ag.allclose(tangent, g)


class Point:
    def __init__(self, at):
        self.at = at


def test_divergences_of_any_classes_can_be_registered():
    D.register_kl(Point, Point)(lambda p, q: abs(p.at - q.at))
    assert D.kl_divergence(Point(3), Point(5)) == 2


def test_the_divergence_that_is_nearer_to_the_first_type_is_taken():
    class Left(D.Distribution):
        arg_constraints = {}  # noqa: RUF012

    class Right(Left):
        pass

    D.register_kl(Left, Right)(lambda p, q: "to the right")
    D.register_kl(Right, Left)(lambda p, q: "from the right")
    with pytest.warns(RuntimeWarning, match=r"Ambiguous kl_divergence\(Right, Right\). Please register_kl\(Right, Left\)"):
        assert D.kl_divergence(Right(), Right()) == "from the right"


@pytest.mark.parametrize("make", [
    lambda: (D.Normal(0.5, 2.0), D.Normal(-1.0, 0.7)), lambda: (D.Gamma(0.5, 2.0), D.Gamma(1.5, 0.7)),
    lambda: (D.Bernoulli(0.2), D.Bernoulli(0.7)), lambda: (D.Exponential(0.2), D.Exponential(0.7)),
    lambda: (D.Dirichlet(ag.tensor([0.5, 2.0])), D.Dirichlet(ag.tensor([1.5, 0.7]))),
    lambda: (D.ContinuousBernoulli(0.2), D.ContinuousBernoulli(0.7)), lambda: (D.Poisson(0.2), D.Poisson(0.7)),
])  # fmt: skip
def test_exponential_families_know_entropies_and_divergences_by_their_normalizer(make):
    p, q = make()
    general = D.kl._FORMULAS[D.ExponentialFamily, D.ExponentialFamily]
    assert general(p, q).item() == pytest.approx(D.kl_divergence(p, q).item(), rel=1e-4)
    if not isinstance(p, (D.Dirichlet, D.Poisson)):
        assert D.ExponentialFamily.entropy(p).item() == pytest.approx(p.entropy().item(), rel=1e-4)


def test_a_class_of_ones_own_that_says_nothing_is_warned_of():
    class Mine(D.Distribution):
        def log_prob(self, value):
            self._validate_sample(value)
            return value

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        d = Mine()
    with pytest.warns(UserWarning, match="does not define `support`"):
        d.log_prob(ag.tensor(1.0))
    with pytest.warns(FutureWarning, match="sample_n"):
        assert D.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_what_a_subclass_sets_before_expand_stays():
    class Kept(D.Normal):
        def expand(self, batch_shape, _instance=None):
            new = self._get_checked_instance(Kept, _instance)
            new.note = "mine"
            return super().expand(batch_shape, _instance=new)

    wide = Kept(0.0, 1.0).expand((2,))
    assert type(wide) is Kept and wide.note == "mine" and wide.loc.shape == (2,)
    with pytest.raises(NotImplementedError, match=r"must also define a custom .expand\(\) method"):
        type("Other", (Kept,), {"__init__": lambda self: D.Normal.__init__(self, 0.0, 1.0)})().expand((2,))


REGIONS = {
    "real": constraints.real, "positive": constraints.positive, "above": constraints.greater_than(2.0),
    "from": constraints.greater_than_eq(-1.0), "below": constraints.less_than(3.0), "unit": constraints.unit_interval,
    "interval": constraints.interval(2.0, 5.0), "half open": constraints.half_open_interval(-2.0, 1.0),
    "simplex": constraints.simplex, "independent": constraints.independent(constraints.positive, 1),
    "cat": constraints.cat([constraints.real, constraints.positive], -1, [2, 1]),
    "stack": constraints.stack([constraints.real, constraints.positive, constraints.unit_interval], -1),
    "corr": constraints.corr_cholesky,
}  # fmt: skip
MATRICES = {
    "lower": constraints.lower_cholesky, "definite": constraints.positive_definite,
    "semidefinite": constraints.positive_semidefinite,
}  # fmt: skip


def test_a_constraint_prints_its_bounds_alone():
    """A library sets attributes on constraints, such as __doc__: they came into the text, and so into names of tests."""
    constraint = constraints.greater_than(2.0)
    constraint.__doc__ = constraint.note = "documented elsewhere"
    assert repr(constraint) == "GreaterThan(lower_bound=2.0)"
    assert repr(constraints.multinomial(3)) == "Multinomial()" and repr(constraints.dependent) == "Dependent()"


@pytest.mark.parametrize("name", [*REGIONS, *MATRICES])
def test_registered_transforms_lead_into_their_regions_and_back(name):
    region = {**REGIONS, **MATRICES}[name]
    shape = (5, 3, 3) if name in MATRICES else (5, 3)
    x = ag.linspace(-2, 2, 15 * shape[-1] // (1 if name in MATRICES else 3), dtype=ag.float64).sin().reshape(shape)
    for registry in (D.biject_to, D.transform_to):
        if name in MATRICES and registry is D.biject_to:
            with pytest.raises(NotImplementedError, match="Cannot transform"):
                registry(region)
            continue
        transform = registry(region)
        y = transform(x)
        assert region.check(y).all() and transform(transform.inv(y)).allclose(y)
        if registry is D.biject_to:
            assert transform.bijective and transform.inv(y).allclose(x)


def test_transforms_of_ones_own_can_be_registered():
    class Even(constraints.Constraint):
        pass

    registry = D.constraint_registry.ConstraintRegistry()
    registry.register(Even())(lambda constraint: transforms.ExpTransform())
    assert registry(Even()) == transforms.ExpTransform()
    with pytest.raises(TypeError, match="Expected constraint to be either a Constraint subclass or instance, but got 3"):
        registry.register(3, lambda constraint: None)


def test_an_inverse_is_one_object_and_survives_pickling():
    t = transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(1.0, 2.0)])
    inverse = t.inv
    assert t.inv is inverse and inverse.inv is t
    y = t(ag.tensor(0.5))
    again, back = pickle.loads(pickle.dumps((t, transforms.ExpTransform().inv)))
    assert again.inv(y).allclose(ag.tensor(0.5)) and back(ag.tensor(1.0)).item() == 0


def test_triangles_as_vectors():
    for diagonal in (-1, 0, 1):
        matrix = ag.arange(1.0, 10.0).reshape(3, 3).tril(diagonal)
        vector = D.utils.tril_matrix_to_vec(matrix, diagonal)
        assert vector.tolist() == matrix[matrix != 0].tolist()
        assert D.utils.vec_to_tril_matrix(vector, diagonal).equal(matrix)
        assert D.utils.vec_to_tril_matrix(ag.stack([vector] * 2), diagonal).shape == (2, 3, 3)


def test_standard_normal_numbers_of_a_shape():
    drawn = D.utils._standard_normal((2, 3), ag.float64, ag.device("cpu"))
    assert drawn.shape == (2, 3) and drawn.dtype == ag.float64 and not drawn.requires_grad


@pytest.mark.parametrize("make", [lambda: D.Gamma(2.0, 3.0), lambda: D.Chi2(4.0)])
def test_densities_of_gamma_take_numbers(make):
    """As PyTorch's do, which converts values to the type of the rate."""
    d = make()
    expected = d.log_prob(ag.tensor(0.5))
    assert d.log_prob(0.5).equal(expected)
    found = d.log_prob(ag.tensor([0.5], dtype=ag.float64, requires_grad=True))
    assert found.dtype is ag.float32 and found.requires_grad
