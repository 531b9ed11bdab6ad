"""Windows: weights for the samples of a signal before it is transformed (facade). Imported when asked for.

Functions of `torch` have `periodic`, functions of `torch.signal.windows` its opposite, `sym`: a periodic window of n is the
symmetric one of n + 1 without its last number.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core.arrays.dtypes import kind_of
from .._core.graph.tensor import Tensor, array_of, from_array
from .._core.ops.basics import OPS
from .._core.runtime.entry import public
from . import integer, resolve, wrap


@public
def hann_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``hann_window(n)`` is half a cosine's period down and up again: (1 - cos(2 pi k / n)) / 2.

    With ``periodic=False`` it is symmetric, with n - 1 for n.

    >>> import autograd_cy as ag
    >>> ag.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("hann", window_length, periodic, dtype, device, requires_grad, lambda n: cosines(n, (0.5, 0.5)))


@public
def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``hamming_window(n)`` is alpha - beta * cos(2 pi k / n).

    With ``periodic=False`` it is symmetric, with n - 1 for n.

    >>> import autograd_cy as ag
    >>> ag.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """
    return _window("hamming", window_length, periodic, dtype, device, requires_grad, lambda n: cosines(n, (alpha, beta)))


@public
def blackman_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``blackman_window(n)`` is 0.42 - 0.5 * cos(2 pi k / n) + 0.08 * cos(4 pi k / n).

    With ``periodic=False`` it is symmetric, with n - 1 for n.

    >>> import autograd_cy as ag
    >>> ag.blackman_window(4)[1:]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return _window("blackman", window_length, periodic, dtype, device, requires_grad, lambda n: cosines(n, BLACKMAN))


@public
def bartlett_window(
    window_length: int, periodic: bool = True, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``bartlett_window(n)`` is a triangle: 1 - |2 k / n - 1|.

    With ``periodic=False`` it is symmetric, with n - 1 for n.

    >>> import autograd_cy as ag
    >>> ag.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    return _window("bartlett", window_length, periodic, dtype, device, requires_grad, triangle)


@public
def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``kaiser_window(n)`` is i0(beta * sqrt(1 - (2 k / n - 1) ** 2)) / i0(beta).

    With ``periodic=False`` it is symmetric, with n - 1 for n.

    >>> import autograd_cy as ag
    >>> ag.kaiser_window(4, beta=1.0)
    tensor([0.7898, 0.9450, 1.0000, 0.9450])
    """
    return _window("kaiser", window_length, periodic, dtype, device, requires_grad, lambda n: bessel(n, beta))


cos = OPS["cos"].function

# the numbers: functions of how many there are, at least 2, in the symmetric window

BLACKMAN = (0.42, 0.5, 0.08)


def cosines(n: int, weights: Iterable[float]) -> np.ndarray:
    """The sum of cosines of 0, 1, 2, ... periods with these weights, alternating in sign."""
    first, *others = weights
    k, total = np.linspace(0, 2 * np.pi, n), np.full(n, float(first))
    for i, weight in enumerate(others, 1):
        cosine = array_of(cos(from_array(i * k if i > 1 else k)))  # NumPy's takes ten times as long
        total += (-1) ** i * weight * cosine
    return total


def triangle(n: int) -> np.ndarray:
    """From 0 up to 1 and down again."""
    return 1 - np.abs(np.linspace(-1, 1, n))


def bessel(n: int, beta: float) -> np.ndarray:
    """Kaiser's window."""
    k = np.linspace(-1, 1, n)
    return np.i0(beta * np.sqrt(1 - k * k)) / np.i0(beta)


def sized(length: int, symmetric: bool, values: Callable[[int], np.ndarray]) -> np.ndarray:
    """So many numbers of a window; a single one is 1."""
    if length < 2:
        return np.ones(length)
    return values(length if symmetric else length + 1)[:length]


def _window(
    name: str,
    window_length: int,
    periodic: bool,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    values: Callable[[int], np.ndarray],
) -> Tensor:
    """A window of `torch`, after a check of its arguments."""
    name += "_window"
    length = integer(name, "window_length", window_length)
    wanted = resolve(dtype, device, requires_grad)
    if kind_of(wanted) != "f":
        error = NotImplementedError if wanted.kind == "c" else RuntimeError
        raise error(f"{name} expects floating point dtypes, got: {wanted}")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    return wrap(sized(length, not periodic, values).astype(wanted), requires_grad)
