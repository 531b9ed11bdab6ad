"""Attention whose queries, keys and values are thirds of one projection: one operation with one gradient.

Blocks are read and written in place, without views of heads or concatenation. Attention is made of other operations for
batched inputs, tangents, subclasses and overrides, and if attention by blocks (attention_blocks.pyx) does not apply. Profilers
record it as scaled_dot_product_attention().
"""

cimport cython
from cpython.object cimport PyObject
from libc.math cimport sqrt

from autograd_cy._core.arrays.buffers cimport flat, new_array
from autograd_cy._core.arrays.dtypes cimport BOOL, FLOAT32, FLOAT64, code_of
from autograd_cy._core.graph.node cimport Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport has_tangent, needs_node, new_node, record
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.attention_loops cimport Attention, Heads, attend, attend_backwards
from autograd_cy._core.ops.overrides cimport has_handler
from autograd_cy._core.recording.events cimport (
    OPERATION, SHAPES, Span, begin, end, note_operand, note_result, options, recorders_on)
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

from autograd_cy._core.ops.shapes.joining import cat


cdef struct Layout:                 # of (samples, rows, ...) or, with `rows_first`, (rows, samples, ...)
    npy_intp samples, rows, heads, size
    bint rows_first


# arrays

cdef Layout layout_of(cnp.ndarray packed, npy_intp heads, bint rows_first) noexcept:
    return Layout(cnp.PyArray_DIM(packed, rows_first), cnp.PyArray_DIM(packed, not rows_first), heads,
                  cnp.PyArray_DIM(packed, 2) // (3 * heads), rows_first)


cdef Heads heads_in(cnp.ndarray array, const Layout *layout, int third) noexcept:
    """The heads in a third (first, second or last) of each row of a dense array."""
    cdef npy_intp sample = cnp.PyArray_STRIDE(array, layout.rows_first), row = cnp.PyArray_STRIDE(array, not layout.rows_first)
    cdef npy_intp head = layout.size * cnp.PyArray_ITEMSIZE(array)
    return Heads(cnp.PyArray_BYTES(array) + third * layout.heads * head, sample, head, row)


cdef Attention described_packed(cnp.ndarray packed, cnp.ndarray mask, cnp.ndarray sums, const Layout *layout, double scale,
                                bint causal) noexcept:
    cdef Attention a
    a.dtype_code, a.samples, a.heads = code_of(packed), layout.samples, layout.heads
    a.rows = a.columns = layout.rows
    a.size = a.value_size = layout.size
    a.scale, a.causal = scale, causal
    a.query, a.key, a.value = heads_in(packed, layout, 0), heads_in(packed, layout, 1), heads_in(packed, layout, 2)
    a.mask, a.mask_column = Heads(NULL, 0, 0, 0), 0
    if mask is not None:
        a.mask = Heads(cnp.PyArray_BYTES(mask), cnp.PyArray_STRIDE(mask, 0), cnp.PyArray_STRIDE(mask, 1),
                       cnp.PyArray_STRIDE(mask, 2))
        a.mask_column = cnp.PyArray_STRIDE(mask, 3)
    a.sums = cnp.PyArray_DATA(sums)
    a.out = a.g = a.query_gradient = a.key_gradient = a.value_gradient = Heads(NULL, 0, 0, 0)
    return a


cdef cnp.ndarray seen_keys(Tensor mask, cnp.ndarray packed, const Layout *layout):
    """The mask to add to the scores of each head; None without a mask."""
    if mask is None:
        return None
    return mask_array(mask, sizes_in_heads(layout), code_of(packed), layout.rows)


cdef tuple sizes_in_heads(const Layout *layout):
    return (layout.samples, layout.heads, layout.rows, layout.size)


# the node

@cython.final
cdef class PackedAttentionBackward0(AttentionNode):
    """The constants: whether the mask is causal, the number of heads, whether rows come before samples, the scale."""

    cdef tuple saved_names(self):
        return ("packed",)

    cdef tuple constant_names(self):
        return ("is_causal", "num_heads", None, "scale")

    cdef object vjp_array(self, object g, int i, Request *request):
        self.check_mask()
        cdef cnp.ndarray packed = saved_array(self, 0)
        cdef int dtype_code = code_of(packed)
        if cnp.PyArray_NDIM(packed) != 3:
            raise resized(self)
        packed = flat(packed, dtype_code)
        cdef Layout layout = layout_of(packed, self.constants[1], self.constants[2])
        cdef cnp.ndarray mask = seen_keys(self.mask, packed, &layout), dense = flat(<cnp.ndarray> g, dtype_code)
        cdef cnp.ndarray found = new_array(dtype_code, 3, cnp.PyArray_DIMS(packed))
        cdef Attention a = described_packed(packed, mask, self.sums, &layout, self.constants[3], self.constants[0])
        self.check_sizes(&a)
        if cnp.PyArray_SIZE(packed) != 3 * cnp.PyArray_SIZE(dense):
            raise resized(self)
        a.g = heads_in(dense, &layout, 0)
        a.query_gradient, a.key_gradient = heads_in(found, &layout, 0), heads_in(found, &layout, 1)
        a.value_gradient = heads_in(found, &layout, 2)
        if not attend_backwards(&a):
            raise MemoryError("attention: no memory for a block of the gradient")
        return found

    cdef object vjp(self, object g, int i):
        """The formula without blocks, as operations on the saved input."""
        cdef object heads = self.constants[1], rows_first = self.constants[2]
        self.check_mask()
        q, k, v = heads_of_projection(unpack(self, 0), heads, rows_first)
        y = probabilities(q, k, self.mask, self.constants[3], self.constants[0])
        g = by_head(g, heads, rows_first)
        slopes = score_gradient(g, y, v, self.constants[3])
        parts = query_gradient(slopes, k), key_gradient(slopes, q), value_gradient(g, y)
        return cat([in_rows(part, rows_first) for part in parts], -1)


def heads_of_projection(packed, heads, rows_first):
    """Queries, keys and values: views (samples, heads, rows, size) of the thirds of a projection."""
    return [by_head(third, heads, rows_first) for third in packed.chunk(3, -1)]


def by_head(x, heads, rows_first):
    """A view (samples, heads, rows, size) of (samples, rows, heads * size), or of (rows, samples, heads * size)."""
    size = -1 if x.numel() else x.shape[x.ndim - 1] // max(heads, 1)
    return x.view(*x.shape[:2], heads, size).permute((1, 2, 0, 3) if rows_first else (0, 2, 1, 3))


def in_rows(x, rows_first):
    """The inverse of `by_head`: the heads of a row side by side."""
    return x.permute((2, 0, 1, 3) if rows_first else (0, 2, 1, 3)).flatten(2)


# the operation

def packed_attention(Tensor packed not None, Py_ssize_t heads, Tensor mask or None, double rate, bint causal, bint rows_first):
    """packed_attention(packed, heads, mask, rate, causal, rows_first) -> Tensor (samples, rows, E), or rows first.

    `packed` is (samples, rows, 3 * E), or with `rows_first` (rows, samples, 3 * E). The mask broadcasts to
    (samples, heads, rows, rows). `rate` is the dropout of the weights.
    """
    cdef Layout layout
    if not rate and heads > 0 and packed_suits_blocks(packed) and not has_handler():
        layout = layout_of(packed.array, heads, rows_first)
        if 3 * heads * layout.size == cnp.PyArray_DIM(packed.array, 2) and suits(mask, code_of(packed.array), causal, &layout):
            return (as_event if recorders_on() else packed_by_blocks)(packed, &layout, mask, causal)
    q, k, v = heads_of_projection(packed, heads, rows_first)
    return in_rows(scaled_dot_product_attention(q, k, v, mask, rate, causal), rows_first)


cdef bint packed_suits_blocks(Tensor packed) except -1:
    cdef int own = code_of(packed.array)
    return ((own == FLOAT32 or own == FLOAT64) and cnp.PyArray_NDIM(packed.array) == 3 and cnp.PyArray_SIZE(packed.array)
            and type(packed) is Tensor and not has_tangent(packed))


cdef bint suits(Tensor mask, int dtype_code, bint causal, const Layout *layout) except -1:
    """Whether the mask suits `packed_by_blocks`; errors are left to the other operations."""
    return mask is None or (
        not causal and type(mask) is Tensor and code_of(mask.array) in (BOOL, FLOAT32, dtype_code) and not has_gradient(mask)
        and fits(mask, sizes_in_heads(layout), layout.rows))


cdef Tensor as_event(Tensor packed, const Layout *layout, Tensor mask, bint causal):
    """`packed_by_blocks` as an event for a recording profiler."""
    cdef Span span = begin(OPERATION, <PyObject *> scaled_dot_product_attention)
    cdef Tensor y
    if options & SHAPES:
        note_operand(span, packed.array)
    try:
        y = packed_by_blocks(packed, layout, mask, causal)
        if options & SHAPES:
            note_result(span, y.array)
    finally:
        end(span)
    return y


cdef Tensor packed_by_blocks(Tensor packed, const Layout *layout, Tensor mask, bint causal):
    cdef cnp.ndarray array = packed.array
    array = flat(array, code_of(array))
    cdef double scale = 1 / sqrt(layout.size)
    cdef npy_intp[3] dims
    dims[0], dims[1], dims[2] = layout.samples, layout.heads, layout.rows
    cdef cnp.ndarray sums = new_array(code_of(array), 3, dims)
    dims[0], dims[1], dims[2] = cnp.PyArray_DIM(array, 0), cnp.PyArray_DIM(array, 1), layout.heads * layout.size
    cdef cnp.ndarray y = new_array(code_of(array), 3, dims)
    cdef cnp.ndarray seen = seen_keys(mask, array, layout)
    cdef Attention a = described_packed(array, seen, sums, layout, scale, causal)
    cdef PackedAttentionBackward0 node
    cdef Tensor result
    a.out = heads_in(y, layout, 0)
    if not attend(&a):
        raise MemoryError("attention: no memory for a block")
    result = new_tensor(y)
    if not needs_node(packed):
        return result
    node = new_node(PackedAttentionBackward0, (causal, layout.heads, layout.rows_first, scale))
    save_input(node, 0, packed)
    node.keep(sums, mask)
    return record(node, result, packed)
