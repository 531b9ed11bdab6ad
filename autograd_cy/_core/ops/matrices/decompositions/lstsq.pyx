"""Least squares: the X that brings A @ X nearest to B."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport FLOAT32, check_has_kernel, code_of, type_word
from autograd_cy._core.graph.node cimport Node, save_input, save_output, unpack
from autograd_cy._core.graph.record cimport (
    as_type, broadcast_sizes, needs_node, new_node, record_all, shape_of, tensor_argument)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport solved_triangles
from autograd_cy._core.ops.matrices.systems cimport (
    adjoint_of, check_finite, dense, first_failure, gradients_of, plus, real_type_of, svd_arrays, unbroadcast)
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import sample_by_sample
from autograd_cy._core.graph.node import declare_outputs
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.matrices.systems import LinAlgError
from autograd_cy._core.ops.registry import op


cdef str NAME = "torch.linalg.lstsq"


@cython.final
cdef class LinalgLstsqBackward0(Node):
    """Its outputs are the solution and the residuals. Constants: whether the right sides are vectors, whether residuals exist,
    the sizes of both operands, and the sizes and dtype of each output.

    Source: G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares" (1973).
    """

    cdef tuple saved_names(self):
        return ("self", "b", "solution")

    cdef object vjp(self, object g, int i):
        return self.gradient(g, i, pinv(unpack(self, 0)))

    cdef tuple vjps(self, object g):
        """Both gradients, by one pseudoinverse."""
        p = pinv(unpack(self, 0))
        return tuple([None if self.next_node(i) is None else self.gradient(g, i, p) for i in range(2)])

    cdef object gradient(self, object g, int i, object p):
        gx, gr = gradients_of(g, 2)
        if gx is None and gr is None:
            return None
        vector, has_residuals, a_sizes, b_sizes, _ = self.constants
        a, b = unpack(self, 0), unpack(self, 1)
        b = b.unsqueeze(-1) if vector else b
        x = unpack(self, 2)
        x = x.unsqueeze(-1) if vector else x
        rest, gb, through_residuals = b - a @ x, None, None
        if gx is not None:
            gx = gx.unsqueeze(-1) if vector else gx
            gb = adjoint_of(p) @ gx
        if gr is not None and has_residuals:
            through_residuals = 2 * rest * as_type(gr, rest.dtype).unsqueeze(-2)
        total = plus(gb, through_residuals)
        if total is None:
            return None
        if i == 1:
            return unbroadcast(total.squeeze(-1) if vector else total, b_sizes)
        g = -(total @ adjoint_of(x))
        if gb is not None:
            g = g + rest @ adjoint_of(p @ gb) + (adjoint_of(p) @ x) @ adjoint_of(gx - p @ (a @ gx))
        return unbroadcast(g, a_sizes)


def like_solution(LinalgLstsqBackward0 node, int i):
    return node.constants[4][i]


declare_outputs(LinalgLstsqBackward0, like_solution)


cdef object solutions(object a, object b, object rcond, bint is_full):
    """The shortest X with the least residual, the ranks of `a`, and its singular values, or None if they were not needed.

    Uses a QR decomposition if it shows that `a` has full rank, else singular values. With is_full=True a zero on the diagonal
    of R is an error.
    """
    m, n = a.shape[-2:]
    wide, k = m < n, min(m, n)
    q, r = np.linalg.qr(np.swapaxes(a, -2, -1).conj() if wide else a)
    if is_full:
        check_rank(r)
    inverse = solved_triangles(r, np.eye(k, dtype=r.dtype), True, False)
    with np.errstate(all="ignore"):
        condition = np.linalg.norm(r, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
    if is_full or np.all(condition * rcond < 1):
        qh, ih = np.swapaxes(q, -2, -1).conj(), np.swapaxes(inverse, -2, -1).conj()
        return q @ (ih @ b) if wide else inverse @ (qh @ b), np.full(a.shape[:-2], k), None
    return by_singular_values(a, b, rcond)


cdef int check_rank(object r) except -1:
    zeros = r.diagonal(0, -2, -1) == 0
    failure = first_failure(np.asarray(np.where(zeros.any(-1), zeros.argmax(-1) + 1, 0))) if zeros.size else None
    if failure is not None:
        raise LinAlgError(f"{NAME}: {failure[0]}The least squares solution could not be computed because the input matrix "
                          f"does not have full rank (error code: {failure[1]}).")
    return 0


cdef object by_singular_values(object a, object b, object rcond):
    u, values, vh = svd_arrays(a, False)
    kept = values > rcond * values.max(-1, initial=0, keepdims=True)
    inverse = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(values.dtype)
    x = np.swapaxes(vh, -2, -1).conj() @ (inverse[..., None] * (np.swapaxes(u, -2, -1).conj() @ b))
    return x, kept.sum(-1), values


cdef Tensor laid_out(object x, Py_ssize_t rows, bint vector):
    """The solution in Fortran order, in memory large enough for the right sides, as LAPACK leaves it."""
    n, columns = x.shape[-2:]
    memory = np.empty(x.shape[:-2] + (columns, rows), x.dtype)
    part = np.swapaxes(memory[..., :n], -2, -1)
    part[...] = x
    return new_tensor(part[..., 0] if vector else part)


cdef object default_rcond(Tensor a):
    return np.finfo(real_type_of(a.array)).eps * max(shape_of(a)[-2:])


cdef bint check_operands(Tensor a, Tensor b, object driver) except -1:
    """Whether the right sides are vectors."""
    cdef int m = cnp.PyArray_NDIM(a.array), n = cnp.PyArray_NDIM(b.array)
    name = NAME
    if m < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if n < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError(f"{name}: Expected input and other to have the same dtype, but got input's dtype "
                           f"{type_word(code_of(a.array))} and other's dtype {type_word(code_of(b.array))}")
    if not 0 <= m - n <= 1:
        raise RuntimeError(f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1")
    vector = m > n
    if shape_of(a)[-2] != shape_of(b)[-1 if vector else -2]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({-1 if vector else -2})")
    check_has_kernel(code_of(a.array), name)
    if code_of(a.array) < FLOAT32:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    return vector


@op(namespace="linalg", batch=sample_by_sample)
def lstsq(input, b, rcond: float | None = None, *, driver: str | None = None):
    """lstsq(input, b, rcond=None, *, driver=None) -> linalg_lstsq: the X for which input @ X is nearest to b.

    A named tuple of the solution (the shortest one if there are several), the sums of squared residuals, the rank of `input`
    and its singular values. Which of these are not empty depends on `driver`, as in PyTorch: the rank for all but 'gels',
    which takes matrices of full rank; the residuals for all but 'gelsy', the default, if there are more rows than columns
    and the rank is full; the singular values for 'gelsd' and 'gelss'. Singular values up to rcond times the largest one
    count as zero. The gradient assumes a constant rank.

    >>> import autograd_cy as ag
    >>> ag.linalg.lstsq(ag.tensor([[1.0], [1.0]]), ag.tensor([[2.0], [4.0]])).solution
    tensor([[3.0000]])
    """
    cdef Tensor a = tensor_argument(input, "linalg.lstsq", "input", 1), y, missed
    cdef Tensor right = tensor_argument(b, "linalg.lstsq", "b", 2)
    cdef bint vector = check_operands(a, right, driver)
    array = right.array[..., None] if vector else right.array
    broadcast_sizes(shape_of(a)[:-2], array.shape[:-2])             # raises if the shapes don't fit
    check_finite(NAME, np.isfinite(a.array).all((-2, -1)), "least squares solution could not be computed")
    driver = driver or "gelsy"
    rcond = default_rcond(a) if rcond is None else rcond
    solve = by_singular_values(a.array, array, rcond) if driver in ("gelsd", "gelss") else solutions(
        a.array, array, rcond, driver == "gels")
    x, rank, values = solve
    nothing = np.empty((0,), real_type_of(a.array))
    m, n = shape_of(a)[-2:]
    residuals = nothing
    if m > n and driver != "gelsy" and np.all(rank == n):
        residuals = np.sum(np.abs(a.array @ x - array) ** 2, -2)
    y = laid_out(x, max(m, n), vector)
    missed = dense(np.asarray(residuals, real_type_of(a.array)))
    record_solution(y, missed, a, right, vector)
    return return_types.linalg_lstsq(
        y, missed, new_tensor(np.asarray(rank if driver != "gels" else np.empty((0,)), np.int64)),
        dense(nothing if driver in ("gels", "gelsy") else values))


cdef int record_solution(Tensor y, Tensor missed, Tensor a, Tensor right, bint vector) except -1:
    if not needs_node(a) and not needs_node(right):
        return 0
    likes = tuple([(shape_of(output), output.dtype) for output in (y, missed)])
    node = new_node(LinalgLstsqBackward0, (vector, shape_of(missed) != (0,), shape_of(a), shape_of(right), likes))
    save_input(node, 0, a)
    save_input(node, 1, right)
    save_output(node, y)
    node.n_outputs, node.joint = 2, True
    record_all(node, (y, missed), (a, right))
    return 0
