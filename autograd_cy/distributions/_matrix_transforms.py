"""Transforms to matrices (facade)."""

import math

import numpy as np

from .. import linalg
from .._core.graph.tensor import Tensor
from .._creation.data import tensor
from .._types import Size
from .._types.limits import finfo
from . import constraints
from ._formulas import softplus as _softplus
from ._transform import Transform
from .utils import tril_matrix_to_vec, vec_to_tril_matrix


class CorrCholeskyTransform(Transform):
    """``CorrCholeskyTransform()``: n (n - 1) / 2 numbers to the lower Cholesky factor of an (n, n) correlation matrix.

    Their hyperbolic tangents say which share of the rest of a row of length 1 each entry gets. Lewandowski, Kurowicka and
    Joe, "Generating random correlation matrices based on vines and extended onion method", 2009.

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.CorrCholeskyTransform()(ag.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        shares = vec_to_tril_matrix(x.tanh(), -1)
        logs = vec_to_tril_matrix(_log_of_rest(x), -1).roll(1, -1)  # whose last column was empty
        left = (0.5 * logs.cumsum(-1)).exp()
        diagonal = left.diagonal(dim1=-2, dim2=-1).clamp(min=finfo(x.dtype).tiny)
        return shares * left + diagonal.diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        beyond = y.square().flip(-1).cumsum(-1).flip(-1).roll(-1, -1)  # of the entries behind each
        return (tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(beyond, -1).sqrt()).asinh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        rows, columns = np.tril_indices(y.shape[-1], -1)
        return (tensor(1 + (rows - 1 - columns) / 2, dtype=x.dtype) * _log_of_rest(x)).sum(-1)

    def forward_shape(self, shape: tuple[int, ...]) -> Size:
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        n = (1 + math.isqrt(1 + 8 * shape[-1])) // 2
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size(shape[:-1]) + (n, n)

    def inverse_shape(self, shape: tuple[int, ...]) -> Size:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size(shape[:-2]) + (shape[-1] * (shape[-1] - 1) // 2,)


class LowerCholeskyTransform(Transform):
    """``LowerCholeskyTransform()``: the lower triangle of any matrix, with the exponentials of its diagonal.

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.LowerCholeskyTransform()(ag.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """``PositiveDefiniteTransform()``: L L^T, with L = LowerCholeskyTransform()(x).

    >>> import autograd_cy as ag
    >>> ag.distributions.transforms.PositiveDefiniteTransform()(ag.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


def _log_of_rest(x: Tensor) -> Tensor:
    """log(1 - tanh(x) ** 2)."""
    return 2 * (math.log(2) - x - _softplus(-2 * x))
