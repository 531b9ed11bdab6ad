"""Attention by blocks: its arrays, its node, and the formula without blocks for derivatives of higher order."""

from math import inf

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport dense_copy, in_type, new_array
from autograd_cy._core.arrays.dtypes cimport BOOL, code_of
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, stale_error, unpack
from autograd_cy._core.graph.record cimport any_wanted, broadcast_sizes, has_tangent, new_node, record_all, shape_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, version_of
from autograd_cy._core.kernels.attention_loops cimport Attention, Heads, attend, attend_backwards
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp
from autograd_cy._core.runtime.state cimport NO_GRAD, current_mode


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


# the mask

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


cdef bint fits(Tensor mask, tuple sizes, Py_ssize_t columns) except -1:
    """Whether the mask broadcasts to the scores."""
    cdef tuple scores = sizes[:len(sizes) - 1] + (columns,)
    return cnp.PyArray_NDIM(mask.array) <= len(sizes) and broadcast_sizes(shape_of(mask), scores) == scores


cdef bint has_gradient(Tensor mask) except -1:
    return mask is not None and ((mask.needs_grad and not current_mode() & NO_GRAD) or has_tangent(mask))


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


# the formula without blocks

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


# the operation

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
