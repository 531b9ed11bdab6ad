"""safe_where: a gradient of zero stays zero, also where a derivative is infinite or NaN."""

import threading

import numpy as np
import pytest
from common import define, leaf
from crossings import MOST, kernel_threads, thresholds
from hypothesis import given
from hypothesis import strategies as st
from op_calls import Call, each_sample, gradient_dtypes, nonempty, noted, run_backward, samples_of, seeds_for, to_numpy
from op_case import Maker, Sample, map_arrays
from opinfo import DIFFERENTIABLE, ELEMENTWISE

import autograd_cy as ag
from autograd_cy.autograd import safe_where

fw = ag.autograd.forward_ad
INF, NAN = float("inf"), float("nan")
POINTWISE = [row for row in ELEMENTWISE if row.differentiable]


def singular(row, dtype) -> list[Sample]:
    """Samples at which derivatives may be anything: the row's extremes, and its own with special values among them."""
    make = Maker(dtype)
    samples = list(row.extremes(make)) if row.extremes else []
    for sample in samples_of(row, dtype):
        samples.append(Sample(map_arrays(spoiled, sample.args), sample.kwargs))
    return samples


def spoiled(array):
    if array.dtype.kind not in "fc" or array.size == 0:
        return array
    spoiled = array.copy()
    specials = np.resize(np.array([0.0, INF, 1.0, NAN, -INF, 0.0, 2.0]), array.size).astype(array.dtype)
    spoiled.flat[:] = np.where(np.arange(array.size) % 3 == 2, array.flat, specials)
    return spoiled


def each_singular(rows):
    """Runs a test of `row, sample` with all singular samples in all dtypes: one test a row."""

    def decorate(test):
        @pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in rows])
        @pytest.mark.filterwarnings("ignore")
        def over_samples(row):
            for dtype in row.dtypes:
                for i, sample in enumerate(singular(row, dtype)):
                    with noted(f"singular sample {i} of {row.name} in {dtype}: {sample}"):
                        test(row, sample)

        over_samples.__name__, over_samples.__doc__, over_samples.__module__ = test.__name__, test.__doc__, test.__module__
        return over_samples

    return decorate


def zeros_like_all(outputs):
    return [np.zeros(y.shape, to_numpy(y).dtype) for y in outputs]


def gradients(outputs, leaves, seeds, **options):
    """One for each leaf, zeros where there is none."""
    seeds = [ag.from_numpy(seed) if isinstance(seed, np.ndarray) else seed for seed in seeds]
    found = ag.autograd.grad(outputs, leaves, seeds, allow_unused=True, retain_graph=True, **options)
    return [ag.zeros_like(x) if g is None else g for g, x in zip(found, leaves, strict=True)]


def assert_zero(tensors):
    for g in tensors:
        np.testing.assert_array_equal(to_numpy(g), 0)


# Every operation, at points where its derivative may be infinite


@each_singular([row for row in DIFFERENTIABLE if not row.regular])
def test_zeros_alone_give_zeros(row, sample):
    call = Call(row, sample)
    leaves = call.leaves()
    outputs = call.function(*leaves)
    seeds = zeros_like_all(outputs)
    with safe_where():
        assert_zero(gradients(outputs, leaves, seeds))
        recorded = gradients(outputs, leaves, seeds, create_graph=True)
        assert_zero(recorded)
    assert all(g.shape == x.shape and g.dtype == x.dtype for g, x in zip(recorded, leaves, strict=True))


@each_singular([row for row in DIFFERENTIABLE if not row.regular])
def test_zero_tangents_give_zeros(row, sample):
    call = Call(row, sample)
    with safe_where(), fw.dual_level():
        duals = [fw.make_dual(x, ag.zeros_like(x)) for x in call.leaves(requires_grad=False)]
        for y in call.function(*duals):
            t = fw.unpack_dual(y).tangent
            assert t is None or not to_numpy(t).any(), (y, t)


@each_singular([row for row in DIFFERENTIABLE if not row.regular])
def test_zeros_of_a_batch_give_zeros(row, sample):
    call = Call(row, sample)
    leaves = call.leaves()
    outputs = call.function(*leaves)
    if any(y.ndim > 5 for y in outputs):
        return
    seeds = [ag.from_numpy(np.zeros((2, *y.shape), to_numpy(y).dtype)) for y in outputs]
    with safe_where():
        found = ag.autograd.grad(outputs, leaves, seeds, is_grads_batched=True, allow_unused=True)
    assert_zero(g for g in found if g is not None)


def whole(sample: Sample) -> Sample | None:
    """The sample with all tensors in the shape of the result; None where they don't broadcast."""
    shapes = []
    map_arrays(lambda a: shapes.append(a.shape), sample.args)
    shape = np.broadcast_shapes(*shapes)
    return Sample(map_arrays(lambda a: np.broadcast_to(a, shape).copy(), sample.args), sample.kwargs)


def reduced_to(array, shape):
    """The sum of an array of a broadcast shape in the shape that was broadcast."""
    axes = tuple(range(array.ndim - len(shape)))
    array = array.sum(axes)
    return array.sum(tuple(k for k in range(len(shape)) if shape[k] == 1 != array.shape[k]), keepdims=True)


@each_singular(POINTWISE)
def test_each_zero_of_an_elementwise_operation_stays_before_what_was_broadcast_is_summed(row, sample):
    call, single = Call(row, sample), Call(row, whole(sample))
    leaves, singles = call.leaves(), single.leaves()
    outputs, expected = call.function(*leaves), single.function(*singles)
    seeds = seeds_for(outputs)
    zero = [np.random.default_rng(3).random(seed.shape) < 0.6 for seed in seeds]
    for seed, where in zip(seeds, zero, strict=True):
        seed[where] = 0
    terms = [to_numpy(g) for g in gradients(expected, singles, seeds)]
    with safe_where():
        found = gradients(outputs, leaves, seeds)
        recorded = gradients(outputs, leaves, seeds, create_graph=True)
    for g, h, term in zip(found, recorded, terms, strict=True):
        right = reduced_to(np.where(zero[0], 0, term), tuple(g.shape))
        # infinite parts of complex numbers are not alike in all formulas
        looked_at = np.isfinite(right) if right.dtype.kind == "c" else np.ones(right.shape, bool)
        tolerance = {"rtol": 1e-3 if right.dtype.itemsize <= 4 else 1e-5, "atol": 1e-6}
        with np.errstate(all="ignore"):
            for x in (g, h):
                np.testing.assert_allclose(to_numpy(x)[looked_at], right[looked_at], **tolerance)


# At ordinary points


def everything(row, sample):
    """Gradients, recorded ones and theirs, tangents: all bits that a user can have."""
    leaves, outputs, _, found = run_backward(Call(row, sample))
    bits = [to_numpy(g) for g in found if g is not None]
    call = Call(row, sample)
    leaves = call.leaves()
    outputs = call.function(*leaves)
    recorded = gradients(outputs, leaves, seeds_for(outputs), create_graph=True)
    bits += map(to_numpy, recorded)
    again = [g for g in recorded if g.requires_grad]
    if again:
        bits += map(to_numpy, gradients(again, leaves, seeds_for(again, 1)))
    with fw.dual_level():
        plain = call.leaves(requires_grad=False)
        directions = seeds_for(plain, 2)
        duals = [fw.make_dual(x, ag.from_numpy(v)) for x, v in zip(plain, directions, strict=True)]
        bits += [to_numpy(t) for t in (fw.unpack_dual(y).tangent for y in call.function(*duals)) if t is not None]
    return bits


@each_sample(DIFFERENTIABLE, gradient_dtypes, nonempty)
def test_where_nothing_is_nan_it_changes_no_bit(row, sample):
    usual = everything(row, sample)
    with safe_where():
        kept = everything(row, sample)
    for a, b in zip(usual, kept, strict=True):
        assert a.tobytes() == b.tobytes()


def test_a_zero_gradient_at_an_ordinary_point_has_its_second_derivative():
    x = leaf([0.0, 1.0])
    with safe_where():
        (g,) = ag.autograd.grad((x.sin() ** 2).sum(), x, create_graph=True)
        (h,) = ag.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(h.numpy(), 2 * np.cos(2 * x.detach().numpy()))


def test_a_function_that_is_saturated_has_the_derivative_zero():
    x = leaf([1.0, 1e4])
    y = x.exp().tanh().sum()
    (g,) = ag.autograd.grad(y, x, retain_graph=True)
    assert g[1].isnan()
    with safe_where():
        (g,) = ag.autograd.grad(y, x)
    np.testing.assert_allclose(g.numpy(), [np.e / np.cosh(np.e) ** 2, 0])


# The traps that there are reports of, against two wheres


def double(condition, x, safe, f, other=0.0):
    """The trick that one needs without it: the branch is computed from `safe` where it is not taken."""
    return ag.where(condition, f(ag.where(condition, x, safe)), other)


TRAPS = {
    "log": (lambda x: x > 0, lambda x: x.log(), 0.0),
    "sqrt": (lambda x: x > 0, lambda x: x.sqrt(), 0.0),
    "rsqrt": (lambda x: x > 0, lambda x: x.rsqrt(), 0.0),
    "reciprocal": (lambda x: x != 0, lambda x: 1 / x, 0.0),
    "sinc": (lambda x: x != 0, lambda x: x.sin() / x, 1.0),
    "power": (lambda x: x > 0, lambda x: x**0.3, 0.0),
    "power of tensors": (lambda x: x > 0, lambda x: x ** (x * 0.5), 1.0),
    "xlogx": (lambda x: x > 0, lambda x: x * x.log(), 0.0),
    "chain": (lambda x: x > 1, lambda x: (x - 1).sqrt().log().tanh() * 3, 0.0),
    "chain of views": (lambda x: x > 0, lambda x: (x * 2).reshape(-1).log().reshape(x.shape).tanh(), 0.0),
    "nowhere": (lambda x: x > 5, lambda x: (1 / (x * 0.0)).tanh() * x, 1.0),
    "written in place": (lambda x: x > 0, lambda x: (x * 1).sqrt_() * 3, 0.0),
    "norm of one": (lambda x: x > 0, lambda x: x.unsqueeze(-1).log().norm(dim=-1), 0.0),
    "std": (lambda x: x > 0, lambda x: ag.stack([x.log(), x.sqrt()], -1).std(-1), 0.0),
    "gelu": (lambda x: x > 0, lambda x: ag.nn.functional.gelu(x.log()), 0.0),
    "silu": (lambda x: x > 0, lambda x: ag.nn.functional.silu(1 / x), 0.0),
    "logsumexp": (lambda x: x > 0, lambda x: ag.stack([x.log(), 2 * x.log()], -1).logsumexp(-1), 0.0),
    "softmax": (lambda x: x > 0, lambda x: ag.stack([x.log(), 2 * x.log()], -1).softmax(-1)[..., 0], 0.0),
    "prod": (lambda x: x > 0, lambda x: ag.stack([x.log(), x.sqrt()], -1).prod(-1), 0.0),
}
POINTS = np.array([0.0, -0.0, 0.5, 1.0, 1.5, 2.0, -1.0, 4.0])
trap = pytest.mark.parametrize("name", TRAPS)


@trap
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("choose", [ag.where, lambda c, x, y: x.masked_fill(c.logical_not(), y)])
def test_traps(name, dtype, choose):
    taken, f, other = TRAPS[name]
    x = leaf(POINTS, getattr(ag, dtype))
    (right,) = ag.autograd.grad(double(taken(x), x, 2.0, f, other).sum(), x)
    y = choose(taken(x), f(x), other).sum()
    with safe_where():
        (found,) = ag.autograd.grad(y, x)
    np.testing.assert_allclose(found.numpy(), right.numpy(), rtol=1e-6)


@trap
def test_second_derivatives_and_transforms_in_traps(name):
    taken, f, other = TRAPS[name]

    def risky(x):
        return ag.where(taken(x), f(x), other).sum()

    def safe(x):
        return double(taken(x), x, 2.0, f, other).sum()

    x = ag.tensor(POINTS)
    v = ag.tensor(np.where(POINTS > 0.2, 1.0, 0.0))
    batch = ag.tensor(np.stack([POINTS, POINTS[::-1]]))
    func = ag.func
    for transform in (
        func.grad, func.hessian, func.jacrev, func.jacfwd, lambda f: func.jacrev(func.grad(f)),
        lambda f: lambda x: func.jvp(f, (x,), (v,))[1], lambda f: lambda x: func.jvp(func.grad(f), (x,), (v,))[1],
        lambda f: lambda x: ag.autograd.functional.hessian(f, x),
        lambda f: lambda x: ag.autograd.functional.hvp(f, x, v)[1], lambda f: lambda x: func.vmap(func.grad(f))(batch),
        lambda f: lambda x: func.vmap(func.hessian(f))(batch),
    ):  # fmt: skip
        right = transform(safe)(x)
        with safe_where():
            found = transform(risky)(x)
        np.testing.assert_allclose(found.numpy(), right.numpy(), rtol=1e-10, atol=1e-12)


def test_selecting_by_an_index_or_a_mask():
    places = ag.tensor([1, 3, 4])
    for select in (
        lambda y: y[y.detach() > 0], lambda y: y[places], lambda y: y[[1, 3, 4]], lambda y: y.gather(0, places),
        lambda y: y.index_select(0, places), lambda y: y.flip(0)[:3], lambda y: ag.cat([y[1:2], y[3:5]]),
    ):  # fmt: skip
        x = leaf([0.0, 1.0, 0.0, 4.0, 9.0, 0.0])
        y = select((x - 0).sqrt())
        with safe_where():
            (g,) = ag.autograd.grad(y.sum(), x)
        if len(y) == 3 and not y.detach().eq(0).any():
            np.testing.assert_array_equal(g.numpy(), [0, 0.5, 0, 0.25, 1 / 6, 0])
        else:                       # the last zero was taken: there the derivative is infinite
            np.testing.assert_array_equal(g.numpy(), [0, 0, 0, 0.25, 1 / 6, INF])


def test_complex_numbers():
    x = ag.tensor([0j, 1 + 1j, 4j], dtype=ag.complex128, requires_grad=True)
    (right,) = ag.autograd.grad(double(x != 0, x, 1.0, lambda z: z.log() / z).abs().square().sum(), x)
    with safe_where():
        (found,) = ag.autograd.grad(ag.where(x != 0, x.log() / x, 0.0).abs().square().sum(), x)
    np.testing.assert_allclose(found.numpy(), right.numpy())


def test_a_divisor_that_was_broadcast():
    a, b = leaf(np.arange(6.0).reshape(3, 2)), leaf([0.0, 2.0])
    y = ag.where(b != 0, a / b, 0.0).sum()
    with safe_where():
        ga, gb = ag.autograd.grad(y, (a, b))
    np.testing.assert_array_equal(ga.numpy(), [[0, 0.5]] * 3)
    np.testing.assert_array_equal(gb.numpy(), [0, -9 / 4])


# Whole rows


@pytest.mark.parametrize("bad", [[0.0, 0.0, 0.0], [-INF] * 3, [INF, 1.0, NAN], [NAN] * 3], ids=str)
@pytest.mark.parametrize(
    "name", ["prod", "norm", "norm1", "norm3", "var", "std", "logsumexp", "softmax", "log_softmax", "amax", "layer_norm",
             "cross_entropy", "mse_loss", "max"])  # fmt: skip
def test_rows_of_zeros(name, bad):
    F = ag.nn.functional
    target = ag.tensor([1, 0, 2])
    f = {
        "norm1": lambda x: x.norm(1, dim=1), "norm3": lambda x: x.norm(3, dim=1), "norm": lambda x: x.norm(dim=1),
        "layer_norm": lambda x: F.layer_norm(x, (3,)), "max": lambda x: x.max(dim=1).values,
        "cross_entropy": lambda x: F.cross_entropy(x, target[: len(x)], reduction="none"),
        "mse_loss": lambda x: F.mse_loss(x, x.detach() * 2, reduction="none"),
    }.get(name, lambda x: getattr(x, name)(1))  # fmt: skip
    good = np.array([[1.0, 2.0, 4.0], [3.0, -1.0, 0.5]])
    x, z = leaf(np.concatenate([good[:1], good[1:], [bad]])), leaf(good)
    y, right = f(x), f(z)
    seed = np.random.default_rng(0).standard_normal(right.shape)
    (expected,) = gradients([right], [z], [seed])
    seed = np.concatenate([seed, np.zeros_like(seed[:1])])
    with safe_where():
        for create_graph in (False, True):
            (found,) = gradients([y], [x], [seed], create_graph=create_graph)
            np.testing.assert_allclose(found.detach().numpy()[:2], expected.numpy(), rtol=1e-12)
            np.testing.assert_array_equal(found.detach().numpy()[2], 0)


def test_parameters_of_layer_norm_get_nothing_from_rows_of_zeros():
    F = ag.nn.functional
    w, b = leaf([1.0, 2.0]), leaf([0.0, 1.0])
    x = ag.tensor([[1.0, 2.0], [NAN, 0.0]]).double()
    y = ag.where(ag.tensor([[True], [False]]), F.layer_norm(x, (2,), w, b), 0.0).square().sum()
    right = F.layer_norm(x[:1], (2,), w, b).square().sum()
    with safe_where():
        for g, expected in zip(ag.autograd.grad(y, (w, b)), ag.autograd.grad(right, (w, b)), strict=True):
            np.testing.assert_allclose(g.numpy(), expected.numpy(), rtol=1e-12)


def test_products_of_matrices_keep_zeros_if_all_are():
    a, b = leaf([[INF, 1.0], [1.0, 1.0]]), leaf([[1.0, 2.0], [NAN, 1.0]])
    y = a @ b
    with safe_where():
        assert_zero(gradients([y], [a, b], [np.zeros((2, 2))]))
        (g,) = gradients([y], [b], [np.array([[0.0, 0.0], [1.0, 1.0]])])
    assert g.isnan().any()


# Sizes, layouts, threads


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 7, 1000, 70_001])
@pytest.mark.parametrize("layout", ["flat", "strided", "transposed", "0-d"])
@pytest.mark.parametrize("is_large", [False, True], ids=["", "all are large"])
def test_sizes_layouts_and_threads(n, layout, is_large, threads):
    rng = np.random.default_rng(n)
    values = np.where(rng.random(n) < 0.5, 0.0, rng.uniform(0.5, 2, n))
    if layout == "0-d":
        values = np.array(values[0])
    x = leaf(values)
    z = x * 1
    if layout == "strided":
        z = ag.stack([z, z], 1)[:, 1]
    if layout == "transposed":
        z = ag.stack([z, z + 0], 1).t()
    y = ag.where(z > 0, z.log().sqrt().square() / z, 0.0).sum()
    with kernel_threads(threads), thresholds(dict.fromkeys(MOST, 1) if is_large else {}):
        with safe_where():
            y.backward(retain_graph=True)
            (g,) = ag.autograd.grad(y, x, retain_graph=True)
        (plain,) = ag.autograd.grad(y, x)
    np.testing.assert_array_equal(x.grad.numpy(), g.numpy())
    kept = values > 1
    np.testing.assert_array_equal(g.numpy()[values == 0], 0)
    np.testing.assert_array_equal(g.numpy()[kept], plain.numpy()[kept])
    assert np.isfinite(g.numpy()[kept]).all() and np.isnan(plain.numpy()[values == 0]).all()


STEPS = {
    "log": lambda x: x.log(), "sqrt": lambda x: x.sqrt(), "inverse": lambda x: 1 / x, "square": lambda x: x * x,
    "shift": lambda x: x - 1, "power": lambda x: x.abs() ** 0.5, "tanh": lambda x: x.tanh(), "double": lambda x: x + x,
    "rows": lambda x: (x * x.new_tensor([[1.0], [2.0]])).sum(0), "divide": lambda x: x.sin() / x,
    "same": lambda x: x.exp().log(),
}  # fmt: skip


@given(
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5),
    st.lists(st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-3, INF, -2.0]), min_size=1, max_size=9),
    st.booleans(),
)
def test_any_chain_is_right_where_it_was_taken_and_zero_elsewhere(steps, values, create_graph):
    """A chain is taken where its value and its derivative are finite: there it is what it is without the mode."""

    def chain(x):
        for name in steps:
            x = STEPS[name](x)
        return x

    x = leaf(values)
    with np.errstate(all="ignore"):
        y = chain(x)
        (plain,) = ag.autograd.grad(y.sum(), x, retain_graph=True)
        taken = y.detach().isfinite().logical_and(plain.isfinite())
        with safe_where():
            (g,) = ag.autograd.grad(ag.where(taken, y, 3.0).sum(), x, create_graph=create_graph)
            if create_graph:
                (second,) = ag.autograd.grad(g.sum(), x, allow_unused=True) if g.requires_grad else (None,)
                assert second is None or not second[taken.logical_not()].any()
    np.testing.assert_array_equal(g.detach().numpy(), np.where(taken.numpy(), plain.numpy(), 0))


# The mode


def trapped():
    x = leaf([0.0, 4.0])
    return x, ag.where(x > 0, x.sqrt(), 0.0).sum()


def is_kept(x, y):
    (g,) = ag.autograd.grad(y, x, retain_graph=True)
    assert g[1] == 0.25
    return g[0].item() == 0


def test_it_is_the_mode_of_the_backward():
    with safe_where():
        x, y = trapped()
    assert not is_kept(x, y)
    x, y = trapped()
    with safe_where():
        assert is_kept(x, y)
        with safe_where(False):
            assert not is_kept(x, y)
            with safe_where():
                assert is_kept(x, y)
        assert is_kept(x, y)
        (g,) = ag.autograd.grad(y, x, create_graph=True)
    assert not is_kept(x, y) and not g.isnan().any()


def test_it_is_a_decorator():
    @safe_where
    def bare():
        return is_kept(*trapped())

    @safe_where()
    def called():
        return is_kept(*trapped())

    @safe_where(False)
    def off():
        return is_kept(*trapped())

    @safe_where()
    def generator():
        while True:
            yield is_kept(*trapped())

    with safe_where():
        assert not off()
    assert bare() and called()
    steps = generator()
    assert next(steps) and not is_kept(*trapped()) and next(steps)


def test_it_belongs_to_the_thread():
    found = []
    with safe_where():
        thread = threading.Thread(target=lambda: found.append(is_kept(*trapped())))
        thread.start()
        thread.join()
    assert found == [False]


def test_it_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), safe_where():
        raise ZeroDivisionError
    assert not is_kept(*trapped())


def test_forward_operations_take_the_usual_path():
    with safe_where():
        y = leaf([1.0, 0.0]) * 2
        assert y.grad_fn is not None and not ag.is_inference_mode_enabled() and ag.is_grad_enabled()


def test_a_backward_within_a_backward_has_it_too():
    found = []

    def backward(ctx, g):
        with ag.enable_grad():
            found.append(is_kept(*trapped()))
        return g

    f = define(lambda ctx, x: x * 1, backward)
    y = f.apply(leaf([1.0])).sum()
    with safe_where():
        y.backward()
    assert found == [True]


def test_backwards_nested_deeply_go_on_in_a_thread_that_has_it():
    found = []

    def nested(depth):
        def backward(ctx, g):
            with ag.enable_grad():
                if depth:
                    nested(depth - 1)
                else:
                    found.append(is_kept(*trapped()))
            return g

        define(lambda ctx, x: x * 1, backward).apply(leaf([1.0])).sum().backward()

    with safe_where():
        nested(25)
    assert found == [True]


def test_what_a_function_of_the_user_gives_is_left_alone():
    f = define(lambda ctx, x: x * 1, lambda ctx, g: g * INF)
    x = leaf([1.0])
    with safe_where():
        (f.apply(x) * 0.0).sum().backward()
    assert x.grad.isnan().all()


def test_hooks_see_what_was_kept():
    seen = []
    x = leaf([0.0, 4.0])
    middle = x * 1
    root = middle.sqrt()
    middle.register_hook(lambda g: seen.append(g.tolist()))
    middle.retain_grad()
    root.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs[0].tolist()))
    with safe_where():
        ag.where(x > 0, root, 0.0).sum().backward()
    assert seen == [[0.0, 0.25]] * 2 and middle.grad.tolist() == [0.0, 0.25] and x.grad.tolist() == [0.0, 0.25]


def test_gradients_are_added_to_those_there():
    x, y = trapped()
    with safe_where():
        y.backward(retain_graph=True)
        first = x.grad
        y.backward()
    assert x.grad is first and x.grad.tolist() == [0.0, 0.5]


def test_a_leafs_gradient_takes_the_memory_over():
    x, y = trapped()
    x.grad = ag.ones(2, dtype=ag.float64)
    with safe_where():
        y.backward()
    assert x.grad.tolist() == [1.0, 1.25]


def test_a_write_through_a_view():
    x = leaf([0.0, 4.0, 1.0])
    z = x * 1
    z[:2].sqrt_()
    y = ag.where(x > 0, z, 0.0).sum()
    with safe_where():
        for create_graph in (False, True):
            (g,) = ag.autograd.grad(y, x, create_graph=create_graph, retain_graph=True)
            assert g.tolist() == [0.0, 0.25, 1.0]


def test_together_with_a_search_for_nan():
    x, y = trapped()
    with safe_where(), ag.autograd.detect_nan():
        assert is_kept(x, y)
        with pytest.raises(RuntimeError, match="returned nan values") as info:
            ag.autograd.grad((x * 0.0).sqrt().sum(), x)    # inf * 0
    assert "safe_where()" not in str(info.value)
