"""Random tensors and their generators. Everything here holds for PyTorch, too."""

import math
import warnings

import numpy as np
import pytest

import autograd_cy as torch

N = 20_000


def same(a, b):
    return a.dtype == b.dtype and a.tolist() == b.tolist()


@pytest.fixture(autouse=True)
def seeded():
    before = torch.get_rng_state()
    torch.manual_seed(0)
    yield
    torch.set_rng_state(before)


# What is drawn


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_rand_is_uniform(name):
    t = torch.rand(N, dtype=getattr(torch, name))
    assert t.dtype == getattr(torch, name)
    numbers = t.numpy().astype("float64")
    assert numbers.min() >= 0 and numbers.max() < 1
    assert abs(numbers.mean() - 1 / 2) < 0.01
    assert abs(numbers.var() - 1 / 12) < 0.005


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_randn_is_normal(name):
    numbers = torch.randn(N, dtype=getattr(torch, name)).numpy().astype("float64")
    assert abs(numbers.mean()) < 0.03
    assert abs(numbers.var() - 1) < 0.05
    assert abs((abs(numbers) < 1).mean() - 0.6827) < 0.015


def test_complex():
    uniform = torch.rand(N, dtype=torch.complex64).numpy()
    assert uniform.dtype == "complex64" and uniform.imag.min() >= 0 and uniform.imag.max() < 1
    normal = torch.randn(N, dtype=torch.complex128).numpy()
    assert abs(normal.real.var() - 0.5) < 0.03 and abs(normal.imag.var() - 0.5) < 0.03
    assert abs((normal.real * normal.imag).mean()) < 0.02
    assert torch.randn((), dtype=torch.complex64).shape == ()


def test_randint():
    assert set(torch.randint(3, (100,)).tolist()) == {0, 1, 2}
    assert set(torch.randint(-5, -2, (100,)).tolist()) == {-5, -4, -3}
    assert torch.randint(3, (2,)).dtype == torch.int64
    assert torch.randint(high=3, size=[2, 1]).shape == (2, 1)
    assert torch.randint(low=1, high=3, size=(2,)).shape == (2,)
    assert torch.randint(3, size=()).shape == ()
    assert set(torch.randint(2, (50,), dtype=torch.bool).tolist()) == {False, True}
    assert torch.randint(3, (2,), dtype=torch.float32, requires_grad=True).requires_grad
    assert torch.randint(256, (2,), dtype=torch.uint8).dtype == torch.uint8


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
@pytest.mark.parametrize(("dtype", "digits"), [("float16", 11), ("float32", 24), ("float64", 53)])
def test_integers_that_a_float_counts_with_gaps_are_drawn_with_a_warning(package, dtype, digits):
    module = pytest.importorskip(package)
    kind, limit = getattr(module, dtype), 2**digits
    module.randint(limit + 1, (2,), dtype=kind)
    module.empty(2, dtype=kind).random_(-limit, limit + 1)
    with pytest.warns(UserWarning, match=rf"to - 1 is out of bounds \[-\(2\^{digits}\), 2\^{digits}\]"):
        drawn = module.randint(limit, 2 * limit, (50,), dtype=kind)
    assert drawn.min() >= limit and drawn.max() <= 2 * limit and drawn.max() > drawn.min()
    with pytest.warns(UserWarning, match="from is out of bounds"):
        assert module.empty(50, dtype=kind).random_(-2 * limit, 1).min() < -limit / 2


@pytest.mark.parametrize("package", ["autograd_cy", "torch"])
def test_integers_beyond_the_range_of_a_type_are_refused(package):
    module = pytest.importorskip(package)
    with pytest.raises(RuntimeError, match="to - 1 is out of bounds for c10::Half"):
        module.randint(2**17, (2,), dtype=module.float16)
    with pytest.raises(RuntimeError, match="from is out of bounds for c10::Half"):
        module.empty(2, dtype=module.float16).random_(-(2**17), 3)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((3, 3, (2,)), {}, RuntimeError, "got from=3 >= to=3"),
        ((0, (2,)), {}, RuntimeError, "got from=0 >= to=0"),
        ((300, (2,)), {"dtype": torch.uint8}, RuntimeError, "to - 1 is out of bounds"),
        ((-1, 3, (2,)), {"dtype": torch.uint8}, RuntimeError, "from is out of bounds"),
        ((3, (2,)), {"dtype": torch.complex64}, RuntimeError, None),
        ((3.5, (2,)), {}, TypeError, r"argument 'high' .*must be int, not float"),
        ((3, 2), {}, TypeError, r"argument 'size' .*must be tuple of ints, not int"),
        ((3,), {}, TypeError, None),
    ],
)
def test_bad_randint(arguments, options, error, message):
    with pytest.raises(error, match=message):
        torch.randint(*arguments, **options)


def test_randperm():
    t = torch.randperm(100)
    assert t.dtype == torch.int64
    assert sorted(t.tolist()) == list(range(100)) != t.tolist()
    assert torch.randperm(4, dtype=torch.float32).dtype == torch.float32
    assert torch.randperm(0).shape == (0,)
    with pytest.raises(RuntimeError, match="dimension -1"):
        torch.randperm(-1)
    with pytest.raises(RuntimeError, match=r"value cannot be converted to type .* without overflow"):
        torch.randperm(300, dtype=torch.uint8)
    with pytest.raises(TypeError, match=r"argument 'n' .*must be int, not float"):
        torch.randperm(2.5)


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_only_floating_point_and_complex_are_drawn(name):
    with pytest.raises(NotImplementedError, match="not implemented"):
        getattr(torch, name)(2, dtype=torch.int64)
    with pytest.raises(NotImplementedError, match="not implemented"):
        getattr(torch, name + "_like")(torch.tensor([1]))


# Seeds and states

DRAWS = {
    "rand": lambda **options: torch.rand(5, **options),
    "randn": lambda **options: torch.randn(5, **options),
    "randint": lambda **options: torch.randint(1000, (5,), **options),
    "randperm": lambda **options: torch.randperm(20, **options),
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_seeds_repeat_the_stream(draw):
    torch.manual_seed(3)
    first, second = draw(), draw()
    torch.manual_seed(3)
    assert same(draw(), first)
    assert same(draw(), second) and not same(first, second)
    torch.manual_seed(4)
    assert not same(draw(), first)


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_generator_of_its_own(draw):
    expected = draw(generator=torch.Generator().manual_seed(5))
    torch.manual_seed(0)
    before = torch.get_rng_state()
    assert same(draw(generator=torch.Generator().manual_seed(5)), expected)
    assert same(torch.get_rng_state(), before)
    with pytest.raises(TypeError, match="enerator"):
        draw(generator=5)


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_states_continue_the_stream(draw):
    torch.randint(2**20, (3,), dtype=torch.int32)
    state = torch.get_rng_state()
    assert state.dtype == torch.uint8
    first = [draw() for _ in range(3)]
    torch.set_rng_state(state)
    assert all(same(draw(), t) for t in first)


def test_a_state_fits_any_generator():
    g, h = torch.Generator().manual_seed(7), torch.Generator()
    torch.rand(3, generator=g)
    assert h.set_state(g.get_state()) is h
    assert h.initial_seed() == 7
    assert same(torch.rand(3, generator=g), torch.rand(3, generator=h))


def test_bad_states():
    with pytest.raises(TypeError, match=r"expected a torch.ByteTensor, but got list"):
        torch.set_rng_state([1])
    with pytest.raises(TypeError, match=r"RNG state must be a torch.ByteTensor"):
        torch.set_rng_state(torch.zeros(3))
    with pytest.raises(RuntimeError, match=r"[Ss]tate of size"):
        torch.set_rng_state(torch.zeros(3, dtype=torch.uint8))


def test_seeds():
    g = torch.manual_seed(11)
    assert g is torch.default_generator is torch.random.default_generator
    assert torch.initial_seed() == g.initial_seed() == 11
    assert torch.manual_seed(-1).initial_seed() == 2**64 - 1
    assert torch.manual_seed(2**64 - 1).initial_seed() == 2**64 - 1
    assert torch.manual_seed(-(2**63)).initial_seed() == 2**63
    assert torch.seed() == torch.initial_seed() != torch.seed()
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="Overflow"):
            torch.manual_seed(seed)
    with pytest.raises(RuntimeError, match="manual_seed expected a long, but got float"):
        torch.Generator().manual_seed(1.5)


def test_generators():
    g = torch.Generator()
    assert g.device == torch.Generator(device="cpu").device == torch.device("cpu")
    assert same(torch.rand(3, generator=g), torch.rand(3, generator=torch.Generator()))
    assert g.seed() == g.initial_seed() != g.seed()


UNIFORM = [
    (torch.float32, 0, math.inf, "to is out of bounds for float"),
    (torch.float64, -math.inf, 0, "from is out of bounds for double"),
    (torch.float32, math.nan, 1, "from is out of bounds for float"),
    (torch.float16, 0, 1e6, "to is out of bounds for c10::Half"),
    (torch.complex64, 0, 1e39, "to is out of bounds for float"),
    (torch.float64, 1, 0, r"expects to return a \[from, to\) range, but found from=1 > to=0"),
    (torch.float32, -3e38, 3e38, r"to-from <= std::numeric_limits<Float>::max\(\), but found to=3e\+38 and from=-3e\+38"),
    (torch.float64, -1e308, 1e308, "in to-from to exceed the limit"),
]


@pytest.mark.parametrize(("dtype", "start", "end", "text"), UNIFORM)
def test_ranges_that_the_type_does_not_hold_are_refused(dtype, start, end, text):
    """Infinite ends gave infinities and NaN."""
    x, state = torch.ones(2, dtype=dtype), torch.get_rng_state()
    with pytest.raises(RuntimeError, match=text):
        x.uniform_(start, end)
    assert x.tolist() == [1, 1] and torch.equal(torch.get_rng_state(), state)


def test_wide_ranges_that_the_type_holds():
    assert torch.zeros(1000).uniform_(-1e38, 1e38).abs().max() <= 1e38
    assert torch.zeros(1000, dtype=torch.float16).uniform_(0, 65504).isfinite().all()


def test_a_tensor_that_is_read_only_takes_no_random_numbers():
    numbers = np.zeros(3)
    numbers.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a read-only array
        x = torch.from_numpy(numbers)
    state = torch.get_rng_state()
    with pytest.raises((RuntimeError, ValueError), match="read-only"):
        x.uniform_()
    assert torch.equal(torch.get_rng_state(), state) and not numbers.any()


def test_elements_in_one_place_take_no_random_numbers():
    state = torch.get_rng_state()
    for method in (torch.Tensor.uniform_, torch.Tensor.normal_):
        with pytest.raises(RuntimeError, match="single memory location"):
            method(torch.zeros(3).expand(2, 3))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize(("name", "most"), [("int8", 127), ("uint8", 255), ("float16", 2048), ("bool", 1)])
def test_integers_from_a_number_up_to_the_largest_that_a_type_holds(name, most):
    # random_(from, None) took its first argument for the end
    x = torch.empty(N, dtype=getattr(torch, name)).random_(1, None).double()
    assert 1 <= x.min() <= x.max() <= most and x.mean() == pytest.approx((1 + most) / 2, rel=0.05)
    if name == "int8":
        assert torch.empty(N, dtype=torch.int8).random_(-5, None).min() == -5
    assert torch.empty(N).random_(3, None).max() > 2**20


@pytest.mark.parametrize(("arguments", "node"), [((), 2), ((3,), 1), ((0, None), 0), ((0, 3), 0)])
def test_nodes_of_random_are_named_by_its_overload(arguments, node):
    x = torch.ones(2, requires_grad=True).clone().random_(*arguments)
    assert x.grad_fn.name() == f"RandomBackward{node}"
    assert torch.ones(N).random_(to=3).max() == 2
