"""NumPy's products and linear algebra: the counterparts (facade)."""

from typing import Any

import numpy as np

from .. import linalg
from .._core.graph.tensor import Tensor, sharing
from .._functional import names as ops
from ._arguments import Declined, array, common, counterpart, floating, joined, tensor
from ._shapes import _broadcast_arrays

# ------------------------------------------------------------------------------------------------------------
# products


@counterpart("dot")
def _dot(a: Any, b: Any, out: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    x, y = common([tensor(a), tensor(b)])
    if not x.ndim or not y.ndim:
        return x * y
    return x @ y if y.ndim <= 2 else ops.tensordot(x, y, ([x.ndim - 1], [y.ndim - 2]))


@counterpart("inner")
def _inner(a: Any, b: Any, /) -> Tensor:
    x, y = common([tensor(a), tensor(b)])
    return ops.inner(x, y)


@counterpart("outer", "linalg.outer")
def _outer(a: Any, b: Any, out: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    return tensor(a).reshape(-1, 1) * tensor(b).reshape(-1)


@counterpart("vdot")
def _vdot(a: Any, b: Any, /) -> Tensor:
    x, y = common([tensor(a).reshape(-1), tensor(b).reshape(-1)])
    return ops.vdot(x, y)


@counterpart("kron")
def _kron(a: Any, b: Any) -> Tensor:
    return ops.kron(tensor(a), tensor(b))


@counterpart("linalg.matmul")
def _matmul(x1: Any, x2: Any, /) -> Tensor:
    return ops.matmul(*common([tensor(x1), tensor(x2)]))


@counterpart("linalg.vecdot")
def _vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    return linalg.vecdot(*common([tensor(x1), tensor(x2)]), dim=axis)


@counterpart("tensordot")
def _tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    if not isinstance(axes, int):
        axes = tuple([dims] if isinstance(dims, int) else list(map(int, dims)) for dims in axes)
    x, y = common([tensor(a), tensor(b)])
    return ops.tensordot(x, y, axes)


@counterpart("linalg.tensordot")
def _tensordot_of(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    return _tensordot(x1, x2, axes)


@counterpart("einsum")
def _einsum(*operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None) -> Tensor:
    if out is not None or not operands:
        raise Declined
    if not isinstance(operands[0], str):  # operands and the numbers of their dimensions, by turns
        numbers = operands[1::2] + (() if len(operands) % 2 == 0 else (operands[-1],))
        letters = ["".join("..." if n is Ellipsis else chr(97 + n) for n in one) for one in numbers]
        tensors = operands[0 : len(operands) - len(operands) % 2 : 2]
        inputs = ",".join(letters[: len(tensors)])
        operands = (inputs if len(operands) % 2 == 0 else f"{inputs}->{letters[-1]}", *tensors)
    found = common([tensor(x) for x in operands[1:]])
    return ops.einsum(operands[0], *(found if dtype is None else [x.to(np.dtype(dtype)) for x in found]))


@counterpart("cross")
def _cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Tensor:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = ops.movedim(tensor(a), axisa, -1), ops.movedim(tensor(b), axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise Declined
    return ops.movedim(linalg.cross(*_broadcast_arrays(*common([x, y]))), -1, axisc)


@counterpart("linalg.cross")
def _cross_along(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    return _cross(x1, x2, axis=axis)


# ------------------------------------------------------------------------------------------------------------
# convolutions


@counterpart("convolve", "polymul")
def _convolve(a: Any, v: Any, mode: Any = "full") -> Tensor:
    x, y = common([tensor(a).reshape(-1), tensor(v).reshape(-1)])
    if not x.numel() or not y.numel() or mode not in ("full", "same", "valid"):
        raise Declined
    x, y = (y, x) if y.numel() > x.numel() else (x, y)
    n, m = x.numel(), y.numel()
    zeros = sharing(np.zeros(m - 1, x.dtype.numpy_dtype))
    whole = joined([zeros, x, zeros]).unfold(0, m, 1) @ y.flip(0)
    if mode == "full":
        return whole
    start, length = ((m - 1) // 2, n) if mode == "same" else (m - 1, n - m + 1)
    return whole.narrow(0, start, length)


@counterpart("correlate")
def _correlate(a: Any, v: Any, mode: Any = "valid") -> Tensor:
    x, y = tensor(a), tensor(v).conj()
    if mode == "same" and (x.numel() < y.numel()):
        raise Declined
    return _convolve(x, y.flip(0), mode)


# ------------------------------------------------------------------------------------------------------------
# statistics


@counterpart("cov")
def _cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
         aweights: Any = None, *, dtype: Any = None) -> Tensor:  # fmt: skip
    rows = [_as_rows(x, rowvar) for x in (m, y) if x is not None]
    x = rows[0] if len(rows) == 1 else joined(rows)
    x = x if dtype is None else x.to(np.dtype(dtype))
    weights = [None if w is None else tensor(w) for w in (fweights, aweights)]
    correction = (0 if bias else 1) if ddof is None else ddof
    if correction != int(correction):
        raise Declined
    return ops.cov(x, correction=int(correction), fweights=weights[0], aweights=weights[1]).squeeze()


def _as_rows(x: Any, rowvar: bool) -> Tensor:
    x = floating(x)
    return x.reshape(1, -1) if x.ndim < 2 else x if rowvar else x.mT


@counterpart("corrcoef")
def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Tensor:
    c = _cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return c / c
    d = ops.diagonal(c).real if c.dtype.is_complex else ops.diagonal(c)
    r = c / d.sqrt().unsqueeze(-1) / d.sqrt()
    return r if c.dtype.is_complex else r.clamp(-1, 1)


# ------------------------------------------------------------------------------------------------------------
# linear algebra


@counterpart("linalg.norm")
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tensor:
    y = floating(x)
    axis = tuple(axis) if isinstance(axis, list) else axis
    return linalg.norm(y, ord, axis, bool(keepdims))


@counterpart("linalg.vector_norm")
def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Tensor:
    return linalg.vector_norm(floating(x), ord, axis, bool(keepdims))


@counterpart("linalg.matrix_norm")
def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Tensor:
    return linalg.matrix_norm(floating(x), ord, keepdim=bool(keepdims))


@counterpart("linalg.pinv")
def _pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Tensor:
    x = floating(a)
    cutoff = rcond if rtol is None else rtol
    if cutoff is None or cutoff is np._NoValue:
        cutoff = 1e-15 if rtol is None else None
    return linalg.pinv(x, rtol=cutoff, hermitian=hermitian)


@counterpart("linalg.svd")
def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    x = floating(a)
    if hermitian:
        raise Declined
    return linalg.svd(x, full_matrices) if compute_uv else linalg.svdvals(x)


@counterpart("linalg.qr")
def _qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise Declined
    made = linalg.qr(floating(a), "reduced" if mode == "r" else mode)  # of R alone there is no gradient
    return made.R if mode == "r" else made


@counterpart("linalg.cholesky")
def _cholesky(a: Any, /, *, upper: bool = False) -> Tensor:
    return linalg.cholesky(floating(a), upper=upper)


@counterpart("linalg.solve")
def _solve(a: Any, b: Any) -> Tensor:
    x, y = common([floating(a), floating(b)])
    return linalg.solve(x, y.unsqueeze(-1)).squeeze(-1) if y.ndim == 1 else linalg.solve(x, y)


@counterpart("linalg.lstsq")
def _lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    x, y = common([floating(a), floating(b)])
    n, m = x.shape
    cutoff = np.finfo(x.dtype.numpy_dtype).eps * (max(n, m) if rcond is None else 1.0) if rcond in (None, -1) else rcond
    solution = linalg.pinv(x, rtol=cutoff) @ y
    s = linalg.svdvals(x)
    rank = int((array(s) > cutoff * array(s).max(initial=0)).sum())
    rest = (y - x @ solution).abs() ** 2
    full = rank == m and n > m
    residuals = rest.sum(0).reshape(-1) if full else sharing(np.empty(0, rest.dtype.numpy_dtype))
    return solution, residuals, rank, s


def _of_matrices(name: str) -> None:
    """Register an operation of linalg under NumPy's name for it. All its arguments are matrices."""
    operation = getattr(linalg, name)

    @counterpart(f"linalg.{name}")
    def call(a: Any) -> Any:
        return operation(floating(a))


for _name in ("det", "eig", "eigvals", "inv", "slogdet", "svdvals"):
    _of_matrices(_name)


@counterpart("linalg.eigh")
def _eigh(a: Any, UPLO: str = "L") -> Any:
    return linalg.eigh(floating(a), UPLO)


@counterpart("linalg.eigvalsh")
def _eigvalsh(a: Any, UPLO: str = "L") -> Tensor:
    return linalg.eigvalsh(floating(a), UPLO)


@counterpart("linalg.cond")
def _cond(x: Any, p: Any = None) -> Tensor:
    return linalg.cond(floating(x), p)


@counterpart("linalg.matrix_power")
def _matrix_power(a: Any, n: int) -> Tensor:
    return linalg.matrix_power(tensor(a), n)


@counterpart("linalg.multi_dot")
def _multi_dot(arrays: Any, *, out: Any = None) -> Tensor:
    if out is not None:
        raise Declined
    return linalg.multi_dot(common([tensor(x) for x in arrays]))


@counterpart("linalg.tensorinv")
def _tensorinv(a: Any, ind: int = 2) -> Tensor:
    return linalg.tensorinv(floating(a), ind)


@counterpart("linalg.tensorsolve")
def _tensorsolve(a: Any, b: Any, axes: Any = None) -> Tensor:
    x, y = common([floating(a), floating(b)])
    return linalg.tensorsolve(x, y, axes)
