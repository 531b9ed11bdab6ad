"""Products composed of other products: of vectors, along dimensions, of several matrices, powers of a matrix."""

from math import prod

from autograd_cy._core.arrays.dtypes cimport COMPLEX64, FLOAT16, FLOAT32, code_of, type_word
from autograd_cy._core.graph.record cimport broadcast_sizes, int64_of, shape_of, tensor_argument, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

import numpy as np

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op


cdef int ndim_of(object x) except -1:
    return cnp.PyArray_NDIM((<Tensor> x).array)


# of vectors

@op(methods=("vdot",), batch=COMPOSITE)
def vdot(input, other):
    """vdot(input, other) -> Tensor: the inner product of two vectors, the first one conjugated.

    >>> import autograd_cy as ag
    >>> ag.vdot(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor(11.)
    """
    return tensor_argument(input, "vdot", "input", 1).conj().dot(tensor_argument(other, "vdot", "other", 2))


@op(methods=("inner",), batch=COMPOSITE)
def inner(input, other):
    """inner(input, other) -> Tensor: the sums of products along the last dimension of both; a 0-d tensor multiplies.

    >>> import autograd_cy as ag
    >>> ag.inner(ag.tensor([[1.0, 2.0], [0.0, 1.0]]), ag.tensor([3.0, 4.0]))
    tensor([11.,  4.])
    """
    cdef Tensor a = tensor_argument(input, "inner", "input", 1), b = tensor_argument(other, "inner", "other", 2)
    if not ndim_of(a) or not ndim_of(b):
        return a * b
    if shape_of(a)[-1] != shape_of(b)[-1]:
        raise RuntimeError("inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(shape_of(a))} and {list(shape_of(b))}")
    return tensordot(a, b, ([-1], [-1]))


@op(methods=("outer", "ger"), batch=COMPOSITE)
def outer(input, vec2):
    """outer(input, vec2) -> Tensor: the products of each element of a vector with each of another, (n, m).

    >>> import autograd_cy as ag
    >>> ag.outer(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    both = tensor_argument(input, "outer", "input", 1), tensor_argument(vec2, "outer", "vec2", 2)
    for name, x in zip(("self", "vec2"), both):
        if ndim_of(x) != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {ndim_of(x)}-D")
    return input.unsqueeze(1) * vec2


@op(batch=COMPOSITE)
def ger(input, vec2):
    """ger(input, vec2) -> Tensor: another name of outer().

    >>> import autograd_cy as ag
    >>> ag.ger(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([[3., 4.],
            [6., 8.]])
    """
    return outer(input, vec2)


@op(namespace="linalg", batch=COMPOSITE)
def vecdot(input, other, *, dim=-1):
    """vecdot(input, other, *, dim=-1) -> Tensor: the sums of products along `dim`, with `input` conjugated.

    The tensors are broadcast to each other.

    >>> import autograd_cy as ag
    >>> ag.linalg.vecdot(ag.tensor([[1.0, 2.0], [0.0, 1.0]]), ag.tensor([3.0, 4.0]))
    tensor([11.,  4.])
    """
    cdef Tensor a = tensor_argument(input, "vecdot", "x", 1), b = tensor_argument(other, "vecdot", "y", 2)
    if code_of(a.array) < FLOAT16:
        raise RuntimeError("linalg.vecdot: Expected a floating point or complex tensor as input. Got "
                           f"{type_word(code_of(a.array))}")
    if code_of(a.array) != code_of(b.array):
        raise RuntimeError("linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
                           f"{type_word(code_of(a.array))} and y of type {type_word(code_of(b.array))} instead")
    return (a.conj() * b).sum(dim)


def crossed(str name, input, other, dim):
    """The cross product along a dimension of 3 elements."""
    cdef tuple a = shape_of(tensor_argument(input, name, "input", 1)), b = shape_of(tensor_argument(other, name, "other", 2))
    cdef int d
    if len(a) != len(b):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    d = wrap_dim(dim, len(a))
    if a[d] != 3 or b[d] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a[d]} and {b[d]}")
    sizes = broadcast_sizes(a, b)
    x, y = input.expand(sizes), other.expand(sizes)
    return (x.roll(-1, d) * y.roll(-2, d) - x.roll(-2, d) * y.roll(-1, d)).contiguous()


@op(name="cross", namespace="linalg", batch=COMPOSITE)
def linalg_cross(input, other, *, dim=-1):
    """cross(input, other, *, dim=-1) -> Tensor: the cross products of vectors of 3 elements along `dim`.

    The tensors are broadcast to each other.

    >>> import autograd_cy as ag
    >>> ag.linalg.cross(ag.tensor([1.0, 0.0, 0.0]), ag.tensor([0.0, 1.0, 0.0]))
    tensor([0., 0., 1.])
    """
    return crossed("linalg.cross", input, other, dim)


@op(methods=("cross",), batch=COMPOSITE)
def cross(input, other, dim=None):
    """cross(input, other, dim=None) -> Tensor: the cross products of vectors of 3 elements along `dim`.

    Without `dim` it is the first dimension of size 3.

    >>> import autograd_cy as ag
    >>> ag.cross(ag.tensor([1.0, 0.0, 0.0]), ag.tensor([0.0, 1.0, 0.0]), dim=0)
    tensor([0., 0., 1.])
    """
    if dim is None:
        a = shape_of(tensor_argument(input, "cross", "input", 1))
        b = shape_of(tensor_argument(other, "cross", "other", 2))
        threes = [k for k, n in enumerate(broadcast_sizes(a, b)) if n == 3]
        if not threes:
            raise RuntimeError("no dimension of size 3 in input")
        dim = threes[0]
    return crossed("cross", input, other, dim)


# along dimensions

@op(batch=COMPOSITE)
def tensordot(a, b, dims=2):
    """tensordot(a, b, dims=2) -> Tensor: the sums of products along several dimensions at once.

    `dims` lists the dimensions of `a` and of `b`, ([0, 1], [1, 0]); a number means the last ones of `a` and the first of `b`.

    >>> import autograd_cy as ag
    >>> ag.tensordot(ag.ones(2, 3), ag.ones(3, 2), dims=1)
    tensor([[3., 3.],
            [3., 3.]])
    """
    cdef int m = ndim_of(tensor_argument(a, "tensordot", "a", 1)), n = ndim_of(tensor_argument(b, "tensordot", "b", 2))
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(m, n):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims = (range(m - dims, m), range(dims))
    left, right = [[d] if isinstance(d, int) else list(d) for d in dims]
    if len(left) != len(right):
        raise RuntimeError("both dimension lists should have same length")
    left, right = [wrap_dim(d, m) for d in left], [wrap_dim(d, n) for d in right]
    for p, q in zip(left, right):
        if a.shape[p] != b.shape[q] and 1 not in (a.shape[p], b.shape[q]):
            raise RuntimeError("contracted dimensions need to match, but first has size "
                               f"{a.shape[p]} in dim {p} and second has size {b.shape[q]} in dim {q}")
        if a.shape[p] != b.shape[q]:            # one has size 1 and is broadcast, so the other is summed
            if a.shape[p] == 1:
                b = b.sum(q, keepdim=True, dtype=b.dtype)
            else:
                a = a.sum(p, keepdim=True, dtype=a.dtype)
    own, others = [k for k in range(m) if k not in left], [k for k in range(n) if k not in right]
    sizes, more, inner_size = [a.shape[k] for k in own], [b.shape[k] for k in others], prod([a.shape[k] for k in left])
    y = a.permute(own + left).reshape(prod(sizes), inner_size).mm(b.permute(right + others).reshape(inner_size, prod(more)))
    return y.reshape(sizes + more)


@op(methods=("kron",), batch=COMPOSITE)
def kron(input, other):
    """kron(input, other) -> Tensor: the Kronecker product: each element of `input` is replaced by itself times `other`.

    >>> import autograd_cy as ag
    >>> ag.kron(ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0]))
    tensor([3., 4., 6., 8.])
    """
    cdef tuple a = shape_of(tensor_argument(input, "kron", "input", 1))
    cdef tuple b = shape_of(tensor_argument(other, "kron", "other", 2))
    cdef int rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    left, right = [], []
    for m, n in zip(a, b):
        left += [m, 1]
        right += [1, n]
    return (input.reshape(left) * other.reshape(right)).reshape([m * n for m, n in zip(a, b)])


# of several matrices

@op(methods=("matrix_power",), batch=COMPOSITE)
@op(namespace="linalg", batch=COMPOSITE)
def matrix_power(input, n: int):
    """matrix_power(input, n) -> Tensor: the n-th power of a square matrix (or a batch); with n < 0 of its inverse.

    >>> import autograd_cy as ag
    >>> ag.linalg.matrix_power(ag.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    cdef object x = tensor_argument(input, "matrix_power", "A", 1), y = None
    cdef long long power = int64_of(n)
    cdef unsigned long long count = <unsigned long long> power
    cdef tuple sizes = shape_of(x)
    if len(sizes) < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    if sizes[len(sizes) - 1] != sizes[len(sizes) - 2]:
        raise RuntimeError("linalg.matrix_power: A must be batches of square matrices, but they are "
                           f"{sizes[len(sizes) - 2]} by "
                           f"{sizes[len(sizes) - 1]} matrices")
    if code_of((<Tensor> x).array) < FLOAT32:
        raise RuntimeError("linalg.matrix_power: Expected a floating point or complex tensor as input. Got "
                           f"{type_word(code_of((<Tensor> x).array))}")
    if count == 0:
        return x * 0 + new_tensor(np.eye(sizes[len(sizes) - 1], dtype=(<Tensor> x).array.dtype))
    if power < 0:
        x, count = x.inverse(), 0 - count
    while True:                         # by squaring
        if count & 1:
            y = x if y is None else y @ x
        count >>= 1
        if not count:
            return y if y is not input else y.clone()
        x = x @ x


cdef list splits_of(list sizes):
    """Where to split the product of matrices of sizes[k] x sizes[k + 1] so that it takes the fewest multiplications.

    Source: Cormen et al., Introduction to Algorithms, 15.2.
    """
    cdef int n = len(sizes) - 1, length, i, j, k
    costs = [[0] * n for _ in range(n)]
    splits = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            found = [costs[i][k] + costs[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)]
            costs[i][j] = min(found)
            splits[i][j] = i + found.index(costs[i][j])
    return splits


cdef object product_between(list tensors, list splits, int i, int j):
    if i == j:
        return tensors[i]
    cdef int k = splits[i][j]
    return product_between(tensors, splits, i, k).mm(product_between(tensors, splits, k + 1, j))


@op(namespace="linalg", batch=COMPOSITE)
def multi_dot(tensors):
    """multi_dot(tensors) -> Tensor: the product of several matrices, in the order that takes the fewest multiplications.

    The first tensor may be a vector, used as a row, and the last one, used as a column.

    >>> import autograd_cy as ag
    >>> ag.linalg.multi_dot([ag.ones(2, 3), ag.ones(3, 1), ag.ones(1, 2)])
    tensor([[3., 3.],
            [3., 3.]])
    """
    cdef list matrices = list(tensors)
    cdef int n = len(matrices), k
    if n < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {n}")
    for k in range(n):
        matrices[k] = tensor_argument(matrices[k], "multi_dot", "tensors", 1)
        rank = ndim_of(matrices[k])
        if 0 < k < n - 1 and rank != 2:
            raise RuntimeError(f"multi_dot(): tensor {k} must be 2D but got {rank}D")
        if rank not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {'first' if k == 0 else 'last'} tensor must be 1D or 2D but got {rank}D")
    is_row, is_column = ndim_of(matrices[0]) == 1, ndim_of(matrices[n - 1]) == 1
    if is_row:
        matrices[0] = matrices[0].unsqueeze(0)
    if is_column:
        matrices[n - 1] = matrices[n - 1].unsqueeze(-1)
    for k in range(n - 1):
        if matrices[k].shape[1] != matrices[k + 1].shape[0]:
            raise RuntimeError(f"multi_dot(): tensors {k} and {k + 1} with shapes {list(matrices[k].shape)} and "
                               f"{list(matrices[k + 1].shape)} cannot be multiplied")
    y = product_between(matrices, splits_of([matrices[0].shape[0], *[x.shape[1] for x in matrices]]), 0, n - 1)
    y = y.squeeze(0) if is_row else y
    return y.squeeze(-1) if is_column else y


@op(batch=COMPOSITE)
def chain_matmul(input=(), *matrices):
    """chain_matmul(*matrices) -> Tensor: the product of several matrices; linalg.multi_dot() for matrices one by one.

    >>> import autograd_cy as ag
    >>> ag.chain_matmul(ag.ones(2, 3), ag.ones(3, 1))
    tensor([[3.],
            [3.]])
    """
    matrices = tuple(input) if isinstance(input, (list, tuple)) else (input, *matrices)
    for x in matrices:
        if ndim_of(tensor_argument(x, "chain_matmul", "matrices", 1)) != 2:
            raise RuntimeError(f"Tensor dimension is {ndim_of(x)}, expected 2 instead.")
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices[0] if len(matrices) == 1 else multi_dot(list(matrices))


@op(namespace="linalg", batch=COMPOSITE)
def vander(input, N: int | None = None):
    """vander(input, N=None) -> Tensor: the Vandermonde matrix: for each element x a row 1, x, x ** 2, ... of N columns.

    Without N it has as many columns as there are elements along the last dimension.

    >>> import autograd_cy as ag
    >>> ag.linalg.vander(ag.tensor([2.0, 3.0]), N=3)
    tensor([[1., 2., 4.],
            [1., 3., 9.]])
    """
    cdef Tensor x = tensor_argument(input, "vander", "x", 1)
    if not ndim_of(x):
        x = <Tensor> (<object> x).reshape(1)
    if code_of(x.array) < FLOAT16:
        x = <Tensor> (<object> x).long()
    cdef long long columns = shape_of(x)[-1] if N is None else int64_of(N)
    if N is not None and columns <= 1:
        raise RuntimeError(f"N must be greater than 1. Got N={N}")
    exponents = np.arange(columns, dtype=np.int64 if code_of(x.array) < COMPLEX64 else x.array.real.dtype)
    return (<object> x).unsqueeze(-1).pow(new_tensor(exponents))
