"""scaled_dot_product_attention: by blocks without dropout and without a gradient of the mask, else by other operations."""

from math import inf, sqrt

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport dense_copy, in_type, new_array
from autograd_cy._core.arrays.dtypes cimport (
    BOOL, FLOAT16, FLOAT32, FLOAT64, code_of, dtype_of, is_half, long_word, type_word)
from autograd_cy._core.graph.node cimport Node, Request
from autograd_cy._core.graph.record cimport (
    any_wanted, broadcast_sizes, has_tangent, new_node, record_all, shape_of, tensor_argument)
from autograd_cy._core.graph.saved cimport save_input, saved_array, stale_error, unpack
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, version_of
from autograd_cy._core.kernels.attention_loops cimport Attention, Heads, attend, attend_backwards
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.modes cimport current_mode
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.state cimport NO_GRAD

from autograd_cy._core.batching.rules import rank_of
from autograd_cy._core.ops.nn.dropout import dropout
from autograd_cy._core.ops.registry import op

cnp.import_array()

# arrays

cdef cnp.ndarray in_heads(cnp.ndarray x):
    """(samples, heads, rows, size) with contiguous rows that don't overlap."""
    cdef tuple sizes = (<object> x).shape
    cdef int ndim = len(sizes)
    cdef npy_intp itemsize = cnp.PyArray_ITEMSIZE(x)
    if ndim < 4:
        x = x.reshape((1,) * (4 - ndim) + sizes)
    elif ndim > 4:
        x = x.reshape((-1,) + sizes[ndim - 3:])
    if (not cnp.PyArray_ISALIGNED(x) or cnp.PyArray_STRIDE(x, 3) != itemsize or cnp.PyArray_STRIDE(x, 2) % itemsize
            or cnp.PyArray_STRIDE(x, 2) < cnp.PyArray_DIM(x, 3) * itemsize):
        return dense_copy(x)
    return x


cdef cnp.ndarray laid_out(int dtype_code, cnp.ndarray like, npy_intp size):
    """A new array with the heads of `like` and rows of that size. In memory the heads of a row are adjacent, as in the
    projections before attention: sample by sample, or row by row if `like` has its samples inside its rows."""
    cdef bint rows_first = cnp.PyArray_STRIDE(like, 2) > cnp.PyArray_STRIDE(like, 0)
    cdef npy_intp[4] dims
    dims[0], dims[1] = cnp.PyArray_DIM(like, 0), cnp.PyArray_DIM(like, 2)
    if rows_first:
        dims[0], dims[1] = dims[1], dims[0]
    dims[2], dims[3] = cnp.PyArray_DIM(like, 1), size
    return new_array(dtype_code, 4, dims).transpose((1, 2, 0, 3) if rows_first else (0, 2, 1, 3))


cdef Heads heads_of(cnp.ndarray x) noexcept:
    if x is None:
        return Heads(NULL, 0, 0, 0)
    return Heads(cnp.PyArray_BYTES(x), cnp.PyArray_STRIDE(x, 0), cnp.PyArray_STRIDE(x, 1), cnp.PyArray_STRIDE(x, 2))


cdef Attention described(cnp.ndarray q, cnp.ndarray k, cnp.ndarray v, cnp.ndarray mask, cnp.ndarray sums, double scale,
                         bint causal) noexcept:
    cdef Attention a
    a.dtype_code, a.samples, a.heads = code_of(q), cnp.PyArray_DIM(q, 0), cnp.PyArray_DIM(q, 1)
    a.rows, a.columns = cnp.PyArray_DIM(q, 2), cnp.PyArray_DIM(k, 2)
    a.size, a.value_size = cnp.PyArray_DIM(q, 3), cnp.PyArray_DIM(v, 3)
    a.scale, a.causal = scale, causal
    a.query, a.key, a.value, a.mask = heads_of(q), heads_of(k), heads_of(v), heads_of(mask)
    a.mask_column = 0 if mask is None else cnp.PyArray_STRIDE(mask, 3)
    a.sums = cnp.PyArray_DATA(sums)
    a.out = a.g = a.query_gradient = a.key_gradient = a.value_gradient = heads_of(None)
    return a


cdef bint in_size(cnp.ndarray x, const Attention *a, npy_intp rows, npy_intp size) noexcept:
    """Whether x has the same samples and heads, with so many rows of that size."""
    return (cnp.PyArray_DIM(x, 0) == a.samples and cnp.PyArray_DIM(x, 1) == a.heads and cnp.PyArray_DIM(x, 2) == rows
            and cnp.PyArray_DIM(x, 3) == size)


cdef cnp.ndarray sums_like(cnp.ndarray q):
    """An array with one number for each query."""
    return new_array(code_of(q), 3, cnp.PyArray_DIMS(q))


cdef cnp.ndarray mask_array(Tensor mask, tuple sizes, int dtype_code, Py_ssize_t columns):
    """The mask to add to the scores, broadcast to (samples, heads, rows, columns); None without a mask."""
    cdef int ndim = len(sizes)
    if mask is None:
        return None
    array = mask.array
    if code_of(array) == BOOL:
        array = np.where(array, 0, -inf)
    array = in_type(array, dtype_code)
    array = np.broadcast_to(array if cnp.PyArray_ISALIGNED(array) else dense_copy(array), sizes[:ndim - 1] + (columns,))
    return array.reshape((1,) * (4 - ndim) + array.shape if ndim < 4 else (-1,) + array.shape[ndim - 3:])


# the node

cdef class AttentionNode(Node):
    """The data that attention by blocks saves besides its inputs."""

    cdef int keep(self, cnp.ndarray sums, Tensor mask) except -1:
        self.sums, self.mask = sums, mask
        self.mask_version = 0 if mask is None else version_of(mask)
        return 0

    cdef int check_mask(self) except -1:
        if self.mask is not None and version_of(self.mask) != self.mask_version:
            raise stale_error(self, self.mask, self.mask_version)
        return 0

    cdef int check_sizes(self, const Attention *a) except -1:
        """RuntimeError if ndarray.resize(), which counts no write, changed the queries."""
        cdef const npy_intp *dims = cnp.PyArray_DIMS(self.sums)
        if dims[0] != a.samples or dims[1] != a.heads or dims[2] != a.rows:
            raise resized(self)
        return 0

    cdef int release_saved(self) except -1:
        self.sums = self.mask = None
        return Node.release_saved(self)


cdef object resized(Node node):
    return RuntimeError(f"{node.name()}: the memory of a saved tensor was resized")


@cython.final
cdef class ScaledDotProductFlashAttentionForCpuBackward0(AttentionNode):
    """Computes all gradients in one pass over the blocks. The constants: whether the mask is causal, the scale as given (or
    None), a dropout of 0, and the scale."""
    cdef list found                 # gradients that are computed but not yet requested

    cdef tuple saved_names(self):
        return ("query", "key", "value")

    cdef tuple constant_names(self):
        return ("is_causal", "scale", "dropout_p", None)

    @property
    def _saved_logsumexp(self):
        unpack(self, 0)                         # raises if it was released
        return new_tensor(self.sums)

    @property
    def _saved_output(self):
        """Recomputed, because the gradients don't need it."""
        q, k, v = [(<object> unpack(self, i)).detach() for i in range(3)]
        return by_blocks(q, k, v, self.mask, self.constants[0], self.constants[3], None)

    @property
    def _saved_attn_mask(self):
        unpack(self, 0)
        return self.mask if self.mask is None or code_of(self.mask.array) != BOOL else new_tensor(in_type(
            np.where(self.mask.array, 0, -inf), code_of((<Tensor> unpack(self, 0)).array)))

    cdef int release_saved(self) except -1:
        self.found = None
        return AttentionNode.release_saved(self)

    cdef int forget_common(self) except -1:
        self.found = None
        return 0

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef list found = self.found
        if found is None:
            found = self.by_blocks(<cnp.ndarray> g)
            if request.may_consume:             # no other backward follows: the next requests are for these gradients
                self.found = found
        return found[i]

    cdef list by_blocks(self, cnp.ndarray given):
        """The gradients of all three."""
        self.check_mask()
        cdef cnp.ndarray q = in_heads(saved_array(self, 0)), k = in_heads(saved_array(self, 1))
        cdef cnp.ndarray v = in_heads(saved_array(self, 2))
        cdef cnp.ndarray g = in_heads(given), mask
        mask = mask_array(self.mask, shape_of(<Tensor> unpack(self, 0)), code_of(q), cnp.PyArray_DIM(k, 2))
        cdef list found = [laid_out(code_of(q), like, cnp.PyArray_DIM(like, 3)) for like in (q, k, v)]
        cdef Attention a = described(q, k, v, mask, self.sums, self.constants[3], self.constants[0])
        self.check_sizes(&a)
        if not (in_size(k, &a, a.columns, a.size) and in_size(v, &a, a.columns, a.value_size)
                and in_size(g, &a, a.rows, a.value_size)):
            raise resized(self)
        a.g = heads_of(g)
        a.query_gradient, a.key_gradient, a.value_gradient = heads_of(found[0]), heads_of(found[1]), heads_of(found[2])
        if not attend_backwards(&a):
            raise MemoryError("scaled_dot_product_attention: no memory for a block of the gradient")
        return [(<object> array).reshape(shape_of(<Tensor> unpack(self, i))) for i, array in enumerate(found)]

    cdef object vjp(self, object g, int i):
        """The formula without blocks, as operations on the saved inputs."""
        cdef object q = unpack(self, 0), k = unpack(self, 1)
        self.check_mask()
        y = probabilities(q, k, self.mask, self.constants[3], self.constants[0])
        if i == 2:
            return value_gradient(g, y)
        slopes = score_gradient(g, y, unpack(self, 2), self.constants[3])
        return query_gradient(slopes, k) if i == 0 else key_gradient(slopes, q)

    cdef object jvp(self, tuple tangents):
        cdef object q = unpack(self, 0), k = unpack(self, 1), v = unpack(self, 2), scale = self.constants[3], moved = None
        tq, tk, tv = tangents
        y = probabilities(q, k, self.mask, scale, self.constants[0])
        if tq is not None:
            moved = tq @ k.transpose(-2, -1)
        if tk is not None:
            products = q @ tk.transpose(-2, -1)
            moved = products if moved is None else moved + products
        found = None if tv is None else y @ tv
        if moved is not None:
            moved = y * moved * scale
            moved = (moved - y * moved.sum(-1, True)) @ v
            found = moved if found is None else found + moved
        return found


cdef object probabilities(object q, object k, object mask, double scale, bint causal):
    """softmax(q @ k.T * scale + mask) by operations; zeros for a query that sees nothing."""
    scores = q @ k.transpose(-2, -1) * scale
    if causal:
        scores = scores.masked_fill(new_tensor(~np.tri(q.shape[-2], k.shape[-2], dtype=bool)), -inf)
    if mask is None:
        return scores.softmax(-1)
    if code_of((<Tensor> mask).array) == BOOL:
        scores = scores.masked_fill(mask.logical_not(), -inf)
    else:
        scores = scores + mask
    return scores.softmax(-1).masked_fill((scores == -inf).all(-1, True), 0)


cdef object score_gradient(object g, object y, object v, double scale):
    """The gradient of the products of queries and keys, from the result's gradient and the probabilities."""
    slopes = g @ v.transpose(-2, -1)
    return y * (slopes - (slopes * y).sum(-1, True)) * scale


cdef object query_gradient(object slopes, object k):
    return slopes @ k


cdef object key_gradient(object slopes, object q):
    return slopes.transpose(-2, -1) @ q


cdef object value_gradient(object g, object y):
    return y.transpose(-2, -1) @ g


# the checks

cdef int check_operands(Tensor q, Tensor k, Tensor v, Tensor mask, bint causal) except -1:
    cdef int own = code_of(q.array)
    if code_of(k.array) != own or code_of(v.array) != own:
        raise RuntimeError("Expected query, key, and value to have the same dtype, but got query.dtype: "
                           f"{long_word(own)} key.dtype: {long_word(code_of(k.array))} and value.dtype: "
                           f"{long_word(code_of(v.array))} instead.")
    if not FLOAT16 <= own <= FLOAT64:
        raise NotImplementedError(f"\"scaled_dot_product_attention\" not implemented for '{type_word(own)}'")
    dims = tuple([cnp.PyArray_NDIM(x.array) for x in (q, k, v)])
    if min(dims) < 2:
        raise RuntimeError("Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {}, key.dim: "
                           "{} and value.dim: {} instead.".format(*dims))
    if mask is None:
        return 0
    if causal:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if code_of(mask.array) not in (BOOL, FLOAT32, own):
        raise RuntimeError("Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
                           f"{long_word(code_of(mask.array))} and  query.dtype: {long_word(own)} instead.")
    return 0


cdef int check_matching(tuple q, tuple k, tuple v) except -1:
    if q[len(q) - 1] != k[len(k) - 1]:
        raise RuntimeError(f"scaled_dot_product_attention: expected queries and keys of one size, got query {list(q)} and key "
                           f"{list(k)}")
    if k[len(k) - 2] != v[len(v) - 2]:
        raise RuntimeError(f"scaled_dot_product_attention: expected as many values as keys, got key {list(k)} and value "
                           f"{list(v)}")
    return 0


cdef object repeated_heads(object x, object heads, str name):
    """Keys or values with fewer heads, repeated for several query heads each."""
    cdef int ndim = x.ndim
    own = x.shape[ndim - 3] if ndim > 2 else 0
    if own < 1 or heads % own:
        raise RuntimeError("Number of heads in key and value must divide the number of heads in query with enable_gqa=True, "
                           f"but got {own} heads of {name} and {heads} of queries")
    return x if own == heads else x.repeat_interleave(heads // own, ndim - 3)


# the operation

cdef object by_operations(object q, object k, object v, object mask, double rate, bint causal, double scale):
    """The operation with dropout, or with a mask that requires grad."""
    y = probabilities(q, k, mask, scale, causal)
    return (y if rate == 0 else dropout(y, rate, True)) @ v


cdef Tensor by_blocks(Tensor query, Tensor key, Tensor value, Tensor mask, bint causal, double scale, object given_scale):
    """The operation by blocks; operands have the same type, rank, samples and heads."""
    cdef cnp.ndarray q = in_heads(query.array), k = in_heads(key.array), v = in_heads(value.array), sums = sums_like(q)
    cdef cnp.ndarray seen = mask_array(mask, shape_of(query), code_of(q), cnp.PyArray_DIM(k, 2))
    cdef Attention a = described(q, k, v, seen, sums, scale, causal)
    cdef cnp.ndarray y = laid_out(a.dtype_code, q, a.value_size)
    cdef Tensor result
    a.out = heads_of(y)
    if not attend(&a):
        raise MemoryError("scaled_dot_product_attention: no memory for a block")
    sizes = shape_of(query)
    if len(sizes) != 4:
        y = np.ascontiguousarray(y).reshape(sizes[:len(sizes) - 1] + (a.value_size,))
    result = new_tensor(y)
    if not any_wanted((query, key, value)):
        return result
    return recorded(result, query, key, value, mask, sums, (causal, given_scale, 0.0, scale))


cdef Tensor recorded(Tensor y, Tensor query, Tensor key, Tensor value, Tensor mask, cnp.ndarray sums, tuple constants):
    cdef ScaledDotProductFlashAttentionForCpuBackward0 node = new_node(
        ScaledDotProductFlashAttentionForCpuBackward0, constants)
    save_input(node, 0, query)
    save_input(node, 1, key)
    save_input(node, 2, value)
    node.keep(sums, mask)
    return record_all(node, y, (query, key, value))


def batched_attention(call, query, key, value, attn_mask=None, *args, **kwargs):
    """Operands that are not batched are broadcast along the samples."""
    rank = max([rank_of(x) for x in (query, key, value)])
    if attn_mask is not None:
        rank = max(rank, rank_of(attn_mask))
        attn_mask = call.aligned(attn_mask, rank)
    return call(*[call.aligned(x, rank) for x in (query, key, value)], attn_mask, *args, **kwargs)


cdef bint has_gradient(Tensor mask) except -1:
    return mask is not None and ((mask.needs_grad and not current_mode() & NO_GRAD) or has_tangent(mask))


@op(namespace="nn.functional", batch=batched_attention)
def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
                                 enable_gqa=False):
    """scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None) -> Tensor

    softmax(query @ key.T * scale + mask) @ value: queries (..., L, E), keys (..., S, E) and values (..., S, V) give
    (..., L, V). The mask, (..., L, S), is boolean (True: attend) or is added; with `is_causal`, a query sees the keys up to
    its own number. `scale` is 1 / sqrt(E) by default. A share `dropout_p` of the weights is set to 0. With `enable_gqa`,
    keys and values may have fewer heads (the third dimension from the end), each for several query heads.
    The weights are computed block by block and not saved. RuntimeError for types or sizes that don't fit.
    Source: Vaswani et al., "Attention is all you need" (2017).

    >>> import autograd_cy as ag
    >>> x = ag.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> ag.nn.functional.scaled_dot_product_attention(x, x, ag.tensor([[1.0], [2.0]]), is_causal=True, scale=1.0)
    tensor([[1.0000],
            [1.7311]])
    """
    cdef Tensor q = tensor_argument(query, "scaled_dot_product_attention", "query", 1)
    cdef Tensor k = tensor_argument(key, "scaled_dot_product_attention", "key", 2)
    cdef Tensor v = tensor_argument(value, "scaled_dot_product_attention", "value", 3)
    cdef Tensor mask = None if attn_mask is None else tensor_argument(
        attn_mask, "scaled_dot_product_attention", "attn_mask", 4)
    cdef double rate = dropout_p, factor
    check_operands(q, k, v, mask, is_causal)
    if not 0 <= rate <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
    if enable_gqa:
        heads = query.shape[-3] if query.ndim > 2 else 0
        k, v = repeated_heads(key, heads, "keys"), repeated_heads(value, heads, "values")
    check_matching(shape_of(q), shape_of(k), shape_of(v))
    factor = scale if scale is not None else 1 / sqrt(query.shape[-1]) if query.shape[-1] else 1
    if is_half(code_of(q.array)):
        wide = [x if x is None else (<object> x).to(dtype_of(FLOAT32)) if is_half(code_of((<Tensor> x).array)) else x
                for x in (q, k, v, mask)]
        return scaled_dot_product_attention(*wide, rate, is_causal, factor).to(query.dtype)
    if rate or has_gradient(mask) or not suits_blocks(q, k, v):
        return by_operations(q, k, v, mask, rate, is_causal, factor)
    q, k, v = in_one_shape(q, k, v)
    if mask is not None and not fits(mask, shape_of(q), cnp.PyArray_DIM(k.array, cnp.PyArray_NDIM(k.array) - 2)):
        return by_operations(q, k, v, mask, rate, is_causal, factor)
    return by_blocks(q, k, v, mask, is_causal, factor, scale if scale is None else factor)


cdef bint fits(Tensor mask, tuple sizes, Py_ssize_t columns) except -1:
    """Whether the mask broadcasts to the scores."""
    cdef tuple scores = sizes[:len(sizes) - 1] + (columns,)
    return cnp.PyArray_NDIM(mask.array) <= len(sizes) and broadcast_sizes(shape_of(mask), scores) == scores


cdef bint suits_blocks(Tensor q, Tensor k, Tensor v):
    cdef int own = code_of(q.array)
    return (own == FLOAT32 or own == FLOAT64) and cnp.PyArray_SIZE(q.array) and cnp.PyArray_SIZE(k.array) and cnp.PyArray_SIZE(
        v.array)


cdef tuple in_one_shape(Tensor q, Tensor k, Tensor v):
    """All three expanded to the same samples and heads."""
    cdef tuple first = shape_of(q), second = shape_of(k), third = shape_of(v)
    first, second, third = first[:len(first) - 2], second[:len(second) - 2], third[:len(third) - 2]
    if first == second == third:
        return q, k, v
    leading = broadcast_sizes(broadcast_sizes(first, second), third)
    return tuple([(<object> x).expand(leading + tuple(x.shape)[x.ndim - 2:]) for x in (<object> q, <object> k, <object> v)])
