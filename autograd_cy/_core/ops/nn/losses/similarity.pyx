"""Lengths, distances and angles of vectors, by other operations; one_hot."""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, INT64, code_of, dtype_of, type_word
from autograd_cy._core.graph.record cimport as_type, broadcast_sizes, number_code, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


@op(namespace="nn.functional", batch=COMPOSITE)
def normalize(input, p: float = 2.0, dim: int = 1, eps: float = 1e-12):
    """normalize(input, p=2.0, dim=1, eps=1e-12) -> Tensor: input divided by its p-norm along `dim`, at least `eps`.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.normalize(ag.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    length = tensor_argument(input, "normalize", "input", 1).norm(p, dim, keepdim=True)
    return input / length.clamp_min(eps).expand_as(input)


@op(batch=COMPOSITE)
def cosine_similarity(x1, x2, dim: int = 1, eps: float = 1e-8):
    """cosine_similarity(x1, x2, dim=1, eps=1e-8) -> Tensor: the cosines of the angles between vectors along `dim`.

    The tensors are broadcast to each other; lengths count as at least `eps`.

    >>> import autograd_cy as ag
    >>> ag.cosine_similarity(ag.tensor([[1.0, 0.0]]), ag.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """
    a = tensor_argument(x1, "cosine_similarity", "x1", 1)
    b = tensor_argument(x2, "cosine_similarity", "x2", 2)
    cdef int dtype_code = max(code_of((<Tensor> a).array), code_of((<Tensor> b).array))
    if not FLOAT16 <= dtype_code < COMPLEX64:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {type_word(dtype_code)}")
    if not hasattr(dim, "__index__"):
        raise TypeError(f"cosine_similarity(): argument 'dim' (position 3) must be int, not {type(dim).__name__}")
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    a, b = as_type(a, dtype_of(dtype_code)), as_type(b, dtype_of(dtype_code))
    if a.shape != b.shape:
        sizes = broadcast_sizes(shape_of(<Tensor> a), shape_of(<Tensor> b))
        a, b = a.expand(sizes), b.expand(sizes)
    return (a / length_of(a, dim, eps) * (b / length_of(b, dim, eps))).sum(dim)


cdef object length_of(object x, object dim, double eps):
    """Norms, clamped to at least eps; the gradient ignores the clamping."""
    length = x.norm(2, dim, keepdim=True)
    if not (<Tensor> length).batched and not np.any((<Tensor> length).array < eps):
        return length
    return length + (length.clamp_min(eps) - length).detach()


@op(batch=COMPOSITE)
def pairwise_distance(x1, x2, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False):
    """pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False) -> Tensor: norms of x1 - x2 + eps along the last dimension.

    >>> import autograd_cy as ag
    >>> ag.pairwise_distance(ag.tensor([[0.0, 0.0]]), ag.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """
    a = tensor_argument(x1, "pairwise_distance", "x1", 1)
    b = tensor_argument(x2, "pairwise_distance", "x2", 2)
    if number_code(p) < 0:
        raise TypeError(f"pairwise_distance(): argument 'p' (position 3) must be float, not {type(p).__name__}")
    return (a - b + eps).norm(p, max(a.ndim, b.ndim) - 1, keepdim=keepdim)


@op(namespace="nn.functional", batch=COMPOSITE)
def one_hot(tensor, num_classes: int = -1):
    """one_hot(tensor, num_classes=-1) -> Tensor: for each number, an int64 vector of zeros with a 1 at its place.

    num_classes=-1 means the largest number plus 1. RuntimeError for numbers that are negative or too large.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.one_hot(ag.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    cdef Tensor x = tensor_argument(tensor, "one_hot", "tensor", 1)
    cdef long long classes = num_classes
    if code_of(x.array) != INT64:
        raise RuntimeError(f"one_hot is only applicable to index tensor of type LongTensor, not {tensor.dtype}.")
    if classes < -1 or classes == 0 and cnp.PyArray_SIZE(x.array):
        raise RuntimeError("num_classes should be positive")
    if x.batched and classes == -1:
        raise RuntimeError("vmap: one_hot() needs num_classes: it can't depend on the numbers of a sample")
    if classes == -1 and not cnp.PyArray_SIZE(x.array):
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if not x.batched and cnp.PyArray_SIZE(x.array):
        if x.array.min() < 0:
            raise RuntimeError("Class values must be non-negative.")
        if classes == -1:
            classes = x.array.max() + 1
        elif x.array.max() >= classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    return (tensor.unsqueeze(-1) == new_tensor(np.arange(classes))).long()
