"""Views of a part of a tensor: a diagonal, consecutive parts."""

from operator import methodcaller

import numpy as np

cimport cython

from autograd_cy._core.arrays.dtypes cimport as_dtype
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport (
    as_tensor, needs_node, new_node, record_all, record_linear, record_view, shape_of, wrap_dim)
from autograd_cy._core.graph.tensor cimport AMONG_SEVERAL, Tensor, link_view, new_tensor
from autograd_cy._core.ops.shapes.reshaping cimport zeros_or
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import Along
from autograd_cy._core.graph.node import declare_outputs
from autograd_cy._core.ops.registry import op


# taking a part, and embedding it in zeros

@cython.final
cdef class EmbedBackward0(Node):
    """The node of `embed`, whose transpose takes the part."""

    cdef object vjp(self, object g, int i):
        return self.constants[0](g)

    cdef object jvp(self, tuple tangents):
        return embed(tangents[0], self.constants[1], self.constants[0])


cpdef Tensor embed(Tensor g, tuple sizes, object take):
    """Zeros of those sizes, with `g` in the part that `take` selects.

    `take` returns a view of an array, and works on a Tensor, too: itemgetter(index), methodcaller("diagonal").
    """
    cdef cnp.ndarray array
    if g.batched:
        whole = zeros_as(g, sizes)
        take(whole).copy_(g)
        return whole
    array = np.zeros(sizes, g.array.dtype)
    part = take(array)
    part.flags.writeable = True            # NumPy's diagonal() is read-only
    part[...] = g.array
    return record_linear(EmbedBackward0, (take, sizes), g, array)


cdef class Part(Node):
    """The node of a view of a part; last constants: the input's sizes and the callable that takes the part."""

    cdef object vjp(self, object g, int i):
        return embed(g, self.constants[-2], self.constants[-1])

    cdef object jvp(self, tuple tangents):
        return self.constants[-1](tangents[0])


@cython.final
cdef class DiagonalBackward0(Part):
    cdef tuple constant_names(self):
        return ("offset", "dim1", "dim2", "self_sym_sizes")


def batched_diagonal(call, input, offset=0, dim1=0, dim2=1):
    cdef int rank = rank_of(input)
    return call(call.value(input), offset, wrap_dim(dim1, rank) + 1, wrap_dim(dim2, rank) + 1)


@op(methods=("diagonal",), batch=batched_diagonal)
def diagonal(input, offset=0, dim1=0, dim2=1):
    """diagonal(input, offset=0, dim1=0, dim2=1) -> Tensor: a view of the diagonals of the matrices in dim1 and dim2.

    They become the last dimension; with `offset` > 0 they lie above the main diagonal.

    >>> import autograd_cy as ag
    >>> ag.diagonal(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    cdef Tensor x = as_tensor(input, "diagonal")
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    cdef int a = wrap_dim(dim1, ndim), b = wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    # NumPy's argument is a C int, which it negates
    take = methodcaller("diagonal", max(-cnp.PyArray_DIM(x.array, a), min(<Py_ssize_t> offset, cnp.PyArray_DIM(x.array, b))),
                        a, b)
    array = take(x.array)
    array.flags.writeable = cnp.PyArray_ISWRITEABLE(x.array)
    return record_view(DiagonalBackward0, (offset, a, b, shape_of(x), take), x, array)


cdef class Split(Node):
    cdef tuple constant_names(self):
        return ("dim", "split_size", "self_sym_sizes")

    cdef object vjp(self, object g, int i):
        parts = zip(g if isinstance(g, list) else [g], self.constants[-1])
        return cat([zeros_or(part, part_sizes) for part, part_sizes in parts], self.constants[0])

    cdef tuple arguments(self):
        return (self.constants[1], self.constants[0])


@cython.final
cdef class SplitBackward0(Split):
    pass


@cython.final
cdef class SplitWithSizesBackward0(Split):
    cdef tuple constant_names(self):
        return ("dim", "split_sizes", "self_sym_sizes")


@cython.final
cdef class UnsafeSplitBackward0(Split):
    pass


@cython.final
cdef class UnsafeSplitWithSizesBackward0(Split):
    cdef tuple constant_names(self):
        return ("dim", "split_sizes", "self_sym_sizes")


@cython.final
cdef class UnbindBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp(self, object g, int i):
        parts = g if isinstance(g, list) else [g]
        return stack([zeros_or(part, self.constants[1]) for part in parts], self.constants[0])

    cdef tuple arguments(self):
        return (self.constants[0],)


def like_part(Node node, int i):
    sizes, numpy_type = node.constants[1] if isinstance(node, UnbindBackward0) else node.constants[-1][i]
    return sizes, as_dtype(numpy_type)


declare_outputs(Split, like_part)
declare_outputs(UnbindBackward0, like_part)


@op(methods=("split",), linear=Split, batch=Along("dim", least=1))
def split(tensor, split_size_or_sections, dim=0):
    """split(tensor, split_size_or_sections, dim=0) -> tuple of Tensors: views of consecutive parts along `dim`.

    An int is the size of each part (the last may be smaller), a list gives the sizes of all.

    >>> import autograd_cy as ag
    >>> ag.split(ag.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    cdef Tensor x = as_tensor(tensor, "split")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    cdef tuple outputs
    if isinstance(split_size_or_sections, int):
        outputs = parts_of(SplitBackward0, x, split_size_or_sections, equal_sections(x, split_size_or_sections, d), d)
    else:
        outputs = parts_of(SplitWithSizesBackward0, x, split_size_or_sections, given_sections(x, split_size_or_sections, d), d)
    link_views(x, outputs)
    return outputs


cdef Py_ssize_t size_along(Tensor x, int dim) noexcept:
    return cnp.PyArray_DIM(x.array, dim) if cnp.PyArray_NDIM(x.array) else 0


cdef list equal_sections(Tensor x, Py_ssize_t size, int dim):
    """The sizes of parts of size `size`; the last one may be smaller."""
    cdef Py_ssize_t total = size_along(x, dim), k
    if size < 0 or (size == 0 and total):
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
    return [min(size, total - k) for k in range(0, total, size)] if total else [0]


cdef list given_sections(Tensor x, object sizes, int dim):
    cdef list sections = [int(s) for s in sizes]
    if sum(sections) != size_along(x, dim) or min(sections, default=0) < 0:
        raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {size_along(x, dim)} (input tensor's "
                           f"size at dimension {dim}), but got split_sizes={sections}")
    return sections


cdef tuple parts_of(object node_class, Tensor x, object given, list sections, int dim):
    """Consecutive parts along a dimension, in the tensor's memory; recorded, but not linked as views yet."""
    cdef Py_ssize_t start = 0, size
    parts, shapes = [], []
    for size in sections:
        array = x.array[(slice(None),) * dim + (slice(start, start + size),)]
        parts.append(new_tensor(array))
        shapes.append((np.shape(array), x.array.dtype))
        start += size
    outputs = tuple(parts)
    if needs_node(x):
        record_all(new_node(node_class, (dim, given, shape_of(x), shapes)), outputs, (x,))
    return outputs


cdef int link_views(Tensor x, tuple outputs) except -1:
    cdef Tensor view
    for view in outputs:
        link_view(x, view, AMONG_SEVERAL)
    return 0


@op(methods=("split_with_sizes",), batch=Along("dim", least=1))
def split_with_sizes(input, split_sizes: Sequence[int], dim=0):
    """split_with_sizes(input, split_sizes, dim=0) -> tuple of Tensors: split() into parts of those sizes.

    >>> import autograd_cy as ag
    >>> ag.split_with_sizes(ag.tensor([1.0, 2.0, 3.0]), [2, 1])
    (tensor([1., 2.]), tensor([3.]))
    """
    return split(as_tensor(input, "split_with_sizes"), list(split_sizes), dim)


cdef object section_size(Tensor x, object chunks, int dim, str operation):
    """The size of each of `chunks` parts, rounded up; None if there are no elements."""
    cdef Py_ssize_t total
    if cnp.PyArray_NDIM(x.array) == 0:
        raise RuntimeError(f"{operation} expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"{operation} expects `chunks` to be greater than 0, got: {chunks}")
    total = cnp.PyArray_DIM(x.array, dim)
    return (total + chunks - 1) // chunks if total else None


@op(methods=("chunk",), batch=Along("dim", least=1))
def chunk(input, chunks: int, dim=0):
    """chunk(input, chunks, dim=0) -> tuple of Tensors: views of up to `chunks` parts along `dim`; the last may be smaller.

    >>> import autograd_cy as ag
    >>> ag.chunk(ag.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    cdef Tensor x = as_tensor(input, "chunk")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    size = section_size(x, chunks, d, "chunk")
    return split(x, [0] * chunks if size is None else size, d)


@op(methods=("unsafe_chunk",), batch=Along("dim", least=1))
def unsafe_chunk(input, chunks: int, dim=0):
    """unsafe_chunk(input, chunks, dim=0) -> tuple of Tensors: chunk() into tensors that autograd does not track as views.

    They share the tensor's memory: after a write to one, don't use the others.

    >>> import autograd_cy as ag
    >>> ag.unsafe_chunk(ag.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    cdef Tensor x = as_tensor(input, "unsafe_chunk")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    size = section_size(x, chunks, d, "chunk")
    return unsafe_split_with_sizes(x, [0] * chunks, d) if size is None else unsafe_split(x, size, d)


@op(methods=("unsafe_split",), linear=UnsafeSplitBackward0, batch=Along("dim", least=1))
def unsafe_split(tensor, split_size: int, dim=0):
    """unsafe_split(tensor, split_size, dim=0) -> tuple of Tensors: split() into tensors that autograd does not track as views.

    >>> import autograd_cy as ag
    >>> ag.unsafe_split(ag.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    cdef Tensor x = as_tensor(tensor, "unsafe_split")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    return parts_of(UnsafeSplitBackward0, x, split_size, equal_sections(x, split_size, d), d)


@op(methods=("unsafe_split_with_sizes",), linear=UnsafeSplitWithSizesBackward0, batch=Along("dim", least=1))
def unsafe_split_with_sizes(input, split_sizes: Sequence[int], dim=0):
    """unsafe_split_with_sizes(input, split_sizes, dim=0) -> tuple of Tensors: unsafe_split() into parts of those sizes.

    >>> import autograd_cy as ag
    >>> ag.unsafe_split_with_sizes(ag.tensor([1.0, 2.0, 3.0]), [2, 1])
    (tensor([1., 2.]), tensor([3.]))
    """
    cdef Tensor x = as_tensor(input, "unsafe_split_with_sizes")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    return parts_of(UnsafeSplitWithSizesBackward0, x, split_sizes, given_sections(x, split_sizes, d), d)


@op(methods=("unbind",), linear=UnbindBackward0, batch=Along("dim", least=1))
def unbind(input, dim=0):
    """unbind(input, dim=0) -> tuple of Tensors: views of the slices along `dim`, without that dimension.

    >>> import autograd_cy as ag
    >>> ag.unbind(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    (tensor([1., 2.]), tensor([3., 4.]))
    """
    cdef Tensor x = as_tensor(input, "unbind")
    cdef tuple sizes = shape_of(x)
    if not sizes:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    cdef int d = wrap_dim(dim, len(sizes))
    cdef Py_ssize_t k
    parts = []
    for k in range(sizes[d]):
        parts.append(new_tensor(x.array[(slice(None),) * d + (k, Ellipsis)]))
    outputs = tuple(parts)
    if parts and needs_node(x):
        like = (sizes[:d] + sizes[d + 1:], x.array.dtype)
        record_all(new_node(UnbindBackward0, (d, like)), outputs, (x,))
    link_views(x, outputs)
    return outputs
