"""Comparisons of whole tensors, whose result is a bool (facade)."""

from __future__ import annotations

from .._core.graph.tensor import Tensor
from .._core.ops.basics import OPS

_isclose, _eq = (OPS[name].function for name in ("isclose", "eq"))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) -> bool: whether isclose() holds for all elements.

    >>> import autograd_cy as ag
    >>> ag.allclose(ag.tensor([1.0, 2.0]), ag.tensor([1.0, 2.1]))
    False
    """
    return bool(_isclose(input, other, rtol, atol, equal_nan).all().item())


def equal(input: Tensor, other: Tensor) -> bool:
    """equal(input, other) -> bool: whether two tensors have the same shape and the same elements.

    >>> import autograd_cy as ag
    >>> ag.equal(ag.tensor([1, 2]), ag.tensor([1, 2])), ag.equal(ag.tensor([1, 2]), ag.tensor([1]))
    (True, False)
    """
    return input.shape == other.shape and bool(_eq(input, other).all().item())
