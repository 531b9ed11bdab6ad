"""Decompositions of matrices: QR, singular values, eigenvalues.

Derivatives: of QR S. F. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra functions" (2018), of the others
J. Townsend, "Differentiating the singular value decomposition" (2016) and M. Giles, "Collected matrix derivative results"
(2008); all as PyTorch arranges them. If singular values or eigenvalues coincide, the derivatives of the vectors are infinite.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport code_of, dtype_of, to_complex
from autograd_cy._core.graph.record cimport as_type, needs_node, new_node, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.matrices.systems cimport (
    Decomposition, adjoint_of, columns_first, converged, dense, eigh_arrays, eigh_values, empty_factors, gradients_of,
    matrix_argument, on_diagonal, plus, record_outputs, svd_arrays, svd_values, upper_part, with_diagonal)
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE, on_matrices
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.matrices.systems import solve_ex, solve_triangular
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import cat


cdef object halves_of(object x):
    """The matrices with their diagonals halved; only the real part of the diagonal counts."""
    return with_diagonal(x, 0) + on_diagonal(as_type(x.diagonal(0, -2, -1).real, x.dtype) / 2)


cdef int check_phase(object imaginary, str operation, str vectors, str reason="quantity, so it is") except -1:
    """Refuse a loss that depends on the phase of complex vectors, which is arbitrary."""
    if not (<Tensor> imaginary).batched and (np.abs((<Tensor> imaginary).array) > 1e-2).any():
        raise RuntimeError(f"{operation}: The {vectors} in the complex case are specified up to multiplication by "
                           f"e^{{i phi}}. The specified loss function depends on this {reason} ill-defined.")
    return 0


# QR

@cython.final
cdef class LinalgQrBackward0(Decomposition):
    cdef tuple constant_names(self):
        return ("mode",)

    @property
    def _saved_Q(self):
        return self.output(0)

    @property
    def _saved_R(self):
        return self.output(1)

    cdef object vjp(self, object g, int i):
        gq, gr = gradients_of(g, 2)
        if self.constants[0] == "r":
            raise RuntimeError("The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                               "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
        q, r = self.output(0), self.output(1)
        rows, columns = shape_of(q)[-2], shape_of(r)[-1]
        if self.constants[0] == "complete" and rows > columns:
            raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
        if gq is None and gr is None:
            return None
        if rows >= columns:
            return square_gradient(q, r, gq, gr)
        # A = Q [U, V]: U comes from the leading square matrix, V = Q^H A from the rest
        v, gv = r[..., rows:], None
        if gr is not None:
            gr, gv = gr[..., :rows], gr[..., rows:]
            gq = plus(gq, q @ v @ adjoint_of(gv))
        return cat([square_gradient(q, r[..., :rows], gq, gr), q @ (v * 0 if gv is None else gv)], -1)


cdef object square_gradient(object q, object r, object gq, object gr):
    """For a matrix with at least as many rows as columns."""
    inner = None if gr is None else gr @ adjoint_of(r)
    if gq is not None:
        inner = -(adjoint_of(q) @ gq) if inner is None else inner - adjoint_of(q) @ gq
    half = upper_part(halves_of(inner), 0)
    g = q @ (half + adjoint_of(half))
    return adjoint_of(solve_triangular(r, adjoint_of(plus(g, gq)), upper=True))


cdef object qr_of(str operation, object input, object mode):
    cdef Tensor x = matrix_argument(input, operation, False), q, r
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
                           "'complete'")
    if cnp.PyArray_SIZE(x.array) == 0 and mode != "complete":
        arrays = empty_factors(x.array)
    elif mode == "r":
        arrays = (None, np.linalg.qr(x.array, "r"))
    else:
        arrays = np.linalg.qr(x.array, mode)
    if mode == "r":
        q, r = new_tensor(np.empty((0,), x.array.dtype)), dense(arrays[1])
    else:
        q, r = columns_first(arrays[0]), columns_first(arrays[1])
    return record_outputs(new_node(LinalgQrBackward0, (mode,)), (q, r), x) if needs_node(x) else (q, r)


@op(name="qr", namespace="linalg", batch=on_matrices)
def linalg_qr(input, mode="reduced"):
    """qr(input, mode='reduced') -> linalg_qr: Q with orthonormal columns and the upper triangular R with input = Q @ R.

    mode='complete' makes Q square. mode='r' computes only R (Q is empty), without a gradient.

    >>> import autograd_cy as ag
    >>> ag.linalg.qr(ag.tensor([[3.0, 1.0], [4.0, 2.0]])).R.abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    return return_types.linalg_qr(*qr_of("linalg.qr", input, mode))


@op(methods=("qr",), batch=on_matrices)
def qr(input, some: bool = True):
    """qr(input, some=True) -> qr: linalg.qr(); some=False makes Q square.

    >>> import autograd_cy as ag
    >>> ag.qr(ag.tensor([[3.0, 1.0], [4.0, 2.0]])).R.abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    return return_types.qr(*qr_of("linalg.qr", input, "reduced" if some else "complete"))


# singular values

cdef object skew(object x):
    return x - adjoint_of(x)


@cython.final
cdef class LinalgSvdBackward0(Decomposition):
    """Constant: whether U and Vh are square."""

    cdef tuple constant_names(self):
        return ("full_matrices",)

    @property
    def _saved_U(self):
        return self.output(0)

    @property
    def _saved_S(self):
        return self.output(1)

    @property
    def _saved_Vh(self):
        return self.output(2)

    @property
    def _saved_S_sym_argsize_minus_1(self):
        return self.output(1).shape[-1]

    cdef object vjp(self, object g, int i):
        gu, gs, gvh = gradients_of(g, 3)
        u, s, vh = self.output(0), self.output(1), self.output(2)
        m, k, n = shape_of(u)[-2], shape_of(s)[-1], shape_of(vh)[-1]
        if self.constants[0]:
            u, vh = u[..., :k], vh[..., :k, :]
            gu, gvh = None if gu is None else gu[..., :k], None if gvh is None else gvh[..., :k, :]
        if gu is None and gvh is None:
            return None if gs is None else (u * as_type(gs, u.dtype).unsqueeze(-2)) @ vh
        inner = self.inner(u, s, vh, gu, gs, gvh)
        s = as_type(s, u.dtype)
        left = u @ inner
        if gu is not None and m > k:
            scaled = gu / s.unsqueeze(-2)
            left = left + scaled - u @ (adjoint_of(u) @ scaled)
        found = left @ vh
        if gvh is not None and n > k:
            scaled = gvh / s.unsqueeze(-1)
            found = found + u @ (scaled - (scaled @ adjoint_of(vh)) @ vh)
        return found

    cdef object inner(self, object u, object s, object vh, object gu, object gs, object gvh):
        """The gradient in the coordinates given by U and V: a square matrix."""
        squares = s * s
        gaps = with_diagonal(squares.unsqueeze(-2) - squares.unsqueeze(-1), 1)
        s_wide, gaps = as_type(s, u.dtype), as_type(gaps, u.dtype)
        turn_u = None if gu is None else skew(adjoint_of(u) @ gu)
        turn_v = None if gvh is None else skew(vh @ adjoint_of(gvh))
        is_complex = u.dtype.is_complex
        if is_complex:
            phase = plus(turn_u, turn_v).diagonal(0, -2, -1).imag
            check_phase(phase, "svd_backward", "singular vectors", "phase term, making it")
        found = plus(None if turn_u is None else turn_u * s_wide.unsqueeze(-2),
                     None if turn_v is None else s_wide.unsqueeze(-1) * turn_v) / gaps
        found = with_diagonal(found, 0)
        if gs is not None:
            found = found + on_diagonal(as_type(gs, u.dtype))
        if is_complex and turn_u is not None:       # the phase term is applied to U; otherwise U alone would not match Vh
            found = found + on_diagonal(turn_u.diagonal(0, -2, -1) / (2 * s_wide))
        return found


cdef tuple svd_of(Tensor x, bint full):
    arrays = svd_arrays(x.array, full)
    outputs = (columns_first(arrays[0]), dense(arrays[1]), columns_first(arrays[2]))
    return record_outputs(new_node(LinalgSvdBackward0, (full,)), outputs, x) if needs_node(x) else outputs


@op(name="svd", namespace="linalg", batch=on_matrices)
def linalg_svd(input, full_matrices: bool = True, *, driver: str | None = None):
    """svd(input, full_matrices=True, *, driver=None) -> linalg_svd: U, S, Vh with input = U @ diag(S) @ Vh; S is descending.

    U and Vh are square, or with full_matrices=False have as many columns and rows as S has elements. The gradient is finite
    if the singular values are distinct and not 0. The gradient of the vectors assumes a loss that does not depend on their
    sign or phase.

    >>> import autograd_cy as ag
    >>> ag.linalg.svd(ag.tensor([[3.0, 0.0], [0.0, 2.0]])).S
    tensor([3., 2.])
    """
    return return_types.linalg_svd(*svd_of(matrix_argument(input, "linalg.svd", False), full_matrices))


@op(methods=("svd",), batch=COMPOSITE)
def svd(input, some: bool = True, compute_uv: bool = True):
    """svd(input, some=True, compute_uv=True) -> svd: U, S, V with input = U @ diag(S) @ V.mH; superseded by linalg.svd().

    With compute_uv=False, U and V are zeros.

    >>> import autograd_cy as ag
    >>> ag.svd(ag.tensor([[3.0, 0.0], [0.0, 2.0]])).S
    tensor([3., 2.])
    """
    u, s, vh = linalg_svd(input, not some)
    if not compute_uv:
        u, vh = u.detach() * 0, vh.detach() * 0
    return return_types.svd(u, s, adjoint_of(vh))


@op(namespace="linalg", batch=on_matrices)
def svdvals(input, *, driver: str | None = None):
    """svdvals(input, *, driver=None) -> Tensor: the singular values of a matrix, descending.

    >>> import autograd_cy as ag
    >>> ag.linalg.svdvals(ag.tensor([[3.0, 0.0], [0.0, 2.0]]))
    tensor([3., 2.])
    """
    cdef Tensor x = matrix_argument(input, "linalg.svdvals", False)
    return svd_of(x, False)[1] if needs_node(x) else dense(svd_values(x.array))


# eigenvalues of Hermitian matrices

@cython.final
cdef class LinalgEighBackward0(Decomposition):
    @property
    def _saved_eigenvalues(self):
        return self.output(0)

    @property
    def _saved_eigenvectors(self):
        return self.output(1)

    cdef object vjp(self, object g, int i):
        gl, gv = gradients_of(g, 2)
        values, v = self.output(0), self.output(1)
        if gv is None:
            return None if gl is None else (v * as_type(gl, v.dtype).unsqueeze(-2)) @ adjoint_of(v)
        turn = adjoint_of(v) @ gv
        if v.dtype.is_complex:
            check_phase(turn.diagonal(0, -2, -1).imag, "linalg_eigh_backward", "eigenvectors")
        gaps = with_diagonal(values.unsqueeze(-2) - values.unsqueeze(-1), 1)
        inner = with_diagonal(skew(turn) / as_type(2 * gaps, v.dtype), 0)
        if gl is not None:
            inner = inner + on_diagonal(as_type(gl, v.dtype))
        return v @ inner @ adjoint_of(v)

    cdef object jvp(self, tuple tangents):
        values, v = self.output(0), self.output(1)
        turn = adjoint_of(v) @ tangents[0] @ v
        gaps = with_diagonal(values.unsqueeze(-2) - values.unsqueeze(-1), 1)
        return turn.diagonal(0, -2, -1).real, v @ with_diagonal(turn / as_type(gaps, v.dtype), 0)


cdef tuple eigh_of(Tensor x, str UPLO):
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    values, vectors = eigh_arrays(x.array, UPLO)
    outputs = (dense(values), columns_first(vectors))
    return record_outputs(new_node(LinalgEighBackward0, ()), outputs, x) if needs_node(x) else outputs


@op(namespace="linalg", batch=on_matrices)
def eigh(input, UPLO="L"):
    """eigh(input, UPLO='L') -> linalg_eigh: the eigenvalues, ascending, and orthonormal eigenvectors of a Hermitian matrix.

    The lower triangle is read, or the upper one ('U'). The gradient of the vectors is finite for distinct eigenvalues. It
    assumes a loss that does not depend on their sign or phase.

    >>> import autograd_cy as ag
    >>> ag.linalg.eigh(ag.tensor([[2.0, 1.0], [1.0, 2.0]])).eigenvalues
    tensor([1., 3.])
    """
    return return_types.linalg_eigh(*eigh_of(matrix_argument(input, "linalg.eigh", True), UPLO))


@op(namespace="linalg", batch=on_matrices)
def eigvalsh(input, UPLO="L"):
    """eigvalsh(input, UPLO='L') -> Tensor: the eigenvalues of a Hermitian matrix, ascending.

    >>> import autograd_cy as ag
    >>> ag.linalg.eigvalsh(ag.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    cdef Tensor x = matrix_argument(input, "linalg.eigh", True)
    return eigh_of(x, UPLO)[0] if needs_node(x) or UPLO not in ("L", "U") else dense(eigh_values(x.array, UPLO))


# eigenvalues of any matrix

@cython.final
cdef class LinalgEigBackward0(Decomposition):
    """Constant: the type of the matrix. The gradient of a real matrix is real."""

    @property
    def _saved_eigenvalues(self):
        return self.output(0)

    @property
    def _saved_eigenvectors(self):
        return self.output(1)

    cdef object vjp(self, object g, int i):
        gl, gv = gradients_of(g, 2)
        values, v = self.output(0), self.output(1)
        if gl is None and gv is None:
            return None
        inner = None if gl is None else on_diagonal(gl)
        if gv is not None:
            turn = adjoint_of(v) @ gv
            diagonal = turn.diagonal(0, -2, -1)
            check_phase(diagonal.imag, "linalg_eig_backward", "eigenvectors")
            gaps = with_diagonal(values.unsqueeze(-2) - values.unsqueeze(-1), 1)
            turn = turn - (adjoint_of(v) @ v) * as_type(diagonal.real, v.dtype).unsqueeze(-2)
            inner = plus(inner, with_diagonal(turn / gaps.conj(), 0))
        found = solve_ex(adjoint_of(v), inner @ adjoint_of(v)).result
        return as_type(found, self.constants[0])


cdef tuple eig_of(Tensor x):
    if not np.isfinite(x.array).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = converged("linalg.eig", "eig", np.linalg.eig, x.array, "eigenvalues")
    kind = complex_type(x)
    outputs = (dense(np.asarray(values, kind)), columns_first(np.asarray(vectors, kind)))
    node = new_node(LinalgEigBackward0, (dtype_of(code_of(x.array)),)) if needs_node(x) else None
    return outputs if node is None else record_outputs(node, outputs, x)


cdef object complex_type(Tensor x):
    return (<object> dtype_of(to_complex(code_of(x.array)))).numpy_dtype


@op(namespace="linalg", batch=on_matrices)
def eig(input):
    """eig(input) -> linalg_eig: the eigenvalues, in no order, and eigenvectors of length 1 of a square matrix, all complex.

    The gradient is finite for distinct eigenvalues. For the vectors it assumes a loss that does not depend on their phase.

    >>> import autograd_cy as ag
    >>> ag.linalg.eig(ag.tensor([[0.0, 1.0], [-1.0, 0.0]])).eigenvalues.imag.abs()
    tensor([1., 1.])
    """
    return return_types.linalg_eig(*eig_of(matrix_argument(input, "linalg.eig", True)))


@op(namespace="linalg", batch=on_matrices)
def eigvals(input):
    """eigvals(input) -> Tensor: the eigenvalues of a square matrix, in no order, as complex numbers.

    Eigenvalues of a matrix that is not finite are nan; if it requires grad, that is an error.

    >>> import autograd_cy as ag
    >>> ag.linalg.eigvals(ag.tensor([[0.0, 1.0], [-1.0, 0.0]])).imag.abs()
    tensor([1., 1.])
    """
    cdef Tensor x = matrix_argument(input, "linalg.eigvals", True)
    if needs_node(x):
        return eig_of(x)[0]
    finite = np.isfinite(x.array).all((-2, -1), keepdims=True)
    values = converged("linalg.eig", "eigvals", np.linalg.eigvals, np.where(finite, x.array, 0), "eigenvalues")
    return dense(np.asarray(np.where(finite[..., 0], values, np.nan), complex_type(x)))
