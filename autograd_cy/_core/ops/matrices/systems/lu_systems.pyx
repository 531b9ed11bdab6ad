"""Systems of equations with an LU decomposition (lu.pyx): lu_solve()."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT32, check_has_kernel, code_of, type_word
from autograd_cy._core.graph.node cimport Node, save_input, save_output, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record2, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport row_order, solved_eliminated
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


@cython.final
cdef class LinalgLuSolveBackward0(Node):
    """Constants: `left`, `adjoint`, the sizes of both operands."""

    cdef tuple saved_names(self):
        return ("LU", "pivots", "result")

    cdef tuple constant_names(self):
        return ("left", "adjoint", None, None)

    cdef object vjp(self, object g, int i):
        left, adjoined, lu_sizes, b_sizes = self.constants
        lu, pivots, x = unpack(self, 0), unpack(self, 1), unpack(self, 2)
        gb = lu_solve(lu, pivots, g, left=left, adjoint=not adjoined)
        if i == 1:
            return unbroadcast(gb, b_sizes)
        if left:
            ga = x @ adjoint_of(gb) if adjoined else gb @ adjoint_of(x)
        else:
            ga = adjoint_of(gb) @ x if adjoined else adjoint_of(x) @ gb
        l, u = unpacked(lu)
        ga = taken_rows(row_order((<Tensor> pivots).array, lu_sizes[-2]), -unbroadcast(ga, lu_sizes))
        return lower(ga @ adjoint_of(u), -1) + upper_part(adjoint_of(l) @ ga, 0)


cdef object taken_rows(object order, object x):
    """P.mT @ x."""
    return x.gather(-2, new_tensor(order[..., None]).expand(shape_of(x)))


cdef Tensor lu_operand(object value):
    cdef Tensor x = tensor_argument(value, "lu_solve", "LU", 1)
    check_has_kernel(code_of(x.array), "linalg.lu_solve")
    if code_of(x.array) < FLOAT32:
        raise RuntimeError("torch.linalg.lu_solve: Expected a floating point or complex tensor as input. Got "
                           f"{type_word(code_of(x.array))}")
    return x


cdef int check_lu_system(str name, Tensor a, Tensor places, Tensor b, bint left) except -1:
    check_matrix(a, f"torch.{name}", "A", True)
    check_matrix(b, name, "B", False)
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError(f"{name}: Expected LU and B to have the same dtype, but found LU of type "
                           f"{type_word(code_of(a.array))} and B of type {type_word(code_of(b.array))} instead")
    if code_of(places.array) != INT32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    rows, columns = shape_of(b)[-2:]
    if shape_of(a)[-1] != (rows if left else columns):
        raise RuntimeError(f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
                           f"({shape_of(a)[-2]}x{shape_of(a)[-1]} and {rows}x{columns})")
    if not shape_of(places) or shape_of(places)[-1] != shape_of(a)[-1]:
        raise RuntimeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix")
    if shape_of(a)[:-1] != shape_of(places):
        raise RuntimeError(f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{list(shape_of(places))} instead")
    if cnp.PyArray_SIZE(places.array) and not 1 <= places.array.min() <= places.array.max() <= shape_of(a)[-1]:
        raise RuntimeError(f"{name}: pivots are rows of LU, from 1 to {shape_of(a)[-1]}, but got {places.array.min()} to "
                           f"{places.array.max()}")
    return 0


def batched_lu_solve(call, LU, pivots, B, *, left=True, adjoint=False):
    cdef int rank = max(rank_of(LU), rank_of(B))
    for x in (LU, B):
        call.check_rank(x, 2, LU, pivots, B, left=left, adjoint=adjoint)
    if call.is_batched(LU) != call.is_batched(pivots):
        missing = (1,) * (rank - rank_of(LU))
        LU, pivots = [call.front(x) for x in (LU, pivots)]
        LU, pivots = [x.reshape(x.shape[:1] + missing + x.shape[1:]) for x in (LU, pivots)]
    else:
        rank_of_pivots = rank - 1
        LU, pivots = call.aligned(LU, rank), call.aligned(pivots, rank_of_pivots)
    return call(LU, pivots, call.aligned(B, rank), left=left, adjoint=adjoint)


@op(namespace="linalg", batch=batched_lu_solve)
def lu_solve(LU, pivots, B, *, left: bool = True, adjoint: bool = False):
    """lu_solve(LU, pivots, B, *, left=True, adjoint=False) -> Tensor: the X with A @ X = B, for linalg.lu_factor() of A.

    With left=False it solves X @ A = B, with adjoint=True A is replaced by A.mH. Batches are broadcast.

    >>> import autograd_cy as ag
    >>> ag.linalg.lu_solve(*ag.linalg.lu_factor(ag.tensor([[2.0, 0.0], [0.0, 4.0]])), ag.tensor([[2.0], [8.0]]))
    tensor([[1.],
            [2.]])
    """
    cdef Tensor a = lu_operand(LU), places = tensor_argument(pivots, "lu_solve", "pivots", 2)
    cdef Tensor b = tensor_argument(B, "lu_solve", "B", 3), y
    check_lu_system("linalg.lu_solve", a, places, b, left)
    if left:
        y = columns_first(solved_eliminated(a.array, places.array, b.array, adjoint))
    else:
        array = np.swapaxes(np.conj(b.array), -2, -1)
        array = solved_eliminated(a.array, places.array, array, not adjoint)
        y = dense(np.conj(np.swapaxes(array, -2, -1)))
    if needs_node(a) or needs_node(b):
        node = new_node(LinalgLuSolveBackward0, (left, adjoint, shape_of(a), shape_of(b)))
        save_input(node, 0, a)
        save_input(node, 1, places)
        save_output(node, y)
        record2(node, y, a, b)
    return y


@op(name="lu_solve", methods=("lu_solve",), batch=COMPOSITE)
def old_lu_solve(input, LU_data, LU_pivots):
    """lu_solve(input, LU_data, LU_pivots) -> Tensor: superseded by linalg.lu_solve(), with the right side first.

    >>> import autograd_cy as ag
    >>> ag.lu_solve(ag.tensor([[2.0], [8.0]]), *ag.linalg.lu_factor(ag.tensor([[2.0, 0.0], [0.0, 4.0]])))
    tensor([[1.],
            [2.]])
    """
    return lu_solve(LU_data, LU_pivots, input)
