"""Random tensors with parameters that are tensors, and methods that fill with random numbers. Holds for PyTorch, too."""

import pytest

import autograd_cy as torch

N = 20_000


@pytest.fixture(autouse=True)
def seeded():
    before = torch.get_rng_state()
    torch.manual_seed(0)
    yield
    torch.set_rng_state(before)


def filled(name, *args, dtype=torch.float64):
    return getattr(torch.zeros(N, dtype=dtype), name)(*args)


@pytest.mark.parametrize(("name", "args", "mean", "std"), [
    ("uniform_", (), 0.5, 0.288675), ("uniform_", (-1.0, 3.0), 1.0, 1.1547), ("normal_", (), 0.0, 1.0),
    ("normal_", (2.0, 3.0), 2.0, 3.0), ("exponential_", (2.0,), 0.5, 0.5), ("geometric_", (0.25,), 4.0, 3.4641),
    ("log_normal_", (0.0, 0.5), 1.1331, 0.6039), ("bernoulli_", (0.25,), 0.25, 0.4330), ("random_", (10,), 4.5, 2.8723),
    ("random_", (-2, 3), 0.0, 1.4142),
])  # fmt: skip
def test_means_and_deviations(name, args, mean, std):
    for dtype in (torch.float64, torch.float32):
        numbers = filled(name, *args, dtype=dtype)
        assert numbers.mean().item() == pytest.approx(mean, abs=5 * std / N**0.5)
        assert numbers.std().item() == pytest.approx(std, rel=0.1)


def test_quartiles_of_cauchy():
    numbers = filled("cauchy_", 1.0, 2.0)
    assert (numbers < 1).double().mean().item() == pytest.approx(0.5, abs=0.02)
    assert ((numbers > -1) & (numbers < 3)).double().mean().item() == pytest.approx(0.5, abs=0.02)


def test_integers():
    assert filled("random_", dtype=torch.uint8).max().item() > 200
    assert set(filled("random_", dtype=torch.bool).tolist()) == {False, True}
    assert filled("random_", dtype=torch.float16).max().item() <= 2**11
    assert set(filled("bernoulli_", dtype=torch.int32).tolist()) == {0, 1}


def test_parameters_that_are_tensors():
    rates = torch.full((N,), 3.0)
    assert torch.poisson(rates).mean().item() == pytest.approx(3, abs=0.1)
    assert torch.binomial(torch.full((N,), 10.0), torch.full((N,), 0.3)).mean().item() == pytest.approx(3, abs=0.1)
    assert torch.normal(rates, 2.0).std().item() == pytest.approx(2, abs=0.1)
    assert torch.normal(rates, rates).mean().item() == pytest.approx(3, abs=0.1)
    assert torch.bernoulli(torch.tensor([0.0, 1.0])).tolist() == [0, 1]
    assert torch.zeros(2).bernoulli_(torch.tensor([0.0, 1.0])).tolist() == [0, 1]


def test_multinomial():
    weights = torch.tensor([1.0, 0.0, 3.0])
    drawn = torch.multinomial(weights, N, replacement=True)
    assert drawn.dtype == torch.int64 and set(drawn.tolist()) == {0, 2}
    assert (drawn == 2).double().mean().item() == pytest.approx(0.75, abs=0.02)
    assert sorted(torch.multinomial(weights + 1, 3).tolist()) == [0, 1, 2]
    first = torch.multinomial(weights.expand(N, 3), 1)
    assert first.shape == (N, 1) and (first == 2).double().mean().item() == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize(("name", "args"), [
    ("uniform_", ()), ("normal_", ()), ("exponential_", ()), ("geometric_", (0.5,)), ("cauchy_", ()), ("log_normal_", ()),
    ("random_", ()), ("bernoulli_", ()),
])  # fmt: skip
def test_what_is_written_over_gets_zeros(name, args):
    x = torch.ones(3, requires_grad=True)
    y = getattr(x * 1, name)(*args)
    assert y.grad_fn.name().startswith(name.title().replace("_", ""))
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(x, name)(*args)


def test_parameters_get_zeros():
    x = torch.full((3,), 0.5, requires_grad=True)
    for draw in (torch.bernoulli, torch.poisson, lambda p: torch.normal(p, 1.0), lambda p: torch.normal(p, p)):
        assert torch.autograd.grad(draw(x).sum(), x)[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize(("randomness", "distinct"), [("different", 4), ("same", 1)])
def test_vmap(randomness, distinct):
    def draw(x):
        return x.clone().uniform_(), torch.normal(torch.zeros(2), 1.0)

    for y in torch.func.vmap(draw, randomness=randomness)(torch.zeros(4, 2)):
        assert len({tuple(row) for row in y.tolist()}) == distinct
    with pytest.raises(RuntimeError, match="randomness"):
        torch.func.vmap(draw)(torch.zeros(4, 2))


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: torch.ones(2).bernoulli_(2.0), RuntimeError, "expects p to be in"),
    (lambda: torch.ones(2).uniform_(2, 1), RuntimeError, "found from=2 > to=1"),
    (lambda: torch.ones(2).exponential_(0), RuntimeError, "lambda > 0.0"),
    (lambda: torch.ones(2).geometric_(1.0), RuntimeError, r"in \(0, 1\)"),
    (lambda: torch.ones(2).normal_(0, -1), RuntimeError, "std >= 0.0, but found std -1"),
    (lambda: torch.ones(2).cauchy_(0, 0), RuntimeError, "sigma > 0.0"),
    (lambda: torch.ones(2).random_(3, 2), RuntimeError, "from=3 >= to=2"),
    (lambda: torch.ones(2, dtype=torch.int32).uniform_(), NotImplementedError, "not implemented for 'Int'"),
    (lambda: torch.bernoulli(torch.tensor([2.0])), RuntimeError, "p_in >= 0"),
    (lambda: torch.poisson(-torch.ones(2)), RuntimeError, "rate to be non-negative"),
    (lambda: torch.normal(torch.ones(2), -torch.ones(2)), RuntimeError, "all elements of std >= 0.0"),
    (lambda: torch.multinomial(torch.ones(2), 3), RuntimeError, "without replacement"),
    (lambda: torch.multinomial(torch.zeros(2), 1), RuntimeError, "sum of probabilities <= 0"),
    (lambda: torch.multinomial(-torch.ones(2), 1), RuntimeError, "element < 0"),
])  # fmt: skip
def test_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()
