"""LDL decompositions of symmetric and Hermitian matrices that need not be definite, and systems with them.

The decomposition and its pivots follow LAPACK's unblocked algorithm (sytrf, hetrf, lower triangle). D has blocks of one
row, and of two rows where two pivots are the same negative number. Backward raises an error, as in PyTorch.

Source: J. R. Bunch, L. Kaufman, "Some stable methods for calculating inertia and solving symmetric linear systems" (1977).
"""

from math import sqrt

import numpy as np

from autograd_cy._core.arrays.dtypes cimport FLOAT16, code_of, type_word
from autograd_cy._core.graph.record cimport any_wanted, broadcast_sizes, new_node, record_all, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor

from autograd_cy._core.batching.rules import on_matrices, sample_by_sample
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.pointwise.elementwise import NotImplementedBackward
from autograd_cy._core.ops.registry import op

ALPHA = (1 + sqrt(17)) / 8         # bounds the growth of elements


# one matrix

cdef object magnitude(object x):
    """LAPACK's measure of complex numbers."""
    return np.abs(x.real) + np.abs(x.imag)


cdef tuple pivot_of(object a, int k):
    """(the row to exchange, the number of rows of the block of D) for the k-th step; 0 rows if there is no pivot."""
    cdef int n = a.shape[0], other
    size = magnitude(a[k, k])
    if k + 1 == n:
        return k, 1 if size else 0
    column = magnitude(a[k + 1:, k])
    other = k + 1 + int(np.argmax(column))
    largest = column[other - k - 1]
    if not max(size, largest) > 0:
        return k, 0
    if size >= ALPHA * largest:
        return k, 1
    row = max(np.max(magnitude(a[other, k:other])), np.max(magnitude(a[other + 1:, other]), initial=0))
    if size >= ALPHA * largest * (largest / row):
        return k, 1
    return other, 1 if magnitude(a[other, other]) >= ALPHA * row else 2


cdef int exchange(object a, int k, int other, bint hermitian) except -1:
    """Exchange rows and columns k and `other` > k in the rest of the lower triangle."""
    a[other + 1:, [k, other]] = a[other + 1:, [other, k]]
    between, row = a[k + 1:other, k].copy(), a[other, k + 1:other].copy()
    a[k + 1:other, k], a[other, k + 1:other] = (row.conj(), between.conj()) if hermitian else (row, between)
    a[k, k], a[other, other] = a[other, other], a[k, k]
    if hermitian:
        a[other, k] = np.conj(a[other, k])
    return 0


cdef tuple decomposed(object a, bint hermitian):
    """The pivots of a matrix, and the number of the first zero in D, or 0. The lower triangle becomes L and D."""
    cdef int k = 0, n = a.shape[0], step, other, rows, info = 0
    pivots = np.zeros(n, np.int32)
    while k < n:
        other, rows = pivot_of(a, k)
        step = max(rows, 1)
        first = k + step - 1
        if other != first:
            exchange(a, first, other, hermitian)
            if step == 2:
                a[[k + 1, other], k] = a[[other, k + 1], k]
        if rows == 0:
            info = info or k + 1
        pivots[k:k + step] = other + 1 if step == 1 else -(other + 1)
        if hermitian:
            np.fill_diagonal(a, a.diagonal().real)
        if rows and k + step < n:
            below = a[k + step:, k:k + step].copy()
            scaled = below @ inverse_of(a, k, step, hermitian)
            a[k + step:, k + step:] -= np.tril(scaled @ (below.conj().T if hermitian else below.T))
            a[k + step:, k:k + step] = scaled
        k += step
    return pivots, info


cdef object inverse_of(object a, int k, int rows, bint hermitian):
    """The inverse of a block of D."""
    if rows == 1:
        return 1 / a[k:k + 1, k:k + 1]
    below = a[k + 1, k]
    above = np.conj(below) if hermitian else below
    adjugate = np.array([[a[k + 1, k + 1], -above], [-below, a[k, k]]], a.dtype)
    return adjugate / (a[k, k] * a[k + 1, k + 1] - above * below)


cdef object solved_by_ldl(object a, object pivots, object b, bint hermitian):
    """Solve for one matrix, in the memory of `b`."""
    cdef int k = 0, n = a.shape[0], rows, other
    starts = []
    while k < n:
        rows = 1 if pivots[k] > 0 else 2
        last, other = k + rows - 1, abs(pivots[k]) - 1
        if last >= n or not 0 <= other < n:
            raise RuntimeError(f"torch.linalg.ldl_solve: pivots are those of linalg.ldl_factor(), but got {pivots.tolist()}")
        b[[last, other]] = b[[other, last]]
        b[k + rows:] -= a[k + rows:, k:k + rows] @ b[k:k + rows]
        b[k:k + rows] = inverse_of(a, k, rows, hermitian) @ b[k:k + rows]
        starts.append((k, rows, other))
        k += rows
    for k, rows, other in reversed(starts):
        below, last = a[k + rows:, k:k + rows], k + rows - 1
        b[k:k + rows] -= (below.conj().T if hermitian else below.T) @ b[k + rows:]
        b[[last, other]] = b[[other, last]]
    return b


# operations

cdef tuple ldl_of(object input, str name, bint hermitian):
    cdef Tensor x = matrix_argument(input, "torch.linalg.ldl_factor_ex", True)
    array = np.tril(x.array)
    sizes = array.shape[:-2]
    pivots, info = np.zeros(array.shape[:-1], np.int32), np.zeros(sizes, np.int32)
    is_hermitian = hermitian and array.dtype.kind == "c"
    with np.errstate(all="ignore"):
        for index in np.ndindex(sizes):
            pivots[index], info[index] = decomposed(array[index], is_hermitian)
    return without_derivative("linalg_ldl_factor_ex", columns_first(array), (x,)), new_tensor(pivots), info


cdef Tensor without_derivative(str name, Tensor y, tuple inputs):
    """The result, with a node that raises in backward."""
    if any_wanted(inputs):
        record_all(new_node(NotImplementedBackward, (name,)), y, inputs)
    return y


cdef int check_blocks(str operation, object info) except -1:
    found = first_failure(info)
    if found is None:
        return 0
    where, number = found
    raise LinAlgError(f"{operation}: {where}The diagonal element {number} of D is zero.")


@op(namespace="linalg", batch=on_matrices)
def ldl_factor_ex(input, *, hermitian: bool = False, check_errors: bool = False):
    """ldl_factor_ex(input, *, hermitian=False, check_errors=False) -> linalg_ldl_factor_ex: linalg.ldl_factor() with `info`.

    `info` is the number, from 1, of the first zero on D's diagonal, or 0. With check_errors=True a zero is an error.

    >>> import autograd_cy as ag
    >>> ag.linalg.ldl_factor_ex(ag.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    ld, pivots, info = ldl_of(input, "linalg.ldl_factor_ex", hermitian)
    if check_errors:
        check_blocks("torch.linalg.ldl_factor_ex", info)
    return return_types.linalg_ldl_factor_ex(ld, pivots, new_tensor(np.asarray(info)))


@op(namespace="linalg", batch=on_matrices)
def ldl_factor(input, *, hermitian: bool = False):
    """ldl_factor(input, *, hermitian=False) -> linalg_ldl_factor: L and D of input = L @ D @ L.mT in one matrix, and pivots.

    The matrix is symmetric, or Hermitian with hermitian=True (then input = L @ D @ L.mH). Only its lower triangle is read. It
    need not be definite: `pivots` are LAPACK's, and D has blocks of two rows where they are negative. linalg.ldl_solve()
    accepts both. LinAlgError if D has a zero. PyTorch has no gradient for it: backward is an error.

    >>> import autograd_cy as ag
    >>> ag.linalg.ldl_factor(ag.tensor([[4.0, 2.0], [2.0, 3.0]])).LD
    tensor([[4.0000, 0.0000],
            [0.5000, 2.0000]])
    """
    ld, pivots, info = ldl_of(input, "linalg.ldl_factor", hermitian)
    check_blocks("torch.linalg.ldl_factor", info)
    return return_types.linalg_ldl_factor(ld, pivots)


cdef int check_ldl_system(Tensor a, Tensor places, Tensor b) except -1:
    name = "torch.linalg.ldl_solve"
    check_matrix(a, name, "A", True)
    check_inexact(a, name)
    check_matrix(b, name, "B", False)
    rows, columns = shape_of(b)[-2:]
    if shape_of(a)[-1] != rows:
        raise RuntimeError(f"Incompatible matrix sizes for {name}: each A matrix is {shape_of(a)[-1]} by {shape_of(a)[-1]} "
                           f"but each b matrix is {rows} by {columns}")
    if shape_of(a)[:-1] != shape_of(places):
        raise RuntimeError(f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
                           f"{list(shape_of(places))} instead")
    if code_of(places.array) >= FLOAT16:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {type_word(code_of(places.array))}")
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {type_word(code_of(b.array))} and A "
                           f"of type {type_word(code_of(a.array))} instead.")
    broadcast_sizes(shape_of(a)[:-2], shape_of(b)[:-2])             # raises if the shapes don't fit
    return 0


@op(namespace="linalg", batch=sample_by_sample)
def ldl_solve(LD, pivots, B, *, hermitian: bool = False):
    """ldl_solve(LD, pivots, B, *, hermitian=False) -> Tensor: the X with A @ X = B, for linalg.ldl_factor() of A.

    Batches are broadcast. PyTorch has no gradient for it: backward is an error.

    >>> import autograd_cy as ag
    >>> ag.linalg.ldl_solve(*ag.linalg.ldl_factor(ag.tensor([[4.0, 2.0], [2.0, 3.0]])), ag.tensor([[6.0], [5.0]]))
    tensor([[1.],
            [1.]])
    """
    cdef Tensor a = tensor_argument(LD, "ldl_solve", "LD", 1), places = tensor_argument(pivots, "ldl_solve", "pivots", 2)
    cdef Tensor b = tensor_argument(B, "ldl_solve", "B", 3)
    check_ldl_system(a, places, b)
    sizes = np.broadcast_shapes(shape_of(a)[:-2], shape_of(b)[:-2])
    array = np.array(np.broadcast_to(b.array, sizes + shape_of(b)[-2:]))
    matrices = np.broadcast_to(a.array, sizes + shape_of(a)[-2:])
    numbers = np.broadcast_to(places.array, sizes + shape_of(a)[-1:])
    is_hermitian = hermitian and array.dtype.kind == "c"
    with np.errstate(all="ignore"):
        for index in np.ndindex(sizes):
            solved_by_ldl(matrices[index], numbers[index], array[index], is_hermitian)
    return without_derivative("linalg_ldl_solve", columns_first(array), (a, b))
