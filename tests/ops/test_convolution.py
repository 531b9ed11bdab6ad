"""Convolutions: what they refuse, sizes on both sides of blocks, threads, what nodes show; random calls against PyTorch."""

import random

import numpy as np
import pytest
from crossings import kernel_threads, thresholds
from op_rows_conv import conv, conv_transpose

import autograd_cy as ag
from autograd_cy._core.kernels.gemm import use_panels

F = ag.nn.functional


def numbers(*sizes, dtype=np.float64):
    return np.random.default_rng(len(sizes) + sum(sizes)).uniform(-1, 1, sizes).astype(dtype)


def ones(*sizes, **options):
    return ag.ones(sizes, **options)


X, W = ones(1, 3, 5, 5), ones(2, 3, 3, 3)
REFUSED = {
    "other channels": (F.conv2d, (ones(1, 4, 5, 5), W), {}, r"Given groups=1, weight of size \[2, 3, 3, 3\], expected "
                       r"input\[1, 4, 5, 5\] to have 3 channels, but got 4 channels instead"),
    "a large kernel": (F.conv2d, (ones(1, 3, 2, 2), W), {}, r"Calculated padded input size per channel: \(2 x 2\). Kernel "
                       r"size: \(3 x 3\). Kernel size can't be greater than actual input size"),
    "few dimensions": (F.conv2d, (ones(3, 5), W), {}, r"Expected 3D \(unbatched\) or 4D \(batched\) input to conv2d, but got "
                       r"input of size: \[3, 5\]"),
    "another bias": (F.conv2d, (X, W, ones(3)), {}, "expected bias to be 1-dimensional with 2 elements"),
    "negative padding": (F.conv2d, (X, W), {"padding": -1}, "negative padding is not supported"),
    "no stride": (F.conv2d, (X, W), {"stride": 0}, "non-positive stride is not supported"),
    "no dilation": (F.conv2d, (X, W), {"dilation": 0}, "dilation should be greater than zero"),
    "no groups": (F.conv2d, (X, W), {"groups": 0}, "non-positive groups is not supported"),
    "three strides": (F.conv2d, (X, W), {"stride": (1, 2, 3)}, "a list of 2 values to match the convolution dimensions"),
    "strides and same": (F.conv2d, (X, W), {"stride": 2, "padding": "same"}, "not supported for strided convolutions"),
    "another word": (F.conv2d, (X, W), {"padding": "some"}, "Invalid padding string: 'some'"),
    "two types": (F.conv2d, (X.double(), W), {}, "expected scalar type Double but found Float"),
    "a large rest": (F.conv_transpose2d, (X, ones(3, 2, 3, 3)), {"output_padding": 1}, "output padding must be smaller than"),
    "nothing left": (F.conv_transpose2d, (X, ones(3, 2, 3, 3)), {"padding": 9}, "Output size is too small"),
    "too much": (F.conv_transpose1d, (ones(1, 1, 9), ones(1, 1, 1)), {"stride": 1 << 60}, "too many elements"),
    "too wide": (F.conv1d, (ones(1, 1, 9), ones(1, 1, 1)), {"padding": 1 << 60}, "too many elements"),
    "an empty kernel": (F.unfold, (X, 0), {}, "kernel size should be greater than zero"),
    "no window": (F.unfold, (ones(1, 1, 2, 2), 3), {}, "its components must be at least one"),
    "other windows": (F.fold, (ones(1, 27, 8), (5, 5), 3), {}, "sliding blocks 3 \\* 3 = 9, but got input.size\\(2\\)=8"),
    "no whole kernels": (F.fold, (ones(1, 26, 9), (5, 5), 3), {}, "to be divisible by the product of kernel_size"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    function, args, kwargs, message = REFUSED[name]
    with pytest.raises(RuntimeError, match=message):
        function(*args, **kwargs)


def test_settings_beyond_numbers():
    with pytest.raises(ValueError, match=r"each stride to be at most 2\*\*60"):
        F.conv1d(ones(1, 1, 3), ones(1, 1, 1), stride=1 << 62)
    with pytest.raises(TypeError, match=r"argument 'stride' .position 4. must be tuple of ints, not float"):
        F.conv1d(ones(1, 1, 3), ones(1, 1, 1), stride=1.5)


@pytest.mark.parametrize("channels", [1, 3])
def test_padding_and_stride_may_be_larger_than_any_memory(channels):
    """Only the second of three places sees the picture; the others see zeros."""
    x = ones(1, channels, 3, requires_grad=True)
    y = F.conv1d(x, ones(2, channels, 3), padding=1 << 50, stride=1 << 50)
    assert y.tolist() == [[[0.0, channels * 3.0, 0.0]] * 2]
    y.sum().backward()
    assert x.grad.tolist() == [[[2.0] * 3] * channels]
    columns = F.unfold(ones(1, 1, 3, 3), 3, padding=1 << 40, stride=1 << 40)
    assert columns.sum().item() == 9 and columns.shape == (1, 9, 9)


# by the definition: the gradients are linear in what they are of

SIZES = {
    "parts of an image": ((1, 2, 130, 70), (3, 2, 3, 3), {}),
    "some images": ((5, 40, 8, 9), (3, 40, 3, 3), {"padding": 1}),
    "many channels": ((2, 130, 20, 14), (2, 130, 2, 3), {"stride": 2}),
    "a tile more": ((2, 17, 4, 5), (33, 17, 2, 2), {"dilation": 2}),
    "1x1": ((3, 9, 7, 5), (6, 9, 1, 1), {}),
    "1x1 of a large image": ((1, 5, 200, 150), (6, 5, 1, 1), {}),
    "one tap of one channel": ((2, 1, 3, 3), (5, 1, 1, 1), {"padding": 200}),
    "groups": ((2, 24, 9, 9), (16, 6, 3, 3), {"groups": 4, "padding": 1}),
    "depthwise": ((2, 5, 9, 33), (5, 1, 3, 3), {"groups": 5, "padding": 1}),
    "depthwise, 2 filters": ((2, 3, 8, 70), (6, 1, 3, 2), {"groups": 3, "stride": (1, 2), "dilation": (2, 1)}),
    "two channels to two": ((2, 2, 6, 32), (2, 2, 3, 3), {"padding": (2, 0)}),
    "one line": ((2, 1, 1, 64), (1, 1, 1, 5), {"padding": (0, 4)}),
    "images of four places": ((70, 9, 4, 4), (5, 9, 3, 3), {"padding": 1, "stride": 2}),
    "images of one place": ((300, 9, 3, 3), (5, 9, 3, 3), {}),
    "a place less than a panel": ((1, 9, 1, 33), (7, 9, 1, 3), {}),
    "a place more than a panel": ((1, 9, 1, 35), (7, 9, 1, 3), {}),
    "a place more than a block": ((1, 9, 1, 257), (7, 9, 1, 3), {"padding": (0, 1)}),
    "lines longer than a block": ((2, 9, 3, 600), (4, 9, 2, 5), {"padding": (1, 2)}),
    "longer lines, strides": ((2, 9, 3, 603), (4, 9, 2, 5), {"padding": (1, 3), "stride": (1, 2)}),
    "patches of several panels": ((2, 72, 6, 6), (5, 72, 3, 3), {"padding": 1}),
    "blocks of one panel": ((1, 920, 7, 9), (3, 920, 3, 3), {}),
    "a kernel as large as the image": ((6, 9, 3, 5), (7, 9, 3, 5), {}),
    "the same in groups": ((6, 18, 3, 5), (4, 9, 3, 5), {"groups": 2, "stride": 2}),
    "a large weight": ((2, 240, 5, 5), (70, 240, 3, 3), {"padding": 1}),
    "a kernel larger than the image": ((2, 9, 2, 2), (4, 9, 5, 5), {"padding": 3}),
    "taps that see padding alone": ((2, 9, 2, 3), (4, 9, 3, 3), {"padding": 4, "dilation": 4}),
    "steps over the image": ((2, 9, 9, 9), (4, 9, 2, 2), {"stride": 5, "padding": 1}),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("layout", [ag.contiguous_format, ag.channels_last])
def test_blocks(name, dtype, layout):
    size, kernel, settings = SIZES[name]
    near = 1e-4 if dtype is np.float32 else 1e-11
    x, w, b = numbers(*size), numbers(*kernel), numbers(kernel[0])
    leaves = [leaf_of(a.astype(dtype), layout) for a in (x, w, b)]
    y, want = F.conv2d(*leaves, **settings), conv(x, w, b, **settings)
    np.testing.assert_allclose(y.detach().numpy(), want, atol=near, rtol=near)
    g = numbers(*want.shape)
    y.backward(ag.tensor(g.astype(dtype)))
    for leaf, change in zip(leaves, (conv(x, w, None, **settings), conv(x, w, None, **settings), None), strict=True):
        along = float((leaf.grad.numpy().astype(np.float64) * leaf.detach().numpy()).sum())
        true = float((g * (change if change is not None else b.reshape(-1, 1, 1))).sum())
        assert abs(along - true) <= near * np.abs(g * want).sum()
    check_transposed(x, w, g, settings, dtype, near)


def leaf_of(array, layout):
    x = ag.tensor(array)
    return (x.contiguous(memory_format=layout) if x.ndim == 4 else x).detach().requires_grad_()


def check_transposed(x, w, g, settings, dtype, near):
    """The gradient for the picture is the transposed convolution, whose gradient is the convolution."""
    stride, padding = np.broadcast_to(settings.get("stride", 1), 2), np.broadcast_to(settings.get("padding", 0), 2)
    reach = np.broadcast_to(settings.get("dilation", 1), 2) * (np.array(w.shape[2:]) - 1)
    rest = np.array(x.shape[2:]) - ((np.array(g.shape[2:]) - 1) * stride - 2 * padding + reach + 1)
    settings = settings | {"output_padding": tuple(map(int, rest))}
    seed = ag.tensor(g.astype(dtype), requires_grad=True)
    back = F.conv_transpose2d(seed, ag.tensor(w.astype(dtype)), **settings)
    np.testing.assert_allclose(back.detach().numpy(), conv_transpose(g, w, None, **settings), atol=near, rtol=near)


@pytest.mark.parametrize("name", SIZES)
def test_bits_for_any_number_of_threads(name):
    size, kernel, settings = SIZES[name]
    found = []
    for threads in (1, 2, 3):
        with kernel_threads(threads), thresholds({"shared_work": 1, "chunk": 1}):
            leaves = [ag.tensor(numbers(*s, dtype=np.float32), requires_grad=True) for s in (size, kernel, kernel[:1])]
            y = F.conv2d(*leaves, **settings)
            (y * y).sum().backward()
            columns = F.unfold(leaves[0], 1, stride=2)
            found.append([t.detach().numpy().tobytes() for t in (y, columns, *[leaf.grad for leaf in leaves])])
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("level", [-1, 0, None])
def test_products_for_other_machines(level):
    before = use_panels(level)
    try:
        for name in ("images of four places", "patches of several panels", "groups"):
            test_blocks(name, np.float32, ag.contiguous_format)
    finally:
        use_panels(before)


@pytest.mark.parametrize("size", [(2, 9, 4, 5, 6), (40, 9, 3, 2, 2), (1, 9, 3, 4, 300)])
@pytest.mark.parametrize(
    "settings", [{}, {"padding": (1, 0, 1)}, {"stride": (2, 1, 1), "padding": (2, 1, 0)}, {"dilation": (2, 1, 1)}])
def test_three_dimensions(size, settings):
    """Depth by depth, it is a convolution in two; and so are its gradients."""
    stride, padding, dilation = (settings.get(k, (n,) * 3) for k, n in (("stride", 1), ("padding", 0), ("dilation", 1)))
    x, w = (ag.tensor(numbers(*s), requires_grad=True) for s in (size, (4, 9, 2, 2, 2)))
    y = F.conv3d(x, w, **settings)
    padded = F.pad(x, (0, 0, 0, 0, padding[0], padding[0]))
    flat = {"stride": stride[1:], "padding": padding[1:], "dilation": dilation[1:]}
    planes = [
        sum(F.conv2d(padded[:, :, z * stride[0] + d * dilation[0]], w[:, :, d], **flat) for d in range(2))
        for z in range(y.shape[2])
    ]
    want = ag.stack(planes, 2)
    np.testing.assert_allclose(y.detach().numpy(), want.detach().numpy(), rtol=1e-11, atol=1e-11)
    g = ag.tensor(numbers(*y.shape))
    for found, expected in zip(ag.autograd.grad(y, (x, w), g), ag.autograd.grad(want, (x, w), g), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10, atol=1e-10)


def test_what_nodes_show():
    x, w, b = ones(1, 3, 5, 5), ones(2, 3, 3, 3, requires_grad=True), ones(2)
    node = F.conv2d(x, w, b, 2, 1).grad_fn
    assert node.name() == "ConvolutionBackward0" and node._saved_weight is w and node._saved_input.shape == (1, 3, 5, 5)
    assert (node._saved_stride, node._saved_padding, node._saved_dilation) == ((2, 2), (1, 1), (1, 1))
    assert (node._saved_transposed, node._saved_output_padding, node._saved_groups) == (False, (0, 0), 1)
    assert node._saved_bias_sym_sizes_opt == (2,)
    node = F.unfold(ones(1, 1, 4, 5, requires_grad=True), 2).grad_fn
    assert node.name() == "Im2ColBackward0" and node._saved_kernel_size == (2, 2)
    assert (node._saved_self_sym_argsize_minus_2, node._saved_self_sym_argsize_minus_1) == (4, 5)


def drawn(rng):
    """A call: its function, the sizes of its operands and its settings."""
    n, groups, transposed = rng.choice((1, 2, 3)), rng.choice((1, 1, 2, 3)), rng.random() < 0.4
    channels, filters = groups * rng.choice((1, 2, 5)), groups * rng.choice((1, 2, 3))
    kernel = [rng.choice((1, 2, 3)) for _ in range(n)]
    dilation, stride = [[rng.choice((1, 1, 2, 3)) for _ in range(n)] for _ in "ds"]
    settings = {"stride": tuple(stride), "padding": tuple(rng.choice((0, 0, 1, 2)) for _ in range(n))}
    settings |= {"dilation": tuple(dilation), "groups": groups}
    size = [rng.randint(d * (k - 1) + 1, d * (k - 1) + 6) for k, d in zip(kernel, dilation, strict=True)]
    if transposed:
        settings["padding"] = (0,) * n
        settings["output_padding"] = tuple(rng.randrange(max(s, d)) for s, d in zip(stride, dilation, strict=True))
    weight = (channels, filters // groups, *kernel) if transposed else (filters, channels // groups, *kernel)
    return f"conv{'_transpose' * transposed}{n}d", [(rng.randint(1, 3), channels, *size), weight, (filters,)], settings


@pytest.fixture
def torch():
    """On one thread: the tensors are small."""
    library = pytest.importorskip("torch")
    before = library.get_num_threads()
    library.set_num_threads(1)
    yield library
    library.set_num_threads(before)


def test_random_calls_match_pytorch(torch):
    rng = random.Random(7)
    for _ in range(60):
        name, sizes, settings = drawn(rng)
        found = []
        for library in (ag, torch):
            leaves = [library.tensor(numbers(*size), requires_grad=True) for size in sizes]
            y = getattr(library.nn.functional, name)(*leaves, **settings)
            gradients = library.autograd.grad((y * y).sum(), leaves, create_graph=True)
            second = library.autograd.grad(sum((g * g).sum() for g in gradients), leaves)
            found.append([y, *gradients, *second])
        for ours, theirs in zip(*found, strict=True):
            near = 1e-9 * max(1.0, float(theirs.detach().abs().max()))
            np.testing.assert_allclose(
                ours.detach().numpy(), theirs.detach().numpy(), rtol=1e-9, atol=near, err_msg=f"{name} {sizes} {settings}"
            )


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("name", ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"])
def test_gradients_are_contiguous(name, groups, create_graph):
    """So that `view(-1)` works, as libraries take it for granted."""
    layer = getattr(ag.nn, name)(4, 2, 2, groups=groups)
    x = ag.rand(2, 4, *[5] * int(name[-2]), requires_grad=True)
    tensors = [x, layer.weight, layer.bias]
    for g in ag.autograd.grad((layer(x) ** 2).sum(), tensors, create_graph=create_graph):
        assert g.is_contiguous() and g.view(-1).ndim == 1
