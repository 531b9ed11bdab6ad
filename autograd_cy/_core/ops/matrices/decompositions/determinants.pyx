"""Determinants and their logarithms.

Derivatives: M. Giles, "Collected matrix derivative results" (2008); the derivatives of the determinant are cofactors.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, code_of
from autograd_cy._core.graph.node cimport Node, Request, save_input, save_output, saved_array, unpack
from autograd_cy._core.graph.record cimport as_type, needs_node, new_node, record
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.matrices.systems cimport (
    Decomposition, adjoint_of, dense, matrix_argument, record_outputs, ufunc)

from autograd_cy._core.batching.rules import COMPOSITE, on_matrices
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.matrices.systems import inv_ex
from autograd_cy._core.ops.registry import op


@cython.final
cdef class LinalgDetBackward0(Node):
    cdef tuple saved_names(self):
        return ("A", None, "result")

    cdef object vjp_array(self, object g, int i, Request *request):
        return g[..., None, None] * cofactor_arrays(saved_array(self, 0))[0]

    cdef object vjp(self, object g, int i):
        return g.unsqueeze(-1).unsqueeze(-1) * conjugate_cofactors(unpack(self, 0))

    cdef object jvp(self, tuple tangents):
        return (conjugate_cofactors(unpack(self, 0)).conj() * tangents[0]).sum((-2, -1))


cdef object determinant(object array):
    with np.errstate(all="ignore"):
        found = np.asarray(ufunc("det", np.linalg.det)(array))
    if not found.all():
        spoil(found, found == 0, array)
    return found


cdef int spoil(object values, object zero, object array) except -1:
    """Replace LAPACK's zeros with nan for matrices that are not finite."""
    values[zero & ~np.isfinite(array).all((-2, -1))] = np.nan
    return 0


@op(methods=("det",), batch=on_matrices)
@op(namespace="linalg", batch=on_matrices)
def det(input):
    """det(input) -> Tensor: the determinant of a square matrix, or of each of a batch.

    >>> import autograd_cy as ag
    >>> ag.det(ag.tensor([[2.0, 1.0], [0.0, 4.0]]))
    tensor(8.)
    """
    cdef Tensor x = matrix_argument(input, "linalg.det", True), y = dense(determinant(x.array))
    if needs_node(x):
        node = new_node(LinalgDetBackward0, ())
        save_input(node, 0, x)
        save_output(node, y)
        record(node, y, x)
    return y


@cython.final
cdef class LinalgSlogdetBackward0(Decomposition):
    """The sign and the logarithm of the absolute value."""

    cdef tuple saved_names(self):
        return ("A", None, None)

    @property
    def _saved_sign(self):
        return self.output(0)

    cdef object vjp(self, object g, int i):
        gs, gl = g if isinstance(g, list) else (g, None)
        a = unpack(self, 0)
        factor = None if gl is None else as_type(gl, a.dtype)
        if gs is not None and a.dtype.is_complex:
            turn = as_type((self.output(0).conj() * gs).imag, a.dtype) * 1j
            factor = turn if factor is None else factor + turn
        return None if factor is None else self.turned_inverse(a) * factor.unsqueeze(-1).unsqueeze(-1)

    cdef object turned_inverse(self, object a):
        """The conjugate transpose of the inverse; by cofactors if our elimination meets a zero pivot and LAPACK's did not."""
        inverse, info = inv_ex(a)
        found = adjoint_of(inverse)
        sign, logarithm = self.output(0), self.output(1)
        failed = (<Tensor> info).array > 0
        if (<Tensor> a).batched or not failed.any() or not np.isfinite((<Tensor> logarithm).array[failed]).any():
            return found
        det = (sign * as_type(logarithm.exp(), sign.dtype)).conj().unsqueeze(-1).unsqueeze(-1)
        inverted = (info == 0).unsqueeze(-1).unsqueeze(-1)
        regular = a.where(inverted, new_tensor(np.eye(a.shape[-1], dtype=(<Tensor> a).array.dtype)))
        return adjoint_of(inv_ex(regular)[0]).where(inverted, conjugate_cofactors(a) / det)


cdef tuple signed_logarithm(object input, str operation):
    cdef Tensor x = matrix_argument(input, operation, True)
    with np.errstate(all="ignore"):
        sign, logarithm = map(np.asarray, ufunc("slogdet", np.linalg.slogdet)(x.array))
    if not np.isfinite(logarithm).all():
        spoil(logarithm, sign == 0, x.array)
        sign[np.isnan(logarithm)] = 0
    outputs = (dense(sign), dense(logarithm))
    if not needs_node(x):
        return outputs
    node = new_node(LinalgSlogdetBackward0, ())
    save_input(node, 0, x)
    return record_outputs(node, outputs, x)


@op(name="slogdet", namespace="linalg", batch=on_matrices)
def linalg_slogdet(input):
    """slogdet(input) -> linalg_slogdet: the sign of a determinant and the logarithm of its absolute value.

    >>> import autograd_cy as ag
    >>> ag.linalg.slogdet(ag.tensor([[2.0, 0.0], [0.0, 3.0]])).logabsdet
    tensor(1.7918)
    """
    return return_types.linalg_slogdet(*signed_logarithm(input, "linalg.slogdet"))


@op(methods=("slogdet",), batch=on_matrices)
def slogdet(input):
    """slogdet(input) -> slogdet: linalg.slogdet().

    >>> import autograd_cy as ag
    >>> ag.slogdet(ag.tensor([[2.0, 0.0], [0.0, 3.0]])).logabsdet
    tensor(1.7918)
    """
    return return_types.slogdet(*signed_logarithm(input, "linalg.slogdet"))


@op(methods=("logdet",), batch=COMPOSITE)
def logdet(input):
    """logdet(input) -> Tensor: the logarithm of the determinant: -inf if that is 0, nan if it is negative.

    >>> import autograd_cy as ag
    >>> ag.logdet(ag.tensor([[1.0, 0.0], [0.0, 1.0]]))
    tensor(0.)
    """
    sign, logarithm = slogdet(matrix_argument(input, "logdet", True))
    if code_of((<Tensor> sign).array) >= COMPLEX64:
        return sign.log() + logarithm
    return logarithm.where(sign != -1, float("nan"))
