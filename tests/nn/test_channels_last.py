"""Functions of nn keep the memory format of their input, forward and backward, and compute the same in it."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import autograd_cy as ag
import autograd_cy.nn.functional as F

FORMATS = {4: ag.channels_last, 5: ag.channels_last_3d}


def numbers(*sizes, seed=0, dtype=ag.float64):
    return ag.from_numpy(np.random.default_rng(seed).standard_normal(sizes)).to(dtype)


def beside(x, *sizes, seed=1):
    """Numbers of the same type."""
    return numbers(*sizes, seed=seed, dtype=x.dtype)


def named(name):
    """The function for planes or for volumes, by the rank of the input."""
    return lambda x, *args, **kwargs: getattr(F, f"{name}{x.ndim - 2}d")(x, *args, **kwargs)


def convolved(x, filters=6, kernel=3, groups=1, **more):
    weight = beside(x, filters, x.shape[1] // groups, *(kernel,) * (x.ndim - 2))
    return named("conv")(x, weight, beside(x, filters), groups=groups, **more)


def transposed(x, filters=3, groups=1, **more):
    weight = beside(x, x.shape[1], filters, *(3,) * (x.ndim - 2))
    return named("conv_transpose")(x, weight, beside(x, filters * groups), groups=groups, **more)


def of_a_weight(x, kernel=3):
    """The weight has channels last, the input whatever it has."""
    return named("conv")(x, in_last(beside(x, 6, x.shape[1], *(kernel,) * (x.ndim - 2))), padding=1)


def normalized(x, training):
    mean, var, weight, bias = [beside(x, x.shape[1], seed=k) for k in range(4)]
    return F.batch_norm(x, mean, var.abs() + 1, weight, bias, training)


def grouped(x, groups):
    return F.group_norm(x, groups, beside(x, x.shape[1]), beside(x, x.shape[1], seed=2))


def unpooled(x):
    values, places = named("max_pool")(x, 2, return_indices=True)
    return named("max_unpool")(values, places, 2, output_size=x.shape[2:])


def padded(x, *pads, **more):
    return F.pad(x, pads * (x.ndim - 2), **more)


INPUT, COMING, NONE = "as the input", "as the gradient that comes", "contiguous"
BOTH, PLANES, VOLUMES = (4, 5), (4,), (5,)

# PyTorch 2.13's: a call, the ranks of inputs, the format of its result, and that of the gradient (None: it depends)
ROWS = {
    "max_pool": (lambda x: named("max_pool")(x, 2), BOTH, INPUT, INPUT),
    "max_pool, overlapping": (lambda x: named("max_pool")(x, 3, 1, 1), BOTH, INPUT, INPUT),
    "max_pool, dilated": (lambda x: named("max_pool")(x, 2, 1, 1, 2), BOTH, INPUT, INPUT),
    "avg_pool": (lambda x: named("avg_pool")(x, 2), PLANES, INPUT, INPUT),
    "avg_pool, padded": (lambda x: named("avg_pool")(x, 3, 1, 1, False, False), PLANES, INPUT, INPUT),
    "avg_pool of volumes": (lambda x: named("avg_pool")(x, 2), VOLUMES, NONE, NONE),
    "adaptive_avg_pool": (lambda x: named("adaptive_avg_pool")(x, 4), PLANES, INPUT, INPUT),
    "adaptive_avg_pool to one": (lambda x: named("adaptive_avg_pool")(x, 1), BOTH, INPUT, None),
    "adaptive_avg_pool of volumes": (lambda x: named("adaptive_avg_pool")(x, 4), VOLUMES, NONE, NONE),
    "adaptive_max_pool": (lambda x: named("adaptive_max_pool")(x, 4), PLANES, INPUT, INPUT),
    "adaptive_max_pool of volumes": (lambda x: named("adaptive_max_pool")(x, 4), VOLUMES, NONE, NONE),
    "lp_pool": (lambda x: named("lp_pool")(x, 2, 2), PLANES, INPUT, INPUT),
    "max_unpool": (unpooled, PLANES, INPUT, INPUT),
    "max_unpool of volumes": (unpooled, VOLUMES, NONE, INPUT),
    "conv": (convolved, BOTH, INPUT, INPUT),
    "conv, padded": (lambda x: convolved(x, padding=1), BOTH, INPUT, INPUT),
    "conv, strided": (lambda x: convolved(x, 5, stride=2, padding=1), BOTH, INPUT, INPUT),
    "conv, dilated": (lambda x: convolved(x, 5, dilation=2), BOTH, INPUT, INPUT),
    "conv, pointwise": (lambda x: convolved(x, kernel=1), BOTH, INPUT, INPUT),
    "conv, depthwise": (lambda x: convolved(x, x.shape[1], groups=x.shape[1]), BOTH, INPUT, INPUT),
    "conv, depthwise, strided": (
        lambda x: convolved(x, 2 * x.shape[1], groups=x.shape[1], stride=2, padding=1),
        BOTH,
        INPUT,
        INPUT,
    ),
    "conv, two channels to a filter": (lambda x: convolved(x, x.shape[1] // 2, groups=x.shape[1] // 2), BOTH, INPUT, INPUT),
    "conv, in groups": (lambda x: convolved(x, groups=2, padding=1), BOTH, INPUT, INPUT),
    "conv, as large as the image": (lambda x: convolved(x, kernel=x.shape[-1]), BOTH, INPUT, INPUT),
    "conv_transpose": (lambda x: transposed(x, stride=2, padding=1, output_padding=1), BOTH, INPUT, INPUT),
    "conv_transpose, in groups": (lambda x: transposed(x, groups=2), BOTH, INPUT, INPUT),
    "conv_transpose, depthwise": (lambda x: transposed(x, 1, groups=x.shape[1], stride=2, padding=1), BOTH, INPUT, INPUT),
    "batch_norm": (lambda x: normalized(x, True), BOTH, INPUT, INPUT),
    "batch_norm, evaluating": (lambda x: normalized(x, False), BOTH, INPUT, INPUT),
    "group_norm": (lambda x: grouped(x, 2), BOTH, INPUT, INPUT),
    "instance_norm": (F.instance_norm, BOTH, NONE, NONE),
    "relu": (F.relu, BOTH, INPUT, None),
    "softmax": (lambda x: F.softmax(x, 1), BOTH, NONE, NONE),
    "prelu": (lambda x: F.prelu(x, beside(x, x.shape[1])), BOTH, INPUT, None),
    "nearest": (lambda x: F.interpolate(x, scale_factor=2), PLANES, INPUT, COMING),
    "nearest, of volumes": (lambda x: F.interpolate(x, scale_factor=2), VOLUMES, INPUT, NONE),
    "bilinear": (lambda x: F.interpolate(x, size=(7, 3), mode="bilinear"), PLANES, INPUT, COMING),
    "bilinear, smooth": (lambda x: F.interpolate(x, (3, 7), mode="bilinear", antialias=True), PLANES, INPUT, COMING),
    "trilinear": (lambda x: F.interpolate(x, size=(7, 3, 2), mode="trilinear"), VOLUMES, INPUT, COMING),
    "bicubic": (lambda x: F.interpolate(x, size=(7, 3), mode="bicubic"), PLANES, INPUT, NONE),
    "area": (lambda x: F.interpolate(x, size=(2, 3), mode="area"), PLANES, INPUT, INPUT),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(ag.cat([x, x], 1), 2), PLANES, INPUT, COMING),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), PLANES, INPUT, COMING),
    "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), BOTH, INPUT, COMING),
    "pad": (lambda x: padded(x, 1, 2), BOTH, INPUT, COMING),
    "pad, reflect": (lambda x: padded(x, 1, 2, mode="reflect"), BOTH, INPUT, INPUT),
    "pad, replicate": (lambda x: padded(x, 1, -2, mode="replicate"), BOTH, INPUT, INPUT),
    "pad, reflect, one volume": (lambda x: F.pad(x, (1, 2) * 3, mode="reflect"), PLANES, INPUT, INPUT),
    "pad, circular": (lambda x: padded(x, 1, 2, mode="circular"), BOTH, NONE, None),
    "cat": (lambda x: ag.cat([x, x], 1), BOTH, INPUT, None),
    "cat with C order": (lambda x: ag.cat([x, beside(x, *x.shape)], 1), BOTH, NONE, None),
}
CASES = [(name, rank) for name, row in ROWS.items() for rank in row[1]]


def in_last(x):
    return x.detach().contiguous(memory_format=FORMATS[x.ndim])


def with_gaps(x):
    """Channels last, some of a larger tensor's."""
    return in_last(ag.cat([x, x], 1))[:, : x.shape[1]]


def format_of(x):
    return FORMATS[x.ndim] if x.is_contiguous(memory_format=FORMATS[x.ndim]) else ag.contiguous_format


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("layout", [in_last, with_gaps])
@pytest.mark.parametrize("name, rank", CASES)
def test_formats(name, rank, layout, create_graph):
    call, _, wanted, of_gradient = ROWS[name]
    x = layout(numbers(2, 4, *(6,) * (rank - 2))).requires_grad_()
    y = call(x)
    assert format_of(y) is (FORMATS[rank] if wanted is INPUT else ag.contiguous_format)
    for coming in (ag.contiguous_format, FORMATS[rank]):
        g = numbers(*y.shape, seed=5).contiguous(memory_format=coming)
        (found,) = ag.autograd.grad(y, x, g, retain_graph=True, create_graph=create_graph)
        if of_gradient is not None and not (create_graph and of_gradient is NONE):
            assert format_of(found) is {INPUT: FORMATS[rank], COMING: coming, NONE: ag.contiguous_format}[of_gradient]


@pytest.mark.parametrize("name, rank", CASES)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_values(name, rank, dtype):
    """Results and gradients are those of a contiguous input, in all combinations of formats."""
    call, plain = ROWS[name][0], numbers(2, 4, *(6,) * (rank - 2), dtype=dtype)
    results = []
    for x in (plain, in_last(plain), with_gaps(plain)):
        x = x.detach().requires_grad_()
        y = call(x)
        g = numbers(*y.shape, seed=5, dtype=dtype)
        results += [(y, *ag.autograd.grad(y, x, coming, retain_graph=True)) for coming in (g, in_last(g))]
    tolerance = 1e-4 if dtype is ag.float32 else 1e-12
    for found in results[1:]:
        for one, other in zip(found, results[0], strict=True):
            np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode, rank", [("nearest", 4), ("nearest", 5), ("bilinear", 4), ("bicubic", 4)])
@pytest.mark.parametrize("layout", [in_last, with_gaps])
def test_interpolated_bytes_keep_channels_last(mode, rank, layout):
    x = (numbers(2, 4, *(6,) * (rank - 2)) * 40 + 120).to(ag.uint8)
    y = F.interpolate(layout(x), (9,) * (rank - 2), mode=mode)
    assert format_of(y) is FORMATS[rank] and y.equal(F.interpolate(x, (9,) * (rank - 2), mode=mode))
    assert format_of(F.interpolate(x, (9,) * (rank - 2), mode=mode)) is ag.contiguous_format


@pytest.mark.parametrize("rank", [4, 5])
@pytest.mark.parametrize("of", ["input", "weight", "both"])
def test_a_convolution_has_channels_last_if_an_operand_has(rank, of):
    x, w = numbers(2, 4, *(5,) * (rank - 2)), numbers(6, 4, *(3,) * (rank - 2))
    x, w = [in_last(t) if of in (name, "both") else t for name, t in (("input", x), ("weight", w))]
    x.requires_grad_()
    w.requires_grad_()
    y = named("conv")(x, w)
    for t in (y, *ag.autograd.grad(y.sum(), (x, w), retain_graph=True), *ag.autograd.grad(y.sum(), (x, w), create_graph=True)):
        assert format_of(t) is FORMATS[rank]


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("model_is_last", [False, True])
@pytest.mark.parametrize("input_is_last", [False, True])
def test_grad_is_laid_out_as_its_parameter(model_is_last, input_is_last, create_graph):
    model = ag.nn.Sequential(ag.nn.Conv2d(4, 6, 3, padding=1), ag.nn.BatchNorm2d(6), ag.nn.ReLU(), ag.nn.MaxPool2d(2),
                             ag.nn.ConvTranspose2d(6, 4, 3, stride=2))  # fmt: skip
    model = model.to(memory_format=ag.channels_last) if model_is_last else model
    x = numbers(2, 4, 6, 6, dtype=ag.float32)
    x = (in_last(x) if input_is_last else x).requires_grad_()
    for _ in range(2):
        model(x).sum().backward(create_graph=create_graph)
        assert x.grad.stride() == x.stride()
        assert all(p.grad.stride() == p.stride() for p in model.parameters())
    for p in (x, *model.parameters()):
        p.grad = None


# what suggests a format


SUGGESTED = [
    ((2, 3, 4, 5), (60, 20, 5, 1), False),
    ((2, 3, 4, 5), (60, 1, 15, 3), True),
    ((2, 3, 1, 1), (3, 1, 1, 1), False),
    ((2, 3, 1, 1), (3, 1, 3, 3), True),
    ((2, 1, 4, 5), (20, 20, 5, 1), False),
    ((2, 1, 4, 5), (20, 1, 5, 1), True),
    ((2, 1, 1, 1), (1, 1, 1, 1), False),
    ((1, 3, 1, 5), (15, 1, 15, 3), True),
    ((1, 1, 4, 1), (4, 1, 1, 1), True),
    ((2, 3, 4, 5), (240, 1, 60, 12), True),
    ((2, 3, 4, 5), (60, 1, 3, 12), False),
    ((0, 3, 4, 5), (60, 1, 15, 3), False),
    ((2, 3, 4, 5), (0, 0, 0, 0), False),
    ((2, 3, 4), (12, 1, 3), False),
    ((2, 3, 2, 4, 5), (120, 1, 60, 15, 3), True),
    ((2, 3, 1, 1, 1), (3, 1, 3, 3, 3), True),
]


@pytest.mark.parametrize("sizes, strides, last", SUGGESTED)
def test_suggested_formats(sizes, strides, last):
    """cat() of one tensor has the format that this one suggests: PyTorch 2.13's."""
    x = ag.as_strided(ag.zeros(1000), sizes, strides)
    wanted = FORMATS[len(sizes)] if last else ag.contiguous_format
    assert ag.cat([x]).stride() == ag.empty(sizes, memory_format=wanted).stride()


# functions that take a format


def test_to_returns_what_suggests_the_format():
    gaps = with_gaps(numbers(2, 4, 3, 3))
    assert gaps.to(memory_format=ag.channels_last) is gaps
    assert gaps.contiguous(memory_format=ag.channels_last).stride() == (36, 1, 12, 4)
    turned = numbers(2, 4, 3, 3).transpose(2, 3)
    assert turned.to(memory_format=ag.contiguous_format) is turned
    x = numbers(2, 1, 3, 3)
    assert x.contiguous(memory_format=ag.channels_last) is x
    assert x.to(memory_format=ag.channels_last).stride() == (9, 1, 3, 1)


def test_resize_takes_a_format():
    x = ag.arange(24.0)
    assert x.resize_(1, 2, 3, 4, memory_format=ag.channels_last) is x
    assert x.stride() == (24, 1, 8, 2) and x[0, :, 0, 0].tolist() == [0.0, 1.0]
    assert x.resize_(1, 2, 3, 4).stride() == (24, 1, 8, 2)
    assert x.resize_(1, 2, 3, 4, memory_format=ag.contiguous_format).stride() == (24, 12, 4, 1)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        x.resize_(4, 6, memory_format=ag.channels_last)
    with pytest.raises(RuntimeError, match="nsupported memory format Preserve"):
        x.resize_(24, memory_format=ag.preserve_format)
    assert x.shape == (1, 2, 3, 4)
    last = in_last(numbers(2, 3, 4, 5))
    assert ag.empty(0).resize_as_(last).is_contiguous()
    assert ag.empty(0).resize_as_(last, memory_format=ag.preserve_format).stride() == last.stride()


def test_empty_knows_no_format_to_preserve():
    with pytest.raises(RuntimeError, match="unsupported memory format Preserve"):
        ag.empty(2, memory_format=ag.preserve_format)


@pytest.mark.parametrize("rank", [4, 5])
def test_pickles_keep_strides(rank):
    for x in (in_last(numbers(2, 3, *(4,) * (rank - 2))), in_last(numbers(2, 3, *(1,) * (rank - 2)))):
        assert pickle.loads(pickle.dumps(x)).stride() == x.stride()


# sizes on both sides of what is shared, sliced and divided into blocks


LARGER = [(2, 4, 3, 3), (3, 16, 3, 11), (3, 16, 17, 19), (1, 48, 33, 18), (2, 130, 12, 12), (40, 2, 16, 16), (2, 300, 5, 5),
          (2, 950, 4, 4), (12, 4, 40, 41)]  # fmt: skip
SHARED = ["conv, padded", "conv, strided", "conv, pointwise", "conv, in groups", "conv, depthwise", "conv_transpose",
          "batch_norm", "batch_norm, evaluating", "max_pool, overlapping", "avg_pool, padded", "adaptive_max_pool",
          "pad, reflect", "bilinear"]  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
@pytest.mark.parametrize("sizes", LARGER)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_of_larger_sizes(name, sizes, dtype, threads):
    """Results and gradients, also those of parameters, are those of contiguous tensors, whatever the number of threads."""
    plain, results = numbers(*sizes, dtype=dtype), []
    for x, count in ((plain, 1), (in_last(plain), 1), (in_last(plain), 2)):
        threads(count)
        x = x.detach().requires_grad_()
        y = ROWS[name][0](x)
        g = numbers(*y.shape, seed=5, dtype=dtype)
        results.append([y, *ag.autograd.grad(y, x, g if x.is_contiguous() else in_last(g))])
    tolerance = 2e-4 if dtype is ag.float32 else 1e-11
    for one, other, shared in zip(*results, strict=True):
        np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=tolerance, atol=tolerance)
        assert ag.equal(other, shared)


@pytest.mark.parametrize("channels, filters", [
    (1, 1), (2, 1), (2, 2), (3, 1), (4, 1), (5, 1), (4, 4), (4, 5), (5, 4), (2, 16), (3, 3), (4, 16), (4, 17), (5, 8), (5, 9),
    (8, 16), (8, 17), (9, 8), (9, 9), (16, 17), (64, 8), (33, 32), (48, 40), (40, 96), (130, 33)])  # fmt: skip
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("kernel, stride", [(3, 1), (3, 3), (1, 1)])
def test_few_channels_and_filters(channels, filters, groups, kernel, stride, threads):
    """On both sides of what is computed in C order: all results have channels last."""
    plain, weight = numbers(2, groups * channels, 9, 10), numbers(groups * filters, channels, kernel, kernel)
    results = []
    for last, count in ((False, 1), (True, 1), (True, 2)):
        threads(count)
        x, w = [(in_last(t) if last else t.clone()).requires_grad_() for t in (plain, weight)]
        y = F.conv2d(x, w, None, stride, padding=1, groups=groups)
        g = numbers(*y.shape, seed=5)
        results.append([y, *ag.autograd.grad(y, (x, w), in_last(g) if last else g)])
        assert not last or all(t.is_contiguous(memory_format=ag.channels_last) for t in results[-1])
    for one, other, shared in zip(*results, strict=True):
        np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=1e-11, atol=1e-11)
        assert ag.equal(other, shared)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 63, 64, 65, 80, 145])
@pytest.mark.parametrize(
    "name",
    [
        "max_pool, overlapping",
        "max_pool, dilated",
        "avg_pool",
        "avg_pool, padded",
        "adaptive_avg_pool",
        "adaptive_max_pool",
        "bilinear",
    ],
)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_planes_of_any_number_of_channels(channels, name, dtype, threads):
    plain, results = numbers(3, channels, 7, 19, dtype=dtype), []
    for last, count in ((False, 1), (True, 1), (True, 2)):
        threads(count)
        x = (in_last(plain) if last else plain.clone()).requires_grad_()
        y = ROWS[name][0](x)
        g = numbers(*y.shape, seed=5, dtype=dtype)
        results.append([y, *ag.autograd.grad(y, x, in_last(g) if last else g)])
        assert not last or all(format_of(t) is ag.channels_last for t in results[-1])
    tolerance = 1e-5 if dtype is ag.float32 else 1e-12
    for one, other, shared in zip(*results, strict=True):
        np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=tolerance, atol=tolerance)
        assert ag.equal(other, shared)


def check_batch_norm(plain, training, threads):
    """With channels last: what it gives otherwise, and the same bits with any number of threads."""
    results = []
    for last, count in ((False, 1), (True, 1), (True, 2)):
        threads(count)
        x = (in_last(plain) if last else plain.clone()).requires_grad_()
        w, b = [beside(x, x.shape[1], seed=k).requires_grad_() for k in (1, 2)]
        y = F.batch_norm(x, beside(x, x.shape[1]), beside(x, x.shape[1]).abs() + 1, w, b, training)
        g = numbers(*y.shape, seed=5, dtype=plain.dtype)
        found = ag.autograd.grad(y, (x, w, b), in_last(g) if last else g, retain_graph=True)
        (written_over,) = ag.autograd.grad(y * 1, x, in_last(g) if last else g)
        assert ag.equal(written_over, found[0])
        results.append([y, *found])
    tolerance = 1e-4 if plain.dtype is ag.float32 else 1e-11
    for one, other, shared in zip(*results, strict=True):
        scale = max(one.abs().max().item(), 1)
        np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=0, atol=tolerance * scale)
        assert ag.equal(other, shared)


@pytest.mark.parametrize("channels", [1, 3, 5, 17, 24, 63, 64, 65, 100, 128, 129, 256, 257, 320, 1023, 1024, 1025])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_batch_norm_of_any_number_of_channels(channels, training, dtype, threads):
    check_batch_norm(numbers(3, channels, 7, 59, dtype=dtype) + 2, training, threads)


@pytest.mark.parametrize("channels", [3, 16, 33, 127, 300, 1028])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_batch_norm_of_arrays_larger_than_the_caches(channels, training, dtype, threads):
    """Results are stored past the caches if their rows start at multiples of 16 bytes."""
    pixels = (6 << 20) // (channels * ag.finfo(dtype).bits // 8)
    for height in (pixels // 59, pixels // 59 + 1):
        check_batch_norm(numbers(1, channels, height, 59, dtype=dtype) + 2, training, threads)


@pytest.mark.parametrize("scale", [2.0**-100, 2.0**100])
@pytest.mark.parametrize("rows", [2, 60])
def test_gradients_of_batch_norm_of_small_and_large_numbers(rows, scale):
    """A slope times its scale would be 2^200."""
    plain = numbers(3, 17, rows, 7, dtype=ag.float32)
    g = in_last(numbers(*plain.shape, seed=5, dtype=ag.float32))
    found = []
    for factor in (1.0, scale):
        x = in_last(plain * factor).requires_grad_()
        found.append(ag.autograd.grad(F.batch_norm(x, None, None, training=True, eps=0.0), x, g)[0] * factor)
    np.testing.assert_allclose(found[1].numpy(), found[0].numpy(), rtol=1e-4, atol=1e-4 * found[0].abs().max().item())


@pytest.mark.parametrize("sizes", LARGER)
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("settings", [{"padding": 1}, {"stride": 2, "padding": 2}, {"dilation": 2, "padding": (3, 1)}])
def test_gradients_of_weights(sizes, groups, settings, threads):
    plain, weight, bias = numbers(*sizes), numbers(6, sizes[1] // groups, 3, 2), numbers(6)
    results = []
    for last, count in ((False, 1), (True, 1), (True, 2)):
        threads(count)
        x, k = [in_last(t) if last else t for t in (plain, weight)]
        b = bias.clone().requires_grad_()
        x, k = x.detach().requires_grad_(), k.detach().requires_grad_()
        y = F.conv2d(x, k, b, groups=groups, **settings)
        g = numbers(*y.shape, seed=5)
        results.append([y, *ag.autograd.grad(y, (x, k, b), in_last(g) if last else g)])
    for one, other, shared in zip(*results, strict=True):
        np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=1e-11, atol=1e-11)
        assert ag.equal(other, shared)


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("channels", [63, 65])
@pytest.mark.parametrize("filters", [63, 65])
@pytest.mark.parametrize("kernel", [1, 3])
def test_gradients_of_few_places(kernel, filters, channels, groups, dtype, threads):
    """On both sides of 64 places: results and all gradients."""
    plain, weight = numbers(1, groups * channels, 8, 8, dtype=dtype), numbers(groups * filters, channels, kernel, kernel)
    results = []
    for last, count in ((False, 1), (True, 1), (True, 2)):
        threads(count)
        x, w = [(in_last(t) if last else t.clone()).requires_grad_() for t in (plain, weight.to(dtype))]
        y = F.conv2d(x, w, groups=groups, padding=kernel // 2)
        g = numbers(*y.shape, seed=5, dtype=dtype)
        results.append([y, *ag.autograd.grad(y, (x, w), in_last(g) if last else g)])
        assert not last or all(format_of(t) is ag.channels_last for t in results[-1])
    tolerance = 1e-5 if dtype is ag.float32 else 1e-13
    for one, other, shared in zip(*results, strict=True):
        scale = one.abs().max().item()
        np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=0, atol=tolerance * scale)
        assert ag.equal(other, shared)


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("filters", [31, 33, 80])
def test_fewer_places_than_filters(filters, groups, dtype, threads):
    plain, weight = numbers(2, groups * 5, 6, 6, dtype=dtype), numbers(groups * filters, 5, 3, 3, dtype=dtype)
    results = []
    for last, count in ((False, 1), (True, 1), (True, 2)):
        threads(count)
        x, w = [in_last(t) if last else t for t in (plain, weight)]
        results.append([F.conv2d(x, w, bias, groups=groups) for bias in (None, beside(x, groups * filters))])
    for one, other, shared in zip(*results, strict=True):
        np.testing.assert_allclose(other.numpy(), one.numpy(), rtol=1e-4, atol=1e-4 if dtype is ag.float32 else 1e-11)
        assert ag.equal(other, shared) and format_of(other) is ag.channels_last


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.int64, ag.int32, ag.float16, ag.bool, ag.complex64])
@pytest.mark.parametrize("sizes", [(2, 3, 33, 32), (1, 2, 41, 25), (1, 4, 33, 32), (1, 1, 7, 9), (2, 4, 5, 7), (3, 5, 16, 16),
                                   (2, 16, 4, 4), (2, 17, 9, 11), (1, 48, 10, 16), (2, 3, 1, 1), (0, 3, 2, 2), (2, 5, 4, 3, 2),
                                   (1, 3, 33, 1, 40)])  # fmt: skip
def test_copies_between_formats(sizes, dtype, threads):
    plain = (numbers(*sizes) * 100).to(dtype)
    for count in (1, 2):
        threads(count)
        last = plain.clone(memory_format=FORMATS[len(sizes)])
        assert last.stride() == ag.empty(sizes, memory_format=FORMATS[len(sizes)]).stride()
        assert ag.equal(last, plain)
        assert ag.equal(last.contiguous(), plain) and last.contiguous().is_contiguous()


# channels and filters of each
SMALL_GROUPS = [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1), (2, 2), (3, 3), (4, 4), (4, 8), (5, 4), (8, 2), (9, 2), (2, 9)]
LARGER_GROUPS = [(5, 8), (8, 1), (8, 7), (9, 1), (9, 7), (12, 3), (16, 2), (16, 4), (17, 4)]


@pytest.mark.parametrize("groups", [1, 3, 8, 16, 17, 33, 64])
@pytest.mark.parametrize(
    "settings",
    [{"padding": 1}, {"stride": 2, "padding": (2, 1)}, {"stride": (1, 3)}, {"dilation": (1, 2), "padding": (0, 3)}],
)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_groups_of_few_channels(groups, settings, dtype, threads):
    """Results and all gradients are those of contiguous tensors, whatever the number of threads."""
    check_groups(groups, settings, dtype, threads)


@pytest.mark.parametrize("groups", [2, 4, 8])
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_groups_of_few_channels_with_other_vectors(groups, dtype, level, threads):
    check_groups(groups, {"padding": 1}, dtype, threads, SMALL_GROUPS + LARGER_GROUPS)
    check_groups(groups, {"padding": 1, "stride": 2}, dtype, threads, LARGER_GROUPS)


def check_groups(groups, settings, dtype, threads, sizes=SMALL_GROUPS):
    tolerance = 1e-4 if dtype is ag.float32 else 1e-11
    for channels, filters in sizes:
        plain, results = numbers(3, groups * channels, 13, 35, dtype=dtype), []
        weight, bias = numbers(groups * filters, channels, 3, 2, dtype=dtype), numbers(groups * filters, dtype=dtype)
        for last, count in ((False, 1), (True, 1), (True, 2)):
            threads(count)
            x, w, b = [t.clone() if t.ndim == 1 or not last else in_last(t) for t in (plain, weight, bias)]
            operands = [t.requires_grad_() for t in (x, w, b)]
            y = F.conv2d(x, w, b, groups=groups, **settings)
            g = numbers(*y.shape, seed=5, dtype=dtype)
            results.append([y, *ag.autograd.grad(y, operands, in_last(g) if last else g)])
        for one, other, shared in zip(*results, strict=True):
            scale = max(one.abs().max().item(), 1)
            np.testing.assert_allclose(other.detach().numpy(), one.detach().numpy(), rtol=0, atol=tolerance * scale)
            assert ag.equal(other, shared)


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
@pytest.mark.parametrize("channels", [1, 3, 17])
def test_infinite_pixels(channels, dtype):
    """Where several pixels make a vector, only the taps that see one are infinite."""
    x = in_last(numbers(1, channels, 9, 9, dtype=dtype))
    x[0, 0, 8, 8] = float("inf")
    w = numbers(channels, 1, 3, 3, dtype=dtype).requires_grad_()
    y = F.conv2d(x, w, groups=channels)
    assert y.isfinite().sum() == y.numel() - 1
    y.sum().backward()
    assert w.grad.isfinite().sum() == w.numel() - 1


@pytest.mark.parametrize("name", ["conv, padded", "batch_norm", "max_pool", "avg_pool", "bilinear", "max_unpool"])
def test_float16_keeps_the_format(name):
    x = in_last(numbers(2, 4, 6, 6, dtype=ag.float16)).requires_grad_()
    y = ROWS[name][0](x)
    assert format_of(y) is ag.channels_last and y.dtype is ag.float16
    (found,) = ag.autograd.grad(y, x, in_last(numbers(*y.shape, dtype=ag.float16)))
    assert format_of(found) is ag.channels_last and found.dtype is ag.float16


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.int64])
@pytest.mark.parametrize("channels", [3, 4, 9, 17, 65])
def test_the_largest_of_nans_and_of_equals(dtype, channels, level):
    """Of equal elements the first counts, of nans the last."""
    plain = ag.zeros(2, channels, 5, 5, dtype=dtype)
    if dtype is not ag.int64:
        plain[0, 1, 1:3, 1:3] = float("nan")
        plain[1, 2] = -float("inf")
    results = [F.max_pool2d(x, 3, 2, 1, return_indices=True) for x in (plain, in_last(plain))]
    for one, other in zip(*results, strict=True):
        assert ag.equal(one.nan_to_num(7), other.nan_to_num(7)) if one.dtype.is_floating_point else ag.equal(one, other)


@pytest.mark.parametrize("dtype", [ag.float32, ag.float64, ag.int64])
@pytest.mark.parametrize("channels", [1, 2, 3, 6])
def test_windows_at_the_end_of_the_array_and_empty_ones(channels, dtype):
    """Few channels are read as a vector of more, but not beyond the array. A window with nothing but padding is empty."""
    plain = (numbers(1, channels, 3, 4) * 100).to(dtype)
    for window in ((1,), (2, 1, 1, 2), ((1, 2), (3, 1))):
        results = [F.max_pool2d(x, *window, return_indices=True) for x in (plain, in_last(plain))]
        for one, other in zip(*results, strict=True):
            assert ag.equal(one, other)


def test_places_that_float32_does_not_count():
    """Beyond 2 ** 24 pixels of an image."""
    x = ag.zeros(1, 1, 4096, 4097)
    x[0, 0, 4095, 4094:4096] = 1.0
    last = x.to(memory_format=ag.channels_last)
    for one, other in zip(*[F.max_pool2d(t, 1024, 1024, return_indices=True) for t in (x, last)], strict=True):
        assert ag.equal(one, other) and format_of(other) is ag.channels_last
    assert other.max().item() == 4095 * 4097 + 4094


# chance


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_of_random_layouts(data):
    """Any sizes, any order of the dimensions, with and without gaps: the values of a contiguous input."""
    name, rank = data.draw(st.sampled_from(CASES))
    sizes = [data.draw(st.integers(1, 3)), data.draw(st.sampled_from([2, 4, 18])),
             *[data.draw(st.integers(5, 8)) for _ in range(rank - 2)]]  # fmt: skip
    if "one volume" in name:
        sizes[1] = 4
    if "unshuffle" in name:
        sizes[2:] = [6, 8]
    if "as large" in name:
        sizes[2:] = [5] * (rank - 2)
    order = data.draw(st.permutations(range(rank)))
    plain = numbers(*sizes)
    x = plain.permute(order).contiguous().permute(list(np.argsort(order)))
    x = with_gaps(plain) if data.draw(st.booleans()) else x
    results = []
    for t in (plain, x):
        t = t.detach().requires_grad_()
        y = ROWS[name][0](t)
        g = numbers(*y.shape, seed=5)
        results.append((y, *ag.autograd.grad(y, t, in_last(g) if data.draw(st.booleans()) else g)))
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("channels", [1, 3])
def test_max_pooling_of_one_volume_keeps_channels_last(channels):
    """Of a volume without a batch, strides were those of C order."""
    batch = ag.arange(channels * 64.0).reshape(1, channels, 4, 4, 4).contiguous(memory_format=ag.channels_last_3d)
    found = ag.nn.functional.max_pool3d(batch[0], 2, return_indices=True)
    wanted = ag.nn.functional.max_pool3d(batch, 2, return_indices=True)
    for y, of_batch in zip(found, wanted, strict=True):
        assert y.tolist() == of_batch[0].tolist()
        assert channels == 1 or y.stride() == (1, 4 * channels, 2 * channels, channels)
