"""The Cholesky decomposition of positive definite matrices.

Derivatives: I. Murray, "Differentiation of the Cholesky decomposition" (2016), as PyTorch arranges them.
"""

import numpy as np

cimport cython

from autograd_cy._core.graph.node cimport Node, Request, save_output, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport solved_triangles

from autograd_cy._core.batching.rules import on_matrices
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op


cdef class LinalgCholeskyExBackward0(Node):
    """Constant: whether the result is the upper triangle."""

    cdef tuple saved_names(self):
        return (None, None, "L")

    cdef tuple constant_names(self):
        return ("upper",)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef object y = saved_array(self, 2), turned = turned_array(y)
        if self.constants[0]:
            turned, g = y, turned_array(g)
        half = np.tril(turned @ g)
        outer = solved_triangles(turned, (half + turned_array(np.tril(half, -1))) / 2, True, False)
        return turned_array(solved_triangles(turned, turned_array(outer), True, False))

    cdef object vjp(self, object g, int i):
        y = unpack(self, 2)
        factor, g = (adjoint_of(y), adjoint_of(g)) if self.constants[0] else (y, g)
        half = lower(adjoint_of(factor) @ g, 0)
        outer = solve_triangular(adjoint_of(factor), (half + adjoint_of(lower(half, -1))) / 2, upper=True)
        return adjoint_of(solve_triangular(adjoint_of(factor), adjoint_of(outer), upper=True))

    cdef object jvp(self, tuple tangents):
        y, t = unpack(self, 2), tangents[0]
        factor = adjoint_of(y) if self.constants[0] else y
        inner = solve_triangular(factor, adjoint_of(solve_triangular(factor, t, upper=False)), upper=False)
        turned = factor @ ((lower(adjoint_of(inner), 0) + lower(adjoint_of(inner), -1)) / 2)
        return adjoint_of(turned) if self.constants[0] else turned


@cython.final
cdef class CholeskyBackward0(LinalgCholeskyExBackward0):
    cdef tuple saved_names(self):
        return (None, None, "result")


cdef object turned_array(object array):
    """The conjugate transposes of matrices."""
    return np.swapaxes(array, -2, -1).conj()


cdef tuple factored(Tensor x, bint is_upper, object node_class=LinalgCholeskyExBackward0):
    """The Cholesky factor, and where it fails: the order of the leading minor that is not positive, or 0."""
    array = np.conj(np.swapaxes(x.array, -2, -1)) if is_upper else x.array
    found, info = factors(array)
    cdef Tensor y = columns_first(np.conj(np.swapaxes(found, -2, -1)) if is_upper else found)
    if needs_node(x):
        node = new_node(node_class, (is_upper,))
        save_output(node, y)
        record(node, y, x)
    return y, info


cdef tuple factors(object array):
    """The lower triangular factors, NaN for matrices without one; and the failing minors, or 0."""
    info = np.zeros(array.shape[:-2], np.int32)
    with np.errstate(all="ignore"):             # LAPACK's failures are NaN
        found = ufunc("cholesky_lo", single_factors)(array)
    failed = np.isnan(found.diagonal(0, -2, -1)).any(-1)
    for place in np.argwhere(failed):
        index = tuple(place)
        info[index] = failing_minor(array[index])
        found[index] = np.nan if info[index] else np.linalg.cholesky(array[index])
    return found, info


cdef object factor_or_nan(object matrix):
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan)


def single_factors(array):
    """The factors one by one, NaN for matrices without one: for a NumPy without the ufunc."""
    found = np.empty_like(array)
    for index in np.ndindex(array.shape[:-2]):
        found[index] = factor_or_nan(array[index])
    return found


cdef int failing_minor(object matrix) except -1:
    """The order of the first leading minor that is not positive, or 0."""
    cdef int n
    for n in range(1, matrix.shape[0] + 1):
        try:
            if np.isnan(np.linalg.cholesky(matrix[:n, :n])[-1, -1]):
                return n
        except np.linalg.LinAlgError:
            return n
    return 0


@op(namespace="linalg", batch=on_matrices)
def cholesky_ex(input, *, upper: bool = False, check_errors: bool = False):
    """cholesky_ex(input, *, upper=False, check_errors=False) -> linalg_cholesky_ex: linalg.cholesky() with `info`.

    `info` is the order of the leading minor that is not positive definite, or 0. With check_errors=True a failure is an error.

    >>> import autograd_cy as ag
    >>> ag.linalg.cholesky_ex(ag.tensor([[4.0, 0.0], [0.0, 9.0]])).L
    tensor([[2., 0.],
            [0., 3.]])
    """
    y, info = factored(matrix_argument(input, "linalg.cholesky", True), upper)
    if check_errors:
        check_definite("linalg.cholesky_ex", info)
    return return_types.linalg_cholesky_ex(y, new_tensor(np.asarray(info)))


cdef int check_definite(str operation, object info) except -1:
    failure = first_failure(info)
    if failure is None:
        return 0
    where, order = failure
    raise LinAlgError(f"{operation}: {where}The factorization could not be completed because the input is not "
                      f"positive-definite (the leading minor of order {order} is not positive-definite).")


@op(name="cholesky", namespace="linalg", batch=on_matrices)
def linalg_cholesky(input, *, upper: bool = False):
    """cholesky(input, *, upper=False) -> Tensor: the lower triangular L with input = L @ L.mH; with upper=True, L.mH.

    The matrix is Hermitian and positive definite. Only one triangle is read; the gradient assumes a Hermitian matrix.
    LinAlgError if it is not positive definite.

    >>> import autograd_cy as ag
    >>> ag.linalg.cholesky(ag.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    y, info = factored(matrix_argument(input, "linalg.cholesky", True), upper)
    check_definite("linalg.cholesky", info)
    return y


@op(methods=("cholesky",), batch=on_matrices)
def cholesky(input, upper: bool = False):
    """cholesky(input, upper=False) -> Tensor: linalg.cholesky().

    >>> import autograd_cy as ag
    >>> ag.cholesky(ag.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    y, info = factored(matrix_argument(input, "cholesky", True), upper, CholeskyBackward0)
    check_definite("cholesky", info)
    return y
