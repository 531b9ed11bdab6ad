"""Transforms, and distributions made with them: PyTorch's numbers, inverses, and what finite differences say."""

import functools

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import distributions as D
from autograd_cy.distributions import transforms as T
from autograd_cy.testing import check_gradients

VECTOR = [0.3, 0.9, 0.2]
NORMAL = dict.fromkeys(  # transforms of one distribution are equal
    ("autograd_cy", "torch"), functools.cache(lambda lib: lib.distributions.Normal(lib.tensor(0.2, dtype=lib.float64), 1.5))
)
NORMAL["autograd_cy"](ag)  # it is kept: made before a test counts what is alive
MADE = {
    "exp": lambda lib, t: t.ExpTransform(),
    "sigmoid": lambda lib, t: t.SigmoidTransform(),
    "softplus": lambda lib, t: t.SoftplusTransform(),
    "tanh": lambda lib, t: t.TanhTransform(),
    "abs": lambda lib, t: t.AbsTransform(),
    "power": lambda lib, t: t.PowerTransform(lib.tensor(2.5, dtype=lib.float64)),
    "affine": lambda lib, t: t.AffineTransform(0.5, -2.0),
    "affine of tensors": lambda lib, t: t.AffineTransform(
        lib.tensor(VECTOR, dtype=lib.float64), lib.tensor([1.0, -2.0, 0.5], dtype=lib.float64)),
    "affine of vectors": lambda lib, t: t.AffineTransform(1.0, lib.tensor(VECTOR, dtype=lib.float64), event_dim=1),
    "softmax": lambda lib, t: t.SoftmaxTransform(),
    "stick breaking": lambda lib, t: t.StickBreakingTransform(),
    "independent": lambda lib, t: t.IndependentTransform(t.ExpTransform(), 1),
    "composed": lambda lib, t: t.ComposeTransform([t.AffineTransform(0.1, -0.5), t.SigmoidTransform()]),
    "composed with vectors": lambda lib, t: t.ComposeTransform([t.TanhTransform(), t.StickBreakingTransform()]),
    "nothing": lambda lib, t: t.identity_transform,
    "reshape": lambda lib, t: t.ReshapeTransform((3,), (3, 1)),
    "corr cholesky": lambda lib, t: t.CorrCholeskyTransform(),
    "cat": lambda lib, t: t.CatTransform([t.ExpTransform(), t.TanhTransform()], -1, [1, 2]),
    "stack": lambda lib, t: t.StackTransform([t.ExpTransform(), t.TanhTransform(), t.AffineTransform(0.1, 2.0)], -1),
    "distribution function": lambda lib, t: t.CumulativeDistributionTransform(NORMAL[lib.__name__](lib)),
    "inverse of a composition": lambda lib, t: t.ComposeTransform([t.AffineTransform(0.1, 0.5), t.ExpTransform()]).inv,
    "inverse": lambda lib, t: t.ExpTransform().inv,
    "inverse of vectors": lambda lib, t: t.AffineTransform(1.0, 3.0, event_dim=1).inv,
}  # fmt: skip
UNEQUAL = ("cat", "reshape", "stack")  # in PyTorch
POINTS = [[0.3, 0.9, 0.2], [1.2, 0.4, 0.7]]


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def same(ours, theirs):
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-10, atol=1e-12)


def answer(function):
    try:
        return function()
    except NotImplementedError:
        return NotImplementedError


@pytest.mark.parametrize("name", MADE)
def test_transforms_are_those_of_pytorch(torch, name):
    results = []
    for lib in (ag, torch):
        transform = MADE[name](lib, lib.distributions.transforms)
        x = lib.tensor(POINTS, dtype=lib.float64, requires_grad=True)
        y = transform(x)
        back, stretched = transform.inv(y), answer(lambda: transform.log_abs_det_jacobian(x, y))  # noqa: B023
        again = answer(lambda: transform.inv.log_abs_det_jacobian(y, x))  # noqa: B023
        facts = (
            transform.bijective, transform.domain.event_dim, transform.codomain.event_dim,
            tuple(transform.forward_shape((2, 3))), tuple(transform.inverse_shape(transform.forward_shape((2, 3)))),
            name in UNEQUAL or transform == MADE[name](lib, lib.distributions.transforms),
            repr(transform),
        )  # fmt: skip
        sign = answer(lambda: transform.sign)  # noqa: B023
        results.append((facts, y, back, lib.autograd.grad((y * y).sum(), x)[0], stretched, again, sign))
    for ours, theirs in zip(*results, strict=True):
        if isinstance(theirs, torch.Tensor):
            same(ours, theirs)
        else:
            assert ours == theirs or ours is theirs


@pytest.mark.parametrize("name", [name for name in MADE if name not in ("abs", "softmax")])
def test_stretching_is_the_determinant_of_the_jacobian(name):
    transform = MADE[name](ag, T)
    x = ag.tensor(VECTOR, dtype=ag.float64)
    jacobian = ag.func.jacrev(transform)(x)
    if name == "corr cholesky":  # whose free entries lie below the diagonal
        jacobian = jacobian[(1, 2, 2), (0, 0, 1)]
    elif transform.forward_shape((3,)) != (3,):
        jacobian = jacobian.reshape(-1, 3)[:3]
    found = transform.log_abs_det_jacobian(x, transform(x)).sum()
    assert found.item() == pytest.approx(ag.linalg.slogdet(jacobian)[1].item(), abs=1e-10)
    same(transform.inv(transform(x)), x)


def test_caches_give_back_what_went_in():
    kept, plain = T.SigmoidTransform(cache_size=1), T.SigmoidTransform()
    x = ag.tensor([50.0])
    assert kept.inv(kept(x)) is x and kept(x) is kept(x)
    assert plain.inv(plain(x)) is not x and kept.with_cache(0)._cache_size == 0 and plain.with_cache()(x) is not None
    assert plain.inv.inv is plain and plain == kept and plain != T.ExpTransform()
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        T.ExpTransform(cache_size=2)


DISTRIBUTIONS = {
    "log normal": lambda lib, D, a: D.TransformedDistribution(D.Normal(a, 0.7), D.transforms.ExpTransform()),
    "falling": lambda lib, D, a: D.TransformedDistribution(
        D.Normal(a, 0.7), [D.transforms.SigmoidTransform(), D.transforms.AffineTransform(1.0, -1.0)]),
    "logistic": lambda lib, D, a: D.TransformedDistribution(
        D.Uniform(lib.zeros(3, dtype=lib.float64), 1.0),
        [D.transforms.SigmoidTransform().inv, D.transforms.AffineTransform(a, 2.0)]),
    "wider": lambda lib, D, a: D.TransformedDistribution(
        D.Normal(lib.tensor(0.0, dtype=lib.float64), 1.0), D.transforms.AffineTransform(a, 2.0)),
    "of vectors": lambda lib, D, a: D.TransformedDistribution(
        D.Normal(a[:2], 1.0), D.transforms.StickBreakingTransform()),
    "of events": lambda lib, D, a: D.TransformedDistribution(
        D.Independent(D.Normal(a, 1.0), 1), D.transforms.ExpTransform()),
    "relaxed bernoulli": lambda lib, D, a: D.RelaxedBernoulli(lib.tensor(0.6, dtype=lib.float64), logits=a),
    "relaxed logits": lambda lib, D, a: D.relaxed_bernoulli.LogitRelaxedBernoulli(
        lib.tensor(0.6, dtype=lib.float64), logits=a),
    "relaxed categorical": lambda lib, D, a: D.RelaxedOneHotCategorical(lib.tensor(0.6, dtype=lib.float64), logits=a),
}  # fmt: skip
SIMPLEX = [0.3, 0.5, 0.2]


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_transformed_distributions_are_those_of_pytorch(torch, name):
    results = []
    for lib in (ag, torch):
        a = lib.tensor([0.5, -1.0, 2.0], dtype=lib.float64, requires_grad=True)
        d = DISTRIBUTIONS[name](lib, lib.distributions, a)
        value = lib.tensor(SIMPLEX, dtype=lib.float64)
        log_prob = d.log_prob(value)
        wide = d.expand((4, *d.batch_shape))
        facts = tuple(d.batch_shape), tuple(d.event_shape), tuple(wide.sample((2,)).shape), repr(d)
        results.append((
            facts, log_prob, lib.autograd.grad(log_prob.sum(), a)[0], wide.log_prob(value),
            answer(lambda: d.cdf(value)), answer(lambda: d.icdf(value)),  # noqa: B023
        ))  # fmt: skip
    for ours, theirs in zip(*results, strict=True):
        if isinstance(theirs, torch.Tensor):
            same(ours, theirs)
        elif theirs is not NotImplementedError:
            assert ours == theirs


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_draws_are_differentiable_and_inside(name):
    a = ag.tensor([0.5, -1.0, 2.0], dtype=ag.float64, requires_grad=True)

    def draw(a):
        ag.manual_seed(0)
        return DISTRIBUTIONS[name](ag, D, a).rsample((2,))

    d = DISTRIBUTIONS[name](ag, D, a)
    assert d.support.check(d.sample((100,))).all()
    check_gradients(draw, a, skip=["single precision"])  # in which other numbers are drawn


def test_divergences_of_transformed_distributions():
    def made(loc, *transforms):
        return D.TransformedDistribution(D.Normal(loc, 1.0), list(transforms))

    p, q = made(0.0, T.ExpTransform()), made(1.0, T.ExpTransform())
    assert D.kl_divergence(p, q).item() == pytest.approx(0.5)
    for other in (made(1.0, T.SigmoidTransform()), made(1.0)):
        with pytest.raises(NotImplementedError, match="equal bijective transforms"):
            D.kl_divergence(p, other)
    with pytest.raises(NotImplementedError, match="equal bijective transforms"):
        D.kl_divergence(made(0.0, T.AbsTransform()), made(1.0, T.AbsTransform()))


@pytest.mark.parametrize("bad", [
    lambda lib, D: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
    lambda lib, D: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
    lambda lib, D: D.TransformedDistribution(D.Normal(0.0, 1.0), D.transforms.StickBreakingTransform()),
    lambda lib, D: D.transforms.IndependentTransform(D.transforms.ExpTransform(), 1)(lib.tensor(1.0)),
    lambda lib, D: D.transforms.SoftmaxTransform().forward_shape(()),
])  # fmt: skip
def test_refusals_are_those_of_pytorch(torch, bad):
    with pytest.raises(ValueError) as theirs:
        bad(torch, torch.distributions)
    with pytest.raises(ValueError) as ours:
        bad(ag, D)
    assert str(ours.value) == str(theirs.value)


def test_a_transform_can_be_a_module():
    class Scaled(T.Transform, ag.nn.Module):
        domain = codomain = D.constraints.real
        bijective = True

        def __init__(self):
            super().__init__(cache_size=1)
            self.scale = ag.nn.Parameter(ag.tensor(2.0))

        __hash__ = ag.nn.Module.__hash__

        def _call(self, x):
            return self.scale * x

        def _inverse(self, y):
            return y / self.scale

        def log_abs_det_jacobian(self, x, y):
            return self.scale.abs().log().expand(x.shape)

    t = Scaled()
    d = D.TransformedDistribution(D.Normal(0.0, 1.0), [t])
    d.log_prob(ag.tensor(1.0)).backward()
    assert t.scale.grad.item() == pytest.approx(0.125 - 0.5)
