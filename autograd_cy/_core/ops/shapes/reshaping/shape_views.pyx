"""Shape operations that return a view.

All of them are linear: the rule of a node is the transpose, its jvp is the operation itself, both with the
node's constants.
"""

from math import prod

import numpy as np

cimport cython

from cpython.object cimport PyObject_IsInstance

from autograd_cy._core.arrays.buffers cimport strided_view
from autograd_cy._core.arrays.dtypes cimport as_dtype, dtype
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, record_linear, record_view, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, extend
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE, declare_rule
from autograd_cy._core.ops.registry import op


cdef tuple inferred(tuple sizes, Py_ssize_t numel):
    """The sizes with a -1 replaced; RuntimeError if they don't make `numel` elements."""
    cdef Py_ssize_t known = 1, size
    cdef double elements = 1
    for size in sizes:
        if size < -1:
            raise RuntimeError(f"invalid shape dimension {size} at index {sizes.index(size)} of shape {list(sizes)}")
        if size != -1:
            elements *= size
            known = known * size if elements < 9e18 else numel + 1
    if elements >= 9e18:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {numel}")
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if -1 in sizes and known == 0 and numel == 0:
        raise RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the unspecified dimension "
                           "size -1 can be any value and is ambiguous")
    if -1 in sizes and (known == 0 or numel % known):
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {numel}")
    sizes = tuple([numel // known if size == -1 else size for size in sizes])
    known = 1
    for size in sizes:
        known *= size
    if known != numel:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {numel}")
    return sizes


cdef bint is_view(cnp.ndarray reshaped, cnp.ndarray array) noexcept:
    """Whether NumPy's reshape of the array shares its memory: a copy would start elsewhere."""
    return cnp.PyArray_BYTES(reshaped) == cnp.PyArray_BYTES(array) or cnp.PyArray_SIZE(array) == 0


# reshape and similar operations

cdef class Reshape(Node):
    """Last constants: the sizes of the input and of the output."""

    cdef tuple constant_names(self):
        return ("self_sym_sizes",)

    cdef object vjp(self, object g, int i):
        return reshape(g, self.constants[-2])

    cdef tuple arguments(self):
        return (self.constants[-1],)


@cython.final
cdef class ViewBackward0(Reshape):
    pass


@cython.final
cdef class ReshapeAliasBackward0(Reshape):
    pass


@cython.final
cdef class UnsafeViewBackward0(Reshape):
    pass


@cython.final
cdef class UnsqueezeBackward0(Reshape):
    cdef tuple constant_names(self):
        return ("dim",)


@cython.final
cdef class SqueezeBackward0(Reshape):
    pass


@cython.final
cdef class SqueezeBackward1(Reshape):
    cdef tuple constant_names(self):
        return ("dim", "self_sym_sizes")


@cython.final
cdef class SqueezeBackward2(Reshape):
    cdef tuple constant_names(self):
        return ("dim", "self_sym_sizes")


@cython.final
cdef class SqueezeBackward4(Reshape):
    """Drops the row dimension of vector @ matrix."""

    cdef tuple constant_names(self):
        return ("dim", "self_sym_sizes")

    cdef object vjp(self, object g, int i):
        return g.unsqueeze(0)


def batched_view(call, input, *sizes, dtype=None):  # no-cython-lint
    cdef object kind = type_asked_for(sizes, dtype)
    if kind is not None:
        if rank_of(input) == 0 and as_dtype(kind).itemsize != input.itemsize:
            call.on_sample(input, kind)
        return call(call.value(input), kind)
    return call(call.value(input), call.with_batch(input, sizes_argument(sizes)))


@op(methods=("reshape",), linear=Reshape, batch=batched_view)
def reshape(input, *shape):
    """reshape(input, shape) -> Tensor: the elements in another shape; a view if the strides allow it, else a copy.

    One size may be -1: it follows from the others. The method also takes the sizes one by one: x.reshape(2, 3).

    >>> import autograd_cy as ag
    >>> ag.reshape(ag.tensor([1.0, 2.0, 3.0, 4.0]), (2, -1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    cdef Tensor x = as_tensor(input, "reshape")
    cdef tuple sizes = inferred(sizes_argument(shape), cnp.PyArray_SIZE(x.array))
    array = x.array.reshape(sizes)
    cdef tuple constants = (shape_of(x), sizes)
    if is_view(array, x.array):
        dense = cnp.PyArray_IS_C_CONTIGUOUS(x.array)
        return record_view(ViewBackward0 if dense else ReshapeAliasBackward0, constants, x, array)
    return record_linear(UnsafeViewBackward0, constants, x, array)


cdef object type_asked_for(tuple sizes, object kind):
    """The dtype passed to view() instead of sizes, or None."""
    if kind is None:
        if len(sizes) == 1 and (PyObject_IsInstance(sizes[0], dtype) or PyObject_IsInstance(sizes[0], np.dtype)):
            return sizes[0]
        return None
    if sizes:
        raise TypeError("view() received an invalid combination of arguments: it takes sizes or a dtype, not both")
    return kind


@op(methods=("view",), batch=batched_view)
def view(input, *size, dtype=None):  # no-cython-lint
    """view(input, size) -> Tensor: a view in another shape; RuntimeError if that needs a copy.

    With a dtype in place of sizes, as in x.view(dtype), the same memory as elements of that type. If these have another size,
    the last dimension, which must be contiguous, becomes shorter or longer. The result has no history.

    >>> import autograd_cy as ag
    >>> ag.tensor([1.0, 2.0, 3.0, 4.0]).view(2, 2)
    tensor([[1., 2.],
            [3., 4.]])
    """
    cdef Tensor x = as_tensor(input, "view")
    cdef object kind = type_asked_for(size, dtype)
    if kind is not None:
        return in_other_type(x, as_dtype(kind))
    cdef tuple sizes = inferred(sizes_argument(size), cnp.PyArray_SIZE(x.array))
    array = x.array.reshape(sizes)
    if not is_view(array, x.array):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans "
                           "across two contiguous subspaces). Use .reshape(...) instead.")
    return record_view(ViewBackward0, (shape_of(x), sizes), x, array)


def batched_flatten(call, input, start_dim=0, end_dim=-1):
    cdef object x = call.value(input)
    cdef int rank = rank_of(input)
    cdef int start = wrap_dim(start_dim, rank), end = wrap_dim(end_dim, rank)
    return x.reshape(call.size, 1) if rank == 0 else call(x, start + 1, end + 1)


@op(methods=("flatten",), batch=batched_flatten)
def flatten(input, start_dim=0, end_dim=-1):
    """flatten(input, start_dim=0, end_dim=-1) -> Tensor: the dimensions from start_dim to end_dim merged into one.

    >>> import autograd_cy as ag
    >>> ag.flatten(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 2., 3., 4.])
    """
    cdef Tensor x = as_tensor(input, "flatten")
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    cdef int start = wrap_dim(start_dim, ndim), end = wrap_dim(end_dim, ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if ndim == 0:
        return reshape(x, 1)
    if start == end:
        return x
    cdef tuple sizes = shape_of(x)
    return reshape(x, sizes[:start] + (prod(sizes[start:end + 1]),) + sizes[end + 1:])


def batched_squeeze(call, input, dim=None):
    cdef int rank = rank_of(input)
    if dim is None:
        dim = [d for d in range(rank) if input.shape[d] == 1]
    dims = [wrap_dim(d, rank) + 1 for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    return call(call.value(input), tuple(dims) if rank else ())


@op(methods=("squeeze",), batch=batched_squeeze)
def squeeze(input, dim=None):
    """squeeze(input, dim=None) -> Tensor: without the dimensions of size 1, or only those among `dim` (an int or a tuple).

    >>> import autograd_cy as ag
    >>> ag.squeeze(ag.tensor([[1.0, 2.0]]))
    tensor([1., 2.])
    """
    cdef Tensor x = as_tensor(input, "squeeze")
    cdef tuple sizes = shape_of(x), kept
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    if dim is None:
        kept = tuple([size for size in sizes if size != 1])
        return record_view(SqueezeBackward0, (sizes, kept), x, with_axes(x.array, [d for d in range(ndim) if sizes[d] != 1]))
    dims = [wrap_dim(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    axes = [d for d in range(ndim) if d not in dims or sizes[d] != 1]
    kept = tuple([sizes[d] for d in axes])
    if isinstance(dim, (tuple, list)):
        return record_view(SqueezeBackward2, (tuple(dims), sizes, kept), x, with_axes(x.array, axes))
    return record_view(SqueezeBackward1, (dims[0], sizes, kept), x, with_axes(x.array, axes))


cdef cnp.ndarray with_axes(cnp.ndarray array, list axes):
    """A view with these dimensions of an array, which keep their strides; -1 inserts a new one of size 1."""
    cdef cnp.npy_intp dims[64]
    cdef cnp.npy_intp strides[64]
    cdef int k, axis, n = len(axes)
    for k in range(n):
        axis = axes[k]
        if axis >= 0:
            dims[k], strides[k] = cnp.PyArray_DIM(array, axis), cnp.PyArray_STRIDE(array, axis)
        else:
            dims[k] = 1
            strides[k] = cnp.PyArray_ITEMSIZE(array)
            if k < n - 1:
                strides[k] = cnp.PyArray_DIM(array, k) * cnp.PyArray_STRIDE(array, k)
    return strided_view(array, cnp.PyArray_BYTES(array), n, dims, strides)


def batched_unsqueeze(call, input, dim):
    return call(call.value(input), wrap_dim(dim, rank_of(input) + 1) + 1)


@op(methods=("unsqueeze",), batch=batched_unsqueeze)
def unsqueeze(input, dim):
    """unsqueeze(input, dim) -> Tensor: with a dimension of size 1 inserted at `dim`.

    >>> import autograd_cy as ag
    >>> ag.unsqueeze(ag.tensor([1.0, 2.0]), 1)
    tensor([[1.],
            [2.]])
    """
    cdef Tensor x = as_tensor(input, "unsqueeze")
    cdef tuple sizes = shape_of(x)
    cdef int ndim = cnp.PyArray_NDIM(x.array), d = wrap_dim(dim, ndim + 1)
    if ndim == 64:
        raise RuntimeError("unsqueeze(): a tensor has at most 64 dimensions")
    return record_view(UnsqueezeBackward0, (d, sizes, sizes[:d] + (1,) + sizes[d:]), x,
                       with_axes(x.array, [*range(d), -1, *range(d, ndim)]))


# expand

@cython.final
cdef class ExpandBackward0(Node):
    cdef tuple constant_names(self):
        return ("self_sym_sizes",)

    cdef object vjp(self, object g, int i):
        return sum_to_size(g, self.constants[0])

    cdef tuple arguments(self):
        return (self.constants[1],)


def batched_expand(call, input, *sizes):
    cdef object wanted = sizes_argument(sizes)
    if -1 in wanted[:max(len(wanted) - rank_of(input), 0)]:
        call.on_sample(input, wanted)           # raises the error
    return call(call.aligned(input, len(wanted)), (call.size, *wanted))


@op(methods=("expand",), linear=ExpandBackward0, batch=batched_expand)
def expand(input, *size):
    """expand(input, size) -> Tensor: a view broadcast to `size`; -1 keeps a dimension's size.

    >>> import autograd_cy as ag
    >>> ag.tensor([[1.0], [2.0]]).expand(2, 3)
    tensor([[1., 1., 1.],
            [2., 2., 2.]])
    """
    cdef Tensor x = as_tensor(input, "expand")
    cdef cnp.npy_intp dims[64]
    cdef cnp.npy_intp strides[64]
    cdef tuple wanted = sizes_argument(size), final
    cdef int ndim = cnp.PyArray_NDIM(x.array), n = len(wanted), axis, own
    if n < ndim or n > 64:
        raise RuntimeError(f"expand(): the number of sizes provided ({n}) must be greater or equal to the number of "
                           f"dimensions in the tensor ({ndim})")
    for axis in range(n - 1, -1, -1):
        own = axis - (n - ndim)
        dims[axis] = wanted[axis]
        strides[axis] = 0
        if own < 0:
            if dims[axis] < 0:
                raise RuntimeError(f"The expanded size of the tensor ({dims[axis]}) isn't allowed in a leading, "
                                   f"non-existing dimension {axis}")
            if dims[axis] == 1 and ndim:
                strides[axis] = dims[axis + 1] * strides[axis + 1]
            continue
        if dims[axis] == -1:
            dims[axis] = cnp.PyArray_DIM(x.array, own)
        if cnp.PyArray_DIM(x.array, own) == dims[axis]:
            strides[axis] = cnp.PyArray_STRIDE(x.array, own)
        elif cnp.PyArray_DIM(x.array, own) != 1:
            raise RuntimeError(f"The expanded size of the tensor ({dims[axis]}) must match the existing size "
                               f"({cnp.PyArray_DIM(x.array, own)}) at non-singleton dimension {axis}.  Target sizes: "
                               f"{list(wanted)}.  Tensor sizes: {list(shape_of(x))}")
    final = tuple([dims[axis] for axis in range(n)])
    return record_view(ExpandBackward0, (shape_of(x), final), x,
                       strided_view(x.array, cnp.PyArray_BYTES(x.array), n, dims, strides))


def batched_sum_to_size(call, self, *size):
    cdef tuple wanted = tuple(sizes_argument(size))
    return call.value(self).sum_to_size(call.size, *(1,) * (rank_of(self) - len(wanted)), *wanted).reshape(call.size, *wanted)


def expand_as(Tensor self, other):
    """expand_as(other) -> Tensor: expand(other.shape)."""
    return expand(self, shape_of(as_tensor(other, "expand_as")))


def sum_to_size(Tensor self, *size):
    """sum_to_size(size) -> Tensor: the sum over the dimensions along which a tensor of that size was broadcast to this."""
    cdef tuple sizes = sizes_argument(size), own = shape_of(self)
    cdef int lead = len(own) - len(sizes), axis
    if own == sizes:
        return self
    if lead < 0 or any([s != 1 and s != o for s, o in zip(sizes, own[lead:])]):
        raise RuntimeError(f"size {list(sizes)} is not expandable to size {list(own)}.")
    dims = list(range(lead)) + [axis + lead for axis in range(len(sizes)) if sizes[axis] == 1 and own[axis + lead] != 1]
    result = self.sum(dims, True) if dims else self
    return reshape(result, sizes) if lead else result


for _function, _rule in {expand_as: COMPOSITE, sum_to_size: batched_sum_to_size}.items():
    extend(_function.__name__, _function)
    declare_rule(_function, _rule)
