"""Norms of matrices, norms chosen by the number of dimensions, condition numbers."""

from math import inf

from autograd_cy._core.graph.record cimport shape_of, tensor_argument, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.ops.matrices.systems cimport check_matrix, check_not_integers, matrix_argument
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.matrices.systems import inv_ex
from autograd_cy._core.ops.reductions.sums import norm as norm_of_vectors
from autograd_cy._core.ops.registry import op


@op(namespace="linalg", batch=COMPOSITE)
def vector_norm(input, ord=2, dim=None, keepdim=False, *, dtype=None):
    """vector_norm(input, ord=2, dim=None, keepdim=False, *, dtype=None) -> Tensor: the norm of all elements, or along `dim`.

    The p-th root of the sum of |x| ** p; ord=inf and -inf: the largest and smallest |x|; ord=0: the number of nonzeros.

    >>> import autograd_cy as ag
    >>> ag.linalg.vector_norm(ag.tensor([3.0, 4.0]))
    tensor(5.)
    """
    return norm_of_vectors(tensor_argument(input, "linalg.vector_norm", "x", 1), ord, dim, keepdim, dtype=dtype)


@op(namespace="linalg", batch=COMPOSITE)
def matrix_norm(input, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """matrix_norm(input, ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None) -> Tensor: the norms of matrices.

    'fro': the root of the sum of squares; 'nuc': the sum of the singular values; 2 and -2: the largest and the smallest; 1 and
    -1: the largest and smallest sum of a column's absolute values; inf and -inf: of a row's.

    >>> import autograd_cy as ag
    >>> ag.linalg.matrix_norm(ag.tensor([[1.0, -2.0], [3.0, 0.0]]), 1)
    tensor(4.)
    """
    cdef object x = tensor_argument(input, "matrix_norm", "A", 1)
    cdef int ndim = cnp.PyArray_NDIM((<Tensor> x).array), a, b
    check_matrix(<Tensor> x, "linalg.matrix_norm", "A", False)
    check_not_integers(<Tensor> x, "linalg.matrix_norm")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    a, b = wrap_dim(dim[0], ndim), wrap_dim(dim[1], ndim)
    if a == b:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return norm_of_vectors(x, 2, (a, b), keepdim, dtype=dtype)
    x = x if dtype is None else x.to(dtype)
    if ord in ("nuc", 2, -2):
        values = svdvals(x.permute([d for d in range(ndim) if d not in (a, b)] + [a, b]))
        y = values.sum(-1) if ord == "nuc" else largest(values, -1, False) if ord == 2 else values.amin(-1)
    elif ord in (1, -1, inf, -inf):
        along = b if abs(ord) == inf else a
        sums = x.abs().sum(along, keepdim=True)
        other = a if abs(ord) == inf else b
        y = largest(sums, other, True) if ord > 0 else sums.amin(other, True)
        return y if keepdim else y.squeeze((a, b))
    else:
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if not keepdim:
        return y
    return y.reshape([1 if d in (a, b) else n for d, n in enumerate(shape_of(x))])


cdef object largest(object sizes, int dim, bint keepdim):
    """The largest absolute value; 0 for empty operands."""
    return sizes.amax(dim, keepdim) if sizes.shape[dim] else sizes.sum(dim, keepdim=keepdim)


@op(namespace="linalg", batch=COMPOSITE)
def norm(input, ord=None, dim=None, keepdim=False, *, dtype=None):
    """norm(input, ord=None, dim=None, keepdim=False, *, dtype=None) -> Tensor: the norm of a vector or of a matrix.

    With one `dim` vector_norm(), with two matrix_norm(). Without `dim` the number of dimensions decides. Without `ord` it is
    the root of the sum of squares of all elements, or along `dim`.

    >>> import autograd_cy as ag
    >>> ag.linalg.norm(ag.tensor([[1.0, -2.0], [2.0, 0.0]]))
    tensor(3.)
    """
    cdef int ndim = cnp.PyArray_NDIM(tensor_argument(input, "norm", "A", 1).array)
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and not isinstance(dims, (tuple, list)):
        raise TypeError(f"linalg.norm(): argument 'dim' must be int or tuple of ints, not {type(dim).__name__}")
    if ord is None:
        return vector_norm(input, 2.0, dim, keepdim, dtype=dtype)
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got [{', '.join(map(str, dims))}]")
    if dims is None and ndim not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{ndim}D.")
    if isinstance(ord, str) or (dims is None and ndim == 2) or (dims is not None and len(dims) == 2):
        return matrix_norm(input, ord, (0, 1) if dims is None else dims, keepdim, dtype=dtype)
    return vector_norm(input, ord, dims, keepdim, dtype=dtype)


@op(namespace="linalg", batch=COMPOSITE)
def cond(input, p=None):
    """cond(input, p=None) -> Tensor: the condition number of matrices: their norm times the norm of the inverse.

    p=None and 2 divide the largest singular value by the smallest, -2 the smallest by the largest. Other norms are computed by
    matrix_norm(); singular matrices then give inf. Empty matrices give 0.

    >>> import autograd_cy as ag
    >>> ag.linalg.cond(ag.tensor([[4.0, 0.0], [0.0, 2.0]]))
    tensor(2.)
    """
    x = matrix_argument(input, "linalg.cond", False)
    if isinstance(p, str):
        check_matrix(x, f"linalg.cond(ord={p})", "A", True)
    if cnp.PyArray_SIZE((<Tensor> x).array) == 0:
        return x.detach().abs().sum((-2, -1)) * 0
    if p in (None, 2, -2):
        values = svdvals(x)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    check_matrix(x, f"linalg.cond(ord={p})", "A", True)
    inverse, info = inv_ex(x)
    y = matrix_norm(x, p) * matrix_norm(inverse, p)
    return y.where(info == 0, inf)
