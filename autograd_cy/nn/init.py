"""Initialization of parameters (facade).

Each function writes into its tensor, outside the graph, and returns it. ``generator``: where the random numbers come from,
the default generator if None.
"""

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

from .._core.graph.tensor import Tensor
from .._core.ops.pointwise.nodes import where
from .._core.runtime.entry import public as _public
from .._creation.filled import empty_like, ones_like
from .._creation.filled import eye as _identity
from ..autograd.grad_mode import no_grad
from ..linalg import cholesky_ex, qr, solve_triangular
from ..random import randperm

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal", "kaiming_normal_",
    "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal", "orthogonal_", "sparse", "sparse_",
    "trunc_normal_", "uniform", "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform", "xavier_uniform_", "zeros_",
]  # fmt: skip

_LINEAR = ("linear", "sigmoid", *(f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)))
_GAINS = {**dict.fromkeys(_LINEAR, 1), "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


@_public
def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """``calculate_gain("relu")``: the factor of the standard deviation for a layer before that function.

    1 for linear functions and the sigmoid, 5/3 for tanh, sqrt(2) for relu, sqrt(2 / (1 + slope**2)) for leaky_relu
    with slope ``param`` (0.01), 3/4 for selu. ValueError for any other.

    >>> import autograd_cy as ag
    >>> ag.nn.init.calculate_gain("leaky_relu", 1)
    1.0
    """
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {slope} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


@_public
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """``uniform_(tensor, a=0, b=1)``: drawn uniformly from [a, b].

    >>> import autograd_cy as ag
    >>> w = ag.nn.init.uniform_(ag.empty(100), -1, 1)
    >>> bool((w.abs() <= 1).all())
    True
    """
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


@_public
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """``normal_(tensor, mean=0, std=1)``: drawn from the normal distribution.

    >>> import autograd_cy as ag
    >>> ag.nn.init.normal_(ag.empty(2, 3)).shape
    torch.Size([2, 3])
    """
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


@_public
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """``trunc_normal_(tensor, mean=0, std=1, a=-2, b=2)``: drawn from the part of the normal distribution in [a, b].

    A warning if the mean lies more than 2 std outside.

    >>> import autograd_cy as ag
    >>> w = ag.nn.init.trunc_normal_(ag.empty(100))
    >>> bool((w.abs() <= 2).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.",
            stacklevel=2,
        )
    if tensor.is_meta:  # there is nothing to draw
        return tensor
    with no_grad():
        return tensor.copy_(_truncated(tensor, mean, std, a, b, generator))


def _truncated(like: Tensor, mean: float, std: float, a: float, b: float, generator: Any) -> Tensor:
    """Draw until all lie in [a, b]: normally, or uniformly from [a, b] if few normal draws would be accepted."""
    low, high = (math.erf((bound - mean) / (std * math.sqrt(2.0))) / 2 for bound in (a, b))
    highest = max(a, min(mean, b))
    drawn, pending = empty_like(like), ones_like(like, dtype=bool)
    while bool(pending.any()):
        if high - low > 0.3:
            fresh = empty_like(like).normal_(mean, std, generator=generator)
            fits = (fresh >= a) & (fresh <= b)
        else:
            fresh = empty_like(like).uniform_(a, b, generator=generator)
            density = (((highest - mean) / std) ** 2 - ((fresh - mean) / std) ** 2) / 2
            fits = empty_like(like).uniform_(generator=generator).log_() <= density
        drawn = where(pending & fits, fresh, drawn)
        pending = pending & ~fits
    return drawn


def constant_(tensor: Tensor, val: float) -> Tensor:
    """``constant_(tensor, val)``: all elements are val.

    >>> import autograd_cy as ag
    >>> ag.nn.init.constant_(ag.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """``ones_(tensor)``: all elements are 1.

    >>> import autograd_cy as ag
    >>> ag.nn.init.ones_(ag.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """``zeros_(tensor)``: all elements are 0.

    >>> import autograd_cy as ag
    >>> ag.nn.init.zeros_(ag.empty(2))
    tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


@_public
def eye_(tensor: Tensor) -> Tensor:
    """``eye_(tensor)``: 1 on the diagonal of a matrix, else 0. ValueError unless it has 2 dimensions.

    >>> import autograd_cy as ag
    >>> ag.nn.init.eye_(ag.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    _check_matrix(tensor)
    with no_grad():
        return tensor.copy_(_identity(*tensor.shape, dtype=tensor.dtype))


@_public
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """``dirac_(tensor, groups=1)``: the weight of a convolution that returns its channels unchanged, in each group.

    ValueError unless it has 3 to 5 dimensions, and a first one that groups divide.

    >>> import autograd_cy as ag
    >>> ag.nn.init.dirac_(ag.empty(2, 2, 3))
    tensor([[[0., 1., 0.],
             [0., 0., 0.]],
    <BLANKLINE>
            [[0., 0., 0.],
             [0., 1., 0.]]])
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    channels = tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(channels, tensor.shape[1])):
                tensor[(group * channels + channel, channel, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """The numbers of inputs per output and of outputs per input in a layer with this weight."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *field = tensor.shape
    return inputs * math.prod(field), outputs * math.prod(field)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode.lower())]


@_public
def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """``xavier_uniform_(tensor, gain=1)``: drawn uniformly from [-a, a], a = gain * sqrt(6 / (fan_in + fan_out)).

    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010.

    >>> import autograd_cy as ag
    >>> w = ag.nn.init.xavier_uniform_(ag.empty(4, 2))
    >>> bool((w.abs() <= 1).all())
    True
    """
    bound = math.sqrt(3.0) * _xavier_deviation(tensor, gain)
    return uniform_(tensor, -bound, bound, generator)


@_public
def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """``xavier_normal_(tensor, gain=1)``: drawn normally with std = gain * sqrt(2 / (fan_in + fan_out)).

    Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010.

    >>> import autograd_cy as ag
    >>> ag.nn.init.xavier_normal_(ag.empty(4, 2)).shape
    torch.Size([4, 2])
    """
    return normal_(tensor, 0.0, _xavier_deviation(tensor, gain), generator)


def _xavier_deviation(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))


@_public
def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """``kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu")``: uniformly from [-k, k].

    k = gain * sqrt(3 / fan): gain is calculate_gain(nonlinearity, a), where a is the slope of leaky_relu; fan is the number
    of inputs ("fan_in") or outputs ("fan_out"). He et al., "Delving deep into rectifiers", 2015.

    >>> import autograd_cy as ag
    >>> w = ag.nn.init.kaiming_uniform_(ag.empty(4, 6), nonlinearity="relu")
    >>> bool((w.abs() <= 1).all())
    True
    """
    if 0 in tensor.shape:
        return _unchanged(tensor)
    bound = math.sqrt(3.0) * _kaiming_deviation(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


@_public
def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """``kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu")``: normally, std = gain / sqrt(fan).

    See ``kaiming_uniform_``.

    >>> import autograd_cy as ag
    >>> ag.nn.init.kaiming_normal_(ag.empty(4, 6)).shape
    torch.Size([4, 6])
    """
    if 0 in tensor.shape:
        return _unchanged(tensor)
    return normal_(tensor, 0.0, _kaiming_deviation(tensor, a, mode, nonlinearity), generator)


def _kaiming_deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _unchanged(tensor: Tensor) -> Tensor:
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return tensor


@_public
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """``orthogonal_(tensor, gain=1)``: rows or columns, whichever are fewer, that are orthogonal and of length gain.

    Further dimensions count as columns; ValueError for less than 2. Saxe, McClelland and Ganguli, "Exact solutions to the
    nonlinear dynamics of learning in deep linear neural networks", 2013.

    >>> import autograd_cy as ag
    >>> w = ag.nn.init.orthogonal_(ag.empty(2, 3))
    >>> ag.allclose(w @ w.T, ag.eye(2), atol=1e-6)
    True
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        q = _orthonormal(drawn.T if rows < columns else drawn).mul_(gain)
        return tensor.copy_((q.T if rows < columns else q).reshape(tensor.shape))


_TALL = 4  # rows per column from which matrix products are faster than NumPy's QR decomposition


def _orthonormal(matrix: Tensor) -> Tensor:
    """Q of the QR decomposition with a positive diagonal of R, which makes all orthogonal matrices equally likely."""
    if matrix.shape[0] >= _TALL * matrix.shape[1] > 32 * _TALL and not matrix.is_complex():
        q = _orthonormal_by_cholesky(matrix)
        if q is not None:
            return q
    q, r = qr(matrix)
    return q * r.diagonal().sign()


def _orthonormal_by_cholesky(matrix: Tensor) -> Tensor | None:
    """The same, or None for a nearly singular matrix.

    The Cholesky factor of matrix.T @ matrix is R. A second step removes the columns' rounding errors from orthogonality
    (Yamamoto et al., "Roundoff error analysis of the CholeskyQR2 algorithm", 2015).
    """
    q = matrix.double()
    for most in (None, 0.1):
        products = q.T @ q
        if most is not None and not bool((products - _identity(len(products), dtype=q.dtype)).abs().sum(0).max() < most):
            return None
        factor, info = cholesky_ex(products)
        if info:
            return None
        q = solve_triangular(factor.T, q, upper=True, left=False)
    return q.to(matrix.dtype)


@_public
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """``sparse_(tensor, sparsity, std=0.01)``: drawn normally; that part of each column of the matrix is 0.

    Martens, "Deep learning via Hessian-free optimization", 2010. ValueError unless it has 2 dimensions.

    >>> import autograd_cy as ag
    >>> w = ag.nn.init.sparse_(ag.empty(4, 3), 0.5)
    >>> (w == 0).sum(0)
    tensor([2, 2, 2])
    """
    _check_matrix(tensor)
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows)[:zeros], column] = 0
    return tensor


def _check_matrix(tensor: Tensor) -> None:
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")


def _deprecated(function: Any) -> Callable[..., Any]:
    """The function under its old name, with a warning."""
    new_name: str = function.__name__
    old_name = new_name.removesuffix("_")

    @functools.wraps(function)
    def warned(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{old_name}` is now deprecated in favor of `nn.init.{new_name}`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    warned.__name__ = warned.__qualname__ = old_name
    warned.__doc__ = f"``{old_name}(...)``: the deprecated name of ``{new_name}``."
    return warned


uniform, normal, constant, eye, dirac = map(_deprecated, (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = map(_deprecated, (xavier_uniform_, xavier_normal_))
kaiming_uniform, kaiming_normal = map(_deprecated, (kaiming_uniform_, kaiming_normal_))
orthogonal, sparse = map(_deprecated, (orthogonal_, sparse_))
