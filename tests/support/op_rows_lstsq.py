"""Rows of the op table: least squares, and LDL decompositions."""

import numpy as np
from op_case import COMPLEX, FLOATS, S
from op_rows_linalg import INT32, adjoint, regular, row, taking
from scipy.linalg import get_lapack_funcs

# least squares


def lstsq(a, b, rcond=None, driver=None):
    """By the pseudoinverse; the residuals where PyTorch's driver gives them."""
    is_vector = b.ndim == a.ndim - 1
    b = b[..., None] if is_vector else b
    x = np.linalg.pinv(a) @ b
    (m, n), nothing = a.shape[-2:], np.empty(0)
    residuals = (np.abs(a @ x - b) ** 2).sum(-2) if m > n and driver not in (None, "gelsy") else nothing
    return x[..., 0] if is_vector else x, residuals


def solution_and_residuals(result):
    """What has a gradient, as far as there is any."""
    return result[:2] if result[1].shape != (0,) else result[0]


def equations(make):
    yield S(regular(make, 3, 2), make(3, 2))
    yield S(regular(make, 2, 2), make(2, 1))
    yield S(regular(make, 2, 3), make(2, 2))
    yield S(regular(make, 3, 2), make(3))
    yield S(regular(make, 2, 3, 2), make(2, 3), driver="gels")
    yield S(regular(make, 1, 3, 2), make(2, 3, 1), driver="gelsd")
    yield S(regular(make, 2, 3, 2), make(1, 3, 1), driver="gelss")


# LDL


def ldl(a, hermitian=False):
    """LAPACK's, matrix by matrix, whose pivots SciPy leaves as they are."""
    hermitian = hermitian and np.iscomplexobj(a)
    (function,) = get_lapack_funcs(("hetrf" if hermitian else "sytrf",), (a,))
    ld, pivots = np.empty_like(a), np.empty(a.shape[:-1], np.int32)
    for index in np.ndindex(a.shape[:-2]):
        ld[index], pivots[index], _ = function(a[index], lower=1)
    return np.tril(ld), pivots


def ldl_with_info(a, **kwargs):
    return *ldl(a, **kwargs), np.zeros(a.shape[:-2])


def ldl_solve(ld, pivots, b, hermitian=False):
    """For pivots that exchange nothing: D is diagonal."""
    factor = np.tril(ld, -1) + np.eye(ld.shape[-1])
    diagonal = np.einsum("...i,ij->...ij", np.diagonal(ld, 0, -2, -1), np.eye(ld.shape[-1]))
    turned = adjoint(factor) if hermitian else np.swapaxes(factor, -2, -1)
    return np.linalg.solve(factor @ diagonal @ turned, b)


def symmetric(make):
    for sizes in ((1, 1), (3, 3), (6, 6), (2, 4, 4)):
        x = make(*sizes)
        x = x - np.triu(x) * np.eye(sizes[-1])      # zeros on the diagonal: blocks of two rows
        yield S(make.of(x + np.swapaxes(x, -2, -1) + np.eye(sizes[-1]) * (sizes[-1] < 3)))
        yield S(make.of(x + adjoint(x) + np.eye(sizes[-1]) * (sizes[-1] < 4)), hermitian=True)


def systems(make):
    yield S(regular(make, 3, 3), np.array([1, 2, 3], np.int32), make(3, 2))
    yield S(regular(make, 2, 1, 2, 2), np.array([[[1, 2]], [[1, 2]]], np.int32), make(2, 2, 1))
    yield S(make.of(np.tril(regular(make, 2, 2).real)), np.array([1, 2], np.int32), make(2, 2), hermitian=True)


WITHOUT_GRADIENT = {"dtypes": (), "forward": FLOATS + COMPLEX}

LSTSQ_ROWS = [
    row("linalg.lstsq", lstsq, equations, taking(solution_and_residuals), result=("first", "real")),
    row("linalg.ldl_factor", ldl, symmetric, **WITHOUT_GRADIENT, result=("first", INT32)),
    row("linalg.ldl_factor_ex", ldl_with_info, symmetric, **WITHOUT_GRADIENT, result=("first", INT32, INT32)),
    row("linalg.ldl_solve", ldl_solve, systems, **WITHOUT_GRADIENT),
]
