"""Each method of a distribution can be called, and differentiated, as often as one likes with one object."""

import numpy as np
import pytest
from test_distribution_classes import CASES, MATRIX

import autograd_cy as ag
from autograd_cy import distributions as D
from autograd_cy.distributions import transforms as T

LOGITS = [[0.2, -0.9, 1.0], [1.0, 0.0, 0.5]]
MADE = {name: (getattr(D, name), parameters, value) for name, (parameters, value) in CASES.items()}
MADE |= {
    "Bernoulli(logits)": (lambda x: D.Bernoulli(logits=x), [[0.2, -0.9]], [0.0, 1.0]),
    "Geometric(logits)": (lambda x: D.Geometric(logits=x), [[0.2, -0.9]], [0.0, 1.0]),
    "Binomial(logits)": (lambda x: D.Binomial(4, logits=x), [[0.2, -0.9]], [3.0, 0.0]),
    "Categorical(logits)": (lambda x: D.Categorical(logits=x), [LOGITS], [2.0, 0.0]),
    "OneHotCategorical(logits)": (lambda x: D.OneHotCategorical(logits=x), [LOGITS], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "RelaxedBernoulli": (D.RelaxedBernoulli, [0.7, [0.2, 0.9]], [0.2, 0.3]),
    "RelaxedBernoulli(logits)": (lambda t, x: D.RelaxedBernoulli(t, logits=x), [0.7, [0.2, 0.9]], [0.2, 0.3]),
    "RelaxedOneHotCategorical": (D.RelaxedOneHotCategorical, [0.7, [0.2, 0.9, 0.4]], [0.2, 0.3, 0.5]),
    "RelaxedOneHotCategorical(logits)": (
        lambda t, x: D.RelaxedOneHotCategorical(t, logits=x), [0.7, [0.2, 0.9, 0.4]], [0.2, 0.3, 0.5]),
    "MultivariateNormal(precision)": (
        lambda m, c: D.MultivariateNormal(m, precision_matrix=c), [[0.5, -1.0], MATRIX], [0.3, 0.1]),
    "MultivariateNormal(scale_tril)": (
        lambda m, c: D.MultivariateNormal(m, scale_tril=c), [[0.5, -1.0], [[1.0, 0.0], [0.5, 2.0]]], [0.3, 0.1]),
    "Independent": (lambda m, s: D.Independent(D.Normal(m, s), 1), [[0.5, -1.0], [1.0, 2.0]], [0.3, 0.1]),
    "MixtureSameFamily": (
        lambda w, m, s: D.MixtureSameFamily(D.Categorical(w), D.Normal(m, s)), [[0.5, 1.0], [1.0, 2.0], [0.3, 0.6]], 0.3),
}  # fmt: skip
TRANSFORMS = {
    "exp": lambda cache: [T.ExpTransform(cache)],
    "affine": lambda cache, loc, scale: [T.AffineTransform(loc, scale, cache_size=cache)],
    "composed": lambda cache, loc, scale, k: T.ComposeTransform(
        [T.AffineTransform(loc, scale), T.ExpTransform(), T.PowerTransform(k)], cache_size=cache),
    "sigmoid": lambda cache: [T.SigmoidTransform(cache)],
    "softplus": lambda cache: [T.SoftplusTransform(cache)],
    "stick breaking": lambda cache: [T.StickBreakingTransform(cache)],
    "tanh": lambda cache: [T.TanhTransform(cache)],
}  # fmt: skip
MORE = {"affine": [0.3, 2.0], "composed": [0.3, 2.0, 1.5]}
for _name, _transforms in TRANSFORMS.items():
    for _cache in (0, 1):
        MADE[f"TransformedDistribution({_name}, cache_size={_cache})"] = (
            lambda m, s, *more, t=_transforms, c=_cache: D.TransformedDistribution(D.Normal(m, s), t(c, *more)),
            [[0.1, -0.4], [1.0, 2.0], *MORE.get(_name, [])],
            [0.3, 0.2, 0.5] if _name == "stick breaking" else [0.3, 0.7],
        )
PROPERTIES = (
    "mean", "variance", "stddev", "mode", "probs", "logits", "covariance_matrix", "precision_matrix", "scale_tril", "scale",
    "concentration", "df",
)  # fmt: skip
WITHOUT_HISTORY = ("HalfNormal", "HalfCauchy", "Exponential", "Geometric", "Geometric(logits)")


def drawn(d, *sizes):
    ag.manual_seed(0)
    return d.rsample(sizes)


METHODS = {
    "log_prob": lambda d, value: d.log_prob(value),
    "cdf": lambda d, value: d.cdf(value),
    "icdf": lambda d, value: d.icdf(ag.full_like(value, 0.3)),
    "entropy": lambda d, value: d.entropy(),
    "perplexity": lambda d, value: d.perplexity(),
    "rsample": lambda d, value: drawn(d, 2),
    "log_prob of rsample": lambda d, value: d.log_prob(drawn(d)),
    "kl_divergence": lambda d, value: D.kl_divergence(d, d.expand(d.batch_shape)),
    "log_prob, expanded": lambda d, value: d.expand((2, *d.batch_shape)).log_prob(value),
    "log_prob of all": lambda d, value: d.log_prob(d.enumerate_support()),
    **{name: lambda d, value, name=name: getattr(d, name) for name in PROPERTIES},
}


def leaf(numbers, requires_grad=True):
    if isinstance(numbers, int):
        return numbers
    return ag.tensor(numbers, dtype=ag.float64, requires_grad=requires_grad)


@pytest.mark.parametrize("about", ["parameters", "values, too"])
@pytest.mark.parametrize("name", MADE)
def test_three_backwards_by_each_method_of_one_object(name, about):
    """What a constructor, a property or a transform's cache had computed was freed by the first one.

    A row of docs/differences.md: PyTorch raises.
    """
    make, numbers, at = MADE[name]
    parameters, value = [leaf(p) for p in numbers], leaf(at, about != "parameters")
    leaves = [p for p in (*parameters, value) if isinstance(p, ag.Tensor) and p.requires_grad]
    one, before, differentiated = make(*parameters), ag.get_rng_state(), 0
    for method in METHODS.values():
        try:
            expected = method(make(*parameters), value)
            if not expected.requires_grad:
                continue
            wanted = ag.autograd.grad(expected.sum(), leaves, allow_unused=True, materialize_grads=True)
        except (NotImplementedError, AttributeError):
            continue
        differentiated += 1
        for _ in range(3):
            gradients = ag.autograd.grad(method(one, value).sum(), leaves, allow_unused=True, materialize_grads=True)
            for g, w in zip(gradients, wanted, strict=True):
                np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=1e-12, atol=1e-13)
    ag.set_rng_state(before)
    assert differentiated > 1


@pytest.mark.parametrize("name", WITHOUT_HISTORY)
def test_a_mode_of_zero_depends_on_no_parameter(name):
    make, numbers, _ = MADE[name]
    mode = make(*[leaf(p) for p in numbers]).mode
    assert not mode.requires_grad and not mode.any()


def test_a_computed_parameter_is_the_same_tensor_until_it_is_freed():
    """A gradient can be asked for with respect to it."""
    p = leaf([0.2, 0.9])
    d = D.Bernoulli(p)
    logits = d.logits
    (g,) = ag.autograd.grad(d.log_prob(leaf([0.0, 1.0], False)).sum(), d.logits, retain_graph=True)
    assert d.logits is logits and g.tolist() == pytest.approx([-0.2, 0.1])
    logits.sum().backward()
    assert d.logits is not logits and d.logits.equal(logits) and d.logits is d.logits


def test_a_cache_gives_back_what_went_in_until_it_is_freed():
    t, x = T.ExpTransform(1), leaf([0.1, 0.2])
    y = t(x)
    assert t(x) is y and t.inv(y) is x
    y.sum().backward()
    again = t(x)
    assert again is not y and again.equal(y) and t.inv(again) is x


class Doubled(D.Distribution):
    arg_constraints = {"x": D.constraints.real}  # noqa: RUF012

    def __init__(self, x):
        self.x = x
        super().__init__(x.shape)

    @D.utils.lazy_property
    def twice(self):
        """Two times x."""
        return self.x * self.x


def test_lazy_properties_of_ones_own():
    d = Doubled(leaf([3.0]))
    assert Doubled.twice.__doc__ == "Two times x." and d.twice is d.twice
    d.twice.backward()
    d.twice.backward()
    assert d.x.grad.tolist() == [12]
    assert d.expand((2, 1)).twice.tolist() == [[9], [9]]
    d.twice = 5
    assert d.twice == 5
