"""Shape operations: views, and what puts tensors together and takes them apart.

All of them are linear: the rule of a node is the transposed operation, its jvp the operation itself, both with the
node's constants.
"""

from operator import methodcaller

import numpy as np

cimport cython
cimport numpy as cnp

from autograd_cy._core.buffers cimport cast, dense_copy, strided_view
from autograd_cy._core.dtypes cimport COMPLEX64, FLOAT32, FLOAT64, code_of, dtype, dtype_of, promote
from autograd_cy._core.node cimport Node
from autograd_cy._core.record cimport (
    any_wanted, as_tensor, enter_linear, enter_view, is_wanted, new_node, record, record_all, shape_of, wrap_dim)
from autograd_cy._core.tensor cimport Tensor, extend, new_tensor, share_version

from autograd_cy._core.registry import op

cnp.import_array()


def sizes_of(arguments):
    """The sizes given as one sequence or one by one: reshape((2, 3)), reshape(2, 3)."""
    if len(arguments) == 1 and not isinstance(arguments[0], int):
        arguments = arguments[0]
    return tuple([int(size) for size in arguments])


cdef tuple inferred(tuple sizes, Py_ssize_t numel):
    """The sizes with one -1 worked out; RuntimeError if they don't make `numel` elements."""
    cdef Py_ssize_t known = 1, size
    for size in sizes:
        if size != -1:
            known *= size
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
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
    """Whether NumPy's reshape of the array shares its memory: a copy begins elsewhere."""
    return cnp.PyArray_BYTES(reshaped) == cnp.PyArray_BYTES(array) or cnp.PyArray_SIZE(array) == 0


# reshape and its kin

cdef class Reshape(Node):
    """Its last constants are the sizes of the input and those of the output."""

    cdef tuple constant_names(self):
        return ("self_sym_sizes",)

    cdef object rule(self, object g, int i):
        return reshape(g, self.constants[-2])

    cdef object jvp(self, tuple tangents):
        return reshape(tangents[0], self.constants[-1])


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


@op(methods=("reshape",))
def reshape(input, *shape):
    """reshape(input, shape) -> Tensor: the elements in another shape; a view where the strides allow it, else a copy.

    One size may be -1: it follows from the others. As a method the sizes may stand one by one: x.reshape(2, 3).

    >>> import autograd_cy as ag
    >>> ag.reshape(ag.tensor([1.0, 2.0, 3.0, 4.0]), (2, -1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    cdef Tensor x = as_tensor(input, "reshape")
    cdef tuple sizes = inferred(sizes_of(shape), cnp.PyArray_SIZE(x.array))
    array = x.array.reshape(sizes)
    cdef tuple constants = (shape_of(x), sizes)
    if is_view(array, x.array):
        dense = cnp.PyArray_IS_C_CONTIGUOUS(x.array)
        return enter_view(ViewBackward0 if dense else ReshapeAliasBackward0, constants, x, array)
    return enter_linear(UnsafeViewBackward0, constants, x, array)


@op(methods=("view",))
def view(input, *shape):
    """view(input, shape) -> Tensor: a view in another shape; RuntimeError where only a copy has that shape.

    >>> import autograd_cy as ag
    >>> ag.tensor([1.0, 2.0, 3.0, 4.0]).view(2, 2)
    tensor([[1., 2.],
            [3., 4.]])
    """
    cdef Tensor x = as_tensor(input, "view")
    if len(shape) == 1 and isinstance(shape[0], (dtype, np.dtype)):
        raise NotImplementedError("view(dtype) is not supported; use to(dtype)")
    cdef tuple sizes = inferred(sizes_of(shape), cnp.PyArray_SIZE(x.array))
    array = x.array.reshape(sizes)
    if not is_view(array, x.array):
        raise RuntimeError("view size is not compatible with input tensor's size and stride (at least one dimension spans "
                           "across two contiguous subspaces). Use .reshape(...) instead.")
    return enter_view(ViewBackward0, (shape_of(x), sizes), x, array)


@op(methods=("flatten",))
def flatten(input, start_dim=0, end_dim=-1):
    """flatten(input, start_dim=0, end_dim=-1) -> Tensor: the dimensions from start_dim to end_dim made into one.

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
    return reshape(x, sizes[:start] + (int(np.prod(sizes[start:end + 1], dtype=np.int64)),) + sizes[end + 1:])


@op(methods=("squeeze",))
def squeeze(input, dim=None):
    """squeeze(input, dim=None) -> Tensor: without the dimensions of size 1, or only those among `dim` (an int or a tuple).

    >>> import autograd_cy as ag
    >>> ag.squeeze(ag.tensor([[1.0, 2.0]]))
    tensor([1., 2.])
    """
    cdef Tensor x = as_tensor(input, "squeeze")
    cdef tuple sizes = shape_of(x), kept
    cdef int d, ndim = cnp.PyArray_NDIM(x.array)
    if dim is None:
        kept = tuple([size for size in sizes if size != 1])
        return enter_view(SqueezeBackward0, (sizes, kept), x, x.array.reshape(kept))
    dims = [wrap_dim(d, ndim) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))]
    kept = tuple([sizes[d] for d in range(ndim) if d not in dims or sizes[d] != 1])
    if isinstance(dim, (tuple, list)):
        return enter_view(SqueezeBackward2, (tuple(dims), sizes, kept), x, x.array.reshape(kept))
    return enter_view(SqueezeBackward1, (dims[0], sizes, kept), x, x.array.reshape(kept))


@op(methods=("unsqueeze",))
def unsqueeze(input, dim):
    """unsqueeze(input, dim) -> Tensor: with a dimension of size 1 inserted at `dim`.

    >>> import autograd_cy as ag
    >>> ag.unsqueeze(ag.tensor([1.0, 2.0]), 1)
    tensor([[1.],
            [2.]])
    """
    cdef Tensor x = as_tensor(input, "unsqueeze")
    cdef tuple sizes = shape_of(x)
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array) + 1)
    cdef tuple wider = sizes[:d] + (1,) + sizes[d:]
    return enter_view(UnsqueezeBackward0, (d, sizes, wider), x, x.array.reshape(wider))


# transpose and its kin

@cython.final
cdef class TransposeBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim0", "dim1")

    cdef object rule(self, object g, int i):
        return transpose(g, *self.constants)

    cdef object jvp(self, tuple tangents):
        return transpose(tangents[0], *self.constants)


@cython.final
cdef class TBackward0(Node):
    cdef object rule(self, object g, int i):
        return t(g)

    cdef object jvp(self, tuple tangents):
        return t(tangents[0])


@cython.final
cdef class PermuteBackward0(Node):
    cdef tuple constant_names(self):
        return ("dims",)

    cdef object rule(self, object g, int i):
        return permute(g, tuple([int(d) for d in np.argsort(self.constants[0])]))

    cdef object jvp(self, tuple tangents):
        return permute(tangents[0], self.constants[0])


@op(methods=("transpose", "swapaxes", "swapdims"))
def transpose(input, dim0, dim1):
    """transpose(input, dim0, dim1) -> Tensor: a view with two dimensions exchanged.

    >>> import autograd_cy as ag
    >>> ag.transpose(ag.ones(2, 3, 4), 0, 2).shape
    torch.Size([4, 3, 2])
    """
    cdef Tensor x = as_tensor(input, "transpose")
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    cdef int a = wrap_dim(dim0, ndim), b = wrap_dim(dim1, ndim)
    return enter_view(TransposeBackward0, (a, b), x, x.array.swapaxes(a, b) if ndim else x.array[...])


@op(methods=("t",))
def t(input):
    """t(input) -> Tensor: the transposed matrix, a view; a tensor of fewer than two dimensions as it is.

    >>> import autograd_cy as ag
    >>> ag.t(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 3.],
            [2., 4.]])
    """
    cdef Tensor x = as_tensor(input, "t")
    if cnp.PyArray_NDIM(x.array) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {cnp.PyArray_NDIM(x.array)}D")
    return enter_view(TBackward0, (), x, cnp.PyArray_Transpose(x.array, NULL))


@op(methods=("permute",))
def permute(input, *dims):
    """permute(input, dims) -> Tensor: a view with the dimensions in the order of `dims`.

    >>> import autograd_cy as ag
    >>> ag.permute(ag.ones(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    cdef Tensor x = as_tensor(input, "permute")
    cdef int d, ndim = cnp.PyArray_NDIM(x.array)
    cdef tuple order = tuple([wrap_dim(d, ndim) for d in sizes_of(dims)])
    if len(order) != ndim:
        raise RuntimeError("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the "
                           f"desired ordering of dimensions i.e. input.dim() = {ndim} is not equal to "
                           f"len(dims) = {len(order)}".replace("permute(sparse_coo): ", "permute(): "))
    if len(set(order)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return enter_view(PermuteBackward0, (order,), x, x.array.transpose(order))


def reversed_dims(Tensor self):
    """The tensor with its dimensions in reversed order, a view."""
    return permute(self, tuple(range(cnp.PyArray_NDIM(self.array) - 1, -1, -1)))


def matrix_transposed(Tensor self):
    """The tensor with its last two dimensions exchanged, a view."""
    return transpose(self, -2, -1)


# expand

@cython.final
cdef class ExpandBackward0(Node):
    cdef tuple constant_names(self):
        return ("self_sym_sizes",)

    cdef object rule(self, object g, int i):
        return sum_to_size(g, self.constants[0])

    cdef object jvp(self, tuple tangents):
        return expand(tangents[0], self.constants[1])


@op(methods=("expand",))
def expand(input, *sizes):
    """expand(input, sizes) -> Tensor: a view broadcast to `sizes`; -1 keeps a dimension's size.

    >>> import autograd_cy as ag
    >>> ag.tensor([[1.0], [2.0]]).expand(2, 3)
    tensor([[1., 1., 1.],
            [2., 2., 2.]])
    """
    cdef Tensor x = as_tensor(input, "expand")
    cdef cnp.npy_intp dims[64]
    cdef cnp.npy_intp strides[64]
    cdef tuple wanted = sizes_of(sizes), final
    cdef int ndim = cnp.PyArray_NDIM(x.array), n = len(wanted), axis, own
    if n < ndim or n > 64:
        raise RuntimeError(f"expand(): the number of sizes provided ({n}) must be greater or equal to the number of "
                           f"dimensions in the tensor ({ndim})")
    for axis in range(n):
        own = axis - (n - ndim)
        dims[axis] = wanted[axis]
        strides[axis] = 0
        if own < 0:
            if dims[axis] < 0:
                raise RuntimeError(f"The expanded size of the tensor ({dims[axis]}) isn't allowed in a leading, "
                                   f"non-existing dimension {axis}")
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
    return enter_view(ExpandBackward0, (shape_of(x), final), x,
                      strided_view(x.array, cnp.PyArray_BYTES(x.array), n, dims, strides))


def expand_as(Tensor self, other):
    """expand_as(other) -> Tensor: expand(other.shape)."""
    return expand(self, shape_of(as_tensor(other, "expand_as")))


def sum_to_size(Tensor self, *size):
    """sum_to_size(size) -> Tensor: the sum over the dimensions along which a tensor of that size was broadcast to this one."""
    cdef tuple sizes = sizes_of(size), own = shape_of(self)
    cdef int lead = len(own) - len(sizes), axis
    if own == sizes:
        return self
    if lead < 0 or any([s != 1 and s != o for s, o in zip(sizes, own[lead:])]):
        raise RuntimeError(f"size {list(sizes)} is not expandable to size {list(own)}.")
    dims = list(range(lead)) + [axis + lead for axis in range(len(sizes)) if sizes[axis] == 1 and own[axis + lead] != 1]
    result = self.sum(dims, True) if dims else self
    return reshape(result, sizes) if lead else result


# taking a part, and putting it back among zeros

@cython.final
cdef class EmbedBackward0(Node):
    """Of `embed`: the transposed operation of taking a part is what takes the part."""

    cdef object rule(self, object g, int i):
        return self.constants[0](g)

    cdef object jvp(self, tuple tangents):
        return embed(tangents[0], self.constants[1], self.constants[0])


cpdef Tensor embed(Tensor g, tuple sizes, object take):
    """Zeros of those sizes, with `g` in the part that `take` takes.

    `take` works on an array, of which it gives a view, and on a Tensor: itemgetter(index), methodcaller("diagonal").
    """
    cdef cnp.ndarray array = np.zeros(sizes, g.array.dtype)
    part = take(array)
    part.flags.writeable = True            # NumPy's diagonal() is read-only
    part[...] = g.array
    return enter_linear(EmbedBackward0, (take, sizes), g, array)


cdef class Part(Node):
    """The node of a view of a part; its last constants are the input's sizes and what takes the part."""

    cdef object rule(self, object g, int i):
        return embed(g, self.constants[-2], self.constants[-1])

    cdef object jvp(self, tuple tangents):
        return self.constants[-1](tangents[0])


@cython.final
cdef class DiagonalBackward0(Part):
    cdef tuple constant_names(self):
        return ("offset", "dim1", "dim2", "self_sym_sizes")


@op(methods=("diagonal",))
def diagonal(input, offset=0, dim1=0, dim2=1):
    """diagonal(input, offset=0, dim1=0, dim2=1) -> Tensor: a view of the diagonals of the matrices in dim1 and dim2.

    They become the last dimension; `offset` > 0 takes those above the main diagonal.

    >>> import autograd_cy as ag
    >>> ag.diagonal(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    cdef Tensor x = as_tensor(input, "diagonal")
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    cdef int a = wrap_dim(dim1, ndim), b = wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    take = methodcaller("diagonal", offset, a, b)
    array = take(x.array)
    array.flags.writeable = cnp.PyArray_ISWRITEABLE(x.array)
    return enter_view(DiagonalBackward0, (offset, a, b, shape_of(x), take), x, array)


cdef class Split(Node):
    cdef tuple constant_names(self):
        return ("dim", "split_size", "self_sym_sizes")

    cdef object rule(self, object g, int i):
        parts = zip(g if isinstance(g, list) else [g], self.constants[-1])
        return cat([zeros_or(part, part_sizes) for part, part_sizes in parts], self.constants[0])

    cdef object jvp(self, tuple tangents):
        return split(tangents[0], self.constants[1], self.constants[0])


@cython.final
cdef class SplitBackward0(Split):
    pass


@cython.final
cdef class SplitWithSizesBackward0(Split):
    cdef tuple constant_names(self):
        return ("dim", "split_sizes", "self_sym_sizes")


@cython.final
cdef class UnbindBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim",)

    cdef object rule(self, object g, int i):
        parts = g if isinstance(g, list) else [g]
        return stack([zeros_or(part, self.constants[1]) for part in parts], self.constants[0])

    cdef object jvp(self, tuple tangents):
        return unbind(tangents[0], self.constants[0])


cdef object zeros_or(object g, object like):
    """The gradient of one output, or zeros if there is none. `like`: (sizes, dtype)"""
    return new_tensor(np.zeros(like[0], like[1])) if g is None else g


@op(methods=("split",))
def split(tensor, split_size_or_sections, dim=0):
    """split(tensor, split_size_or_sections, dim=0) -> tuple of Tensors: views of consecutive parts along `dim`.

    An int is the size of each part (the last may be smaller), a list gives the sizes of all.

    >>> import autograd_cy as ag
    >>> ag.split(ag.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    """
    cdef Tensor x = as_tensor(tensor, "split"), part
    cdef tuple sizes = shape_of(x)
    cdef int d = wrap_dim(dim, len(sizes))
    cdef Py_ssize_t total = sizes[d] if sizes else 0, start = 0, size
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size < 0 or (size == 0 and total):
            raise RuntimeError(f"split expects split_size be non-negative, but got split_size={size}")
        sections = [min(size, total - k) for k in range(0, total, size)] if total else [0]
    else:
        sections = [int(s) for s in split_size_or_sections]
        if sum(sections) != total or min(sections, default=0) < 0:
            raise RuntimeError("split_with_sizes expects split_sizes to sum exactly to "
                               f"{total} (input tensor's size at dimension {d}), but got split_sizes={sections}")
    parts, shapes = [], []
    for size in sections:
        array = x.array[(slice(None),) * d + (slice(start, start + size),)]
        part = new_tensor(array)
        share_version(x, part)
        parts.append(part)
        shapes.append((np.shape(array), x.array.dtype))
        start += size
    outputs = tuple(parts)
    if is_wanted(x):
        node_class = SplitBackward0 if isinstance(split_size_or_sections, int) else SplitWithSizesBackward0
        record_all(new_node(node_class, (d, split_size_or_sections, sizes, shapes)), outputs, (x,))
    return outputs


@op(methods=("unbind",))
def unbind(input, dim=0):
    """unbind(input, dim=0) -> tuple of Tensors: the views along `dim`, without that dimension.

    >>> import autograd_cy as ag
    >>> ag.unbind(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    (tensor([1., 2.]), tensor([3., 4.]))
    """
    cdef Tensor x = as_tensor(input, "unbind"), part
    cdef tuple sizes = shape_of(x)
    if not sizes:
        raise RuntimeError("Dimension specified as 0 but tensor has no dimensions")
    cdef int d = wrap_dim(dim, len(sizes))
    cdef Py_ssize_t k
    parts = []
    for k in range(sizes[d]):
        part = new_tensor(x.array[(slice(None),) * d + (k, Ellipsis)])
        share_version(x, part)
        parts.append(part)
    outputs = tuple(parts)
    if parts and is_wanted(x):
        like = (sizes[:d] + sizes[d + 1:], x.array.dtype)
        record_all(new_node(UnbindBackward0, (d, like)), outputs, (x,))
    return outputs


# putting together

@cython.final
cdef class CatBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim",)

    cdef object rule(self, object g, int i):
        dim, bounds, types = self.constants
        return as_type(g[(slice(None),) * dim + (slice(bounds[i], bounds[i + 1]),)], types[i][0]).reshape(types[i][1])

    cdef object jvp(self, tuple tangents):
        dim, _bounds, types = self.constants
        return cat([zeros_or(t, (kind[1], (<dtype> kind[0]).numpy_dtype)) for t, kind in zip(tangents, types)], dim)


@cython.final
cdef class StackBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim",)

    cdef object rule(self, object g, int i):
        return as_type(g[(slice(None),) * self.constants[0] + (i,)], self.constants[1][i][0])

    cdef object jvp(self, tuple tangents):
        return stack([zeros_or(t, (kind[1], (<dtype> kind[0]).numpy_dtype))
                      for t, kind in zip(tangents, self.constants[1])], self.constants[0])


cdef object as_type(object g, dtype wanted):
    """A gradient in the type of the input it is for."""
    if (<Tensor> g).dtype is wanted:
        return g
    if (<Tensor> g).dtype.is_complex and not wanted.is_complex:
        g = g.real
    return g.to(wanted)


cdef list tensors_of(object tensors, str operation):
    cdef list found = list(tensors)
    if not found:
        raise RuntimeError(f"{operation}(): expected a non-empty list of Tensors")
    for position, item in enumerate(found):
        if not isinstance(item, Tensor):
            raise TypeError(f"{operation}(): expected Tensor as element {position} in argument 0, but got "
                            f"{type(item).__name__}")
    return found


cdef object common_type(list tensors):
    """The NumPy dtype that all tensors promote to."""
    cdef int code = code_of((<Tensor> tensors[0]).array)
    for x in tensors:
        code = promote(code, code_of((<Tensor> x).array))
    return (<dtype> dtype_of(code)).numpy_dtype


@op(methods=())
def cat(tensors, dim=0):
    """cat(tensors, dim=0) -> Tensor: the tensors one after the other along `dim`; elsewhere their sizes agree.

    >>> import autograd_cy as ag
    >>> ag.cat([ag.tensor([1.0, 2.0]), ag.tensor([3.0])])
    tensor([1., 2., 3.])
    """
    cdef list found = tensors_of(tensors, "cat")
    cdef Tensor x
    # an empty 1-d tensor joins any shape, as in PyTorch
    cdef list shaped = [x for x in found if shape_of(x) != (0,)] or found
    if cnp.PyArray_NDIM((<Tensor> shaped[0]).array) == 0:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM((<Tensor> shaped[0]).array))
    cdef tuple first = shape_of(<Tensor> shaped[0])
    for x in shaped:
        sizes = shape_of(x)
        if len(sizes) != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(sizes)}")
        if sizes[:d] + sizes[d + 1:] != first[:d] + first[d + 1:]:
            raise RuntimeError(f"Sizes of tensors must match except in dimension {d}. Expected sizes {list(first)} but got "
                               f"{list(sizes)}")
    kind = common_type(found)
    cdef Tensor y = new_tensor(np.concatenate([x.array for x in shaped], d, dtype=kind))
    if any_wanted(found):
        bounds = [0]
        for x in found:
            bounds.append(bounds[-1] + (0 if shape_of(x) == (0,) else shape_of(x)[d]))
        types = [(dtype_of(code_of(x.array)), shape_of(x)) for x in found]
        record_all(new_node(CatBackward0, (d, bounds, types)), y, found)
    return y


@op(methods=())
def stack(tensors, dim=0):
    """stack(tensors, dim=0) -> Tensor: tensors of one shape along a new dimension `dim`.

    >>> import autograd_cy as ag
    >>> ag.stack([ag.tensor([1.0, 2.0]), ag.tensor([3.0, 4.0])], dim=1)
    tensor([[1., 3.],
            [2., 4.]])
    """
    cdef list found = tensors_of(tensors, "stack")
    cdef Tensor x
    cdef tuple first = shape_of(<Tensor> found[0])
    for position, x in enumerate(found):
        if shape_of(x) != first:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                               f"{list(shape_of(x))} at entry {position}")
    cdef int d = wrap_dim(dim, len(first) + 1)
    cdef Tensor y = new_tensor(np.stack([x.array for x in found], d, dtype=common_type(found)))
    if any_wanted(found):
        types = [(dtype_of(code_of(x.array)), first) for x in found]
        record_all(new_node(StackBackward0, (d, types)), y, found)
    return y


@cython.final
cdef class FlipBackward0(Node):
    cdef tuple constant_names(self):
        return ("dims",)

    cdef object rule(self, object g, int i):
        return flip(g, self.constants[0])

    cdef object jvp(self, tuple tangents):
        return flip(tangents[0], self.constants[0])


@op(methods=("flip",))
def flip(input, *dims):
    """flip(input, dims) -> Tensor: a copy with the order of the elements reversed along `dims`.

    >>> import autograd_cy as ag
    >>> ag.flip(ag.tensor([1.0, 2.0, 3.0]), [0])
    tensor([3., 2., 1.])
    """
    cdef Tensor x = as_tensor(input, "flip")
    cdef int d, ndim = cnp.PyArray_NDIM(x.array)
    cdef tuple axes = tuple([wrap_dim(d, ndim) for d in sizes_of(dims)])
    if len(set(axes)) != len(axes):
        raise RuntimeError(f"dim {axes} appears multiple times in the list of dims")
    return enter_linear(FlipBackward0, (axes,), x, dense_copy(np.flip(x.array, axes) if ndim else x.array))


# copies and conversions

@cython.final
cdef class CloneBackward0(Node):
    cdef object rule(self, object g, int i):
        return g

    cdef object jvp(self, tuple tangents):
        return clone(tangents[0])


@cython.final
cdef class ToCopyBackward0(Node):
    cdef object rule(self, object g, int i):
        return as_type(g, self.constants[0])

    cdef object jvp(self, tuple tangents):
        return convert(tangents[0], self.constants[1])


@op(methods=("clone",))
def clone(input, *, memory_format=None):
    """clone(input) -> Tensor: a copy, dense, through which gradients pass.

    >>> import autograd_cy as ag
    >>> ag.clone(ag.tensor([1.0, 2.0]))
    tensor([1., 2.])
    """
    cdef Tensor x = as_tensor(input, "clone")
    return enter_linear(CloneBackward0, (), x, dense_copy(x.array))


cpdef Tensor convert(Tensor x, dtype wanted):
    """The tensor in another type; itself if it has that type. Of a complex tensor in a real type, the real part."""
    cdef int own = code_of(x.array)
    if own == wanted.code:
        return x
    cdef Tensor y = new_tensor(cast(x.array, wanted.code))
    # no gradient comes back from integers
    if is_wanted(x) and (wanted.is_floating_point or wanted.is_complex):
        record(new_node(ToCopyBackward0, (dtype_of(own), wanted)), y, x)
    return y


def contiguous(Tensor self, memory_format=None):
    """contiguous() -> Tensor: itself if its elements are dense and in order, else a copy that is."""
    return self if cnp.PyArray_IS_C_CONTIGUOUS(self.array) else clone(self)


def detach(Tensor self):
    """detach() -> Tensor: the same memory without the history; writes to either count for both."""
    cdef Tensor y = new_tensor(self.array)
    share_version(self, y)
    return y


def replace_array(Tensor self, Tensor other):
    """Let `self` hold the memory of `other`: what assigning to `.data` does."""
    self.array = other.array


# complex numbers

@cython.final
cdef class ViewAsRealBackward0(Node):
    cdef object rule(self, object g, int i):
        return view_as_complex(g.contiguous())

    cdef object jvp(self, tuple tangents):
        return view_as_real(tangents[0])


@cython.final
cdef class ViewAsComplexBackward0(Node):
    cdef object rule(self, object g, int i):
        return view_as_real(g)

    cdef object jvp(self, tuple tangents):
        return view_as_complex(tangents[0].contiguous())


@op(methods=())
def view_as_real(input):
    """view_as_real(input) -> Tensor: a complex tensor as a real one, with (real, imaginary) as a last dimension; a view.

    >>> import autograd_cy as ag
    >>> ag.view_as_real(ag.tensor([1 + 2j]))
    tensor([[1., 2.]])
    """
    cdef Tensor x = as_tensor(input, "view_as_real")
    if code_of(x.array) < COMPLEX64:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    parts = (<dtype> dtype_of(code_of(x.array))).to_real().numpy_dtype
    return enter_view(ViewAsRealBackward0, (), x, np.expand_dims(x.array, -1).view(parts))


@op(methods=())
def view_as_complex(input):
    """view_as_complex(input) -> Tensor: a real tensor, whose last dimension is (real, imaginary), as a complex one; a view.

    >>> import autograd_cy as ag
    >>> ag.view_as_complex(ag.tensor([[1.0, 2.0]]))
    tensor([1.+2.j])
    """
    cdef Tensor x = as_tensor(input, "view_as_complex")
    cdef dtype d = dtype_of(code_of(x.array))
    if code_of(x.array) not in (FLOAT32, FLOAT64) or cnp.PyArray_NDIM(x.array) == 0 or shape_of(x)[-1] != 2:
        raise RuntimeError("view_as_complex needs a float32 or float64 tensor whose last dimension has size 2, not a "
                           f"{d} tensor of shape {list(shape_of(x))}")
    whole = d.to_complex().numpy_dtype
    if cnp.PyArray_SIZE(x.array) == 0:                  # NumPy gives empty arrays any strides
        return enter_linear(ViewAsComplexBackward0, (), x, np.empty(shape_of(x)[:-1], whole))
    if cnp.PyArray_STRIDE(x.array, cnp.PyArray_NDIM(x.array) - 1) != d.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    return enter_view(ViewAsComplexBackward0, (), x, x.array.view(whole)[..., 0])


@op(methods=())
def real(input):
    """real(input) -> Tensor: the real part, a view; a real tensor itself. As a property: x.real.

    >>> import autograd_cy as ag
    >>> ag.real(ag.tensor([1 + 2j]))
    tensor([1.])
    """
    return view_as_real(input)[..., 0] if code_of(as_tensor(input, "real").array) >= COMPLEX64 else input


@op(methods=())
def imag(input):
    """imag(input) -> Tensor: the imaginary part of a complex tensor, a view. As a property: x.imag.

    >>> import autograd_cy as ag
    >>> ag.imag(ag.tensor([1 + 2j]))
    tensor([2.])
    """
    if code_of(as_tensor(input, "imag").array) < COMPLEX64:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return view_as_real(input)[..., 1]


for _name, _function in {"expand_as": expand_as, "sum_to_size": sum_to_size, "contiguous": contiguous, "detach": detach,
                         "T": property(reversed_dims), "mT": property(matrix_transposed), "real": property(real),
                         "imag": property(imag)}.items():
    extend(_name, _function)
