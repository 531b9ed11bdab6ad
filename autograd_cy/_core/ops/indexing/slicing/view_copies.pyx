"""Copies of views: each operation has the name of a view operation with `_copy`, and its gradient (view_copy_node.pyx)."""

cimport cython

from autograd_cy._core.graph.record cimport as_tensor, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE
from autograd_cy._core.ops.registry import op
from autograd_cy._core.ops.shapes.joining import diag_embed, diagonal as diagonal_view, split, split_with_sizes, unbind
from autograd_cy._core.ops.shapes.reshaping import expand, permute, squeeze, t, transpose, unsqueeze, view


def whole(x):
    """The tensor as a view of itself."""
    return x[...]


def rows(x, dim=0, start=None, end=None, step=1):
    """The view of a slice along one dimension."""
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM((<Tensor> x).array))
    cdef Py_ssize_t first, last, by
    if cnp.PyArray_NDIM((<Tensor> x).array) == 0:
        raise RuntimeError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    if (<Tensor> x).batched:
        return x[(slice(None),) * d + (slice(start, end, step),)]
    unpack_slice(slice(start, end, step), &first, &last, &by)
    return part(<Tensor> x, d, first, last, by)


@cython.final
cdef class AliasBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(whole))
def alias_copy(input):
    """alias_copy(input) -> Tensor: a copy of the tensor.

    >>> import autograd_cy as ag
    >>> ag.alias_copy(ag.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    return copied(AliasBackward0_copy, alias_copy, whole, as_tensor(input, "alias_copy"), ())


@cython.final
cdef class AsStridedBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(as_strided))
def as_strided_copy(input, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None):
    """as_strided_copy(input, size, stride, storage_offset=None) -> Tensor: as_strided() as a copy.

    >>> import autograd_cy as ag
    >>> ag.as_strided_copy(ag.tensor([1.0, 2.0, 3.0]), (2,), (2,))
    tensor([1., 3.])
    """
    return copied(AsStridedBackward0_copy, as_strided_copy, as_strided, as_tensor(input, "as_strided_copy"),
                  (size, stride, storage_offset))


@cython.final
cdef class DiagonalBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(diagonal_view))
def diagonal_copy(input, offset=0, dim1=0, dim2=1):
    """diagonal_copy(input, offset=0, dim1=0, dim2=1) -> Tensor: diagonal() as a copy.

    >>> import autograd_cy as ag
    >>> ag.diagonal_copy(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    x = as_tensor(input, "diagonal_copy")
    return copied(DiagonalBackward0_copy, diagonal_copy, diagonal_view, x, (offset, dim1, dim2))


@cython.final
cdef class ExpandBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(expand))
def expand_copy(input, *size):
    """expand_copy(input, size) -> Tensor: expand() as a copy.

    >>> import autograd_cy as ag
    >>> ag.expand_copy(ag.tensor([1.0, 2.0]), (2, 2))
    tensor([[1., 2.],
            [1., 2.]])
    """
    return copied(ExpandBackward0_copy, expand_copy, expand, as_tensor(input, "expand_copy"), size)


@cython.final
cdef class PermuteBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(permute))
def permute_copy(input, *dims):
    """permute_copy(input, dims) -> Tensor: permute() as a copy.

    >>> import autograd_cy as ag
    >>> ag.permute_copy(ag.ones(2, 3), (1, 0)).shape
    torch.Size([3, 2])
    """
    return copied(PermuteBackward0_copy, permute_copy, permute, as_tensor(input, "permute_copy"), dims)


@cython.final
cdef class SelectBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(select))
def select_copy(input, dim, index: int):
    """select_copy(input, dim, index) -> Tensor: select() as a copy.

    >>> import autograd_cy as ag
    >>> ag.select_copy(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, 0)
    tensor([1., 3.])
    """
    return copied(SelectBackward0_copy, select_copy, select, as_tensor(input, "select_copy"), (dim, index))


@cython.final
cdef class SliceBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(rows))
def slice_copy(input, dim=0, start: int | None = None, end: int | None = None, step: int = 1):
    """slice_copy(input, dim=0, start=None, end=None, step=1) -> Tensor: a copy of every `step`-th row.

    They are those along `dim` from `start` to before `end`.

    >>> import autograd_cy as ag
    >>> ag.slice_copy(ag.tensor([1.0, 2.0, 3.0]), 0, 1)
    tensor([2., 3.])
    """
    return copied(SliceBackward0_copy, slice_copy, rows, as_tensor(input, "slice_copy"), (dim, start, end, step))


@cython.final
cdef class SplitBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(split))
def split_copy(input, split_size: int, dim=0):
    """split_copy(input, split_size, dim=0) -> tuple of Tensors: split() into copies.

    >>> import autograd_cy as ag
    >>> ag.split_copy(ag.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    return copied(SplitBackward0_copy, split_copy, split, as_tensor(input, "split_copy"), (split_size, dim))


@cython.final
cdef class SplitWithSizesBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(split_with_sizes))
def split_with_sizes_copy(input, split_sizes: Sequence[int], dim=0):
    """split_with_sizes_copy(input, split_sizes, dim=0) -> tuple of Tensors: split_with_sizes() into copies.

    >>> import autograd_cy as ag
    >>> ag.split_with_sizes_copy(ag.tensor([1.0, 2.0, 3.0]), [2, 1])
    (tensor([1., 2.]), tensor([3.]))
    """
    cdef Tensor x = as_tensor(input, "split_with_sizes_copy")
    return copied(SplitWithSizesBackward0_copy, split_with_sizes_copy, split_with_sizes, x, (split_sizes, dim))


@cython.final
cdef class SqueezeBackward0_copy(ViewCopy):
    pass


@cython.final
cdef class SqueezeBackward1_copy(ViewCopy):
    pass


@cython.final
cdef class SqueezeBackward2_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(squeeze))
def squeeze_copy(input, dim: _Dims | None = None):
    """squeeze_copy(input, dim=None) -> Tensor: squeeze() as a copy.

    >>> import autograd_cy as ag
    >>> ag.squeeze_copy(ag.tensor([[1.0, 2.0]]))
    tensor([1., 2.])
    """
    cdef object node_class = SqueezeBackward0_copy
    if dim is not None:
        node_class = SqueezeBackward2_copy if isinstance(dim, (tuple, list)) else SqueezeBackward1_copy
    return copied(node_class, squeeze_copy, squeeze, as_tensor(input, "squeeze_copy"), (dim,))


@cython.final
cdef class TBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(t))
def t_copy(input):
    """t_copy(input) -> Tensor: t() as a copy.

    >>> import autograd_cy as ag
    >>> ag.t_copy(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 3.],
            [2., 4.]])
    """
    return copied(TBackward0_copy, t_copy, t, as_tensor(input, "t_copy"), ())


@cython.final
cdef class TransposeBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(transpose))
def transpose_copy(input, dim0, dim1):
    """transpose_copy(input, dim0, dim1) -> Tensor: transpose() as a copy.

    >>> import autograd_cy as ag
    >>> ag.transpose_copy(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), 0, 1)
    tensor([[1., 3.],
            [2., 4.]])
    """
    return copied(TransposeBackward0_copy, transpose_copy, transpose, as_tensor(input, "transpose_copy"), (dim0, dim1))


@cython.final
cdef class UnbindBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(unbind))
def unbind_copy(input, dim=0):
    """unbind_copy(input, dim=0) -> tuple of Tensors: unbind() into copies.

    >>> import autograd_cy as ag
    >>> ag.unbind_copy(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    (tensor([1., 2.]), tensor([3., 4.]))
    """
    return copied(UnbindBackward0_copy, unbind_copy, unbind, as_tensor(input, "unbind_copy"), (dim,))


@cython.final
cdef class UnfoldBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(unfold))
def unfold_copy(input, dimension: int, size: int, step: int):
    """unfold_copy(input, dimension, size, step) -> Tensor: unfold() as a copy.

    >>> import autograd_cy as ag
    >>> ag.unfold_copy(ag.tensor([1.0, 2.0, 3.0]), 0, 2, 1)
    tensor([[1., 2.],
            [2., 3.]])
    """
    return copied(UnfoldBackward0_copy, unfold_copy, unfold, as_tensor(input, "unfold_copy"), (dimension, size, step))


@cython.final
cdef class UnsqueezeBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(unsqueeze))
def unsqueeze_copy(input, dim):
    """unsqueeze_copy(input, dim) -> Tensor: unsqueeze() as a copy.

    >>> import autograd_cy as ag
    >>> ag.unsqueeze_copy(ag.tensor([1.0, 2.0]), 0)
    tensor([[1., 2.]])
    """
    return copied(UnsqueezeBackward0_copy, unsqueeze_copy, unsqueeze, as_tensor(input, "unsqueeze_copy"), (dim,))


@cython.final
cdef class ViewBackward0_copy(ViewCopy):
    pass


@op(methods=(), batch=copying(view))
def view_copy(input, *size):
    """view_copy(input, size) -> Tensor: view() as a copy.

    >>> import autograd_cy as ag
    >>> ag.view_copy(ag.tensor([1.0, 2.0]), (2, 1))
    tensor([[1.],
            [2.]])
    """
    return copied(ViewBackward0_copy, view_copy, view, as_tensor(input, "view_copy"), size)


@cython.final
cdef class NarrowCopyBackward0(ViewCopy):
    pass


@op(methods=("narrow_copy",), batch=copying(narrow))
def narrow_copy(input, dim, start: int, length: int):
    """narrow_copy(input, dim, start, length) -> Tensor: narrow() as a copy.

    >>> import autograd_cy as ag
    >>> ag.narrow_copy(ag.tensor([1.0, 2.0, 3.0]), 0, 1, 2)
    tensor([2., 3.])
    """
    return copied(NarrowCopyBackward0, narrow_copy, narrow, as_tensor(input, "narrow_copy"), (dim, start, length))


@op(methods=(), batch=COMPOSITE)
def detach_copy(input):
    """detach_copy(input) -> Tensor: a copy without the history.

    >>> import autograd_cy as ag
    >>> ag.detach_copy(ag.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    return as_tensor(input, "detach_copy").detach().clone()


@op(methods=("diag",), batch=COMPOSITE)
def diag(input, diagonal: int = 0):
    """diag(input, diagonal=0) -> Tensor: a copy of a matrix's diagonal; for a vector, the matrix with it as diagonal.

    >>> import autograd_cy as ag
    >>> ag.diag(ag.tensor([[1.0, 2.0], [3.0, 4.0]])), ag.diag(ag.tensor([1.0, 2.0]))
    (tensor([1., 4.]), tensor([[1., 0.],
            [0., 2.]]))
    """
    cdef Tensor x = as_tensor(input, "diag")
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    if not 1 <= ndim <= 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    return diag_embed(x, diagonal) if ndim == 1 else diagonal_copy(x, diagonal)
