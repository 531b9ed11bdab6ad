"""What random methods refuse, they refuse before the generator moves on. Where nothing else is said, PyTorch does the same."""

import numpy as np
import pytest

import autograd_cy as torch

FILLS = {
    "bernoulli_": (0.5,), "cauchy_": (), "exponential_": (), "geometric_": (0.5,), "log_normal_": (), "normal_": (),
    "random_": (), "uniform_": (),
}  # fmt: skip

# The numeric parameters of each method, in their order.
REALS = {
    "cauchy_": ("median", "sigma"), "exponential_": ("lambd",), "geometric_": ("p",), "log_normal_": ("mean", "std"),
    "normal_": ("mean", "std"), "uniform_": ("from", "to"),
}  # fmt: skip
PARAMETERS = [(method, position) for method, names in REALS.items() for position in range(len(names))]


def refused(error, message, function):
    before = torch.get_rng_state()
    with pytest.raises(error, match=message):
        function()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("name", FILLS)
def test_elements_that_share_memory_are_refused_first(name):
    t = torch.zeros(1).expand(3)
    refused(RuntimeError, "single memory location", lambda: getattr(t, name)(*FILLS[name]))
    assert t.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", FILLS)
def test_leaves_that_require_grad_are_refused_first(name):
    leaf = torch.zeros(3, requires_grad=True)
    refused(RuntimeError, "a leaf Variable that requires grad", lambda: getattr(leaf, name)(*FILLS[name]))
    assert leaf.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", FILLS)
def test_generators_are_looked_at_first(name):
    t = torch.zeros(3)
    refused(TypeError, "enerator", lambda: getattr(t, name)(*FILLS[name], generator=3))
    assert t.tolist() == [0, 0, 0] and t._version == 0


@pytest.mark.parametrize("value", ["a", None, 1j, [1.0], np.array([0.5]), object()], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize(("name", "position"), PARAMETERS)
def test_parameters_are_numbers(name, position, value):
    t = torch.zeros(3)
    arguments = [0.5] * position + [value]
    kind = "numpy.ndarray" if isinstance(value, np.ndarray) else type(value).__name__
    message = rf"{name}\(\): argument '{REALS[name][position]}' \(position {position + 1}\) must be float, not {kind}"
    refused(TypeError, message, lambda: getattr(t, name)(*arguments))
    assert t._version == 0


@pytest.mark.parametrize(("name", "position"), PARAMETERS)
@pytest.mark.parametrize("kind", [np.float32, np.float64, torch.tensor], ids=["float32", "float64", "tensor"])
def test_numbers_of_other_kinds_are_parameters(name, position, kind):
    a, b = (0.25, 0.5), [0.25, 0.5]
    b[position] = kind(b[position])
    n = len(REALS[name])
    torch.manual_seed(0)
    expected = getattr(torch.zeros(5), name)(*a[:n])
    torch.manual_seed(0)
    assert getattr(torch.zeros(5), name)(*b[:n]).tolist() == expected.tolist()


@pytest.mark.parametrize(("name", "position"), PARAMETERS)
def test_tensors_that_require_grad_are_no_numbers(name, position):
    arguments = [0.5] * position + [torch.tensor(0.5, requires_grad=True)]
    refused(TypeError, "must be float, not Tensor", lambda: getattr(torch.zeros(3), name)(*arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("normal_", (0, -1), "normal expects std >= 0.0, but found std -1$"),
        ("uniform_", (1, 0.5), "expects to return a .* range, but found from=1 > to=0.5"),
        ("uniform_", (0.0, 1e39), "to is out of bounds for float"),
        ("log_normal_", (0, 0), "expects std > 0.0, but found std=0$"),
        ("exponential_", (-1,), "expects lambda > 0.0, but found lambda=-1$"),
        ("cauchy_", (0, -2), "expects sigma > 0.0, but found sigma=-2$"),
        ("geometric_", (1,), r"expects p to be in \(0, 1\), but got p=1$"),
        ("bernoulli_", (1.5,), r"expects p to be in \[0, 1\], but got p=1.5$"),
        ("random_", (3, 3), "expects 'from' to be less than 'to', but got from=3 >= to=3"),
    ],
)
def test_parameters_out_of_range(name, arguments, message):
    refused(RuntimeError, message, lambda: getattr(torch.zeros(3), name)(*arguments))


@pytest.mark.parametrize("chances", [[0.5, 0.5], [[0.5] * 3] * 2], ids=str)
def test_probabilities_of_another_shape(chances):
    t = torch.zeros(3)
    refused(RuntimeError, "expand", lambda: t.bernoulli_(torch.tensor(chances)))
    assert t._version == 0


@pytest.mark.parametrize(
    "draw",
    [
        lambda out: torch.rand(3, out=out), lambda out: torch.randn(3, out=out),
        lambda out: torch.normal(torch.zeros(3), 1.0, out=out), lambda out: torch.normal(0.0, 1.0, (3,), out=out),
        lambda out: torch.bernoulli(torch.ones(3), out=out),
    ],
    ids=["rand", "randn", "normal of tensors", "normal", "bernoulli"],
)  # fmt: skip
def test_out_is_looked_at_first(draw):
    refused(RuntimeError, "single memory location", lambda: draw(torch.zeros(1).expand(3)))


def test_random_without_an_end():
    """None is an end only if it is given: random_(5) goes from 0 to 4, random_(5, None) from 5 on."""
    t = torch.zeros(1000, dtype=torch.uint8)
    assert t.random_(5).max() == 4
    assert t.random_(250, None).min() == 250


@pytest.mark.parametrize("n", [0, 1, 31, 1000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dense_and_strided_tensors_get_the_same_numbers(n, dtype):
    """Not so in PyTorch, for some sizes."""
    for name, arguments in FILLS.items():
        torch.manual_seed(1)
        dense = getattr(torch.zeros(n, dtype=dtype), name)(*arguments)
        torch.manual_seed(1)
        strided = getattr(torch.zeros(n, 2, dtype=dtype)[:, 0], name)(*arguments)
        assert strided.tolist() == dense.tolist(), name


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_all_spellings_of_sizes_draw_the_same(name):
    function = getattr(torch, name)
    torch.manual_seed(2)
    expected = function(2, 3)
    spellings = [
        lambda: function((2, 3)), lambda: function([2, 3]), lambda: function(size=(2, 3)),
        lambda: function(torch.Size([2, 3])),
        lambda: function(np.int64(2), 3), lambda: function(2, 3, dtype=torch.float32), lambda: function(2, 3, device="cpu"),
        lambda: function(2, 3, requires_grad=True), lambda: function(2, 3, out=torch.empty(2, 3)),
        lambda: getattr(torch, name + "_like")(torch.empty(2, 3)),
    ]  # fmt: skip
    for spelling in spellings:
        torch.manual_seed(2)
        made = spelling()
        assert made.tolist() == expected.tolist() and made.dtype == expected.dtype and made.shape == (2, 3)


def test_sizes_beyond_those_of_the_short_way():
    for function in (torch.rand, torch.randn, torch.zeros, lambda *sizes: torch.randint(3, sizes)):
        assert function(*[1] * 40).shape == (1,) * 40
        assert function(0, 2**31).shape == (0, 2**31)


@pytest.mark.parametrize(("low", "high", "least", "most"), [
    (0, 32752, 0, 32736), (0, 4096, 0, 4092), (-4099, 0, -4100, -1), (5, 2053, 5, 2052), (0, 2049, 0, 2048),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore:.*is out of bounds:UserWarning")
def test_float16_numbers_are_not_rounded_to_the_end(low, high, least, most):
    """32751 is 32752 in float16, which random_(0, 32752) returned."""
    drawn = torch.empty(100000, dtype=torch.float16).random_(low, high)
    assert (drawn.min().item(), drawn.max().item()) == (least, most)
    assert least <= torch.randint(low, high, (1000,), dtype=torch.float16).min() and drawn.max() <= most


@pytest.mark.filterwarnings("ignore:.*is out of bounds:UserWarning")
def test_a_range_without_numbers_of_float16_is_refused():
    with pytest.raises(RuntimeError, match="'from' casted to dtype to be less than 'to' casted to dtype"):
        torch.empty(3, dtype=torch.float16).random_(-4099, -4097)
