"""Functions of matrices: pseudoinverses, ranks, systems with a Cholesky factor, exponentials; tensors as matrices."""

from math import prod

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of, is_half, type_word
from autograd_cy._core.graph.node cimport Node, save_input, save_output, unpack
from autograd_cy._core.graph.record cimport (
    broadcast_sizes, needs_node, new_node, record, record2, shape_of, shown, tensor_argument, wrap_dim)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.gemm cimport solved_triangles
from autograd_cy._core.ops.matrices.systems cimport (
    adjoint_of, check_inexact, check_matrix, columns_first, dense, eigh_arrays, eigh_values, lower, matrix_argument,
    real_type_of, svd_arrays, svd_values, unbroadcast, upper_part)
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE, on_matrices
from autograd_cy._core.ops.matrices.systems import batched_system, solve
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat


# the pseudoinverse and the rank

@cython.final
cdef class LinalgPinvBackward0(Node):
    """Source: G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares" (1973)."""

    cdef tuple saved_names(self):
        return ("self", None, "result")

    cdef object vjp(self, object g, int i):
        a, p = unpack(self, 0), unpack(self, 2)
        ph, gh = adjoint_of(p), adjoint_of(g)
        if shape_of(a)[-2] <= shape_of(a)[-1]:
            k = gh @ p
            kph = k @ ph
            return -adjoint_of(p @ k) + kph - (a @ p) @ kph + (ph @ p) @ (gh - k @ a)
        k = p @ gh
        phk = ph @ k
        return -adjoint_of(k @ p) + (gh - a @ k) @ p @ ph + phk - (phk @ p) @ a


cdef object cutoff(object values, object rtol, object atol, Tensor x):
    """For each matrix, the threshold up to which singular values count as zero."""
    cdef tuple sizes = shape_of(x)
    atol = 0.0 if atol is None else (<Tensor> atol).array if isinstance(atol, Tensor) else atol
    if rtol is None:
        given = np.asarray(atol) > 0
        rtol = np.where(given, 0.0, max(sizes[-2:]) * np.finfo(real_type_of(x.array)).eps)
    rtol = (<Tensor> rtol).array if isinstance(rtol, Tensor) else rtol
    largest = np.max(np.abs(values), -1, initial=0)
    return np.maximum(atol, rtol * largest)


@op(namespace="linalg", batch=on_matrices)
def pinv(input, *, atol=None, rtol=None, hermitian: bool = False):
    """pinv(input, *, atol=None, rtol=None, hermitian=False) -> Tensor: the pseudoinverse (of Moore and Penrose) of matrices.

    Singular values count as zero up to the larger of atol and rtol times the largest one; by default rtol is the larger
    size times the type's epsilon. With hermitian=True one triangle is read.

    >>> import autograd_cy as ag
    >>> ag.linalg.pinv(ag.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    cdef Tensor x = matrix_argument(input, "linalg.pinv", hermitian), y
    y = dense(pseudoinverse(x, rtol, atol, hermitian))
    if needs_node(x):
        node = new_node(LinalgPinvBackward0, ())
        save_input(node, 0, x)
        save_output(node, y)
        record(node, y, x)
    return y


cdef object pseudoinverse(Tensor x, object rtol, object atol, bint hermitian):
    if cnp.PyArray_SIZE(x.array) == 0:          # NumPy's product would count 2**40 columns even without rows
        return np.zeros(np.shape(np.swapaxes(x.array, -2, -1)), x.array.dtype)
    if hermitian:
        values, v = eigh_arrays(x.array, "L")
        u = v
    else:
        u, values, vh = svd_arrays(x.array, False)
        v = np.swapaxes(vh, -2, -1).conj()
    kept = np.abs(values) > np.asarray(cutoff(values, rtol, atol, x))[..., None]
    inverse = np.where(kept, 1 / np.where(kept, values, 1), 0).astype(values.dtype)
    return (v * inverse[..., None, :]) @ np.swapaxes(u, -2, -1).conj()


@op(methods=("pinverse",), batch=on_matrices)
def pinverse(input, rcond: float = 1e-15):
    """pinverse(input, rcond=1e-15) -> Tensor: linalg.pinv() with rtol=rcond.

    >>> import autograd_cy as ag
    >>> ag.pinverse(ag.tensor([[2.0], [0.0]]))
    tensor([[0.5000, 0.0000]])
    """
    return pinv(tensor_argument(input, "pinverse", "input", 1), rtol=rcond)


@op(namespace="linalg", batch=on_matrices)
def matrix_rank(input, *, atol=None, rtol=None, hermitian: bool = False):
    """matrix_rank(input, *, atol=None, rtol=None, hermitian=False) -> Tensor: the number of nonzero singular values (int64).

    They count as zero up to the larger of atol and rtol times the largest one, as in pinv().

    >>> import autograd_cy as ag
    >>> ag.linalg.matrix_rank(ag.tensor([[1.0, 2.0], [2.0, 4.0]]))
    tensor(1)
    """
    cdef Tensor x = matrix_argument(input, "linalg.matrix_rank", hermitian)
    values = np.abs(eigh_values(x.array, "L")) if hermitian else svd_values(x.array)
    ranks = np.sum(values > np.asarray(cutoff(values, rtol, atol, x))[..., None], -1, dtype=np.int64)
    return shown("matrix_rank", new_tensor(np.asarray(ranks)), (x,))


# systems with a Cholesky factor

@cython.final
cdef class CholeskySolveBackward0(Node):
    """As in PyTorch both triangles of the factor have a gradient: A = L @ L.mH for any L, and A's gradient is Hermitian."""

    cdef tuple saved_names(self):
        return (None, "input2", "result")

    cdef tuple constant_names(self):
        return ("upper", None, None)

    cdef tuple factor(self):
        """The factor as given, and its triangle."""
        factor = unpack(self, 1)
        return factor, upper_part(factor, 0) if self.constants[0] else lower(factor, 0)

    cdef object vjp(self, object g, int i):
        is_upper, b_sizes, factor_sizes = self.constants
        factor, triangle = self.factor()
        gb = cholesky_solve(g, factor, is_upper)
        if i == 0:
            return unbroadcast(gb, b_sizes)
        product = gb @ adjoint_of(unpack(self, 2))
        product = product + adjoint_of(product)
        return unbroadcast(-(triangle @ product if is_upper else product @ triangle), factor_sizes)

    cdef object jvp(self, tuple tangents):
        (db, dfactor), (factor, triangle) = tangents, self.factor()
        if dfactor is not None:
            da = adjoint_of(dfactor) @ triangle if self.constants[0] else dfactor @ adjoint_of(triangle)
            term = (da + adjoint_of(da)) @ unpack(self, 2)
            db = -term if db is None else db - term
        return cholesky_solve(db, factor, self.constants[0])


cdef int check_factor(Tensor b, Tensor factor) except -1:
    check_matrix(factor, "cholesky_solve", "A", True)
    check_inexact(factor, "cholesky_solve")
    n, (rows, columns) = shape_of(factor)[-1], shape_of(b)[-2:]
    if n != rows:
        raise RuntimeError(f"Incompatible matrix sizes for cholesky_solve: each A matrix is {n} by {n} but each b matrix is "
                           f"{rows} by {columns}")
    if code_of(b.array) != code_of(factor.array):
        raise RuntimeError(f"Expected b and A to have the same dtype, but found b of type {type_word(code_of(b.array))} and A "
                           f"of type {type_word(code_of(factor.array))} instead.")
    broadcast_sizes(shape_of(b)[:-2], shape_of(factor)[:-2])        # raises if the shapes don't fit
    return 0


def batched_cholesky_solve(call, input, L, upper=False):
    return batched_system(call, input, L, upper=upper)


@op(methods=("cholesky_solve",), batch=batched_cholesky_solve)
def cholesky_solve(input, L, upper: bool = False):
    """cholesky_solve(input, L, upper=False) -> Tensor: the X with A @ X = input, where A = L @ L.mH (upper: L.mH @ L).

    >>> import autograd_cy as ag
    >>> ag.cholesky_solve(ag.tensor([[8.0]]), ag.tensor([[2.0]]))
    tensor([[2.]])
    """
    cdef Tensor b = tensor_argument(input, "cholesky_solve", "input", 1), y
    cdef Tensor factor = tensor_argument(L, "cholesky_solve", "input2", 2)
    for name, x in (("b", b), ("u", factor)):
        if cnp.PyArray_NDIM((<Tensor> x).array) < 2:
            raise RuntimeError(f"{name} should have at least 2 dimensions, but has {cnp.PyArray_NDIM((<Tensor> x).array)} "
                               "dimensions instead")
    check_factor(b, factor)
    turned = np.swapaxes(factor.array, -2, -1).conj()
    first, second = (turned, factor.array) if upper else (factor.array, turned)
    y = columns_first(solved_triangles(second, solved_triangles(first, b.array, False, False), True, False))
    if needs_node(b) or needs_node(factor):
        node = new_node(CholeskySolveBackward0, (upper, shape_of(b), shape_of(factor)))
        save_input(node, 1, factor)
        save_output(node, y)
        record2(node, y, b, factor)
    return y


@op(methods=("cholesky_inverse",), batch=COMPOSITE)
def cholesky_inverse(input, upper: bool = False):
    """cholesky_inverse(input, upper=False) -> Tensor: the inverse of A = L @ L.mH (upper: L.mH @ L), for its factor L.

    >>> import autograd_cy as ag
    >>> ag.cholesky_inverse(ag.tensor([[2.0]]))
    tensor([[0.2500]])
    """
    cdef Tensor factor = matrix_argument(input, "cholesky_inverse", True)
    return cholesky_solve(new_tensor(np.eye(shape_of(factor)[-1], dtype=factor.array.dtype)), factor, upper)


# the exponential

@cython.final
cdef class LinalgMatrixExpBackward0(Node):
    """The gradient is a part of the exponential of a matrix twice as large.

    Source: R. Mathias, "A chain rule for matrix functions and applications" (1996).
    """

    cdef tuple saved_names(self):
        return ("self", None, None)

    cdef object vjp(self, object g, int i):
        return exponential_along(adjoint_of(unpack(self, 0)), g)

    cdef object jvp(self, tuple tangents):
        return exponential_along(unpack(self, 0), tangents[0])


cdef object exponential_along(object a, object direction):
    """The derivative of the exponential at `a`."""
    cdef int n = shape_of(a)[-1]
    a = a.expand(shape_of(direction))
    top = cat([a, direction], -1)
    bottom = cat([direction * 0, a], -1)
    return matrix_exp(cat([top, bottom], -2))[..., :n, n:]


# The numerator of Pade's approximation of order 13: N. J. Higham, "The scaling and squaring method for the matrix exponential
# revisited" (2005); up to THETA it is exact to double precision.
PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
        670442572800,
        33522128640, 1323241920, 40840800, 960960, 16380, 182, 1)
THETA = 5.371920351148152


cdef object exponential_of(object array):
    size = np.abs(array).sum(-2).max(-1, initial=0)
    with np.errstate(all="ignore"):
        halvings = np.ceil(np.log2(np.maximum(size, THETA) / THETA))
        squarings = np.where(np.isfinite(size) & (size > THETA), halvings, 0).astype(int)
    a = (array / 2.0 ** squarings[..., None, None]).astype(array.dtype)
    one = np.eye(array.shape[-1], dtype=array.dtype)
    a2 = a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    b = [float(x) for x in PADE]
    odd = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
    even = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    y = np.asarray(np.linalg.solve(even - odd, even + odd), array.dtype)
    for k in range(int(np.max(squarings, initial=0))):
        y = np.where((k < squarings)[..., None, None], y @ y, y)
    return y


@op(methods=("matrix_exp",), batch=on_matrices)
@op(namespace="linalg", batch=on_matrices)
def matrix_exp(input):
    """matrix_exp(input) -> Tensor: the exponential of square matrices, the sum of A ** k / k!.

    >>> import autograd_cy as ag
    >>> ag.linalg.matrix_exp(ag.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    cdef Tensor x = tensor_argument(input, "matrix_exp", "A", 1), y
    check_matrix(x, "linalg.matrix_exp", "A", True)
    if is_half(code_of(x.array)):
        return matrix_exp((<object> x).float()).to(dtype_of(code_of(x.array)))
    check_inexact(x, "linalg.matrix_exp")
    y = dense(exponential_of(x.array))
    if needs_node(x):
        node = new_node(LinalgMatrixExpBackward0, ())
        save_input(node, 0, x)
        record(node, y, x)
    return y


# tensors as matrices

@op(namespace="linalg", batch=COMPOSITE)
def tensorinv(input, ind: int = 2):
    """tensorinv(input, ind=2) -> Tensor: the inverse of a tensor as a matrix, with its first `ind` dimensions as rows.

    The result's first dimensions are the input's last ones.

    >>> import autograd_cy as ag
    >>> ag.linalg.tensorinv(ag.eye(4).reshape(2, 2, 4)).shape
    torch.Size([4, 2, 2])
    """
    cdef Tensor x = tensor_argument(input, "tensorinv", "A", 1)
    cdef tuple sizes = shape_of(x)
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    check_inexact(x, "linalg.tensorinv")
    rows, columns = prod(sizes[:ind]), prod(sizes[ind:])
    if rows != columns:
        raise RuntimeError("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but "
                           f"got {columns} != {rows}")
    return (<object> x).reshape(rows, columns).inverse().reshape(sizes[ind:] + sizes[:ind])


@op(namespace="linalg", batch=COMPOSITE)
def tensorsolve(input, other, dims=None):
    """tensorsolve(input, other, dims=None) -> Tensor: the X with tensordot(input, X, X.ndim) = other.

    The dimensions `dims` of input are moved to its end first.

    >>> import autograd_cy as ag
    >>> ag.linalg.tensorsolve(ag.eye(4).reshape(2, 2, 4), ag.ones(2, 2))
    tensor([1., 1., 1., 1.])
    """
    cdef Tensor a = tensor_argument(input, "tensorsolve", "A", 1), b = tensor_argument(other, "tensorsolve", "B", 2)
    check_inexact(a, "linalg.tensorsolve")
    cdef int ndim = cnp.PyArray_NDIM(a.array)
    if dims is not None:
        last = [wrap_dim(d, ndim) for d in ((dims,) if isinstance(dims, int) else dims)]
        a = <Tensor> (<object> a).permute([d for d in range(ndim) if d not in last] + last)
    sizes = shape_of(a)[cnp.PyArray_NDIM(b.array):]
    if prod(sizes) != prod(shape_of(b)):
        raise RuntimeError(f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape["
                           f":other.ndim]), but got {prod(sizes)} != {prod(shape_of(b))}")
    count = prod(sizes)
    return solve((<object> a).reshape(count, count), (<object> b).reshape(count)).reshape(sizes)


@op(name="diagonal", namespace="linalg", batch=COMPOSITE)
def linalg_diagonal(input, *, offset=0, dim1=-2, dim2=-1):
    """diagonal(input, *, offset=0, dim1=-2, dim2=-1) -> Tensor: a view of the diagonals of matrices, the last dimensions.

    >>> import autograd_cy as ag
    >>> ag.linalg.diagonal(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    return tensor_argument(input, "diagonal", "A", 1).diagonal(offset, dim1, dim2)
