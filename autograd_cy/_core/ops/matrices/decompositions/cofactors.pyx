"""Cofactors of matrices: the gradient of the determinant, accurate for singular and nearly singular matrices.

The cofactors of A are det(A) inv(A).mT. One elimination gives both factors. Its last pivots may be mere rounding errors, but
these cancel in the product, which is as accurate as otherwise. If a pivot is zero, or the determinant leaves the range
of the type, singular values are used: the cofactors of U S Vh are U, the cofactors of the diagonal matrix S, and Vh
multiplied, times det(U) det(Vh). The derivative uses the same coordinates near singular matrices: no quotient is needed.

Sources: M. Giles, "Collected matrix derivative results" (2008), for the adjugate of U S Vh: R. A. Horn, C. R. Johnson, "Matrix
Analysis" (2012), section 0.8.
"""

import numpy as np

cimport cython
from libc.float cimport DBL_MIN

from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record, record2, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport eliminated, signs_of, solved_eliminated
from autograd_cy._core.ops.matrices.systems cimport svd_arrays, ufunc, unbroadcast

from autograd_cy._core.batching.rules import declare_rule, on_values
from autograd_cy._core.ops.matrices.systems import batched_pair
from autograd_cy._core.ops.overrides import make_overridable

cdef enum:
    SMALL = 16              # rows of a matrix


# arrays

cdef tuple determinants_and_inverses(object array):
    """The conjugate determinants in double precision, and the inverses of the conjugate transposes, by one elimination."""
    lu, pivots, _info = eliminated(array)
    inverse = solved_eliminated(lu, pivots, np.eye(array.shape[-1], dtype=array.dtype), True)
    det = np.asarray(lu.diagonal(0, -2, -1).prod(-1, wide_type(array)))       # operators of scalars crash where memory ends
    return np.asarray(np.multiply(np.conj(det), signs_of(pivots))), inverse


cdef object wide_type(object array):
    return np.complex128 if array.dtype.kind == "c" else np.float64


cdef object in_working_type(object array):
    """Small matrices in double precision, which is as fast."""
    return array if array.shape[-1] > SMALL else array.astype(wide_type(array), copy=False)


cdef tuple cofactor_arrays(object array):
    """The conjugate cofactors of matrices, and the determinants_and_inverses(), or None."""
    if not array.size or array.shape[-1] == 1:
        return np.ones(array.shape, array.dtype), None
    matrices = in_working_type(array)
    with np.errstate(all="ignore"):
        det, inverse = determinants_and_inverses(matrices)
        found = det[..., None, None] * inverse
        is_normal = np.abs(det) >= DBL_MIN
        if not (is_normal.all() and np.isfinite(found).all()):
            lost = ~(is_normal & np.isfinite(found).all((-2, -1))) & np.isfinite(array).all((-2, -1))
            found[lost] = cofactors_by_singular_values(array[lost].astype(found.dtype))
        return found.astype(array.dtype, copy=False), (det, inverse)


cdef object cofactors_by_singular_values(object array):
    u, s, vh, turn = singular(array)
    before, after = products_around(s)
    return (u * (turn * before * after)[..., None, :]) @ vh


cdef tuple singular(object array):
    """(U, S, Vh, conj(det(U) det(Vh)))"""
    u, s, vh = svd_arrays(array, False)
    det = ufunc("det", np.linalg.det)
    return u, s, vh, np.conj(det(u) * det(vh)).astype(array.dtype)[..., None]


cdef tuple products_around(object s):
    """For each element, the product of its predecessors and the product of its successors."""
    ones = np.ones_like(s[..., :1])
    return (np.cumprod(np.concatenate([ones, s[..., :-1]], -1), -1),
            np.cumprod(np.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1])


cdef object products_without_pairs(object s):
    """At (i, j) the product of all elements except the i-th and j-th; zeros on the diagonal."""
    n = s.shape[-1]
    before, after = products_around(s)
    above = np.triu(np.ones((n, n), np.bool_), 1)
    between = np.cumprod(np.where(above, s[..., None, :], 1), -1)
    between = np.concatenate([np.ones_like(between[..., :1]), between[..., :-1]], -1)
    half = np.where(above, before[..., :, None] * between * after[..., None, :], 0)
    return half + np.swapaxes(half, -2, -1)


cdef object cofactor_arrays_along(object array, object direction, tuple known):
    """The derivative of the conjugate cofactors in a direction; nan for matrices that are not finite. `known` are their
    determinants_and_inverses(), or None.

    By products of inverses. Matrices where these products cancel are computed in double precision, then by singular values.
    """
    shape = array.shape if array.shape == direction.shape else np.broadcast_shapes(array.shape, direction.shape)
    if not array.size or not direction.size or shape[-1] == 1:
        return np.zeros(shape, array.dtype)
    a = in_working_type(array)
    epsilon = np.finfo(a.dtype).eps
    with np.errstate(all="ignore"):
        det, inverse = known or determinants_and_inverses(a)
        product = inverse @ np.swapaxes(direction, -2, -1).conj()
        first, second = np.asarray(product.trace(0, -2, -1))[..., None, None] * inverse, product @ inverse
        condition = np.abs(a).sum(-1).max(-1) * np.abs(inverse).sum(-1).max(-1)
        terms = np.abs(first).max((-2, -1)) + np.abs(second).max((-2, -1))
        first = first - second
        found = det[..., None, None] * first
        exact = condition * terms * epsilon <= epsilon ** 0.6 * np.abs(first).max((-2, -1))
        lost = ~(exact & (np.abs(det) >= DBL_MIN) & np.isfinite(found).all((-2, -1)))
        if lost.any():
            one, other = (np.broadcast_to(x, shape)[lost].astype(found.dtype) for x in (a, direction))
            found[lost] = (along_singular(one, other) if a.dtype == found.dtype
                           else cofactor_arrays_along(one, other, None))
        return found.astype(array.dtype, copy=False)


cdef object along_singular(object a, object direction):
    """cofactor_arrays_along() by singular values."""
    finite = np.isfinite(a).all((-2, -1))[..., None, None]
    with np.errstate(all="ignore"):
        u, s, vh, turn = singular(np.where(finite, a, 0))
        inner = vh @ np.swapaxes(direction, -2, -1).conj() @ u
        products = products_without_pairs(s)
        traces = np.einsum("...ij,...jj->...i", products, inner)
        inner = np.eye(s.shape[-1], dtype=a.dtype) * traces[..., None] - products * inner
        return np.where(finite, turn[..., None] * (u @ inner @ vh), np.nan)


# operations

@cython.final
cdef class ConjugateCofactorsBackward0(Node):
    """The derivative is self-adjoint over the real numbers. Constant: the second result of cofactor_arrays()."""

    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef object vjp_array(self, object g, int i, Request *request):
        return cofactor_arrays_along(saved_array(self, 0), g, self.constants[0])

    cdef object vjp(self, object g, int i):
        return cofactors_along(unpack(self, 0), g)

    cdef object jvp(self, tuple tangents):
        return cofactors_along(unpack(self, 0), tangents[0])


def conjugate_cofactors(Tensor input):
    """conjugate_cofactors(input) -> Tensor: the gradient of the determinant of square matrices."""
    found, known = cofactor_arrays(input.array)
    cdef Tensor y = new_tensor(found)
    if needs_node(input):
        node = new_node(ConjugateCofactorsBackward0, (known,))
        save_input(node, 0, input)
        record(node, y, input)
    return y


@cython.final
cdef class CofactorsAlongBackward0(Node):
    """Linear and self-adjoint in the direction. Its derivative by the matrix uses the cofactors of the minors."""

    cdef tuple saved_names(self):
        return ("self", "direction", None)

    cdef object vjp(self, object g, int i):
        a, direction = unpack(self, 0), unpack(self, 1)
        if i == 1:
            return unbroadcast(cofactors_along(a, g), shape_of(direction))
        rows, signs = minor_rows(a)
        weights = (g * signs).unsqueeze(-1).unsqueeze(-1)
        found = cofactors_along(minors(rows, a), minors(rows, direction) * weights)
        whole = rows.transpose(-2, -1).unsqueeze(1) @ found @ rows
        return unbroadcast(whole.sum((-4, -3)), shape_of(a))

    cdef object jvp(self, tuple tangents):
        a, direction, (da, dd) = unpack(self, 0), unpack(self, 1), tangents
        found = None if dd is None else cofactors_along(a, dd)
        if da is None:
            return found
        rows, signs = minor_rows(a)
        term = (cofactors_along(minors(rows, a), minors(rows, da)) * minors(rows, direction).conj()).sum((-2, -1)) * signs
        return term if found is None else found + term


def cofactors_along(Tensor input, Tensor direction):
    """cofactors_along(input, direction) -> Tensor: the derivative of conjugate_cofactors(input)."""
    cdef Tensor y = new_tensor(cofactor_arrays_along(input.array, direction.array, None))
    if needs_node(input) or needs_node(direction):
        node = new_node(CofactorsAlongBackward0, ())
        save_input(node, 0, input)
        save_input(node, 1, direction)
        record2(node, y, input, direction)
    return y


cdef tuple minor_rows(object a):
    """For each row the matrix that removes it, and the signs of the minors, as Tensors of a's dtype."""
    cdef Py_ssize_t n = shape_of(a)[-1]
    kind, numbers = (<Tensor> a).array.dtype, np.arange(n)
    rows = np.stack([np.eye(n, dtype=kind)[numbers != k] for k in range(n)]) if n else np.empty((0, 0, 0), kind)
    return new_tensor(rows), new_tensor(((-1.0) ** (numbers[:, None] + numbers)).astype(kind))


cdef object minors(object rows, object a):
    """The minors of n x n matrices: the matrices without one row and one column."""
    return rows.unsqueeze(1) @ a.unsqueeze(-3).unsqueeze(-3) @ rows.transpose(-2, -1)


for _function, _rule in ((conjugate_cofactors, on_values), (cofactors_along, batched_pair)):
    declare_rule(_function, _rule)
    make_overridable(_function)
