"""What torch.signal.windows has (facade).

Each takes how many numbers it is to have, and by keyword ``sym`` (True: symmetric; False: periodic, as a transform wants it),
``dtype`` (float32 or float64), ``device`` and ``requires_grad``.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core.graph.tensor import Tensor
from .._core.runtime.entry import public
from .._creation import integer, resolve, wrap
from .._creation.windows import BLACKMAN, bessel, cosines, sized, triangle

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip

_NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)


@public
def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``general_cosine(M, a=weights)`` is a sum of cosines of 0, 1, 2, ... periods, every second subtracted.

    TypeError for weights that are no sequence, ValueError for none.

    >>> import autograd_cy as ag
    >>> ag.signal.windows.general_cosine(5, a=[0.5, 0.25, 0.25])
    tensor([0.5000, 0.2500, 1.0000, 0.2500, 0.5000])
    """
    length, wanted = _checked("general_cosine", M, dtype, device, requires_grad)
    if length > 1 and not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if length > 1 and not a:
        raise ValueError("Coefficients cannot be empty")
    return wrap(sized(length, sym, lambda n: cosines(n, a)).astype(wanted), requires_grad)


@public
def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``general_hamming(M, alpha=0.54)`` is alpha - (1 - alpha) * cos(2 pi k / (M - 1)).

    >>> import autograd_cy as ag
    >>> ag.signal.windows.general_hamming(3, alpha=0.75)
    tensor([0.5000, 1.0000, 0.5000])
    """
    return general_cosine(M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, device=device, requires_grad=requires_grad)


@public
def hamming(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``hamming(M)`` is 0.54 - 0.46 * cos(2 pi k / (M - 1)).

    >>> import autograd_cy as ag
    >>> ag.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    return general_cosine(M, a=[0.54, 0.46], sym=sym, dtype=dtype, device=device, requires_grad=requires_grad)


@public
def hann(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``hann(M)`` is (1 - cos(2 pi k / (M - 1))) / 2.

    >>> import autograd_cy as ag
    >>> ag.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_cosine(M, a=[0.5, 0.5], sym=sym, dtype=dtype, device=device, requires_grad=requires_grad)


@public
def blackman(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``blackman(M)`` is 0.42 - 0.5 * cos(2 pi k / (M - 1)) + 0.08 * cos(4 pi k / (M - 1)).

    >>> import autograd_cy as ag
    >>> ag.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return _made("blackman", M, sym, dtype, device, requires_grad, lambda n: cosines(n, BLACKMAN))


@public
def nuttall(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``nuttall(M)`` is Nuttall's sum of four cosines, whose side lobes are low.

    >>> import autograd_cy as ag
    >>> ag.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])
    """
    return general_cosine(M, a=_NUTTALL, sym=sym, dtype=dtype, device=device, requires_grad=requires_grad)


@public
def bartlett(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``bartlett(M)`` is a triangle from 0 to 1 and back.

    >>> import autograd_cy as ag
    >>> ag.signal.windows.bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return _made("bartlett", M, sym, dtype, device, requires_grad, triangle)


@public
def cosine(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``cosine(M)`` is the sine between 0 and pi.

    >>> import autograd_cy as ag
    >>> ag.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    return _made("cosine", M, sym, dtype, device, requires_grad, lambda n: np.sin(np.pi / n * (np.arange(n) + 0.5)))


@public
def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``gaussian(M, std=1.0)`` is a bell curve around the middle. ValueError if std is not above 0.

    >>> import autograd_cy as ag
    >>> ag.signal.windows.gaussian(3)
    tensor([0.6065, 1.0000, 0.6065])
    """
    _checked("gaussian", M, dtype, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")

    def bell(n: int) -> np.ndarray:
        return np.exp(-0.5 * ((np.arange(n) - (n - 1) / 2) / std) ** 2)

    return _made("gaussian", M, sym, dtype, device, requires_grad, bell)


@public
def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """``kaiser(M, beta=12.0)`` is i0(beta * sqrt(1 - x * x)) / i0(beta), x from -1 to 1. ValueError for beta below 0.

    >>> import autograd_cy as ag
    >>> ag.signal.windows.kaiser(3, beta=1.0)
    tensor([0.7898, 1.0000, 0.7898])
    """
    _checked("kaiser", M, dtype, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return _made("kaiser", M, sym, dtype, device, requires_grad, lambda n: bessel(n, beta))


@public
def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """``exponential(M, center=None, tau=1.0)`` is exp(-|k - center| / tau), by default around the middle.

    ValueError if tau is not above 0, and for a center of a symmetric window.

    >>> import autograd_cy as ag
    >>> ag.signal.windows.exponential(3)
    tensor([0.3679, 1.0000, 0.3679])
    """
    length, wanted = _checked("exponential", M, dtype, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if center is None:
        center = (length if not sym and length > 1 else length - 1) / 2
    return wrap(np.exp(-np.abs(np.arange(length) - center) / tau).astype(wanted), requires_grad)


def _checked(name: str, M: Any, dtype: Any, device: Any, requires_grad: bool) -> tuple[int, np.dtype]:
    """The length and the dtype that arguments say, checked."""
    wanted = resolve(dtype, device, False)
    length = integer(name, "M", M)
    if length < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={length}")
    if wanted not in (np.float32, np.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: torch.{wanted}")
    return length, resolve(dtype, device, requires_grad)


def _made(
    name: str,
    M: Any,
    sym: bool,
    dtype: Any,
    device: Any,
    requires_grad: bool,
    values: Callable[[int], np.ndarray],
) -> Tensor:
    """A window, after a check of its arguments."""
    length, wanted = _checked(name, M, dtype, device, requires_grad)
    return wrap(sized(length, sym, values).astype(wanted), requires_grad)
