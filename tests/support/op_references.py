"""The op table's reference functions, where NumPy has none under PyTorch's argument names.

They are written to be read and to be right at large values, not to be fast; arguments arrive in the widest
type of their kind.
"""

import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


def axes(x, dim):
    """NumPy's `axis` for PyTorch's `dim`: a 0-d tensor has a dimension 0."""
    return dim if x.ndim else None


def reduction(function):
    """A NumPy reduction under PyTorch's names of its arguments."""
    return lambda x, dim=None, keepdim=False, dtype=None: function(x, axis=axes(x, dim), keepdims=keepdim)


def extremum(value, index, pairwise):
    """`max` and `min`: of everything, along `dim` with the indices, or of two tensors."""

    def reference(x, other=None, *, dim=None, keepdim=False):
        if other is not None:
            return pairwise(x, other)
        if dim is None:
            return value(x)
        return tuple(f(x, axis=axes(x, dim), keepdims=keepdim) for f in (value, index))

    return reference


# Elementwise


def sgn(x):
    """NumPy's sign, but that of a real NaN is 0."""
    return x if x.dtype.kind == "b" else np.sign(x) if x.dtype.kind == "c" else np.sign(np.nan_to_num(x, nan=0.0))


def add(x, y, alpha=1):
    return x + alpha * y if alpha != 1 else np.add(x, y)


def div(x, y, rounding_mode=None):
    quotient = np.true_divide(x, y)
    return {None: np.positive, "floor": np.floor, "trunc": np.trunc}[rounding_mode](quotient)


def sub(x, y, alpha=1):
    return x - alpha * y


def sigmoid(x):
    return np.exp(-np.logaddexp(0, -x)) if np.isrealobj(x) else 1 / (1 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0)


def silu(x):
    return x * sigmoid(x)


def gelu(x, approximate="none"):
    if approximate == "tanh":
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return x / 2 * (1 + erf(x / math.sqrt(2)))


def clamp(x, low=None, high=None):
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


# Reductions


def mean(x, axis=None, keepdims=False):
    """NumPy's, which warns of an empty slice."""
    return np.sum(x, axis=axis, keepdims=keepdims) / np.sum(np.ones(x.shape), axis=axis, keepdims=keepdims)


def var(x, dim=None, unbiased=None, correction=1, keepdim=False):
    squares = np.abs(x - np.mean(x, axis=axes(x, dim), keepdims=True)) ** 2
    count = np.sum(np.ones(x.shape), axis=axes(x, dim), keepdims=keepdim)
    freedom = count - (correction if unbiased in (None, True) else 0)
    return np.sum(squares, axis=axes(x, dim), keepdims=keepdim) / np.maximum(0, freedom)


def std(x, *args, **kwargs):
    return np.sqrt(var(x, *args, **kwargs))


def norm(x, p="fro", dim=None, keepdim=False, dtype=None):
    size, p, dim = np.abs(x), 2 if p in (None, "fro") else p, axes(x, dim)
    if p in (math.inf, -math.inf):
        return (np.max if p > 0 else np.min)(size, axis=dim, keepdims=keepdim)
    if p == 0:
        return np.sum(size != 0, axis=dim, keepdims=keepdim)
    return np.sum(size**p, axis=dim, keepdims=keepdim) ** (1 / p)


def logsumexp(x, dim, keepdim=False):
    dim = axes(x, dim if dim != () else tuple(range(x.ndim)))
    top = np.max(x.real.astype(float), axis=dim, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    total = np.sum(np.exp(x - top), axis=dim, keepdims=keepdim)
    return np.log(total) + (top if keepdim else np.squeeze(top, dim))


def log_softmax(x, dim, dtype=None):
    if not x.ndim:
        return x - x
    shifted = x - np.max(x, axis=dim, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True))


def softmax(x, dim, dtype=None):
    return np.exp(log_softmax(x, dim))


def cumsum(x, dim, dtype=None):
    return np.cumsum(x, axis=dim) if x.ndim else x


# Shapes and indices


def unsqueeze(x, dim):
    return np.expand_dims(x, dim)


def transpose(x, dim0, dim1):
    return np.swapaxes(x, dim0, dim1) if x.ndim else x


def reshape(x, *shape):
    return np.reshape(x, shape[0] if isinstance(shape[0], tuple) else shape)


def flatten(x, start_dim=0, end_dim=-1):
    if not x.ndim:
        return x.reshape(1)
    start, end = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :])


def squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else dim if isinstance(dim, tuple) else (dim,)
    return np.squeeze(x, tuple(d % x.ndim for d in dims if x.ndim and x.shape[d] == 1))


def expand(x, *shape):
    own = (1,) * (len(shape) - x.ndim) + x.shape
    return np.broadcast_to(x, [n if want == -1 else want for want, n in zip(shape, own, strict=True)])


def cat(tensors, dim=0):
    return np.concatenate(tensors, axis=dim)


def stack(tensors, dim=0):
    return np.stack(tensors, axis=dim)


def split(x, size, dim=0):
    sizes = size if isinstance(size, list) else [size] * (x.shape[dim] // size)
    ends = np.cumsum(sizes)
    return np.split(x, ends[ends < x.shape[dim]] if isinstance(size, int) else ends[:-1], axis=dim)


def unbind(x, dim=0):
    return [np.take(x, i, axis=dim) for i in range(x.shape[dim])]


def diagonal(x, offset=0, dim1=0, dim2=1):
    return np.diagonal(x, offset, dim1, dim2)


def index_select(x, dim, index):
    return np.take(x, index, axis=dim)


def gather(x, dim, index):
    grid = list(np.indices(index.shape, sparse=True)) if x.ndim else []
    if grid:
        grid[dim] = index
    return x[tuple(grid)]


def layer_norm(x, normalized_shape, weight=1, bias=0, eps=1e-5):
    dims = tuple(range(-len(normalized_shape), 0))
    deviations = x - x.mean(dims, keepdims=True)
    return deviations / np.sqrt(np.mean(deviations**2, dims, keepdims=True) + eps) * weight + bias


def masked_fill(x, mask, value):
    return np.where(mask, value, x)


def index_put(x, indices, values, accumulate=False):
    y = x.copy()
    if accumulate:
        np.add.at(y, indices, values)
    else:
        y[indices] = values
    return y


def index_add(x, dim, index, source, alpha=1):
    y = np.moveaxis(np.atleast_1d(x).copy(), dim, 0)
    for row, values in zip(index, np.moveaxis(np.atleast_1d(source), dim, 0), strict=True):
        y[row] = y[row] + alpha * values
    return np.moveaxis(y, 0, dim).reshape(x.shape)


def scatter(x, dim, index, src):
    y = np.atleast_1d(x).copy()
    for place, number in np.ndenumerate(np.atleast_1d(index)):
        target = list(place)
        target[dim] = number
        y[tuple(target)] = np.broadcast_to(np.atleast_1d(src), np.atleast_1d(index).shape)[place]
    return y.reshape(x.shape)


def scatter_add(x, dim, index, src):
    y = np.atleast_1d(x).copy()
    for place, number in np.ndenumerate(np.atleast_1d(index)):
        target = list(place)
        target[dim] = number
        y[tuple(target)] = y[tuple(target)] + np.atleast_1d(src)[place]
    return y.reshape(x.shape)


# Linear algebra and losses


def addmm(x, a, b, beta=1, alpha=1):
    return beta * x + alpha * (a @ b)


def linear(x, weight, bias=0):
    return x @ weight.T + bias


def reduce_loss(losses, reduction, weights=None):
    if reduction == "none":
        return losses
    count = losses.size if weights is None else np.sum(weights)
    return np.sum(losses) / (count if reduction == "mean" else 1)


def topk(x, k, dim=-1, largest=True):
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    places = np.argsort(-x.astype(np.float64) if largest else x, dim, kind="stable").take(range(k), dim)
    return np.take_along_axis(x, places, dim), places


def mse_loss(x, y, reduction="mean"):
    return reduce_loss((x - y) ** 2, reduction)


def nll_loss(x, target, weight=None, ignore_index=-100, reduction="mean"):
    """x (C,), (N, C) or (N, C, d1, ...), target of class indices without C."""
    classes = 0 if x.ndim == 1 else 1
    keep = target != ignore_index
    index = np.where(keep, target, 0)
    weights = keep * (np.ones(x.shape[classes]) if weight is None else weight)[index]
    chosen = np.take_along_axis(x, np.expand_dims(index, classes), classes).squeeze(classes)
    return reduce_loss(np.where(keep, -chosen * weights, 0), reduction, weights)


def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """The target holds class indices, or a probability for each class (then the mean is over N alone)."""
    classes = 0 if x.ndim == 1 else 1
    logs, count = log_softmax(x, classes), x.shape[classes]
    by_class = (np.ones(count) if weight is None else weight).reshape(-1, *[1] * (x.ndim - classes - 1))
    if target.dtype.kind == "f":
        target = target * (1 - label_smoothing) + label_smoothing / count
        losses = -np.sum(logs * by_class * target, axis=classes)
        return reduce_loss(losses, reduction, np.ones(losses.size))
    keep = target != ignore_index
    weights = keep * by_class.ravel()[np.where(keep, target, 0)]
    smooth = np.where(keep, -np.sum(logs * by_class, axis=classes), 0)
    losses = nll_loss(logs, target, weight, ignore_index, "none")
    return reduce_loss((1 - label_smoothing) * losses + label_smoothing / count * smooth, reduction, weights)


def view_as_real(z):
    return np.stack([z.real, z.imag], -1)


def view_as_complex(x):
    return x[..., 0] + np.result_type(x, np.complex64).type(1j) * x[..., 1]
