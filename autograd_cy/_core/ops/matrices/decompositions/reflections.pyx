"""Products of Householder reflections, and the decomposition that produces them."""

import numpy as np

from autograd_cy._core.graph.record cimport shape_of, shown, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.matrices.systems cimport adjoint_of, check_matrix, dense, lower, matrix_argument, upper_part

from autograd_cy._core.batching.rules import COMPOSITE, on_matrices
from autograd_cy._core.ops import return_types
from autograd_cy._core.ops.registry import op


@op(namespace="linalg", batch=COMPOSITE)
def householder_product(input, tau):
    """householder_product(input, tau) -> Tensor: the first columns of a product of Householder reflections.

    H[0] @ H[1] @ ..., where H[k] = 1 - tau[k] * v @ v.mH, and v is the k-th column of `input` below its diagonal, with a 1
    on it.

    >>> import autograd_cy as ag
    >>> ag.linalg.householder_product(ag.tensor([[1.0], [0.5]]), ag.tensor([1.6]))
    tensor([[-0.6000],
            [-0.8000]])
    """
    cdef object a = matrix_argument(input, "torch.linalg.householder_product", False)
    cdef object t = tensor_argument(tau, "householder_product", "tau", 2)
    cdef tuple sizes = shape_of(a)
    if sizes[-2] < sizes[-1]:
        raise RuntimeError("torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
                           "input.shape[-1]")
    if shape_of(t)[-1] > sizes[-1]:
        raise RuntimeError("torch.linalg.householder_product: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    nothing = lower(upper_part(a, 1), -1)            # so that there is a gradient even without reflections
    ones = new_tensor(np.eye(sizes[-2], sizes[-1], dtype=(<Tensor> a).array.dtype))
    return in_columns(reflected(a, t, nothing + ones, False, True))


cdef object in_columns(object x):
    """Matrices in Fortran order, as PyTorch's LAPACK leaves them."""
    return x.transpose(-2, -1).contiguous().transpose(-2, -1)


cdef object reflected(object a, object tau, object c, bint adjoined, bint left):
    """A product of reflections times a matrix (`left`), or the matrix times the product."""
    cdef int k, count = shape_of(tau)[-1], rows = shape_of(a)[-2]
    vectors = lower(a, -1) + new_tensor(np.eye(rows, shape_of(a)[-1], dtype=(<Tensor> a).array.dtype))
    # Q = H[0] H[1] ...: from the left, the last reflection acts first
    order = range(count - 1, -1, -1) if left != adjoined else range(count)
    for k in order:
        v, factor = vectors[..., k:k + 1], tau[..., k:k + 1].unsqueeze(-1)
        factor = factor.conj() if adjoined else factor
        c = c - factor * (v @ (adjoint_of(v) @ c)) if left else c - factor * ((c @ v) @ adjoint_of(v))
    return c


@op(batch=COMPOSITE)
def orgqr(input, tau):
    """orgqr(input, tau) -> Tensor: another name of linalg.householder_product().

    >>> import autograd_cy as ag
    >>> ag.orgqr(ag.tensor([[1.0], [0.5]]), ag.tensor([1.6]))
    tensor([[-0.6000],
            [-0.8000]])
    """
    return householder_product(input, tau)


@op(methods=("ormqr",), batch=COMPOSITE)
def ormqr(input, tau, other, left: bool = True, transpose: bool = False):
    """ormqr(input, tau, other, left=True, transpose=False) -> Tensor: Q @ other; Q is a product of Householder reflections.

    Q = householder_product(input, tau), but square. left=False: other @ Q; transpose=True: with Q.mH.

    >>> import autograd_cy as ag
    >>> ag.ormqr(ag.tensor([[1.0], [0.5]]), ag.tensor([1.6]), ag.eye(2))
    tensor([[-0.6000, -0.8000],
            [-0.8000,  0.6000]])
    """
    cdef object a = matrix_argument(input, "torch.ormqr", False), c = tensor_argument(other, "ormqr", "other", 3)
    check_matrix(<Tensor> c, "torch.ormqr", "other", False)
    if shape_of(a)[-2] != shape_of(c)[-2 if left else -1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2]")
    cdef object factors = tensor_argument(tau, "ormqr", "tau", 2)
    if shape_of(factors)[-1:] != (min(shape_of(a)[-2:]),):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{-2 if left else -1}], "
                           "input.shape[-1])")
    return in_columns(reflected(a, factors, c, transpose, left))


@op(methods=("geqrf",), batch=on_matrices)
def geqrf(input):
    """geqrf(input) -> geqrf: a QR decomposition as LAPACK leaves it: R with the Householder vectors below it, and their tau.

    It has no gradient: linalg.qr() has one.

    >>> import autograd_cy as ag
    >>> ag.geqrf(ag.tensor([[3.0], [4.0]])).a
    tensor([[-5.0000],
            [ 0.5000]])
    """
    cdef Tensor x = matrix_argument(input, "torch.geqrf", False)
    h, tau = np.linalg.qr(x.array, "raw")
    found = return_types.geqrf(new_tensor(np.swapaxes(np.require(h, x.array.dtype, "CW"), -2, -1)),
                               dense(np.asarray(tau, x.array.dtype)))
    return shown("geqrf", found, (x,))
