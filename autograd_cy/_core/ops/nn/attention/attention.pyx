"""scaled_dot_product_attention: by blocks without dropout and without a gradient of the mask, else by other operations."""

from libc.math cimport sqrt

from autograd_cy._core.arrays.dtypes cimport (
    BOOL, FLOAT16, FLOAT32, FLOAT64, code_of, dtype_of, is_half, long_word, type_word)
from autograd_cy._core.graph.record cimport broadcast_sizes, shape_of, tensor_argument
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.ops.nn.activation import dropout
from autograd_cy._core.ops.registry import op


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


def batched_attention(call, query, key, value, attn_mask=None, *args, **kwargs):
    """Operands that are not batched are broadcast along the samples."""
    for x in (query, key, value):
        call.check_rank(x, 2, query, key, value, attn_mask, *args, **kwargs)
    rank = max([rank_of(x) for x in (query, key, value)])
    if attn_mask is not None:
        rank = max(rank, rank_of(attn_mask))
        attn_mask = call.aligned(attn_mask, rank)
    return call(*[call.aligned(x, rank) for x in (query, key, value)], attn_mask, *args, **kwargs)


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
