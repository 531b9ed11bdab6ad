"""vmap's randomness: for each operation that draws, what each mode does with what is batched."""

import pytest

import autograd_cy as torch
from autograd_cy.func import jacfwd, vmap

F = torch.nn.functional
ERROR = "called random operation while in randomness error mode"
SAME = "Vmap does not currently support same randomness with a batched tensor input"
UNBATCHED = "vmap: Cannot ask for different inplace randomness on an unbatched tensor"

# Of x, which may be batched, alone.
OF_PARAMETERS = {
    "bernoulli": lambda x: torch.bernoulli(x),
    "poisson": lambda x: torch.poisson(x * 1000),
    "binomial": lambda x: torch.binomial(torch.full((6,), 1000.0), x),
    "normal, mean": lambda x: torch.normal(x, 1.0),
    "normal, deviation": lambda x: torch.normal(0.0, x),
    "normal, both": lambda x: torch.normal(x, x),
    "multinomial": lambda x: torch.multinomial(x, 6),
    "bernoulli with p": lambda x: torch.bernoulli(x, 0.5),
    "gamma": lambda x: torch._standard_gamma(x),
}
OF_SIZES = {
    "rand": lambda x: torch.rand(6),
    "randn": lambda x: torch.randn(6),
    "randint": lambda x: torch.randint(0, 1000, (6,)),
    "randperm": lambda x: torch.randperm(20),
    "normal": lambda x: torch.normal(1.0, 2.0, (6,)),
    "rand_like": lambda x: torch.rand_like(x),
    "randn_like": lambda x: torch.randn_like(x),
    "randint_like": lambda x: torch.randint_like(x, 1000),
    "dropout": lambda x: F.dropout(torch.ones_like(x).expand(5, 6), 0.5),
    "alpha_dropout": lambda x: F.alpha_dropout(torch.ones_like(x).expand(5, 6), 0.5, True),
    "feature_dropout": lambda x: F.dropout2d(torch.ones_like(x).expand(9, 6)[None, ..., None], 0.5),
}
IN_PLACE = {
    "normal_": lambda x: x.clone().normal_(),
    "uniform_": lambda x: x.clone().uniform_(),
    "random_": lambda x: x.clone().random_(),
    "exponential_": lambda x: x.clone().exponential_(),
    "cauchy_": lambda x: x.clone().cauchy_(),
    "log_normal_": lambda x: x.clone().log_normal_(),
    "geometric_": lambda x: x.expand(40, 6).clone().geometric_(0.5),
    "bernoulli_": lambda x: x.expand(5, 6).clone().bernoulli_(0.5),
}


def mapped(function, randomness, is_batched):
    """Four samples of a function of chances, which are all the same, and batched or not."""
    torch.manual_seed(0)
    x = torch.full((6,), 0.5)
    return vmap(lambda x, i: function(x), (0 if is_batched else None, 0), randomness=randomness)(
        x.expand(4, 6) if is_batched else x, torch.arange(4)
    )


def are_the_same(samples):
    return all(torch.equal(x, samples[0]) for x in samples)


def are_different(samples):
    return not any(torch.equal(samples[i], samples[j]) for i in range(4) for j in range(i))


@pytest.mark.parametrize("is_batched", [False, True], ids=["unbatched", "batched"])
@pytest.mark.parametrize("function", [pytest.param(f, id=n) for n, f in {**OF_PARAMETERS, **OF_SIZES, **IN_PLACE}.items()])
def test_error_and_same(function, is_batched):
    with pytest.raises(RuntimeError, match=ERROR):
        mapped(function, "error", is_batched)
    if is_batched and function in OF_PARAMETERS.values():
        with pytest.raises(RuntimeError, match=SAME):
            mapped(function, "same", is_batched)
    else:
        found = mapped(function, "same", is_batched)
        assert found.shape[0] == 4 and are_the_same(found)


@pytest.mark.parametrize("is_batched", [False, True], ids=["unbatched", "batched"])
@pytest.mark.parametrize("function", [pytest.param(f, id=n) for n, f in {**OF_PARAMETERS, **OF_SIZES, **IN_PLACE}.items()])
def test_different(function, is_batched):
    if function in IN_PLACE.values() and not is_batched:
        with pytest.raises(RuntimeError, match=UNBATCHED):
            mapped(function, "different", is_batched)
    else:
        found = mapped(function, "different", is_batched)
        assert found.shape[0] == 4 and are_different(found)


def test_numbers_of_different_samples_are_those_of_one_call():
    torch.manual_seed(3)
    found = vmap(lambda x: torch.normal(1.0, 2.0, (2,)), randomness="different")(torch.ones(3))
    torch.manual_seed(3)
    assert found.tolist() == torch.normal(1.0, 2.0, (3, 2)).tolist()


def test_batched_chances_in_place():
    chances = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    for randomness, text in (("error", ERROR), ("same", SAME)):
        with pytest.raises(RuntimeError, match=text):
            vmap(lambda p: torch.zeros_like(p).bernoulli_(p), randomness=randomness)(chances)
    found = vmap(lambda p: torch.zeros_like(p).bernoulli_(p), randomness="different")(chances.T)
    assert found.tolist() == chances.T.tolist()
    assert vmap(lambda p: p.new_zeros(3, 2).bernoulli_(p), randomness="different")(chances).tolist() == [
        [[0.0, 1.0]] * 3, [[1.0, 0.0]] * 3,
    ]  # fmt: skip
    given = torch.zeros(2)
    with pytest.raises(RuntimeError, match=r"vmap: inplace bernoulli\(self, .extra_args\) is not possible"):
        vmap(lambda p: given.bernoulli_(p), randomness="different")(chances)
    with pytest.raises(RuntimeError, match="expects p to be in"):
        vmap(lambda p: torch.zeros_like(p).bernoulli_(p), randomness="different")(chances + 1)
    assert given.tolist() == [0.0, 0.0]


def test_each_level_has_its_mode():
    chances = torch.full((3, 5), 0.5)
    with pytest.raises(RuntimeError, match=SAME):
        vmap(lambda p: vmap(lambda q: torch.bernoulli(p), randomness="different")(chances), randomness="same")(chances)
    with pytest.raises(RuntimeError, match=SAME):
        vmap(lambda p: vmap(lambda q: torch.bernoulli(q), randomness="same")(chances), randomness="different")(chances)
    inner_same = vmap(lambda p: vmap(lambda q: torch.rand_like(p), randomness="same")(chances), randomness="different")
    assert [are_the_same(x) for x in inner_same(chances)] == [True] * 3 and inner_same(chances).unique().numel() == 15


@pytest.mark.parametrize(
    "call", [lambda x, out: torch.rand(2, out=out), lambda x, out: torch.bernoulli(x, out=out),
             lambda x, out: torch.normal(x, 1.0, out=out), lambda x, out: torch.randperm(2, out=out)]
)  # fmt: skip
def test_out_is_refused(call):
    out = torch.zeros(2)
    with pytest.raises(RuntimeError, match="vmap: We do not support calling out variants of random operations"):
        vmap(lambda x: call(x, out), randomness="different")(torch.full((3, 2), 0.5))
    assert out.tolist() == [0.0, 0.0]


def test_layers_in_place_are_refused_where_samples_differ():
    # each sample's own zeros would have gone into one tensor
    given = torch.ones(50)
    with pytest.raises(RuntimeError, match=r"vmap: dropout_\(self, .extra_args\) is not possible"):
        vmap(lambda x: F.dropout(given, 0.5, True, True) + x, randomness="different")(torch.ones(3))
    assert given.tolist() == [1.0] * 50
    assert are_the_same(vmap(lambda x: F.dropout(given.clone(), 0.5, True, True) * x, randomness="same")(torch.ones(3)))


def test_gradients_of_what_is_drawn_are_zero():
    x = torch.full((4,), 0.5, requires_grad=True)
    for draw in (torch.bernoulli, lambda x: torch.normal(x, 1.0), lambda x: torch.bernoulli(x, 0.5)):
        y = vmap(lambda q, draw=draw: draw(x) + q, randomness="different")(torch.ones(3, 4))
        assert torch.autograd.grad(y.sum(), x)[0].tolist() == [0.0] * 4
        for randomness in ("same", "different"):
            assert jacfwd(draw, randomness=randomness)(x.detach()).tolist() == [[0.0] * 4] * 4


@pytest.mark.parametrize("dims", [2, 3])
def test_fractional_pooling_takes_the_same_regions_for_all_samples(dims):
    pool = getattr(F, f"fractional_max_pool{dims}d")
    x = torch.rand(2, 3, *[9] * dims).expand(4, 2, 3, *[9] * dims)
    y = vmap(lambda x: pool(x, 2, output_size=3), randomness="same")(x)
    assert y.shape == (4, 2, 3, *[3] * dims) and all(torch.equal(y[0], other) for other in y[1:])


def test_fractional_pooling_draws_within():
    x = torch.arange(81.0).reshape(1, 9, 9).expand(4, 1, 9, 9)
    found = vmap(lambda x: F.fractional_max_pool2d(x, 2, output_size=4), randomness="different")(x)
    assert found.shape == (4, 1, 4, 4) and len({str(y.tolist()) for y in found}) > 1
    with pytest.raises(RuntimeError, match=ERROR):
        vmap(lambda x: F.fractional_max_pool2d(x, 2, output_size=4))(x)
