"""LU decompositions: A = P @ L @ U with a permutation P, a unit lower triangular L and an upper triangular U.

The decomposition is ours (elimination.pyx), as NumPy does not expose LAPACK's. Each pivot is the row, numbered from
1, with which a row was exchanged, in order.

Derivatives: as PyTorch arranges them. For matrices that are not square, the leading square part is differentiated as a
square matrix, and the rest as a triangular system.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT32, check_has_kernel, code_of, type_word
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport needs_node, new_node, record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport eliminated, row_order
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import on_matrices
from autograd_cy._core.graph.node import declare_outputs
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat


cdef Tensor lu_argument(object value, str operation, str kernel):
    cdef Tensor x = tensor_argument(value, operation, "A", 1)
    if cnp.PyArray_NDIM(x.array) < 2:
        raise RuntimeError(f"{operation}: Expected tensor with 2 or more dimensions. Got size: {list(shape_of(x))} instead")
    check_has_kernel(code_of(x.array), kernel)
    if code_of(x.array) < FLOAT32:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{type_word(code_of(x.array))}'")
    return x


cdef int check_pivoting(bint pivot) except -1:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    return 0


# the gradient

cdef object placed_rows(object order, object x):
    """P @ x; `order` maps each row of L @ U to its row of P @ L @ U."""
    back = new_tensor(np.argsort(order, -1)[..., None])
    return x.gather(-2, back.expand(shape_of(x)))


cdef object lu_gradient(object order, object l, object u, object gl, object gu):
    """The gradient of P @ L @ U from the gradients of L and U; None for one that was not used."""
    cdef Py_ssize_t m = shape_of(l)[-2], n = shape_of(u)[-1], k = min(m, n)
    square_l, square_u, beyond, below = l[..., :k, :], u[..., :k], None, None
    inner = None if gl is None else lower(adjoint_of(square_l) @ gl[..., :k, :], -1)
    if gu is not None:
        inner = plus(inner, upper_part(gu[..., :k] @ adjoint_of(square_u), 0))
    if m > k and gl is not None:
        below = solve_triangular(adjoint_of(square_u), gl[..., k:, :], upper=False, left=False)
        inner = inner - upper_part(adjoint_of(l[..., k:, :]) @ gl[..., k:, :], 0)
    if n > k and gu is not None:
        beyond = solve_triangular(adjoint_of(square_l), gu[..., k:], upper=True, unitriangular=True)
        inner = inner - lower(gu[..., k:] @ adjoint_of(u[..., k:]), -1)
    g = solve_triangular(adjoint_of(square_l), inner, upper=True, unitriangular=True)
    g = solve_triangular(adjoint_of(square_u), g, upper=False, left=False)
    if m > k:
        g = cat([g, l[..., k:, :] * 0 if below is None else below], -2)
    if n > k:
        g = cat([g, u[..., k:] * 0 if beyond is None else beyond], -1)
    return placed_rows(order, g)


cdef tuple unpacked(object lu):
    """L and U from one matrix that holds both, by recorded operations."""
    cdef Py_ssize_t m = shape_of(lu)[-2], n = shape_of(lu)[-1], k = min(m, n)
    ones = new_tensor(np.eye(m, k, dtype=(<Tensor> lu).array.dtype))
    return lower(lu[..., :k], -1) + ones, upper_part(lu[..., :k, :], 0)


cdef object packed(object gl, object gu, tuple sizes):
    """The gradient of a matrix that holds L and U, from their gradients."""
    cdef Py_ssize_t m = sizes[-2], n = sizes[-1]
    if gl is not None:
        gl = lower(gl, -1)
        gl = gl if n <= m else cat([gl, gl.new_zeros(shape_of(gl)[:-1] + (n - m,))], -1)
    if gu is not None:
        gu = upper_part(gu, 0)
        gu = gu if m <= n else cat([gu, gu.new_zeros(shape_of(gu)[:-2] + (m - n, n))], -2)
    return plus(gl, gu)


# both in one matrix

@cython.final
cdef class LinalgLuFactorExBackward0(Decomposition):
    cdef tuple constant_names(self):
        return ("pivots", "pivot", None)

    @property
    def _saved_LU(self):
        return self.output(0)

    cdef object vjp(self, object g, int i):
        gl, gu = unpacked_gradient(g)
        l, u = unpacked(self.output(0))
        return lu_gradient(self.constants[2], l, u, gl, gu)


cdef tuple unpacked_gradient(object g):
    """The gradients of L and U from the gradient of the matrix that holds both."""
    cdef Py_ssize_t k = min(shape_of(g)[-2:])
    return lower(g[..., :k], -1), upper_part(g[..., :k, :], 0)


cdef tuple lu_factored(Tensor x, bint pivot):
    """(LU, pivots) as Tensors, and info."""
    check_pivoting(pivot)
    array, pivots, info = eliminated(x.array)
    cdef Tensor y = columns_first(array), places = new_tensor(pivots)
    if needs_node(x):
        order = row_order(pivots, shape_of(x)[-2])
        record_outputs(new_node(LinalgLuFactorExBackward0, (places, pivot, order)), (y,), x)
    return y, places, info


cdef int check_pivots(str operation, object info) except -1:
    found = first_failure(info)
    if found is None:
        return 0
    where, number = found
    raise LinAlgError(f"{operation}: {where}U[{number},{number}] is zero and using it on lu_solve would result in a division "
                      "by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                      "linalg.lu_factor_ex(A, pivot)")


@op(namespace="linalg", batch=on_matrices)
def lu_factor_ex(input, *, pivot: bool = True, check_errors: bool = False):
    """lu_factor_ex(input, *, pivot=True, check_errors=False) -> linalg_lu_factor_ex: linalg.lu_factor() with `info`.

    `info` is the number, from 1, of the first zero on U's diagonal, or 0. With check_errors=True a zero is an error.

    >>> import autograd_cy as ag
    >>> ag.linalg.lu_factor_ex(ag.tensor([[1.0, 2.0], [2.0, 4.0]])).LU
    tensor([[2.0000, 4.0000],
            [0.5000, 0.0000]])
    """
    lu, pivots, info = lu_factored(lu_argument(input, "torch.lu_factor_ex", "lu_cpu"), pivot)
    if check_errors:
        check_pivots("torch.linalg.lu_factor_ex", info)
    return return_types.linalg_lu_factor_ex(lu, pivots, new_tensor(np.asarray(info)))


@op(namespace="linalg", batch=on_matrices)
def lu_factor(input, *, pivot: bool = True):
    """lu_factor(input, *, pivot=True) -> linalg_lu_factor: L and U of input = P @ L @ U in one matrix, and the pivots.

    L's diagonal of ones is left out. `pivots` (int32) are the rows, from 1, with which the rows were exchanged in order.
    linalg.lu_solve() accepts both. LinAlgError if U has a zero on its diagonal; pivot=False is not supported, as on PyTorch's
    CPU.

    >>> import autograd_cy as ag
    >>> ag.linalg.lu_factor(ag.tensor([[1.0, 2.0], [2.0, 2.0]])).LU
    tensor([[2.0000, 2.0000],
            [0.5000, 1.0000]])
    """
    lu, pivots, info = lu_factored(lu_argument(input, "torch.lu_factor", "lu_cpu"), pivot)
    check_pivots("torch.linalg.lu_factor", info)
    return return_types.linalg_lu_factor(lu, pivots)


@op(name="lu", methods=("lu",), batch=on_matrices)
def lu(input, pivot: bool = True, get_infos: bool = False):
    """lu(input, pivot=True, get_infos=False) -> tuple of Tensors: superseded by linalg.lu_factor().

    With get_infos=True a third tensor tells which matrices are singular; otherwise a singular matrix is an error.

    >>> import autograd_cy as ag
    >>> ag.lu(ag.tensor([[1.0, 2.0], [2.0, 2.0]]))[0]
    tensor([[2.0000, 2.0000],
            [0.5000, 1.0000]])
    """
    y, pivots, info = lu_factored(lu_argument(input, "torch.lu_factor_ex", "lu_cpu"), pivot)
    if get_infos:
        return return_types._lu_with_info(y, pivots, new_tensor(np.asarray(info)))
    check_pivots("torch.linalg.lu_factor_ex", info)
    return y, pivots


# in three matrices

@cython.final
cdef class LinalgLuBackward0(Decomposition):
    cdef tuple constant_names(self):
        return ("P", "pivot", None)

    @property
    def _saved_L(self):
        return self.output(0)

    @property
    def _saved_U(self):
        return self.output(1)

    cdef object vjp(self, object g, int i):
        gl, gu = gradients_of(g, 2)
        if gl is None and gu is None:
            return None
        return lu_gradient(self.constants[2], self.output(0), self.output(1), gl, gu)


cdef tuple triangles_of(object array):
    """L and U as arrays."""
    k = min(array.shape[-2:])
    left = np.tril(array[..., :k], -1)
    np.einsum("...ii->...i", left[..., :k, :])[...] = 1
    return left, np.triu(array[..., :k, :])


cdef object permutations(object order, object dtype):
    """P as an array; `order` maps each row of L @ U to its row of P @ L @ U."""
    n = order.shape[-1]
    return np.asarray(order[..., None, :] == np.arange(n)[:, None], dtype)


@op(name="lu", namespace="linalg", batch=on_matrices)
def linalg_lu(input, *, pivot: bool = True):
    """lu(input, *, pivot=True) -> linalg_lu: P, L and U with input = P @ L @ U.

    P is a permutation matrix, L is lower triangular with ones on its diagonal, U is upper triangular. Only L and U have
    gradients. pivot=False is not supported, as on PyTorch's CPU.

    >>> import autograd_cy as ag
    >>> ag.linalg.lu(ag.tensor([[1.0, 2.0], [2.0, 2.0]])).U
    tensor([[2., 2.],
            [0., 1.]])
    """
    cdef Tensor x = lu_argument(input, "linalg.lu", "lu_cpu"), p
    check_pivoting(pivot)
    array, pivots, _info = eliminated(x.array)
    order = row_order(pivots, shape_of(x)[-2])
    p, (l, u) = dense(permutations(order, array.dtype)), triangles_of(array)
    outputs = (dense(l), dense(u))
    if needs_node(x):
        record_outputs(new_node(LinalgLuBackward0, (p, pivot, order)), outputs, x)
    return return_types.linalg_lu(p, *outputs)


@cython.final
cdef class LuUnpackBackward0(Node):
    cdef tuple constant_names(self):
        return (None, None)

    @property
    def _saved_LU_data_sym_argsize_minus_1(self):
        return self.constants[0][-1]

    @property
    def _saved_LU_data_sym_argsize_minus_2(self):
        return self.constants[0][-2]

    cdef object vjp(self, object g, int i):
        gl, gu = gradients_of(g, 2)
        return None if gl is None and gu is None else packed(gl, gu, self.constants[0])


def like_factor(Node node, int i):
    sizes, kind = node.constants
    rank = min(sizes[-2:])
    return sizes[:-2] + ((rank, sizes[-1]) if i else (sizes[-2], rank)), kind


declare_outputs(LuUnpackBackward0, like_factor)


def batched_unpack(call, LU_data, LU_pivots, unpack_data=True, unpack_pivots=True):
    for x, rank in ((LU_data, 2), (LU_pivots, 1 if unpack_pivots else 0)):
        call.check_rank(x, rank, LU_data, LU_pivots, unpack_data, unpack_pivots)
    if call.is_batched(LU_data) != call.is_batched(LU_pivots):
        LU_data, LU_pivots = call.front(LU_data), call.front(LU_pivots)
    p, l, u = call(call.value(LU_data), call.value(LU_pivots).contiguous(), unpack_data, unpack_pivots)
    return return_types.lu_unpack(*[y if taken else y.expand(call.size, 0)
                                    for y, taken in ((p, unpack_pivots), (l, unpack_data), (u, unpack_data))])


@op(batch=batched_unpack)
def lu_unpack(LU_data, LU_pivots, unpack_data: bool = True, unpack_pivots: bool = True):
    """lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True) -> lu_unpack: P, L and U from linalg.lu_factor()'s.

    With unpack_pivots=False P is empty, with unpack_data=False L and U are.

    >>> import autograd_cy as ag
    >>> ag.lu_unpack(*ag.linalg.lu_factor(ag.tensor([[1.0, 2.0], [2.0, 2.0]]))).U
    tensor([[2., 2.],
            [0., 1.]])
    """
    cdef Tensor x = tensor_argument(LU_data, "lu_unpack", "LU_data", 1)
    cdef Tensor pivots = tensor_argument(LU_pivots, "lu_unpack", "LU_pivots", 2)
    if cnp.PyArray_NDIM(x.array) < 2:
        raise RuntimeError("torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: "
                           f"{list(shape_of(x))} instead")
    if unpack_pivots and code_of(pivots.array) != INT32:
        raise RuntimeError("torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
                           "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor")
    cdef tuple nothing = (0,)
    p = left = right = np.empty(nothing, x.array.dtype)
    if unpack_pivots:
        if ((pivots.array < 1) | (pivots.array > shape_of(x)[-2])).any():
            raise RuntimeError("pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
                               "Did you properly pass the result of lu_factor?")
        p = permutations(row_order(pivots.array, shape_of(x)[-2]), x.array.dtype)
    if unpack_data:
        left, right = triangles_of(x.array)
    outputs = (dense(left), dense(right))
    if unpack_data and needs_node(x):
        node = new_node(LuUnpackBackward0, (shape_of(x), x.dtype))
        node.n_outputs = 2
        record_all(node, outputs, (x,))
    return return_types.lu_unpack(dense(p), *outputs)
