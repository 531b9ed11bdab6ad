"""Rows of the op table: convolutions, and windows as columns."""

import itertools

import numpy as np
from op_case import COMPLEX, FLOATS, HALF, INTS, OpInfo, S


def spread(values, n):
    """A setting for each dimension."""
    return tuple(values) * (n // len(values)) if isinstance(values, tuple | list) else (values,) * n


def steps(tap, dilation, stride, sizes):
    """What a tap sees, along each dimension."""
    return [slice(d * t, d * t + s * (n - 1) + 1, s) for t, d, s, n in zip(tap, dilation, stride, sizes, strict=True)]


def convolve(x, w, bias, stride, padding, dilation, groups):
    """Tap by tap."""
    n = w.ndim - 2
    x = np.pad(x, [(0, 0), (0, 0), *[p if isinstance(p, tuple) else (p, p) for p in padding]])
    sizes = [(x.shape[2 + k] - dilation[k] * (w.shape[2 + k] - 1) - 1) // stride[k] + 1 for k in range(n)]
    x = x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])
    y = np.zeros((x.shape[0], groups, w.shape[0] // groups, *sizes), x.dtype)
    for tap in itertools.product(*map(range, w.shape[2:])):
        seen = x[(..., *steps(tap, dilation, stride, sizes))]
        y += np.einsum("bgc...,gfc->bgf...", seen, w[(..., *tap)].reshape(groups, -1, w.shape[1]))
    y = y.reshape(y.shape[0], w.shape[0], *sizes)
    return y if bias is None else y + bias.reshape(-1, *[1] * n)


def conv(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    n = w.ndim - 2
    stride, dilation = spread(stride, n), spread(dilation, n)
    if padding == "same":
        total = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
        padding = tuple((t // 2, t - t // 2) for t in total)
    padding = spread(0 if padding == "valid" else padding, n)
    y = convolve(x if x.ndim == n + 2 else x[None], w, bias, stride, padding, dilation, groups)
    return y if x.ndim == n + 2 else y[0]


def conv_transpose(x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """The convolution with a turned kernel of an input with zeros between its elements."""
    n = w.ndim - 2
    stride, padding, more, dilation = (spread(s, n) for s in (stride, padding, output_padding, dilation))
    batch = x if x.ndim == n + 2 else x[None]
    apart = np.zeros((*batch.shape[:2], *[(m - 1) * s + 1 for m, s in zip(batch.shape[2:], stride, strict=True)]), x.dtype)
    apart[(..., *[slice(None, None, s) for s in stride])] = batch
    reach = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
    margins = [(r, r + o) for r, o in zip(reach, more, strict=True)]
    turned = np.flip(w, range(2, n + 2)).reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2)
    y = convolve(apart, turned.reshape(-1, *turned.shape[2:]), None, (1,) * n, margins, dilation, groups)
    y = y[(..., *[slice(p, y.shape[2 + k] - p) for k, p in enumerate(padding)])]
    y = y if bias is None else y + bias.reshape(-1, *[1] * n)
    return y if x.ndim == n + 2 else y[0]


def convolution(x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
    if transposed:
        return conv_transpose(x, w, bias, stride, padding, output_padding, groups, dilation)
    return conv(x, w, bias, stride, padding, dilation, groups)


def conv_tbc(x, w, bias, pad=0):
    return conv(x.transpose(1, 2, 0), w.transpose(2, 1, 0), bias, 1, pad).transpose(2, 0, 1)


def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    kernel, dilation, padding, stride = (spread(s, 2) for s in (kernel_size, dilation, padding, stride))
    x = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(p, p) for p in padding])
    blocks = [(x.shape[k - 2] - dilation[k] * (kernel[k] - 1) - 1) // stride[k] + 1 for k in range(2)]
    rows = [x[(..., *steps(tap, dilation, stride, blocks))] for tap in np.ndindex(*kernel)]
    return np.stack(rows, -3).reshape(*x.shape[:-3], x.shape[-3] * len(rows), blocks[0] * blocks[1])


def fold(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Each element to the place that unfold() takes it from, which tells the numbers of the places."""
    height, width = spread(output_size, 2)
    elements = np.prod(spread(kernel_size, 2))
    numbers = unfold(np.arange(1.0, height * width + 1).reshape(1, height, width), kernel_size, dilation, padding, stride)
    y = np.zeros((*x.shape[:-2], x.shape[-2] // elements, height * width + 1), x.dtype)
    for row, column in np.ndindex(*numbers.shape):
        y[..., int(numbers[row, column])] += x.reshape(*y.shape[:-1], *numbers.shape)[..., row, column]
    return y[..., 1:].reshape(*y.shape[:-1], height, width)


def convolutions(n):
    """Samples of the convolution in n dimensions."""

    def generate(make):
        few, more = [4, 3, 3][-n:], [5, 4, 3][:n]
        yield S(make(2, 2, *few), make(3, 2, *[2] * n), make(3))
        yield S(make(2, *more), make(2, 2, *[3] * n), None, 2, 1)
        yield S(make(1, 4, *more), make(4, 2, *[2] * n), make(4), 1, 1, 2, 2)
        yield S(make(1, 2, *more), make(2, 1, *[2] * n), make(2), (2, 1, 3)[:n], (1, 0, 2)[:n], groups=2)
        yield S(make(1, 2, *few), make(1, 2, *[1] * n), make(1))
        yield S(make(1, 1, *few), make(2, 1, *[3, 2, 2][:n]), padding="same")
        yield S(make(1, 1, *few), make(1, 1, *[2] * n), padding="valid", dilation=1)
        yield S(make(0, 2, *few), make(3, 2, *[2] * n), make(3))

    return generate


def transposed(n):
    def generate(make):
        few = [3, 2, 2][-n:]
        yield S(make(2, 2, *few), make(2, 3, *[2] * n), make(3))
        yield S(make(2, *few), make(2, 2, *[3] * n), None, 2, 1, 1)
        yield S(make(1, 4, *few), make(4, 1, *[2] * n), make(2), 1, 1, 0, 2, 2)
        yield S(make(1, 2, *few), make(2, 2, *[2] * n), make(4), (2, 3, 1)[:n], (1, 0, 0)[:n], (1, 2, 0)[:n], groups=2)
        yield S(make(1, 2, *few), make(2, 1, *[1] * n))
        yield S(make(0, 2, *few), make(2, 3, *[2] * n), make(3))

    return generate


def general(make):
    yield S(make(1, 2, 2, 2), make(2, 1, 2, 2), make(1), (2,), (0, 1), (1,), True, (1, 0), 1)
    yield S(make(1, 2, 3, 3), make(2, 1, 2, 2), None, (2, 1), (1,), (1, 1), False, (0,), 2)
    yield S(make(1, 2, 4), make(2, 2, 2), make(2), (1,), (1,), (2,), False, (0,), 1)
    yield S(make(2, 1, 2, 2, 2), make(1, 1, 1, 2, 1), None, (1,), (0,), (1,), False, (0,), 1)


def time_first(make):
    yield S(make(4, 2, 3), make(2, 3, 2), make(2))
    yield S(make(3, 1, 2), make(3, 2, 1), make(1), 1)


def pictures(make):
    yield S(make(2, 2, 4, 3), 2)
    yield S(make(1, 4, 5), (2, 3), 1, 1, 2)
    yield S(make(1, 1, 6, 5), (2, 2), (2, 3), (0, 2), (3, 1))
    yield S(make(0, 2, 3, 3), 2)


def columns(make):
    yield S(make(2, 8, 6), (4, 3), 2)
    yield S(make(6, 9), (4, 5), (2, 3), 1, 1, 2)
    yield S(make(1, 4, 12), (6, 5), 2, (2, 3), (0, 2), (2, 1))
    yield S(make(0, 4, 4), (3, 3), 2)


def _conv(path, reference, generate, **columns):
    return OpInfo(path, reference, generate, **{"dtypes": FLOATS, "result": "first", "method": False} | columns)


WHOLE = {"dtypes": FLOATS + COMPLEX, "forward": INTS + HALF}
TRANSPOSED = {"dtypes": FLOATS + COMPLEX, "forward": ("int64", *HALF)}
CONVS = [_conv(f"conv{n}d", conv, convolutions(n), **WHOLE) for n in (1, 2, 3)]
CONVS += [_conv(f"conv_transpose{n}d", conv_transpose, transposed(n), **TRANSPOSED) for n in (1, 2, 3)]
CONVS += [
    _conv("convolution", convolution, general, forward=("int64", *HALF)),
    _conv("conv_tbc", conv_tbc, time_first, forward=INTS + HALF),
    _conv("nn.functional.unfold", unfold, pictures, dtypes=FLOATS + COMPLEX, forward=("bool", *HALF)),
    _conv("nn.functional.fold", fold, columns, dtypes=FLOATS + COMPLEX, forward=("bool", *HALF)),
]
