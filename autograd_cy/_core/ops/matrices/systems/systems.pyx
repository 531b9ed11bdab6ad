"""Inverses and systems of equations, by LU decompositions.

Derivatives: M. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic differentiation" (2008).
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport code_of, type_word
from autograd_cy._core.graph.node cimport Node, Request, save_input, save_output, saved_array, unpack
from autograd_cy._core.graph.record cimport broadcast_sizes, needs_node, new_node, record, record2, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport eliminated, solved_eliminated, solved_triangles
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE, on_matrices
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op


def batched_pair(call, first, second, **kwargs):
    """The batching rule for two operands that are matrices: the batch in front, their batches aligned."""
    cdef int rank = max(rank_of(first), rank_of(second))
    return call(call.aligned(first, rank), call.aligned(second, rank), **kwargs)


def batched_system(call, first, second, **kwargs):
    """Like batched_pair, if both are matrices in each sample."""
    for x in (first, second):
        if isinstance(x, Tensor):
            call.check_rank(x, 2, first, second, **kwargs)
    return batched_pair(call, first, second, **kwargs)


cdef int check_singular(str operation, str failing, object info) except -1:
    """Raise for the first matrix that is singular."""
    found = first_failure(info)
    if found is None:
        return 0
    where, number = found
    if failing == "solver":
        raise LinAlgError(f"{operation}: {where}The solver failed because the input matrix is singular.")
    raise LinAlgError(f"{operation}: {where}The diagonal element {number} is zero, the inversion could not be completed "
                      "because the input matrix is singular.")


# the inverse

@cython.final
cdef class LinalgInvExBackward0(Node):
    cdef tuple saved_names(self):
        return (None, None, "inverse")

    cdef object vjp(self, object g, int i):
        y = adjoint_of(unpack(self, 2))
        return -(y @ g @ y)

    cdef object jvp(self, tuple tangents):
        y = unpack(self, 2)
        return -(y @ tangents[0] @ y)


cdef object without_failures(object x, object info):
    """Replace the results for singular matrices by NaN."""
    if info.any():
        x[np.broadcast_to(info > 0, x.shape[:-2])] = np.nan
    return x


cdef tuple inverted(Tensor x):
    """The inverse, and PyTorch's info."""
    lu, pivots, info = eliminated(x.array)
    ones = np.eye(shape_of(x)[-1], dtype=x.array.dtype)
    cdef Tensor y = columns_first(without_failures(solved_eliminated(lu, pivots, ones, False), info))
    if needs_node(x):
        node = new_node(LinalgInvExBackward0, ())
        save_output(node, y)
        record(node, y, x)
    return y, np.asarray(info)


@op(namespace="linalg", batch=on_matrices)
def inv_ex(input, *, check_errors: bool = False):
    """inv_ex(input, *, check_errors=False) -> linalg_inv_ex: the inverses of matrices, and `info`: which of them are singular.

    `info` is 0, or the number of the diagonal element that is zero in an elimination. The inverse of a singular matrix is NaN,
    or an error with check_errors=True.

    >>> import autograd_cy as ag
    >>> ag.linalg.inv_ex(ag.tensor([[2.0, 0.0], [0.0, 4.0]])).inverse
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    y, info = inverted(matrix_argument(input, "linalg.inv", True))
    if check_errors:
        check_singular("linalg.inv_ex", "inversion", info)
    return return_types.linalg_inv_ex(y, new_tensor(info))


@op(namespace="linalg", batch=on_matrices)
def inv(input):
    """inv(input) -> Tensor: the inverse of a square matrix, or of each of a batch. LinAlgError if one is singular.

    >>> import autograd_cy as ag
    >>> ag.linalg.inv(ag.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    y, info = inverted(matrix_argument(input, "linalg.inv", True))
    check_singular("linalg.inv", "inversion", info)
    return y


@op(methods=("inverse",), batch=on_matrices)
def inverse(input):
    """inverse(input) -> Tensor: another name of linalg.inv().

    >>> import autograd_cy as ag
    >>> ag.inverse(ag.tensor([[2.0]]))
    tensor([[0.5000]])
    """
    return inv(tensor_argument(input, "inverse", "input", 1))


# systems of equations

@cython.final
cdef class LinalgSolveExBackward0(Node):
    """Constants: the sizes of both operands, the result of eliminated(), a list in which a solution waits."""

    cdef tuple saved_names(self):
        return ("A", None, "result")

    cdef object vjp_array(self, object g, int i, Request *request):
        """Reuses the decomposition, and solves one system for both gradients."""
        a_sizes, b_sizes, lu, pivots, waiting = self.constants
        if g.shape[:-1] != a_sizes[:-1] or g.shape != b_sizes:
            return Node.vjp_array(self, g, i, request)
        gb = waiting.pop()[1] if waiting and waiting[0][0] is g else solved_eliminated(lu, pivots, g, True)
        if i == 1:
            return gb
        if self.next_node(1) is not None:
            waiting[:] = [(g, gb)]
        return -(gb @ np.conj(np.swapaxes(saved_array(self, 2), -2, -1)))

    cdef object vjp(self, object g, int i):
        a, x = unpack(self, 0), unpack(self, 2)
        gb = solved(adjoint_of(a), g)
        if i == 1:
            return unbroadcast(gb, self.constants[1])
        return unbroadcast(-(gb @ adjoint_of(x)), self.constants[0])

    cdef object jvp(self, tuple tangents):
        a, x, (da, db) = unpack(self, 0), unpack(self, 2), tangents
        if da is None:
            return solved(a, db)
        return solved(a, -(da @ x) if db is None else db - da @ x)


cdef object solved(object a, object b):
    """The X with a @ X = b, for matrices; through the public operation, which handles batches."""
    return solve_ex(a, b if shape_of(b)[:-2] else b.expand(shape_of(a)[:-2] + shape_of(b))).result


cdef tuple solution(Tensor a, Tensor b, bint vectors):
    """The X with a @ X = b, for matrices with broadcast batches, and PyTorch's info.

    A batch of vectors is laid out as PyTorch lays it out: as columns of a matrix.
    """
    broadcast_sizes(shape_of(a)[:-2], shape_of(b)[:-2])            # raises if the shapes don't fit
    lu, pivots, info = eliminated(a.array)
    array = without_failures(solved_eliminated(lu, pivots, b.array, False), info)
    if vectors and array.ndim > 2:
        array = columns_first(array[..., 0]).array[..., None]
    cdef Tensor y = new_tensor(array) if vectors else columns_first(array)
    if needs_node(a) or needs_node(b):
        node = new_node(LinalgSolveExBackward0, (shape_of(a), shape_of(b), lu, pivots, []))
        save_input(node, 0, a)
        save_output(node, y)
        record2(node, y, a, b)
    return y, np.asarray(info)


cdef bint is_vector(Tensor a, Tensor b) except -1:
    """Whether the right side is a batch of vectors: PyTorch's rule."""
    cdef int m = cnp.PyArray_NDIM(a.array), n = cnp.PyArray_NDIM(b.array)
    return n == 1 or (m - 1 == n and shape_of(b) == shape_of(a)[:-1])


cdef tuple solve_checked(str operation, object first, object second, bint left):
    """The solution of a system with any valid right side, and info."""
    cdef Tensor a = matrix_argument(first, operation, True), b = tensor_argument(second, operation, "B", 2)
    cdef bint vector = is_vector(a, b)
    cdef object x = b
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError(f"{operation}: Expected A and B to have the same dtype, but found A of type "
                           f"{type_word(code_of(a.array))} and B of type {type_word(code_of(b.array))} instead")
    if vector:
        if not left:
            raise RuntimeError(f"{operation}: Vector broadcasting of the left hand side is not supported for left=False. In "
                               "case linalg.solve is equivalent to B / A.squeeze(-1)")
        x = x.unsqueeze(-1)
    check_matrix(<Tensor> x, operation, "B", False)
    n, rows = shape_of(a)[-1], shape_of(x)[-2 if left else -1]
    if n != rows:
        raise RuntimeError(f"{operation}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({shape_of(a)[-2]}x{n} and {shape_of(x)[-2]}x{shape_of(x)[-1]})")
    if left:
        y, info = solution(a, <Tensor> x, vector)
    else:
        y, info = solution(<Tensor> (<object> a).transpose(-2, -1), <Tensor> x.transpose(-2, -1), False)
        y = y.transpose(-2, -1)
    return y.squeeze(-1) if vector else y, info


def batched_solve(call, input, other, *, left=True, check_errors=None):
    """Makes each sample's right side a matrix: whether it is a vector must not depend on the batch."""
    cdef int m = rank_of(input), n = rank_of(other), rank
    cdef bint vector = n == 1 or (m - 1 == n and tuple(other.shape) == tuple(input.shape)[:m - 1])
    kwargs = {} if check_errors is None else {"check_errors": check_errors}
    if m < 2 or n < 1 or (vector and not left):
        call.on_sample(input, other)
    if vector:
        other, n = other.unsqueeze(-1), n + 1
    rank = max(m, n)
    a, b = call.aligned(input, rank), call.aligned(other, rank)
    if a.ndim - 1 == b.ndim:                # a right side shared by all samples could be mistaken for vectors
        b = b.unsqueeze(0)
    found = call(a, b, left=left, **kwargs)
    if not isinstance(found, Tensor):
        sizes = (call.size, *tuple(input.shape)[:m - 2])
        info = found.info.reshape(sizes) if call.is_batched(input) else found.info.expand(sizes)
        return return_types.linalg_solve_ex(found.result.squeeze(-1) if vector else found.result, info)
    return found.squeeze(-1) if vector else found


@op(namespace="linalg", batch=batched_solve)
def solve(input, other, *, left: bool = True):
    """solve(input, other, *, left=True) -> Tensor: the X with input @ X = other; with left=False, X @ input = other.

    `other` is a matrix or a vector, or a batch of them, broadcast. LinAlgError if a matrix is singular.

    >>> import autograd_cy as ag
    >>> ag.linalg.solve(ag.tensor([[2.0, 0.0], [0.0, 4.0]]), ag.tensor([2.0, 8.0]))
    tensor([1., 2.])
    """
    y, info = solve_checked("linalg.solve", input, other, left)
    check_singular("torch.linalg.solve", "solver", info)
    return y


@op(namespace="linalg", batch=batched_solve)
def solve_ex(input, other, *, left: bool = True, check_errors: bool = False):
    """solve_ex(input, other, *, left=True, check_errors=False) -> linalg_solve_ex: linalg.solve() with `info`.

    `info` is not 0 for singular matrices. They are an error only with check_errors=True.

    >>> import autograd_cy as ag
    >>> ag.linalg.solve_ex(ag.tensor([[2.0, 0.0], [0.0, 4.0]]), ag.tensor([2.0, 8.0])).result
    tensor([1., 2.])
    """
    y, info = solve_checked("linalg.solve_ex", input, other, left)
    if check_errors:
        check_singular("linalg.solve_ex", "solver", info)
    return return_types.linalg_solve_ex(y, new_tensor(info))


# triangular systems

@cython.final
cdef class LinalgSolveTriangularBackward0(Node):
    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef tuple constant_names(self):
        return ("upper", "left", "unitriangular", None, None)

    cdef object solved(self, object b, bint turned):
        """The solution for another right side, with the original matrix or its adjoint."""
        is_upper, left, unit, _a, _b = self.constants
        a = unpack(self, 0)
        return solve_triangular(adjoint_of(a) if turned else a, b, upper=is_upper != turned, left=left, unitriangular=unit)

    cdef object triangle(self, object g):
        """The part of a matrix that was read."""
        return upper_part(g, self.constants[2]) if self.constants[0] else lower(g, -1 if self.constants[2] else 0)

    cdef object vjp(self, object g, int i):
        gb, x = self.solved(g, True), unpack(self, 2)
        if i == 1:
            return unbroadcast(gb, self.constants[4])
        ga = -(gb @ adjoint_of(x)) if self.constants[1] else -(adjoint_of(x) @ gb)
        return unbroadcast(self.triangle(ga), self.constants[3])

    cdef object jvp(self, tuple tangents):
        x, (da, db) = unpack(self, 2), tangents
        if da is not None:
            da = self.triangle(da)
            term = da @ x if self.constants[1] else x @ da
            db = -term if db is None else db - term
        return self.solved(db, False)


@op(namespace="linalg", batch=batched_system)
def solve_triangular(input, other, *, upper: bool, left: bool = True, unitriangular: bool = False):
    """solve_triangular(input, other, *, upper, left=True, unitriangular=False) -> Tensor: the X with input @ X = other.

    Only the upper (lower) triangle of the matrix is read; with unitriangular=True its diagonal counts as ones. With left=False
    it solves X @ input = other. Batches are broadcast.

    >>> import autograd_cy as ag
    >>> ag.linalg.solve_triangular(ag.tensor([[2.0, 0.0], [1.0, 4.0]]), ag.tensor([[2.0], [9.0]]), upper=False)
    tensor([[1.],
            [2.]])
    """
    cdef str name = "linalg.solve_triangular"
    cdef Tensor a = matrix_argument(input, name, True), b = tensor_argument(other, name, "B", 2), y
    check_matrix(b, name, "B", False)
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError(f"{name}: Expected A and B to have the same dtype, but found A of type "
                           f"{type_word(code_of(a.array))} and B of type {type_word(code_of(b.array))} instead")
    n, rows = shape_of(a)[-1], shape_of(b)[-2 if left else -1]
    if n != rows:
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({shape_of(a)[-2]}x{n} and {shape_of(b)[-2]}x{shape_of(b)[-1]})")
    if left:
        y = columns_first(solved_triangles(a.array, b.array, upper, unitriangular))
    else:
        y = columns_first(np.swapaxes(solved_triangles(np.swapaxes(a.array, -2, -1), np.swapaxes(b.array, -2, -1), not upper,
                                                       unitriangular), -2, -1))
    if needs_node(a) or needs_node(b):
        node = new_node(LinalgSolveTriangularBackward0, (upper, left, unitriangular, shape_of(a), shape_of(b)))
        save_input(node, 0, a)
        save_output(node, y)
        record2(node, y, a, b)
    return y


@op(methods=("triangular_solve",), batch=COMPOSITE)
def triangular_solve(input, A, upper: bool = True, transpose: bool = False, unitriangular: bool = False):
    """triangular_solve(input, A, upper=True, transpose=False, unitriangular=False) -> triangular_solve: X with A @ X = input.

    A named tuple of the solution and a copy of A. PyTorch keeps it for old scripts; new ones use linalg.solve_triangular().

    >>> import autograd_cy as ag
    >>> ag.triangular_solve(ag.tensor([[8.0]]), ag.tensor([[2.0]])).solution
    tensor([[4.]])
    """
    matrix = tensor_argument(A, "triangular_solve", "A", 2)
    right = tensor_argument(input, "triangular_solve", "self", 1)
    y = solve_triangular(matrix.transpose(-2, -1) if transpose else matrix, right,
                         upper=upper != transpose, unitriangular=unitriangular)
    return return_types.triangular_solve(y, matrix.transpose(-2, -1).contiguous().clone().transpose(-2, -1))
