"""Lengths, distances and angles at every scale: their squares leave the range of the type, their results do not.

A function of degree d has f(s x) = s**d f(x), its gradient degree d - 1, its second derivative d - 2. The scales are powers of
two, so that the expected results are those of float64 at scale 1, multiplied.
"""

import inspect
from typing import NamedTuple

import numpy as np
import pytest
from subjects import flat

import autograd_cy as ag

F = ag.nn.functional


class Scaled(NamedTuple):
    """A function of tensors of these sizes; one that takes a number, too, gets the scale."""

    function: object
    degree: int
    sizes: tuple[tuple[int, ...], ...]


def cdist(mode, **arguments):
    return lambda a, b: ag.cdist(a, b, compute_mode=mode, **arguments)


def triplet(a, b, c, scale):
    return F.triplet_margin_loss(a, b, c, margin=3.0 * scale, eps=0.0)


def cosine_loss(a, b):
    return F.cosine_embedding_loss(a, b, ag.tensor([1, -1, 1]), margin=-2.0, reduction="none")


def batch_norm(x, weight):
    return F.batch_norm(x, None, None, weight, training=True, eps=0.0)


WEIGHTS = ag.tensor([0.5, -1.0, 1.25, 2.0])
ROWS = {
    **{f"norm p={p:g}": Scaled(lambda x, p=p: ag.norm(x, p, -1), 1, ((3, 4),)) for p in (1, 1.5, 2, 3, -1.5, ag.inf)},
    "norm of complex numbers": Scaled(lambda x, y: ag.norm(ag.complex(x, y)), 1, ((5,), (5,))),
    "matrix_norm": Scaled(lambda x: ag.linalg.matrix_norm(x), 1, ((2, 3, 4),)),
    "std": Scaled(lambda x: ag.std(x, -1), 1, ((3, 4),)),
    "std of all": Scaled(lambda x: ag.std(x, correction=0), 1, ((3, 4),)),
    "std of complex numbers": Scaled(lambda x, y: ag.std(ag.complex(x, y)), 1, ((5,), (5,))),
    "std of columns": Scaled(lambda x: ag.std(x, 0), 1, ((3, 4),)),
    "corrcoef": Scaled(ag.corrcoef, 0, ((3, 4),)),
    "corrcoef of complex numbers": Scaled(lambda x, y: ag.corrcoef(ag.complex(x, y)).real, 0, ((3, 4), (3, 4))),
    "renorm": Scaled(lambda x, scale: ag.renorm(x, 2.0, 0, scale), 1, ((3, 4),)),
    "layer_norm": Scaled(lambda x: F.layer_norm(x, (4,), eps=0.0), 0, ((3, 4),)),
    "layer_norm with a weight": Scaled(lambda x: F.layer_norm(x, (4,), WEIGHTS.to(x.dtype), eps=0.0), 0, ((3, 4),)),
    "batch_norm": Scaled(lambda x: batch_norm(x, None), 0, ((5, 3),)),
    "batch_norm with a weight": Scaled(lambda x: batch_norm(x, WEIGHTS.to(x.dtype)), 0, ((5, 4),)),
    "batch_norm of planes": Scaled(lambda x: batch_norm(x, WEIGHTS.to(x.dtype)), 0, ((2, 4, 3),)),
    "instance_norm": Scaled(lambda x: F.instance_norm(x, eps=0.0), 0, ((2, 3, 4),)),
    "group_norm": Scaled(lambda x: F.group_norm(x, 2, WEIGHTS.to(x.dtype), eps=0.0), 0, ((2, 4, 3),)),
    "rms_norm": Scaled(lambda x: F.rms_norm(x, (4,), WEIGHTS.to(x.dtype), eps=0.0), 0, ((3, 4),)),
    "lp_pool1d": Scaled(lambda x: F.lp_pool1d(x, 2, 2), 1, ((2, 3, 6),)),
    "lp_pool2d": Scaled(lambda x: F.lp_pool2d(x, 2, 2, 1), 1, ((2, 3, 4, 4),)),
    "lp_pool3d p=4": Scaled(lambda x: F.lp_pool3d(x, 4, 2), 1, ((2, 2, 4, 4),)),
    "local_response_norm": Scaled(lambda x: F.local_response_norm(x, 3, beta=0.5), 0, ((2, 4, 3),)),
    "normalize": Scaled(lambda x: F.normalize(x, eps=0.0), 0, ((3, 4),)),
    "cosine_similarity": Scaled(lambda a, b: ag.cosine_similarity(a, b, eps=0.0), 0, ((3, 4), (3, 4))),
    "cosine_similarity of one": Scaled(lambda a: ag.cosine_similarity(a, ag.ones_like(a), eps=0.0), 0, ((3, 4),)),
    "pairwise_distance": Scaled(lambda a, b: ag.pairwise_distance(a, b, eps=0.0), 1, ((3, 4), (3, 4))),
    "cdist by products": Scaled(cdist("use_mm_for_euclid_dist"), 1, ((3, 2), (4, 2))),
    "cdist by differences": Scaled(cdist("donot_use_mm_for_euclid_dist"), 1, ((3, 2), (4, 2))),
    "cdist of batches": Scaled(cdist("donot_use_mm_for_euclid_dist"), 1, ((2, 3, 2), (4, 2))),
    "cdist p=3": Scaled(cdist(None, p=3.0), 1, ((3, 2), (4, 2))),
    "pdist": Scaled(ag.pdist, 1, ((4, 2),)),
    "cosine_embedding_loss": Scaled(lambda a, b: cosine_loss(a, b), 0, ((3, 4), (3, 4))),
    "triplet_margin_loss": Scaled(triplet, 1, ((3, 4), (3, 4), (3, 4))),
}
LARGE_ONLY = {"cosine_embedding_loss", "renorm", "local_response_norm"}     # they add a number to squares or norms
SCALES = [("float32", 100), ("float32", -100), ("float64", 900), ("float64", -900)]


def inputs_of(row):
    rng = np.random.default_rng(7)
    return [rng.uniform(0.5, 2, sizes) * rng.choice([-1, 1], sizes) for sizes in row.sizes]


def results(row, arrays, dtype, scale):
    """The value, the gradients, their gradients and tangents."""
    xs = [ag.tensor(x * scale, dtype=dtype, requires_grad=True) for x in arrays]
    rng = np.random.default_rng(8)
    directions = [ag.tensor(rng.uniform(0.5, 1, x.shape), dtype=dtype) for x in arrays]
    call = with_scale(row, scale)
    y = call(*xs)
    weights = ag.tensor(rng.uniform(0.5, 1, y.shape), dtype=dtype)
    plain = ag.autograd.grad(y, xs, weights, retain_graph=True)
    grads = ag.autograd.grad(y, xs, weights, create_graph=True)
    second = ag.autograd.grad(grads, xs, directions)
    tangent = ag.func.jvp(call, tuple(xs), tuple(directions))[1]
    return [(0, [y]), (1, plain), (1, grads), (1, [tangent]), (2, second)]


def takes_scale(row):
    return "scale" in inspect.signature(row.function).parameters


def with_scale(row, scale):
    return lambda *xs: row.function(*xs, *([scale] if takes_scale(row) else []))


@pytest.mark.parametrize(("dtype", "exponent"), SCALES)
@pytest.mark.parametrize("name", ROWS)
def test_scales_multiply_results_and_derivatives(name, dtype, exponent):
    base = 0
    if name in LARGE_ONLY:
        base, exponent = 40, abs(exponent)
    row, rounding, info = ROWS[name], 4e-6 if dtype == "float32" else 1e-14, np.finfo(dtype)
    arrays = [x.astype(dtype).astype("float64") for x in inputs_of(row)]
    expected = results(row, arrays, ag.float64, 2.0**base)
    found = results(row, arrays, getattr(ag, dtype), 2.0**exponent)
    for (order, wanted), (_, got) in zip(expected, found, strict=True):
        power = (exponent - base) * (row.degree - order)
        for w, y in zip(wanted, got, strict=True):
            w, y = w.detach().numpy(), y.detach().numpy().astype("float64")
            if info.minexp + info.nmant < power < info.maxexp - 8:
                error = np.abs(np.ldexp(y, -power) - w).max()
                size = max(np.abs(w).max(), 1e-2 * 2.0 ** (base * (row.degree - order)))
                assert error <= rounding * size, (order, np.ldexp(y, -power), w)


NORMALIZATIONS = {
    "layer_norm": lambda x, eps: F.layer_norm(x, (4,), eps=eps),
    "batch_norm": lambda x, eps: F.batch_norm(x, None, None, training=True, eps=eps),
    "group_norm": lambda x, eps: F.group_norm(x, 2, eps=eps),
    "rms_norm": lambda x, eps: F.rms_norm(x, (4,), eps=eps),
}


@pytest.mark.parametrize("name", NORMALIZATIONS)
@pytest.mark.parametrize(("dtype", "exponent"), [("float32", 60), ("float32", -60), ("float64", 500), ("float64", -500)])
def test_normalizations_of_scaled_numbers_with_a_scaled_eps(name, dtype, exponent):
    x, scale = inputs_of(Scaled(None, 0, ((2, 4),)))[0].astype(dtype), 2.0**exponent

    def derivatives(scale, kind):
        a = ag.tensor(x * scale, dtype=kind, requires_grad=True)
        y = NORMALIZATIONS[name](a, 0.5 * scale**2)
        (g,) = ag.autograd.grad(y[0, 0], a, create_graph=True)
        (tangent,) = ag.autograd.grad(g[0, 1] * scale, a)
        return y.detach().numpy(), g.detach().numpy() * scale, tangent.numpy() * scale

    for wanted, found in zip(derivatives(1.0, ag.float64), derivatives(scale, getattr(ag, dtype)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6 if dtype == "float32" else 1e-14)


@pytest.mark.parametrize("name", NORMALIZATIONS)
def test_normalizations_of_zeros_beside_large_numbers(name):
    """The zeros have a variance of eps alone: a scale near the large numbers would lose it."""
    x = ag.zeros(4, 4, requires_grad=True)
    large = ag.full((4, 4), 2.0**100)
    both = ag.cat([x, large], 1 if name == "batch_norm" else 0)
    y = NORMALIZATIONS[name](both, 2.0**-10)[:4, :4]
    assert y.tolist() == [[0.0] * 4] * 4
    (g,) = ag.autograd.grad(y[0, 0], x, create_graph=True)
    expected = NORMALIZATIONS[name](x, 2.0**-10)
    (alone,) = ag.autograd.grad(expected[0, 0], x)
    ag.testing.assert_close(g, alone)
    (third,) = ag.autograd.grad((g * g).sum(), x)
    assert third.isfinite().all()


def test_pooling_of_planes_of_all_sizes_by_the_norm():
    """Beside planes of large and small numbers: one of zeros, one of ordinary numbers."""
    scales = 2.0 ** np.float32([100, -100, 0, 1]) * [1, 1, 0, 1]
    x = ag.tensor(np.float32([3, 4])[None, None] * np.float32(scales)[:, None, None])
    assert F.lp_pool1d(x, 2, 2).flatten().tolist() == (5 * scales).tolist()
    assert F.lp_pool1d(ag.tensor([[[np.inf, 1.0]]]), 2, 2).item() == np.inf


def test_neighbours_of_large_channels():
    """Each element is divided by what its own neighbours say."""
    x = ag.tensor([[[1.0], [2.0], [0.0], [2.0**100]]])
    y = F.local_response_norm(x, 3, alpha=3.0, beta=0.5, k=4.0).flatten().tolist()
    assert y == pytest.approx([1 / 3, 2 / 3, 0, 1])


def test_the_running_variance_of_large_numbers():
    x = ag.tensor([[-1.0], [1.0]]) * 2.0**63.5
    mean, var = ag.zeros(1), ag.zeros(1)
    F.batch_norm(x, mean, var, training=True, momentum=0.25)
    assert (mean.item(), var.item()) == (0, pytest.approx(2.0**126))


@pytest.mark.parametrize(("dtype", "exponent"), SCALES[::2])
def test_gaussian_nll_loss_of_a_scaled_error_and_its_variance(dtype, exponent):
    rng, info = np.random.default_rng(9), np.finfo(dtype)
    arrays = [x.astype(dtype).astype("float64") for x in rng.uniform(0.5, 2, (2, 5))]

    def derivatives(kind, scale):
        x, v = (ag.tensor(x * scale, dtype=kind, requires_grad=True) for x in arrays)
        y = F.gaussian_nll_loss(x, ag.zeros_like(x.detach()), v, eps=0.0, reduction="sum")
        y = y - v.log().sum() / 2
        first = ag.autograd.grad(y, (x, v), create_graph=True)
        return [y, *first, *ag.autograd.grad(first[0].sum(), (x, v))]

    for degree, wanted, got in zip((1, 0, 0, -1, -1), derivatives(ag.float64, 1.0),
                                   derivatives(getattr(ag, dtype), 2.0**exponent), strict=True):
        w, power = wanted.detach().numpy(), exponent * degree
        if info.minexp + info.nmant < power < info.maxexp - 8:
            found = np.ldexp(got.detach().numpy().astype("float64"), -power)
            np.testing.assert_allclose(found, w, rtol=1e-4 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if not takes_scale(row)])
@pytest.mark.parametrize("order", [(0, 90, -90), (90, 0, -90), (-90, 90, 0)])
def test_samples_of_different_scales(name, order):
    """The scale of one sample doesn't decide how another is computed: vmap gives what each sample gives by itself."""
    row, rng = ROWS[name], np.random.default_rng(3)
    points = [rng.uniform(0.5, 2, (3, *sizes)) for sizes in row.sizes]
    scales = np.ldexp(1.0, order)
    xs = [ag.tensor((x * scales.reshape(3, *[1] * (x.ndim - 1))).astype(np.float32)) for x in points]
    seed = ag.tensor(rng.uniform(0.5, 2, row.function(*[x[0] for x in xs]).shape).astype(np.float32))
    argnums = tuple(range(len(xs)))

    def total(*sample):
        return (row.function(*sample) * seed).sum()

    for derivative in (row.function, ag.func.grad(total, argnums)):
        wanted = [derivative(*sample) for sample in zip(*xs, strict=True)]
        found = ag.func.vmap(derivative)(*xs)
        for k, one in enumerate(wanted):
            for w, f in zip(flat(one), [y[k] for y in flat(found)], strict=True):
                np.testing.assert_allclose(f.numpy(), w.numpy(), rtol=2e-5, atol=1e-45, err_msg=f"sample {k}")


@pytest.mark.parametrize(("dtype", "exponent"), SCALES)
@pytest.mark.parametrize("mode", ["use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"])
def test_distances_of_rows_of_all_sizes_and_of_equal_ones(mode, dtype, exponent):
    a = ag.tensor([[1.0, 2.0], [0.0, 0.0], [3.0, -1.0]], dtype=getattr(ag, dtype)) * 2.0**exponent
    y = ag.cdist(a, a, compute_mode=mode) * 2.0**-exponent
    wanted = np.sqrt([[0, 5, 13], [5, 0, 10], [13, 10, 0]])
    np.testing.assert_allclose(y.numpy(), wanted, rtol=1e-6)


def test_distances_of_infinity_and_nan_and_beyond_the_largest_number():
    a = ag.tensor([[np.inf, 0.0], [np.nan, 0.0], [3e38, 0.0]])
    y = ag.cdist(a, ag.tensor([[0.0, 0.0], [-3e38, 0.0]])).numpy()
    np.testing.assert_array_equal(y, np.float32([[np.inf, np.inf], [np.nan, np.nan], [3e38, np.inf]]))
    assert np.isnan(ag.cdist(a[:1], a[:1]).item())
    half = ag.tensor([[300.0, 400.0]], dtype=ag.float16)
    assert ag.cdist(half, half * 0).item() == 500


def test_deviations_of_infinity_nan_and_equal_elements():
    assert np.isnan(ag.std(ag.tensor([1.0, np.inf])).item())
    assert np.isnan(ag.std(ag.tensor([1.0, np.nan])).item())
    x = ag.full((3,), 1e-30, requires_grad=True)
    y = ag.std(x)
    y.backward()
    assert y.item() == 0
    assert x.grad.tolist() == [0, 0, 0]


def test_large_rows_of_tables_are_shortened():
    table = ag.tensor([[3e30, 4e30], [3e29, 4e29]])
    ag.embedding_renorm_(table, ag.tensor([0, 1]), 1e30, 2.0)
    np.testing.assert_allclose(table.numpy() / np.float32(1e30), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
