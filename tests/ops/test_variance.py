"""var, std and norm of large arrays in any layout: accurate, and without an array for what is summed; their gradients."""

import math

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy._core.graph.tensor import array_of
from autograd_cy.memory import memory_stats

LAYOUTS = {
    "dense": lambda a: a,
    "transposed": lambda a: a.transpose(2, 0, 1),
    "every other": lambda a: a[:, ::2, ::3],
    "backwards": lambda a: a[::-1, :, ::-1],
    "broadcast": lambda a: np.broadcast_to(a[:, :1], a.shape),
    "unaligned": lambda a: np.frombuffer(b"0" + a.tobytes(), a.dtype, offset=1).reshape(a.shape),
}
DIMS = [None, 0, 1, 2, (0, 2), (1, 2), (0, 1)]
TOLERANCE = {"float16": 2e-3, "float32": 5e-6, "float64": 1e-13, "complex64": 5e-6, "complex128": 1e-13}
ORDERS = (1, 2, math.inf, -math.inf)
SHAPE = (256, 480)  # large; the partial sums of its columns are not


def numbers(shape, dtype, seed=0, offset=2.0):
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape) + offset
    if dtype.startswith("complex"):
        values = values + 1j * random.standard_normal(shape)
    return values.astype(dtype)


def shape_for(dtype):
    """The sums of more half precision numbers overflow, and their gradients are too small."""
    return (10, 11, 9) if dtype == "float16" else (70, 41, 33)


def exact(array):
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def tensor(array, requires_grad=False):
    """On the memory of the array."""
    return torch.from_numpy(array).requires_grad_(requires_grad)


def new_arrays(run):
    """How many large arrays were made meanwhile."""
    before = memory_stats()
    run()
    after = memory_stats()
    return after["hits"] + after["misses"] - before["hits"] - before["misses"]


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values_in_any_layout(layout, dtype):
    array = LAYOUTS[layout](numbers(shape_for(dtype), dtype))
    x = tensor(array)
    for dim in DIMS:
        close = {"rtol": TOLERANCE[dtype], "atol": 1e-14, "strict": True}
        expected = np.asarray(exact(array).var(dim, ddof=1)).astype(array.real.dtype)
        np.testing.assert_allclose(x.var(dim).numpy(), expected, **close)
        expected = np.asarray(np.sqrt(exact(array).var(dim, ddof=1))).astype(array.real.dtype)
        np.testing.assert_allclose(x.std(dim).numpy(), expected, **close)
        for p in ORDERS:
            size = np.abs(exact(array)) if p in (1, math.inf, -math.inf) else np.abs(exact(array)) ** 2
            total = (np.max if p == math.inf else np.min if p == -math.inf else np.sum)(size, axis=dim)
            expected = np.asarray(np.sqrt(total) if p == 2 else total).astype(array.real.dtype)
            np.testing.assert_allclose(x.norm(p, dim).numpy(), expected, **close)


@pytest.mark.parametrize("shape", [(700, 33), (33, 700), (3, 50_000), (50_000, 3), (64, 2500), (1, 40_000), (40_000, 1)])
@pytest.mark.parametrize("dim", [0, 1, None])
def test_values_of_any_size(shape, dim):
    """Blocks of rows and of columns, what remains of each, and long dimensions that are cut."""
    x = numbers(shape, "float32")
    expected = np.asarray(x.astype(np.float64).var(dim)).astype(np.float32)
    np.testing.assert_allclose(torch.tensor(x).var(dim, correction=0).numpy(), expected, rtol=2e-6, strict=True)
    expected = np.asarray(np.sqrt((x.astype(np.float64) ** 2).sum(dim))).astype(np.float32)
    np.testing.assert_allclose(torch.tensor(x).norm(2, dim).numpy(), expected, rtol=2e-6, strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("dim", [0, 1, None])
def test_far_from_zero_nothing_cancels(dim, dtype):
    """float32 near 10^8 has steps of 8, and its mean is wrong by some: squared, that was 1 % of this variance."""
    spread, offset = (100, 1e8) if dtype in ("float32", "complex64") else (1, 1e8)
    random = np.random.default_rng(3)
    x = (offset + spread * random.standard_normal((400, 300))).astype(dtype)
    if dtype.startswith("complex"):
        x += (1j * (-offset + spread * random.standard_normal((400, 300)))).astype(dtype)
    center = x.flat[0]
    expected = np.var(exact(x) - exact(center[None])[0], axis=dim, ddof=1)
    np.testing.assert_allclose(torch.tensor(x).var(dim).numpy(), expected, rtol=2e-6 if spread == 100 else 1e-13)


@pytest.mark.parametrize("n", [3, 1000, 100_003])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_equals_do_not_vary(n, dtype):
    """Though their mean may be another number; the gradient of std is 0 then, of which the norm of no vector has one, too."""
    x = torch.tensor(np.full((n, 4), 0.1 + (0.7j if dtype == "complex64" else 0), dtype), requires_grad=True)
    for dim in (0, None):
        y = x.std(dim)
        assert (y.detach().numpy() == 0).all()
        x.grad = None
        y.sum().backward()
        assert (x.grad.numpy() == 0).all()


def test_a_nan_spreads_and_an_infinity_becomes_one():
    x = torch.tensor([[1.0, math.nan], [math.inf, 1.0], [1.0, 3.0]])
    np.testing.assert_array_equal(x.var(1).numpy(), [math.nan, math.nan, 2])
    np.testing.assert_array_equal(x.norm(2, 1).numpy(), np.float32([math.nan, math.inf, math.sqrt(10)]))


def gradients_of(name, x, g, dim):
    """By the formulas, in double precision."""
    axes = tuple(range(x.ndim)) if dim is None else dim
    g = np.expand_dims(g, axes)
    if name in ("var", "std"):
        d = x - x.mean(axes, keepdims=True)
        freedom = d.size / g.size - 1
        return g * d * 2 / freedom if name == "var" else g * d / (freedom * np.sqrt(x.var(axes, ddof=1, keepdims=True)))
    if name == "norm":
        return g * x / np.sqrt((np.abs(x) ** 2).sum(axes, keepdims=True))
    return g * x / np.abs(x)


FUNCTIONS = {
    "var": lambda x, dim: x.var(dim),
    "std": lambda x, dim: x.std(dim),
    "norm": lambda x, dim: x.norm(2, dim),
    "norm1": lambda x, dim: x.norm(1, dim),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("layout", ["dense", "transposed", "every other"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_in_any_layout(name, layout, dtype):
    array = LAYOUTS[layout](numbers(shape_for(dtype), dtype, seed=5))
    for dim in DIMS:
        x = tensor(array, requires_grad=True)
        y = FUNCTIONS[name](x, dim)
        g = np.random.default_rng(7).standard_normal(y.shape).astype(array.real.dtype)
        y.backward(torch.tensor(g))
        expected = gradients_of(name, exact(array), g.astype(np.float64), dim)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(x.grad.numpy() / scale, expected / scale, rtol=0, atol=4 * TOLERANCE[dtype])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_recorded_gradient_is_the_same(name):
    """By the rule, which is operations, as without a record by the kernel."""
    x = torch.tensor(numbers((30, 40), "float64"), requires_grad=True)
    y = FUNCTIONS[name](x, 1).square().sum()
    (first,) = torch.autograd.grad(y, x, retain_graph=True)
    (again,) = torch.autograd.grad(y, x, create_graph=True)
    np.testing.assert_allclose(first.numpy(), again.detach().numpy(), rtol=1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient_is_the_only_large_array(name):
    x = torch.tensor(numbers(SHAPE, "float32"), requires_grad=True)
    made = new_arrays(lambda: FUNCTIONS[name](x, 1).sum().backward())
    assert made == 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient_is_written_over_what_nobody_else_has(name):
    values = numbers(SHAPE, "float32")
    results = []
    for retain in (True, False):
        x = torch.tensor(values, requires_grad=True)
        y = FUNCTIONS[name](x * 2.0, 0).sum()
        made = new_arrays(lambda y=y, retain=retain: y.backward(retain_graph=retain))
        assert made == retain
        results.append(x.grad.numpy())
    np.testing.assert_array_equal(*results)
    np.testing.assert_array_equal(x.detach().numpy(), values)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient_is_not_written_over_what_somebody_sees(name):
    x = torch.tensor(numbers(SHAPE, "float32"), requires_grad=True)
    t = x * 2.0
    before = t.detach().numpy().copy()
    FUNCTIONS[name](t, 0).sum().backward()
    np.testing.assert_array_equal(t.detach().numpy(), before)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient_is_added_in_one_pass(name):
    """To a large `.grad`; the sum is that of two steps."""
    x = torch.tensor(numbers(SHAPE, "float32"), requires_grad=True)
    FUNCTIONS[name](x, 0).sum().backward()
    first = x.grad.numpy().copy()
    y = FUNCTIONS[name](x, 0).sum()
    assert new_arrays(y.backward) == 0
    np.testing.assert_array_equal(x.grad.numpy(), first + first)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_memory_that_was_resized_is_not_read_beyond(name):
    x = torch.ones(4, 4, dtype=torch.float64, requires_grad=True)
    y = FUNCTIONS[name](x, 0)
    array_of(x).resize((2, 2), refcheck=False)
    with pytest.raises(RuntimeError):
        y.backward(torch.ones(4, dtype=torch.float64))


# no degrees of freedom: the values, gradients and warnings of PyTorch

X = [[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]
INF, NAN = math.inf, math.nan
UNDEFINED = {  # (dim, correction): the gradients of var and std
    (0, 2): ([[-INF] * 3, [INF] * 3], [[NAN] * 3] * 2),
    (0, 3): ([[2.0, 3.0, 5.0], [-2.0, -3.0, -5.0]], [[0.0] * 3] * 2),
    (0, 5): ([[2 / 3, 1.0, 5 / 3], [-2 / 3, -1.0, -5 / 3]], [[0.0] * 3] * 2),
    (1, 5): ([[4 / 3, 1 / 3, -5 / 3], [8 / 3, 2 / 3, -10 / 3]], [[0.0] * 3] * 2),
    ((0, 1), 6): ([[-INF, -INF, NAN], [-INF, INF, INF]], [[NAN] * 3] * 2),
    ((0, 1), 8): ([[3.0, 2.0, 0.0], [1.0, -1.0, -5.0]], [[0.0] * 3] * 2),
    (None, 6): ([[INF, INF, NAN], [INF, INF, INF]], [[NAN] * 3] * 2),
    (None, 8): ([[INF, INF, NAN], [INF, INF, INF]], [[NAN] * 3] * 2),
}


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("dim, correction", UNDEFINED)
def test_more_correction_than_elements(dim, correction, create_graph):
    """Along a dimension the gradient of var has 2 / (N - correction), also below 0; it was that of correction = N."""
    for name, want in zip(("var", "std"), UNDEFINED[dim, correction], strict=True):
        x = torch.tensor(X, dtype=torch.float64, requires_grad=True)
        with pytest.warns(UserWarning, match=rf"{name}\(\): degrees of freedom is <= 0"):
            y = getattr(torch, name)(x, dim, correction=correction)
        assert bool((y == INF).all())
        y.sum().backward(create_graph=create_graph)
        np.testing.assert_allclose(x.grad.detach().numpy(), np.array(want), rtol=1e-12)
        x.grad = None


def test_nothing_to_vary_warns():
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert torch.zeros(0, 3).var(1).shape == (0,)
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        assert math.isnan(torch.ones(3).std(correction=4).item())
