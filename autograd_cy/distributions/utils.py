"""Helpers of the constructors of distributions (facade)."""

import math as _math
from collections.abc import Callable
from functools import update_wrapper
from numbers import Number
from typing import Any

import numpy as _np

from .._core.graph.node import is_freed_since as _is_freed_since
from .._core.graph.tensor import Tensor
from .._creation.data import tensor
from .._creation.filled import get_default_dtype
from .._functional import names as _ops
from .._random.sampling import normal as _normal
from .._types.limits import finfo
from ..autograd.grad_mode import enable_grad
from ._formulas import sum_rightmost as _sum_rightmost  # noqa: F401

__all__ = [
    "broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """``broadcast_all(loc, scale)``: numbers and tensors as tensors of one shape. Numbers get the dtype of the first tensor.

    >>> import autograd_cy as ag
    >>> ag.distributions.utils.broadcast_all(ag.zeros(2), 1.0)
    (tensor([0., 0.]), tensor([1., 1.]))
    """
    if not all(isinstance(value, (Number, Tensor)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    dtype = next((value.dtype for value in values if isinstance(value, Tensor)), get_default_dtype())
    return _ops.broadcast_tensors(*(v if isinstance(v, Tensor) else tensor(v, dtype=dtype) for v in values))


class lazy_property:
    """A parameter derived from another one at the first read, and recorded even within no_grad.

    It is computed again once a backward has freed its graph, so that each backward through a distribution may be the last of
    its graph, and after ``del``. A value that is assigned takes its place.

    >>> import autograd_cy as ag
    >>> d = ag.distributions.Bernoulli(0.5)
    >>> logits = d.logits
    >>> d.logits is logits
    True
    >>> del d.logits
    >>> d.logits is logits
    False
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped, self.name = wrapped, wrapped.__name__
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __set__(self, instance: Any, value: Any) -> None:
        vars(instance)[self.name] = value

    def __delete__(self, instance: Any) -> None:
        computed = vars(instance).get("_computed", {})
        if self.name not in vars(instance) and self.name not in computed:
            raise AttributeError(f"{self.name!r} of {type(instance).__name__!r} object has not been computed yet")
        vars(instance).pop(self.name, None)
        computed.pop(self.name, None)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        if self.name in vars(instance):
            return vars(instance)[self.name]
        computed = vars(instance).setdefault("_computed", {})
        value = computed.get(self.name)
        if value is None or (isinstance(value, Tensor) and _is_freed_since(value, vars(instance).get("_since", 0))):
            with enable_grad():
                value = computed[self.name] = self.wrapped(instance)
        return value


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """A sample of the standard normal distribution."""
    return _normal(0.0, 1.0, shape, dtype=dtype, device=device)


def clamp_probs(probs: Tensor) -> Tensor:
    """``clamp_probs(probs)``: probabilities that are at least eps of their dtype away from 0 and from 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """``probs_to_logits(probs)``: logarithms of probabilities; with is_binary, of the odds."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """``logits_to_probs(logits)``: the softmax of the last dimension; with is_binary, the sigmoid."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """``vec_to_tril_matrix(vec, diag=0)``: (..., d) as lower triangles (..., n, n), row by row, up to this diagonal.

    ValueError for a length that is not the size of such a triangle.

    >>> import autograd_cy as ag
    >>> ag.distributions.utils.vec_to_tril_matrix(ag.tensor([1.0, 2.0, 3.0]))
    tensor([[1., 0.],
            [2., 3.]])
    """
    count = vec.shape[-1]
    n = (_math.isqrt((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) - 1 - 2 * diag) // 2
    rows, columns = _np.tril_indices(max(n, 0), diag)
    if n < 0 or len(rows) != count:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square "
            "D x D matrix."
        )
    return vec.new_zeros((*vec.shape[:-1], n * n)).index_copy(-1, tensor(rows * n + columns), vec).unflatten(-1, (n, n))


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """``tril_matrix_to_vec(mat, diag=0)``: the lower triangles of (..., n, n) matrices, up to this diagonal, row by row.

    ValueError for a diagonal that lies outside.

    >>> import autograd_cy as ag
    >>> ag.distributions.utils.tril_matrix_to_vec(ag.tensor([[1.0, 0.0], [2.0, 3.0]]))
    tensor([1., 2., 3.])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = _np.tril_indices(n, diag)
    return mat.flatten(-2).index_select(-1, tensor(rows * n + columns))
