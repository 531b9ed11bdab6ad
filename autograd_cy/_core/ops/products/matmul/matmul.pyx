"""matmul and nn.functional.linear: products of tensors of any dimensions, computed by products of matrices and vectors."""

from autograd_cy._core.graph.context cimport MATMUL, fill_operator
from autograd_cy._core.graph.record cimport broadcast_sizes, needs_node, record_linear, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, sharing
from autograd_cy._core.ops.overrides cimport declined
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.reshaping import SqueezeBackward4, UnsafeViewBackward0


cdef Tensor squeezed(Tensor row):
    """A product with one row, as a vector."""
    return record_linear(SqueezeBackward4, (0, shape_of(row), shape_of(row)[1:]), row, row.array[0])


cdef Tensor reshaped(Tensor x, tuple sizes):
    """A new result in another shape."""
    return record_linear(UnsafeViewBackward0, (shape_of(x), sizes), x, x.array.reshape(sizes))


cdef Tensor matmul_of(Tensor a, Tensor b):
    cdef int m = cnp.PyArray_NDIM(a.array), n = cnp.PyArray_NDIM(b.array)
    if m == 2 and n == 2:
        return product_of_matrices(a, b, False)
    if m == 0 or n == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {m}D and {n}D")
    if m == 1 and n == 1:
        return inner_product(a, b)
    if m == 2 and n == 1:
        return matrix_times_vector(a, b)
    if m == 1 and n == 2:
        return squeezed(product_of_matrices(a.unsqueeze(0), b, False))
    if n <= 2:
        return folded(a, b)
    if m == 1:
        return folded(b.transpose(-2, -1), a)
    if m == 3 and n == 3 and cnp.PyArray_DIM(a.array, 0) != cnp.PyArray_DIM(b.array, 0):
        if cnp.PyArray_DIM(a.array, 0) == 1 and needs_node(a):
            return matmul_of(a.squeeze(0), b)
        if cnp.PyArray_DIM(b.array, 0) == 1 and needs_node(b):
            return matmul_of(a, b.squeeze(0))
    if m == 2 and needs_node(a):     # batched() would make a gradient as large as the batch
        return folded(b.transpose(-2, -1), a.t()).transpose(-2, -1).contiguous()
    return batched(a, b)


cdef object folded(object a, object b):
    """A batch of matrices times one matrix or vector, computed as one tall matrix."""
    cdef tuple sizes = shape_of(a)
    cdef int last = len(sizes) - 1
    cdef Tensor tall = a.reshape(count(sizes[:last]), sizes[last])
    if cnp.PyArray_NDIM((<Tensor> b).array) == 1:
        return reshaped(matrix_times_vector(tall, b), sizes[:last])
    return reshaped(product_of_matrices(tall, b, False), sizes[:last] + (cnp.PyArray_DIM((<Tensor> b).array, 1),))


cdef Tensor batched(Tensor a, Tensor b):
    """Two batches of matrices, broadcast to one batch."""
    cdef tuple a_sizes = shape_of(a), b_sizes = shape_of(b)
    cdef int m = len(a_sizes) - 2, n = len(b_sizes) - 2
    cdef tuple batch = broadcast_sizes(a_sizes[:m], b_sizes[:n])
    return reshaped(product_of_batches(as_batch(a, batch, a_sizes[m:]), as_batch(b, batch, b_sizes[n:])),
                    batch + (a_sizes[m], b_sizes[n + 1]))


cdef object as_batch(object x, tuple batch, tuple matrix):
    """A tensor broadcast to a batch of matrices, in three dimensions."""
    if shape_of(x) != batch + matrix:
        x = x.expand(batch + matrix)
    return x if len(batch) == 1 else x.reshape((count(batch),) + matrix)


cdef Py_ssize_t count(tuple sizes) except -1:
    cdef Py_ssize_t total = 1
    for size in sizes:
        total *= <Py_ssize_t> size
    return total


def batched_matmul(call, input, other):
    """Vectors that differ between samples become rows of one matrix if the other operand is shared, else matrices."""
    cdef int m = rank_of(input), n = rank_of(other)
    cdef object a = call.value(input), b = call.value(other)
    if m == 0 or n == 0 or input.shape[m - 1] != other.shape[max(n - 2, 0)]:
        call.on_sample(input, other)                # raises the error
    if m == 1 and n <= 2 and not call.is_batched(other):
        return a @ b
    if n == 1 and m <= 2 and not call.is_batched(input):
        return b @ (a if m == 1 else a.transpose(0, 1))
    a = a.unsqueeze(-2) if m == 1 else a
    b = b.unsqueeze(-1) if n == 1 else b
    rank = max(m, n, 2) + 1
    y = with_rank(a, rank if call.is_batched(input) else 0) @ with_rank(b, rank if call.is_batched(other) else 0)
    y = y.squeeze(-1) if n == 1 else y
    return y.squeeze(-1 if n == 1 else -2) if m == 1 else y


cdef object with_rank(object x, int rank):
    """All samples of an operand with `rank` dimensions; missing ones are inserted after the first."""
    cdef tuple sizes = shape_of(x)
    return x.reshape(sizes[:1] + (1,) * (rank - len(sizes)) + sizes[1:]) if len(sizes) < rank else x


@op(methods=("matmul",), batch=batched_matmul)
def matmul(input, other):
    """matmul(input, other) -> Tensor: the product of matrices, vectors or batches of matrices; also input @ other.

    1-d with 1-d is the inner product. A vector on the left counts as a row, one on the right as a column, and that
    dimension is dropped from the result. With more than two dimensions the leading ones are batches, which are
    broadcast. Both tensors must have the same type.

    >>> import autograd_cy as ag
    >>> ag.ones(2, 1, 3).matmul(ag.tensor([1.0, 2.0, 3.0]))
    tensor([[6.],
            [6.]])
    """
    return matmul_of(tensor_argument(input, "matmul", "input", 1), tensor_argument(other, "matmul", "other", 2))


def batched_linear(call, input, weight, bias=None):
    cdef object y
    cdef Tensor x, w
    if rank_of(input) == 1 and rank_of(weight) == 2 and call.is_batched(weight) and (
            bias is None or isinstance(bias, Tensor) and rank_of(bias) == 1):
        x, w = call.front(input), call.value(weight)
        if not x.batched and not w.batched and cnp.PyArray_DIM(x.array, 1) == cnp.PyArray_DIM(w.array, 2):
            y = reshaped(product_of_batches(x.unsqueeze(1), w.transpose(1, 2)), (call.size, cnp.PyArray_DIM(w.array, 1)))
            return y if bias is None else y + call.value(bias)
    if bias is not None and rank_of(input) == 2:
        call.check_rank(weight, 2, input, weight, bias)
    y = input @ weight.t()
    return y if bias is None else y + bias


@op(namespace="nn.functional", batch=batched_linear)
def linear(input, weight, bias=None):
    """linear(input, weight, bias=None) -> Tensor: input @ weight.T + bias, for weight (out, in) and input (..., in).

    A weight (in,) adds no dimension.

    >>> import autograd_cy as ag
    >>> ag.nn.functional.linear(ag.tensor([[1.0, 2.0]]), ag.tensor([[3.0, 4.0]]), ag.tensor([5.0]))
    tensor([[16.]])
    """
    cdef Tensor x = tensor_argument(input, "linear", "input", 1), w = tensor_argument(weight, "linear", "weight", 2)
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    if ndim == 0:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are 0D and {w.array.ndim}D")
    if cnp.PyArray_NDIM(w.array) > 2:
        w.t()                       # raises the error
    if ndim == 2 and bias is not None:
        return sum_with_product(tensor_argument(bias, "linear", "bias", 3), x, w, 1, 1, True)
    if ndim == 2 and cnp.PyArray_NDIM(w.array) == 2:
        return product_of_matrices(x, w, True)
    if bias is None:
        return matmul_of(x, w.t())
    if cnp.PyArray_NDIM(w.array) == 1:
        return matmul_of(x, w) + bias
    return folded_linear(x, w, tensor_argument(bias, "linear", "bias", 3))


cdef object folded_linear(object x, object w, Tensor bias):
    """linear for an input that is not a matrix: as one tall matrix."""
    cdef tuple sizes = shape_of(x)
    cdef int last = len(sizes) - 1
    if cnp.PyArray_NDIM(bias.array) > 1 or not cnp.PyArray_IS_C_CONTIGUOUS((<Tensor> x).array):
        return matmul_of(x, w.t()) + bias
    y = sum_with_product(bias, x.reshape(count(sizes[:last]), sizes[last]), w, 1, 1, True)
    return y.reshape(sizes[:last] + (w.shape[0],))


cdef object matmul_operator(object left, object right):
    """The operator accepts an ndarray as one of the operands, but no number."""
    if not isinstance(left, Tensor):
        if not isinstance(left, cnp.ndarray):
            return declined(MATMUL, left, right)
        left = sharing(left)
    if not isinstance(right, Tensor):
        if not isinstance(right, cnp.ndarray):
            return declined(MATMUL, left, right)
        right = sharing(right)
    return matmul_of(left, right)


fill_operator(MATMUL, "matmul", matmul_operator)
