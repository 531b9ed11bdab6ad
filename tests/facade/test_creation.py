"""Tensors filled by a rule. Everything here holds for PyTorch, too."""

import math

import numpy as np
import pytest

import autograd_cy as torch


def check(tensor, dtype, values):
    """That a tensor has this dtype and, as nested lists, these values."""
    assert tensor.dtype == getattr(torch, dtype)
    assert tensor.tolist() == values


@pytest.fixture
def float64_by_default():
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


def test_default_dtype_decides_what_floats_are(float64_by_default):
    assert torch.get_default_dtype() == torch.float64
    assert torch.tensor(1.0).dtype == torch.float64
    assert torch.tensor(1j).dtype == torch.complex128
    assert torch.tensor([]).dtype == torch.float64
    assert torch.zeros(2).dtype == torch.float64
    assert torch.arange(2.0).dtype == torch.float64
    assert torch.full((2,), 1j).dtype == torch.complex128
    assert torch.randn(2).dtype == torch.float64
    assert torch.tensor(1).dtype == torch.int64
    assert torch.tensor(np.float32(1)).dtype == torch.float32


@pytest.mark.parametrize("name", ["int64", "bool", "complex64"])
def test_default_dtype_must_be_floating_point(name):
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_dtype(getattr(torch, name))
    assert torch.get_default_dtype() == torch.float32


# Filled tensors


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_sizes(name):
    make = getattr(torch, name)
    for size in [(2, 3), ([2, 3],), ((2, 3),), (torch.Size([2, 3]),), (np.int64(2), torch.tensor(3))]:
        assert make(*size).shape == (2, 3)
    assert make(size=(2, 3)).shape == (2, 3)
    assert make(0).shape == (0,)
    assert make(()).shape == ()
    assert make((2, 0)).shape == (2, 0)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_bad_sizes(name):
    make = getattr(torch, name)
    for size in [(1.5,), (2, 1.5), ((2, 1.5),), ("a",), (None,), (2, (3,)), (np.array([2, 3]),)]:
        with pytest.raises(TypeError, match=r"must be tuple of ints|invalid combination"):
            make(*size)
    with pytest.raises(TypeError):
        make()
    with pytest.raises(RuntimeError, match=r"[Dd]imension"):
        make(2, -1)


def test_zeros_ones_eye():
    check(torch.zeros(2, 2), "float32", [[0, 0], [0, 0]])
    check(torch.ones(2, dtype=torch.int8), "int8", [1, 1])
    check(torch.eye(2), "float32", [[1, 0], [0, 1]])
    check(torch.eye(2, 3, dtype=torch.int64), "int64", [[1, 0, 0], [0, 1, 0]])
    check(torch.eye(n=2, m=1, dtype=torch.bool), "bool", [[True], [False]])
    assert torch.eye(0).shape == (0, 0)
    for size in [(-1,), (2, -1)]:
        with pytest.raises(RuntimeError, match="must be greater or equal to 0, got -1"):
            torch.eye(*size)
    with pytest.raises(TypeError):
        torch.eye(2.0, 2)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(True, "bool"), (7, "int64"), (7.0, "float32"), (1j, "complex64"), (np.float64(7), "float32")],
    ids=repr,
)
def test_full_infers_the_dtype_of_its_number(value, dtype):
    check(torch.full((2,), value), dtype, [value, value])
    check(torch.full([], fill_value=value), dtype, value)


def test_full():
    check(torch.full((2,), torch.tensor(3)), "int64", [3, 3])
    check(torch.full((1,), 1.7, dtype=torch.int32), "int32", [1])
    check(torch.full((1,), 1 + 0j, dtype=torch.float32), "float32", [1])
    check(torch.full((1,), math.inf, dtype=torch.float32), "float32", [math.inf])
    for value, dtype in [(300, "uint8"), (1j, "float32"), (1e300, "float32"), (math.nan, "int32")]:
        with pytest.raises(RuntimeError, match=r"value cannot be converted to type .* without overflow"):
            torch.full((2,), value, dtype=getattr(torch, dtype))
    for value in ["a", [1], torch.ones(2), torch.tensor(1.0, requires_grad=True)]:
        with pytest.raises(TypeError, match=r"argument 'fill_value' .*must be Number"):
            torch.full((2,), value)
    with pytest.raises(TypeError, match=r"argument 'size' .*must be tuple of ints, not int"):
        torch.full(2, 1)


@pytest.mark.parametrize(
    ("arguments", "dtype", "values"),
    [
        ((3,), "int64", [0, 1, 2]),
        ((3.0,), "float32", [0, 1, 2]),
        ((1, 4), "int64", [1, 2, 3]),
        ((1, 4.0), "float32", [1, 2, 3]),
        ((1, 4, 2), "int64", [1, 3]),
        ((1, 2, 0.25), "float32", [1, 1.25, 1.5, 1.75]),
        ((4, 1, -1), "int64", [4, 3, 2]),
        ((0, -3, -1.5), "float32", [0, -1.5]),
        ((3, 3), "int64", []),
        ((True,), "int64", [0]),
        ((2**53 + 1, 2**53 + 3), "int64", [2**53 + 1, 2**53 + 2]),
        ((np.float64(2),), "float32", [0, 1]),
        ((torch.tensor(2),), "int64", [0, 1]),
    ],
    ids=repr,
)
def test_arange(arguments, dtype, values):
    check(torch.arange(*arguments), dtype, values)


def test_arange_with_keywords():
    check(torch.arange(end=2), "int64", [0, 1])
    check(torch.arange(start=1, end=6, step=2), "int64", [1, 3, 5])
    check(torch.arange(3, dtype=torch.float64), "float64", [0, 1, 2])
    check(torch.arange(2.5, dtype=torch.int64), "int64", [0, 1])
    check(torch.arange(2.5, dtype=torch.int32), "int32", [0, 1, 2])
    check(torch.arange(0.5, 3.5, dtype=torch.int64), "int64", [0, 1, 2])
    assert len(torch.arange(0, 1, 0.1)) == 10


def test_bad_ranges():
    for arguments in [(4, 1), (0, 1, -1), (-8, -8.09, 3.9)]:
        with pytest.raises(RuntimeError, match="upper bound and lower bound inconsistent with step sign"):
            torch.arange(*arguments)
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        torch.arange(0, 1, 0)
    for bound in (math.inf, math.nan):
        with pytest.raises(RuntimeError, match="unsupported range: 0 -> "):
            torch.arange(0, bound)
    with pytest.raises(NotImplementedError):
        torch.arange(3, dtype=torch.complex64)
    with pytest.raises(TypeError, match="must be Number, not str"):
        torch.arange("a")
    with pytest.raises(TypeError):
        torch.arange()


def test_linspace():
    check(torch.linspace(0, 1, 5), "float32", [0, 0.25, 0.5, 0.75, 1])
    check(torch.linspace(start=3, end=-3, steps=3, dtype=torch.float64), "float64", [3, 0, -3])
    check(torch.linspace(0, 1, 1), "float32", [0])
    check(torch.linspace(0, 1, 0), "float32", [])
    check(torch.linspace(0, 1j, 3), "complex64", [0, 0.5j, 1j])
    check(torch.linspace(0, 10, 4, dtype=torch.int64), "int64", [0, 3, 6, 10])
    check(torch.linspace(0.7, 3.9, 4, dtype=torch.int64), "int64", [0, 1, 2, 3])
    tenths = torch.linspace(0, 1, 11, dtype=torch.float64)
    np.testing.assert_allclose(tenths.numpy(), np.linspace(0, 1, 11), rtol=1e-15)
    with pytest.raises(RuntimeError, match="number of steps must be non-negative"):
        torch.linspace(0, 1, -1)
    with pytest.raises(RuntimeError, match="can't be safely cast"):
        torch.linspace(0, 1j, 3, dtype=torch.float32)


# ..._like


def test_like():
    x = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64, requires_grad=True)
    check(torch.zeros_like(x), "float64", [[0, 0, 0]])
    check(torch.ones_like(x), "float64", [[1, 1, 1]])
    check(torch.full_like(x, 7), "float64", [[7, 7, 7]])
    check(torch.ones_like(x, dtype=torch.int32), "int32", [[1, 1, 1]])
    for make in (torch.zeros_like, torch.ones_like, torch.empty_like, torch.rand_like, torch.randn_like):
        y = make(x)
        assert (y.shape, y.dtype, y.requires_grad) == (x.shape, x.dtype, False)
        assert make(x, requires_grad=True).requires_grad
        with pytest.raises(TypeError, match=r"argument 'input' \(position 1\) must be Tensor, not list"):
            make([1.0])


def test_full_like_keeps_the_dtype():
    check(torch.full_like(torch.tensor([1, 2]), 2.5), "int64", [2, 2])
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.full_like(torch.tensor([1, 2]), 1j)


def test_like_keeps_the_order_of_axes():
    assert torch.zeros_like(torch.ones(2, 3).t()).stride() == (1, 3)
    assert torch.zeros_like(torch.ones(2, 3, 4).permute(2, 0, 1)).stride() == (1, 12, 4)
    assert torch.zeros_like(torch.ones(1, 3).expand(2, 3)).stride() == (3, 1)


class InItsFormat(torch.Tensor):
    """Notes the memory format that a function was called with."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return kwargs["memory_format"]


@pytest.mark.parametrize("kind", ["zeros", "ones", "empty", "full", "rand", "randn", "randint"])
def test_like_hands_on_the_memory_format(kind):
    """It was lost where another took the call over."""
    x = torch.ones(1, 2, 3, 4).as_subclass(InItsFormat)
    arguments = (2,) if kind in ("full", "randint") else ()
    assert getattr(torch, f"{kind}_like")(x, *arguments, memory_format=torch.channels_last) is torch.channels_last


# device= and requires_grad=

CREATORS = {
    "tensor": lambda **options: torch.tensor([1.0], **options),
    "zeros": lambda **options: torch.zeros(1, **options),
    "ones": lambda **options: torch.ones(1, **options),
    "empty": lambda **options: torch.empty(1, **options),
    "full": lambda **options: torch.full((1,), 1.0, **options),
    "eye": lambda **options: torch.eye(1, **options),
    "arange": lambda **options: torch.arange(1.0, **options),
    "linspace": lambda **options: torch.linspace(0, 1, 2, **options),
    "rand": lambda **options: torch.rand(1, **options),
    "randn": lambda **options: torch.randn(1, **options),
    "randint": lambda **options: torch.randint(3, (1,), **{"dtype": torch.float32, **options}),
    "randperm": lambda **options: torch.randperm(1, **{"dtype": torch.float32, **options}),
    "zeros_like": lambda **options: torch.zeros_like(torch.ones(1), **options),
    "full_like": lambda **options: torch.full_like(torch.ones(1), 2, **options),
    "randn_like": lambda **options: torch.randn_like(torch.ones(1), **options),
}


@pytest.mark.parametrize("create", CREATORS.values(), ids=CREATORS)
def test_common_keywords(create):
    x = create(dtype=torch.float64, device="cpu", requires_grad=True)
    assert x.dtype == torch.float64
    assert x.requires_grad and x.is_leaf and x.grad_fn is None
    assert not create(device=torch.device("cpu")).requires_grad
    assert create(device=None, dtype=None).device == torch.device("cpu")


@pytest.mark.parametrize("create", CREATORS.values(), ids=CREATORS)
def test_bad_common_keywords(create):
    # PyTorch draws before it looks at requires_grad, so that its error for randn is another one.
    with pytest.raises(RuntimeError, match=r"Only Tensors of floating point and complex|not implemented"):
        create(dtype=torch.int64, requires_grad=True)
    with pytest.raises(TypeError, match="requires_grad"):
        create(requires_grad=1)
    with pytest.raises(RuntimeError):
        create(device="nowhere")
    with pytest.raises(TypeError):
        create(device=1.5)
    with pytest.raises(TypeError):
        create(colour="red")
