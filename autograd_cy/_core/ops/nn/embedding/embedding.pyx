"""embedding: rows of a table by number. The table's gradient is dense, but only the rows that were read are added to."""

import numpy as np

cimport cython
from libc.stdint cimport int64_t

from autograd_cy._core.arrays.buffers cimport flat, in_type, new_array, new_row_zeros
from autograd_cy._core.arrays.dtypes cimport (
    COMPLEX64, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, LONGDOUBLE, code_of, kernel_code, type_word)
from autograd_cy._core.batching.batched cimport BatchedTensor, zeros_as
from autograd_cy._core.graph.memory cimport sparse_rows
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.selection_loops cimport add_to_rows, all_inside, copy_rows, numbers_of, zeros
from autograd_cy._core.ops.overwriting cimport in_place
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.reductions.sums import norm
from autograd_cy._core.ops.registry import op

cdef enum:
    MAX_DIMS = 64


# arrays

cdef cnp.ndarray numbers_within(cnp.ndarray indices, Py_ssize_t n):
    """The indices as dense int64; IndexError if one is not in [0, n)."""
    if not all_inside(indices, n):
        raise IndexError("index out of range in self")
    return numbers_of(indices)


cdef cnp.ndarray rows_of(cnp.ndarray table, cnp.ndarray indices):
    """A dense array of rows: the shape of the indices, then of a row."""
    cdef cnp.ndarray numbers = numbers_within(indices, cnp.PyArray_DIM(table, 0))
    cdef cnp.ndarray source = flat(table, code_of(table))
    cdef npy_intp[MAX_DIMS] dims
    cdef int axis, ndim = cnp.PyArray_NDIM(indices)
    for axis in range(ndim):
        dims[axis] = cnp.PyArray_DIM(indices, axis)
    if ndim == MAX_DIMS:
        raise RuntimeError(f"embedding(): indices of {ndim} dimensions make a result of one too many")
    dims[ndim] = cnp.PyArray_DIM(table, 1)
    cdef cnp.ndarray out = new_array(code_of(table), ndim + 1, dims)
    copy_rows(cnp.PyArray_BYTES(source), cnp.PyArray_DIM(table, 1) * cnp.PyArray_ITEMSIZE(table),
              <int64_t *> cnp.PyArray_DATA(numbers), cnp.PyArray_SIZE(numbers), cnp.PyArray_BYTES(out))
    return out


cdef cnp.ndarray extended_table_gradient(object gradient, cnp.ndarray numbers, tuple constants):
    """The same of longdouble, by NumPy."""
    rows = gradient.reshape(len(numbers), constants[4])
    if constants[2]:
        rows = rows / np.bincount(numbers, minlength=constants[0])[numbers][:, None]
    counted = numbers != constants[1]
    table = np.zeros((constants[0], constants[4]), rows.dtype)
    np.add.at(table, numbers[counted], rows[counted])
    return table


cdef cnp.ndarray table_gradient(cnp.ndarray gradient, cnp.ndarray indices, tuple constants):
    """Zeros for a table, with the gradients of rows added. The constants are the node's."""
    cdef Py_ssize_t n = constants[0], inner = constants[4]
    if code_of(gradient) == LONGDOUBLE:
        return extended_table_gradient(gradient, numbers_within(indices, n).reshape(-1), constants)
    cdef int dtype_code = code_of(gradient) if code_of(gradient) >= COMPLEX64 else kernel_code(gradient)
    cdef cnp.ndarray g = flat(gradient, dtype_code), numbers = numbers_within(indices, n)
    cdef cnp.ndarray counts = np.bincount(numbers.reshape(-1), minlength=n) if constants[2] else None
    cdef int64_t *rows = <int64_t *> cnp.PyArray_DATA(numbers)
    cdef cnp.ndarray out = new_row_zeros(dtype_code, n, inner, rows, cnp.PyArray_SIZE(numbers))
    cdef int64_t *times = NULL if counts is None else <int64_t *> cnp.PyArray_DATA(counts)
    cdef int64_t skipped = constants[1]
    if cnp.PyArray_SIZE(g) != cnp.PyArray_SIZE(numbers) * inner:
        raise RuntimeError(f"expected a gradient of {cnp.PyArray_SIZE(numbers)} rows of {inner} elements, got shape "
                           f"{list(np.shape(gradient))}")
    if out is None:
        out = zeros((n, inner), dtype_code)
    if dtype_code >= COMPLEX64:
        inner *= 2
    if dtype_code == FLOAT32 or dtype_code == COMPLEX64:
        add_to_rows(<float *> cnp.PyArray_DATA(g), rows, cnp.PyArray_SIZE(numbers), inner, skipped, times,
                    <float *> cnp.PyArray_DATA(out), n)
    else:
        add_to_rows(<double *> cnp.PyArray_DATA(g), rows, cnp.PyArray_SIZE(numbers), inner, skipped, times,
                    <double *> cnp.PyArray_DATA(out), n)
    return in_type(out, code_of(gradient))


# the nodes

cdef class EmbeddingNode(Node):
    """The constants: the table's rows, the row that has no gradient, whether frequent rows are scaled, whether the gradient is
    sparse, a row's size."""

    cdef tuple saved_names(self):
        return ("indices", None, None)

    cdef tuple constant_names(self):
        return ("weight_sym_argsize_0", "padding_idx", "scale_grad_by_freq", "sparse")

    cdef object table(self, Tensor g):
        """The gradient of the table, recorded."""
        cdef Tensor indices = <Tensor> unpack(self, 0), y
        cdef Node node
        if g.batched or indices.batched:
            return table_by_operations(g, indices, self.constants)
        y = new_tensor(table_gradient(g.array, indices.array, self.constants))
        if needs_node(g):
            node = new_node(EmbeddingDenseBackwardBackward0, self.constants)
            save_input(node, 0, indices)
            record(node, y, g)
        return y

    cdef object rows(self, object table):
        """The rows of a table, recorded: the operation without options for its gradient."""
        return embedding(table, unpack(self, 0))


cdef object table_by_operations(object g, object indices, tuple constants):
    """EmbeddingNode.table() for batched gradients."""
    cdef object numbers = indices.reshape(-1)
    g = scaled_rows(g.reshape(-1, constants[4]), numbers, constants)
    return (<object> zeros_as(<Tensor> g, (constants[0], constants[4]))).index_add(0, numbers, g)


cdef object scaled_rows(object g, object numbers, tuple constants):
    """Gradients of rows with 0 for the skipped row, divided by how often each row was read if requested."""
    if constants[1] >= 0:
        g = g.masked_fill((numbers == constants[1]).unsqueeze(-1), 0)
    if constants[2]:
        g = g / (numbers.unsqueeze(-1) == numbers.reshape(-1)).sum(-1).unsqueeze(-1)
    return g


@cython.final
cdef class EmbeddingBackward0(EmbeddingNode):
    cdef object vjp_array(self, object g, int i, Request *request):
        if self.constants[3]:
            return self.sparse_table(new_tensor(<cnp.ndarray> g))
        return table_gradient(<cnp.ndarray> g, saved_array(self, 0), self.constants)

    cdef object vjp(self, object g, int i):
        return self.sparse_table(g) if self.constants[3] else self.table(<Tensor> g)

    cdef object sparse_table(self, object g):
        """The gradient of the table as a sparse tensor, recorded."""
        cdef object numbers = unpack(self, 0).reshape(-1), rows = g.reshape(unpack(self, 0).numel(), self.constants[4])
        if self.constants[2]:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        if self.constants[1] >= 0:
            kept = (numbers != self.constants[1]).nonzero().reshape(-1)
            numbers, rows = numbers.index_select(0, kept), rows.index_select(0, kept)
        return sparse_rows(numbers, rows, self.constants[0])

    cdef object jvp(self, tuple tangents):
        return self.rows(tangents[0])


@cython.final
cdef class EmbeddingDenseBackwardBackward0(EmbeddingNode):
    cdef tuple constant_names(self):
        return (None, "padding_idx")

    cdef object vjp(self, object g, int i):
        return scaled_rows(self.rows(g), unpack(self, 0), self.constants)

    cdef object jvp(self, tuple tangents):
        return self.table(<Tensor> tangents[0])


# the operations

cdef int check_indices(Tensor indices, str operation) except -1:
    if code_of(indices.array) not in (INT32, INT64):
        raise RuntimeError("Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
                           f"but got torch.{type_word(code_of(indices.array))}Tensor instead (while checking arguments for "
                           f"{operation})")
    return 0


cdef cnp.ndarray values_of(Tensor x):
    """The array of all samples, at all levels of vmap."""
    while x.batched:
        x = (<BatchedTensor> x).value
    return x.array


def batched_embedding(call, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """A batch of tables is one tall table."""
    if not call.is_batched(weight):
        return call(weight, call.value(indices), padding_idx, scale_grad_by_freq, sparse)
    if rank_of(weight) != 2 or not isinstance(indices, Tensor):
        call.on_sample(weight, indices, padding_idx, scale_grad_by_freq, sparse)
    n, width = weight.shape
    table, numbers = call.value(weight).reshape(call.size * n, width), call.front(indices)
    check_indices(<Tensor?> indices, "embedding")
    if not all_inside(values_of(<Tensor> numbers), n):
        raise IndexError("index out of range in self")
    first = new_tensor(np.arange(0, max(call.size * n, 1), max(n, 1))[:call.size]).reshape(call.size, *(1,) * rank_of(indices))
    y = call(table, numbers + first, -1, scale_grad_by_freq, sparse)
    return y if padding_idx < 0 else y.detach().where((numbers == padding_idx).unsqueeze(-1), y)


@op(batch=batched_embedding)
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    """embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False) -> Tensor: rows of a table.

    The result has the indices' shape and a last dimension for the row. Row `padding_idx` gets no gradient; with
    `scale_grad_by_freq`, a row's gradient is divided by how often it was read. IndexError for an index that is negative or
    too large. With `sparse`, the gradient of the table is a sparse tensor with the rows that were read.

    >>> import autograd_cy as ag
    >>> ag.embedding(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), ag.tensor([1, 1, 0]))
    tensor([[3., 4.],
            [3., 4.],
            [1., 2.]])
    """
    cdef Tensor w = tensor_argument(weight, "embedding", "weight", 1), i = tensor_argument(indices, "embedding", "indices", 2)
    cdef Tensor y
    cdef Node node
    if cnp.PyArray_NDIM(w.array) != 2:
        raise RuntimeError("'weight' must be 2-D")
    check_indices(i, "embedding")
    y = new_tensor(rows_of(w.array, i.array))
    if needs_node(w):
        rows, size = shape_of(w)
        node = new_node(EmbeddingBackward0, (rows, int(padding_idx), bool(scale_grad_by_freq), bool(sparse), size))
        save_input(node, 0, i)
        record(node, y, w)
    return y


cdef cnp.ndarray shortened(cnp.ndarray table, cnp.ndarray indices, double max_norm, double norm_type):
    """A copy of the table in which the indexed rows are not longer than `max_norm`."""
    cdef cnp.ndarray rows = np.unique(numbers_within(indices, cnp.PyArray_DIM(table, 0)))
    chosen = table[rows]
    norms = (<Tensor> norm(new_tensor(chosen), norm_type, 1)).array if rows.size else np.zeros(0, table.dtype)
    longer = norms > max_norm
    made = table.copy()
    made[rows[longer]] = chosen[longer] * (max_norm / (norms[longer] + 1e-7)).astype(table.dtype)[:, None]
    return made


def embedding_renorm_(input, indices, max_norm, norm_type):
    """embedding_renorm_(input, indices, max_norm, norm_type) -> Tensor: shorten rows of a table in place.

    Indexed rows whose norm of that type exceeds `max_norm` are scaled to it.

    >>> import autograd_cy as ag
    >>> ag.embedding_renorm_(ag.tensor([[3.0, 4.0], [30.0, 40.0]]), ag.tensor([0]), 1.0, 2.0)
    tensor([[ 0.6000,  0.8000],
            [30.0000, 40.0000]])
    """
    cdef Tensor table = tensor_argument(input, "embedding_renorm_", "input", 1)
    cdef Tensor i = tensor_argument(indices, "embedding_renorm_", "indices", 2)
    cdef double largest = max_norm, kind = norm_type
    if cnp.PyArray_NDIM(table.array) != 2:
        raise RuntimeError(f"Expected 2-dimensional tensor, but got {cnp.PyArray_NDIM(table.array)}-dimensional tensor for "
                           "argument #1 'self' (while checking arguments for embedding_renorm_)")
    if not FLOAT16 <= code_of(table.array) <= FLOAT64:
        raise NotImplementedError(f"\"embedding_renorm_\" not implemented for '{type_word(code_of(table.array))}'")
    check_indices(i, "embedding_renorm_")
    if table.grad_fn is not None and needs_node(table):
        raise NotImplementedError("the derivative for 'embedding_renorm_' is not implemented: it is called without gradients")
    return in_place(
        "embedding_renorm_", lambda x: new_tensor(shortened((<Tensor> x).array, i.array, largest, kind)), table, ())
