"""embedding_bag: sums, means and maxima of bags of rows of a table. Its gradient touches only the rows that were read."""

import numpy as np

cimport cython
from libc.stdint cimport int64_t

from autograd_cy._core.arrays.buffers cimport dense, flat, in_type, new_array, new_row_zeros
from autograd_cy._core.arrays.dtypes cimport (
    FLOAT16, FLOAT32, FLOAT64, INT32, INT64, check_has_kernel, code_of, dtype_of, kernel_code)
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.memory cimport sparse_rows
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record_all, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, type_name
from autograd_cy._core.kernels.selection_loops cimport (
    add_bags, add_from_bags, add_to_largest, all_inside, find_largest, numbers_of, zeros)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.batching.rules import sample_by_sample
from autograd_cy._core.ops.registry import op

cdef enum Mode:
    SUM = 0
    MEAN = 1
    MAX = 2


# arrays

cdef class Bags:
    """The rows of each bag, without padding."""
    cdef cnp.ndarray rows           # their numbers, bag after bag
    cdef cnp.ndarray starts         # the start of each bag, and the end of the last one
    cdef cnp.ndarray places         # of the rows among the indices; None: they are the first
    cdef cnp.ndarray largest        # for 'max': the row number of each element
    cdef cnp.ndarray times          # how often each row was read, if gradients are divided by it
    cdef Py_ssize_t n_indices

    cdef Py_ssize_t count(self):
        return cnp.PyArray_DIM(self.starts, 0) - 1

    cdef object sizes(self):
        return np.diff(self.starts)

    cdef object numbers(self):
        """The number of each row's bag."""
        return np.repeat(np.arange(self.count()), self.sizes())

    cdef cnp.ndarray chosen(self, cnp.ndarray values):
        """The rows' elements of an array with one element for each index."""
        return values[:cnp.PyArray_DIM(self.rows, 0)] if self.places is None else values[self.places]

    cdef object positions(self):
        return np.arange(cnp.PyArray_DIM(self.rows, 0)) if self.places is None else self.places

    cdef object scales(self, bint mean):
        """The factors of the rows' gradients, besides sample weights; None: 1."""
        scales = None
        if mean:
            scales = 1.0 / np.repeat(self.sizes(), self.sizes())
        if self.times is not None:
            scales = (1.0 if scales is None else scales) / self.times[self.rows]
        return scales


cdef Bags bags_of(cnp.ndarray indices, cnp.ndarray starts, Py_ssize_t n, Py_ssize_t padding, bint by_frequency):
    """The bags for checked starts; RuntimeError for an index that is not in [0, n)."""
    cdef Bags bags = Bags()
    if not all_inside(indices, n):
        raise RuntimeError("embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
                           f"{indices[(indices < 0) | (indices >= n)][0]} (num_embeddings is {n})")
    rows = numbers_of(indices)
    bags.n_indices = cnp.PyArray_DIM(indices, 0)
    if by_frequency:
        bags.times = np.bincount(rows, minlength=n)
    rows = rows[:starts[-1]]
    if padding >= 0:
        kept = rows != padding
        bags.places = np.nonzero(kept)[0]
        rows = rows[bags.places]
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)])[starts]
    bags.rows, bags.starts = dense(rows), dense(starts)
    return bags


cdef cnp.ndarray in_bags(cnp.ndarray table, Bags bags, int mode, cnp.ndarray factors):
    """The sums, means or maxima; for maxima, sets `bags.largest` to their rows."""
    cdef int dtype_code = kernel_code(table)
    cdef npy_intp[2] dims
    dims[0], dims[1] = bags.count(), cnp.PyArray_DIM(table, 1)
    cdef cnp.ndarray t = flat(table, dtype_code), out = new_array(dtype_code, 2, dims)
    cdef cnp.ndarray f = None if factors is None else flat(bags.chosen(factors), dtype_code)
    cdef int64_t *rows = <int64_t *> cnp.PyArray_DATA(bags.rows)
    cdef int64_t *starts = <int64_t *> cnp.PyArray_DATA(bags.starts)
    cdef int64_t *numbers
    cdef void *scale = NULL if f is None else cnp.PyArray_DATA(f)
    if mode == MAX:
        bags.largest = new_array(INT64, 2, dims)
        numbers = <int64_t *> cnp.PyArray_DATA(bags.largest)
        if dtype_code == FLOAT32:
            find_largest(<float *> cnp.PyArray_DATA(t), rows, starts, dims[0], dims[1], numbers,
                         <float *> cnp.PyArray_DATA(out))
        else:
            find_largest(<double *> cnp.PyArray_DATA(t), rows, starts, dims[0], dims[1], numbers,
                         <double *> cnp.PyArray_DATA(out))
    elif dtype_code == FLOAT32:
        add_bags(<float *> cnp.PyArray_DATA(t), rows, starts, dims[0], dims[1], <float *> scale, mode == MEAN,
                 <float *> cnp.PyArray_DATA(out))
    else:
        add_bags(<double *> cnp.PyArray_DATA(t), rows, starts, dims[0], dims[1], <double *> scale, mode == MEAN,
                 <double *> cnp.PyArray_DATA(out))
    return in_type(out, code_of(table))


cdef cnp.ndarray gradient_of_bags(cnp.ndarray gradient, Bags bags, Py_ssize_t n, int mode, cnp.ndarray factors):
    """Zeros for a table of n rows, with the gradients of bags added to their rows."""
    cdef int dtype_code = kernel_code(gradient)
    cdef Py_ssize_t inner = cnp.PyArray_DIM(gradient, 1)
    cdef cnp.ndarray g = flat(gradient, dtype_code), f = None
    cdef int64_t *rows = <int64_t *> cnp.PyArray_DATA(bags.rows)
    cdef int64_t *starts = <int64_t *> cnp.PyArray_DATA(bags.starts)
    cdef int64_t *numbers
    cdef cnp.ndarray out = new_row_zeros(dtype_code, n, inner, rows, cnp.PyArray_DIM(bags.rows, 0))
    cdef void *scale
    if out is None:
        out = zeros((n, inner), dtype_code)
    if mode == MAX:
        numbers = <int64_t *> cnp.PyArray_DATA(bags.largest)
        if dtype_code == FLOAT32:
            add_to_largest(<float *> cnp.PyArray_DATA(g), numbers, starts, bags.count(), inner,
                           <float *> cnp.PyArray_DATA(out), n)
        else:
            add_to_largest(<double *> cnp.PyArray_DATA(g), numbers, starts, bags.count(), inner,
                           <double *> cnp.PyArray_DATA(out), n)
        return in_type(out, code_of(gradient))
    scales = bags.scales(mode == MEAN)
    if factors is not None:
        scales = bags.chosen(factors) * (1 if scales is None else scales)
    if scales is not None:
        f = flat(scales, dtype_code)
    scale = NULL if f is None else cnp.PyArray_DATA(f)
    if dtype_code == FLOAT32:
        add_from_bags(<float *> cnp.PyArray_DATA(g), rows, starts, bags.count(), inner, <float *> scale,
                      <float *> cnp.PyArray_DATA(out), n)
    else:
        add_from_bags(<double *> cnp.PyArray_DATA(g), rows, starts, bags.count(), inner, <double *> scale,
                      <double *> cnp.PyArray_DATA(out), n)
    return in_type(out, code_of(gradient))


# the node

@cython.final
cdef class EmbeddingBagBackward0(Node):
    cdef Bags bags
    cdef bint weighted              # by per_sample_weights

    cdef tuple saved_names(self):
        return ("weight", "indices", "per_sample_weights")

    cdef tuple constant_names(self):
        return ("weight_sym_argsize_0", "scale_grad_by_freq", "mode", "sparse", "padding_idx")

    cdef int release_saved(self) except -1:
        self.bags = None
        return Node.release_saved(self)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef cnp.ndarray factors = None
        saved_array(self, 1)            # raises if it was freed or changed in place
        if i == 1:
            return self.factors_gradient(<cnp.ndarray> g)
        if self.constants[3]:
            return self.vjp(new_tensor(<cnp.ndarray> g), 0)
        if self.weighted:
            factors = saved_array(self, 2)
        return gradient_of_bags(<cnp.ndarray> g, self.bags, self.constants[0], self.constants[2], factors)

    cdef cnp.ndarray factors_gradient(self, cnp.ndarray g):
        cdef Bags bags = self.bags
        cdef int dtype_code = kernel_code(g)
        found = zeros((bags.n_indices,), dtype_code)
        products = flat(g, dtype_code)[bags.numbers()] * flat(saved_array(self, 0)[bags.rows], dtype_code)
        found[bags.positions()] = products.sum(1)
        return in_type(found, code_of(g))

    cdef object vjp(self, object g, int i):
        cdef Bags bags
        unpack(self, 1)
        bags = self.bags
        if self.constants[2] == MAX:
            g = g.masked_fill(new_tensor(bags.sizes() == 0).unsqueeze(-1), 0)
            return self.table_zeros(g).scatter_add(0, new_tensor(bags.largest), g)
        of_rows = g.index_select(0, new_tensor(bags.numbers()))
        if i == 1:
            products = (of_rows * unpack(self, 0).index_select(0, new_tensor(bags.rows))).sum(-1)
            found = <object> zeros_as(<Tensor> products, (bags.n_indices,))
            return found.index_add(0, new_tensor(bags.positions()), products)
        if self.constants[3] and bags.times is not None:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        scales = bags.scales(self.constants[2] == MEAN)
        if scales is not None:
            of_rows = of_rows * new_tensor(scales[:, None]).to(g.dtype)
        if self.weighted:
            of_rows = of_rows * unpack(self, 2).index_select(0, new_tensor(bags.positions())).unsqueeze(-1)
        if self.constants[3]:
            return sparse_rows(new_tensor(bags.rows), of_rows, self.constants[0])
        return self.table_zeros(g).index_add(0, new_tensor(bags.rows), of_rows)

    cdef object table_zeros(self, object g):
        return zeros_as(<Tensor> g, (self.constants[0], g.shape[1]))

    cdef object jvp(self, tuple tangents):
        cdef object of_table = None, of_factors = None
        unpack(self, 1)
        if tangents[0] is not None:
            if self.constants[2] == MAX:
                empty = new_tensor(self.bags.sizes() == 0).unsqueeze(-1)
                return tangents[0].gather(0, new_tensor(self.bags.largest)).masked_fill(empty, 0)
            of_table = self.again(tangents[0], unpack(self, 2) if self.weighted else None)
        if self.weighted and tangents[1] is not None:
            of_factors = self.again(unpack(self, 0), tangents[1])
        return of_factors if of_table is None else of_table if of_factors is None else of_table + of_factors

    cdef object again(self, object table, object factors):
        """The operation on another table, or with other weights of the rows."""
        if factors is not None:
            factors = factors.index_select(0, new_tensor(self.bags.positions()))
        return embedding_bag(table, new_tensor(self.bags.rows), new_tensor(self.bags.starts), False, self.constants[2], False,
                             factors, True)[0]


# the operation

cdef cnp.ndarray starts_of(cnp.ndarray offsets, Py_ssize_t length, bint include_last_offset):
    """The start of each bag, and the end of the last one: the number of indices, even if the last offset is less."""
    if include_last_offset and not offsets.size:
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
            f"However, got {offsets[0]}"
        )
    if offsets.size and offsets[-1] > length:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {length} but got offsets[-1] of {offsets[-1]}"
        )
    if (np.diff(offsets) < 0).any():
        raise RuntimeError("embedding_bag(): offsets must not decrease")
    starts = np.append(offsets[:-1] if include_last_offset else offsets, length if offsets.size else 0).astype(np.int64)
    return starts if starts.size > 1 else np.zeros(1, np.int64)


cdef int check(Tensor w, Tensor i, Tensor o, int mode, bint scaled, bint sparse, Tensor f) except -1:
    if not SUM <= mode <= MAX:
        raise RuntimeError(f"embedding_bag(): mode has to be 0 (sum), 1 (mean) or 2 (max), not {mode}")
    if cnp.PyArray_NDIM(w.array) != 2:
        raise RuntimeError(f"embedding_bag(): weight has to be 2D, but got {cnp.PyArray_NDIM(w.array)}D")
    check_has_kernel(code_of(w.array), "embedding_bag")
    if not FLOAT16 <= code_of(w.array) <= FLOAT64:
        raise RuntimeError(f"embedding_bag(): expected weight of a floating type, but got {dtype_of(code_of(w.array))}")
    for name, x in (("indices", i), ("offsets", o)):
        if cnp.PyArray_NDIM((<Tensor> x).array) != 1:
            raise RuntimeError(f"embedding_bag(): {name} has to be a 1D Tensor")
        if code_of((<Tensor> x).array) not in (INT32, INT64):
            raise RuntimeError(f"embedding_bag(): {name} have to be int32 or int64, "
                               f"not {dtype_of(code_of((<Tensor> x).array))}")
    if mode == MAX and sparse:
        raise RuntimeError("embedding_bag: sparse gradients are not supported with mode max")
    if mode == MAX and scaled:
        raise RuntimeError("embedding_bag: scale_grad_by_freq: mode max is not supported")
    if f is None:
        return 0
    if mode != SUM:
        raise RuntimeError("embedding_bag: per_sample_weights only supported with mode='sum'")
    if code_of(f.array) != code_of(w.array):
        raise RuntimeError("Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
                           f"'per_sample_weights'; but type {type_name(w)} does not equal {type_name(f)} (while checking "
                           "arguments for embedding_bag)")
    if cnp.PyArray_NDIM(f.array) != 1 or cnp.PyArray_SIZE(f.array) != cnp.PyArray_SIZE(i.array):
        raise RuntimeError("embedding_bag(): per_sample_weights has to have the shape of indices")
    return 0


cdef Py_ssize_t padding_row(object padding_idx, Py_ssize_t n) except -2:
    """The padding row, counted from the front; -1 if there is none."""
    if padding_idx is None:
        return -1
    if not -n <= padding_idx < n:
        raise RuntimeError(f"padding_idx must be within the number of embeddings, {-n} through {n - 1}, but got {padding_idx}")
    return padding_idx + n if padding_idx < 0 else padding_idx


@op(batch=sample_by_sample)
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode: int = 0, sparse=False, per_sample_weights=None,
                  include_last_offset=False, padding_idx=None):  # fmt: skip
    """embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, ...) -> (Tensor, Tensor, Tensor, Tensor)

    Sums (mode 0), means (1) or maxima (2) of bags of rows of `weight` (n, d). A bag has the rows in `indices` from one of the
    `offsets` to the next; with `include_last_offset`, the last offset starts no bag. Row `padding_idx` is skipped; sums take
    `per_sample_weights`, one for each index. With `scale_grad_by_freq`, a row's gradient is divided by how often it was read;
    the first of equal maxima gets the gradient. The result: the bags (bags, d), 0 for an empty bag; the number of each
    index's bag; the sizes of the bags (0 for sums); the rows of the maxima (bags, d), or the sizes again. RuntimeError for
    shapes and types that don't fit, and for an index out of range.
    With `sparse`, the gradient of the weight is a sparse tensor.

    >>> import autograd_cy as ag
    >>> table = ag.tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> ag.embedding_bag(table, ag.tensor([0, 1, 1]), ag.tensor([0, 2]))[0]
    tensor([[4., 6.],
            [3., 4.]])
    """
    cdef Tensor w = tensor_argument(weight, "embedding_bag", "weight", 1)
    cdef Tensor i = tensor_argument(indices, "embedding_bag", "indices", 2)
    cdef Tensor o = tensor_argument(offsets, "embedding_bag", "offsets", 3)
    cdef Tensor f = None if per_sample_weights is None else tensor_argument(
        per_sample_weights, "embedding_bag", "per_sample_weights", 7)
    cdef int how = mode
    cdef EmbeddingBagBackward0 node
    cdef Py_ssize_t n, padding
    check(w, i, o, how, scale_grad_by_freq, sparse, f)
    n = cnp.PyArray_DIM(w.array, 0)
    padding = padding_row(padding_idx, n)
    cdef cnp.ndarray starts = starts_of(o.array, cnp.PyArray_DIM(i.array, 0), include_last_offset)
    cdef Bags bags = bags_of(i.array, starts, n, padding, scale_grad_by_freq)
    cdef Tensor y = new_tensor(in_bags(w.array, bags, how, None if f is None else f.array))
    if needs_node(w) or f is not None and needs_node(f):
        node = new_node(EmbeddingBagBackward0, (n, bool(scale_grad_by_freq), how, bool(sparse), padding))
        node.bags, node.weighted = bags, f is not None
        save_input(node, 1, i)
        if f is not None:
            save_input(node, 2, f)
            if needs_node(f):
                save_input(node, 0, w)
        record_all(node, y, (w, f))
    return (y, *notes(bags, starts, how, cnp.PyArray_SIZE(o.array), np.result_type(i.array, o.array)))


cdef tuple notes(Bags bags, cnp.ndarray starts, int mode, Py_ssize_t n_offsets, object dtype):
    """The numbers of the bags of all indices, the sizes of the bags, the rows of the largest elements."""
    counts = np.append(np.diff(starts), bags.n_indices - starts[-1])
    numbers = np.repeat(np.arange(counts.size), counts).astype(dtype)
    sizes = (np.zeros(n_offsets, np.int64) if mode == SUM else bags.sizes()).astype(dtype)
    largest = bags.largest if mode == MAX else sizes
    return new_tensor(numbers), new_tensor(sizes), new_tensor(largest.astype(dtype))
