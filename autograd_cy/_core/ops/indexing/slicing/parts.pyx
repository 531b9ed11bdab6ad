"""Parts of a tensor along one dimension, views, and copies with such a part replaced."""

from operator import itemgetter, methodcaller

cimport cython

from autograd_cy._core.arrays.buffers cimport copy_in_order
from autograd_cy._core.arrays.dtypes cimport INT64, code_of, type_word
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport any_wanted, as_tensor, new_node, record_all, shape_of, tensor_argument, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE, Along
from autograd_cy._core.ops.registry import op


# one row, one range

@op(methods=("select",), batch=Along("dim", least=1))
def select(input, dim, index: int):
    """select(input, dim, index) -> Tensor: the view of row `index` along `dim`, without that dimension.

    >>> import autograd_cy as ag
    >>> ag.select(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, 0)
    tensor([1., 3.])
    """
    cdef Tensor x = as_tensor(input, "select")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    check_dimensions(x, "select")
    cdef Py_ssize_t row = int(index), size = cnp.PyArray_DIM(x.array, d)
    if not -size <= row < size:
        raise IndexError(f"select(): index {row} out of range for tensor of size {list(shape_of(x))} at dimension {d}")
    return row_view(x, d, row)


@op(methods=("narrow",), batch=Along("dim", least=1))
def narrow(input, dim, start: int | Tensor, length: int):
    """narrow(input, dim, start, length) -> Tensor: the view of `length` rows along `dim` from row `start` on.

    >>> import autograd_cy as ag
    >>> ag.narrow(ag.tensor([1.0, 2.0, 3.0]), 0, 1, 2)
    tensor([2., 3.])
    """
    cdef Tensor x = as_tensor(input, "narrow")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    cdef Py_ssize_t first, n = length
    if isinstance(start, Tensor) and ((<Tensor> start).array.ndim or start.is_floating_point()):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    check_dimensions(x, "narrow")
    first = first_row(x, d, int(start), n, "narrow")
    return part(x, d, first, first + n, 1)


cdef int check_dimensions(Tensor x, str operation) except -1:
    if cnp.PyArray_NDIM(x.array) == 0:
        raise (IndexError if operation == "select" else RuntimeError)(f"{operation}() cannot be applied to a 0-dim tensor.")
    return 0


cdef Py_ssize_t first_row(Tensor x, int dim, Py_ssize_t start, Py_ssize_t length, str operation) except -1:
    """The first of `length` rows, counted from the front; raises where there are fewer."""
    cdef Py_ssize_t size = cnp.PyArray_DIM(x.array, dim)
    if length < 0:
        raise RuntimeError(f"{operation}(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    if start < 0:
        start += size
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return start


# several parts

@op(methods=("tensor_split",), batch=Along("dim"))
def tensor_split(input, indices_or_sections: int | Sequence[int] | Tensor, dim=0):
    """tensor_split(input, indices_or_sections, dim=0) -> tuple of Tensors: views of consecutive parts along `dim`.

    An int is the number of parts, the first ones one row longer if they can't be equal; a list has the start of each part but
    the first.

    >>> import autograd_cy as ag
    >>> ag.tensor_split(ag.tensor([1.0, 2.0, 3.0]), 2)
    (tensor([1., 2.]), tensor([3.]))
    >>> ag.tensor_split(ag.tensor([1.0, 2.0, 3.0]), (1,))
    (tensor([1.]), tensor([2., 3.]))
    """
    cdef Tensor x = as_tensor(input, "tensor_split")
    cdef Py_ssize_t sections, size, k
    if cnp.PyArray_NDIM(x.array) == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    given = places_of(indices_or_sections) if isinstance(indices_or_sections, Tensor) else indices_or_sections
    size = cnp.PyArray_DIM(x.array, d)
    if isinstance(given, (tuple, list)):
        bounds = [0, *given]
        ends = [*given, size]
    else:
        sections = given
        if sections <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
        try:
            bounds = [None] * sections
        except MemoryError:
            raise MemoryError(f"tensor_split(): no memory for {sections} parts") from None
        for k in range(sections):
            bounds[k] = k * (size // sections) + min(k, size % sections)
        ends = [*bounds[1:], size]
    return tuple([part(x, d, start, end, 1) for start, end in zip(bounds, ends)])


cdef object places_of(Tensor given):
    """The split points of tensor_split() given as a tensor."""
    if code_of(given.array) != INT64:
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
                           f"{type_word(code_of(given.array))}")
    if cnp.PyArray_NDIM(given.array) > 1:
        raise RuntimeError("tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
                           f"tensor, but got a tensor with {cnp.PyArray_NDIM(given.array)} dims")
    return given.array.tolist()


cdef tuple split_at(Tensor x, object given, int dim, int least, str name):
    """tensor_split() along a dimension, for a tensor with at least `least` dimensions."""
    if cnp.PyArray_NDIM(x.array) < least:
        raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension{'s' if least > 1 else ''}, but "
                           f"got a tensor with {cnp.PyArray_NDIM(x.array)} dimensions!")
    if not isinstance(given, (tuple, list, Tensor)):
        if given <= 0 or cnp.PyArray_DIM(x.array, dim) % given:
            raise RuntimeError(f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                               f"{cnp.PyArray_DIM(x.array, dim)} is not divisible by the split_size {given}!")
    return tensor_split(x, given, dim)


@op(methods=("hsplit",), batch=COMPOSITE)
def hsplit(input, indices_or_sections: int | Sequence[int] | Tensor):
    """hsplit(input, indices_or_sections) -> tuple of Tensors: tensor_split() into columns; of a vector, into parts.

    RuntimeError if the columns can't be split into that many equal parts.

    >>> import autograd_cy as ag
    >>> ag.hsplit(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), 2)
    (tensor([[1.],
            [3.]]), tensor([[2.],
            [4.]]))
    """
    cdef Tensor x = as_tensor(input, "hsplit")
    return split_at(x, indices_or_sections, 1 if cnp.PyArray_NDIM(x.array) > 1 else 0, 1, "hsplit")


@op(methods=("vsplit",), batch=COMPOSITE)
def vsplit(input, indices_or_sections: int | Sequence[int] | Tensor):
    """vsplit(input, indices_or_sections) -> tuple of Tensors: tensor_split() into rows, for two dimensions or more.

    >>> import autograd_cy as ag
    >>> ag.vsplit(ag.tensor([[1.0, 2.0], [3.0, 4.0]]), 2)
    (tensor([[1., 2.]]), tensor([[3., 4.]]))
    """
    return split_at(as_tensor(input, "vsplit"), indices_or_sections, 0, 2, "vsplit")


@op(methods=("dsplit",), batch=COMPOSITE)
def dsplit(input, indices_or_sections: int | Sequence[int] | Tensor):
    """dsplit(input, indices_or_sections) -> tuple of Tensors: tensor_split() along the third dimension.

    >>> import autograd_cy as ag
    >>> ag.dsplit(ag.tensor([[[1.0, 2.0]]]), 2)
    (tensor([[[1.]]]), tensor([[[2.]]]))
    """
    return split_at(as_tensor(input, "dsplit"), indices_or_sections, 2, 3, "dsplit")


# a copy with one part replaced

cdef class PartScatter(Node):
    """Last constants: the sizes of the part, and a callable that takes it from a tensor or an array."""

    cdef object vjp(self, object g, int i):
        sizes, take = self.constants[-2:]
        return take(g).clone() if i else without_part(g, sizes, take)

    cdef object jvp(self, tuple tangents):
        sizes, take = self.constants[-2:]
        t, source = tangents
        if source is None:
            return without_part(t, sizes, take)
        if t is None:
            t = source.new_zeros(self.constants[-3])
        return with_part(PartScatterBackward0, (), t, source, take)


@cython.final
cdef class PartScatterBackward0(PartScatter):
    """Used for gradients and tangents."""


@cython.final
cdef class SelectScatterBackward0(PartScatter):
    cdef tuple constant_names(self):
        return ("dim", "index")


@cython.final
cdef class SliceScatterBackward0(PartScatter):
    cdef tuple constant_names(self):
        return ("dim", "start", "end", "step")


@cython.final
cdef class DiagonalScatterBackward0(PartScatter):
    cdef tuple constant_names(self):
        return ("offset", "dim1", "dim2")


cdef object without_part(object g, tuple sizes, object take):
    """A copy with the part set to zero."""
    return with_part(PartScatterBackward0, (), g, g.new_zeros(sizes), take)


cdef Tensor with_part(object node_class, tuple constants, Tensor x, Tensor part, object take):
    """A copy of `x` in which the part that `take` selects is replaced."""
    cdef Tensor y
    if x.batched or part.batched:
        whole = (<object> x).clone() if x.batched else (<object> part).new_zeros(shape_of(x)).copy_(x)
        take(whole).copy_(part)
        return whole
    array = copy_in_order(x.array, code_of(x.array))
    place = take(array)
    place.flags.writeable = True            # NumPy's diagonal() is read-only
    place[...] = part.array
    y = new_tensor(array)
    if any_wanted((x, part)):
        record_all(new_node(node_class, (*constants, shape_of(x), shape_of(part), take)), y, (x, part))
    return y


cdef int check_part(str name, object place, Tensor part) except -1:
    if place.shape != shape_of(part):
        raise RuntimeError(f"expected src to have a size equal to the slice of self. src size = {list(shape_of(part))}, slice "
                           f"size = {list(place.shape)} ({name}())")
    return 0


cdef object index_of(int dim, object item):
    return itemgetter((slice(None),) * dim + (item, Ellipsis))


cdef tuple both(object call, object input, object src):
    """Both operands with all samples in front, and the rank of one sample."""
    return call.front(input), call.front(src), rank_of(input)


def batched_select_scatter(call, input, src, dim, index):
    x, part, rank = both(call, input, src)
    return call(x, part, wrap_dim(dim, rank) + 1, index)


@op(methods=("select_scatter",), batch=batched_select_scatter)
def select_scatter(input, src, dim, index: int):
    """select_scatter(input, src, dim, index) -> Tensor: a copy with row `index` along `dim` replaced by `src`.

    >>> import autograd_cy as ag
    >>> ag.select_scatter(ag.zeros(2, 2), ag.tensor([1.0, 2.0]), 0, 1)
    tensor([[0., 0.],
            [1., 2.]])
    """
    cdef Tensor x = as_tensor(input, "select_scatter"), part = tensor_argument(src, "select_scatter", "src", 2)
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    check_dimensions(x, "select")
    cdef Py_ssize_t size = cnp.PyArray_DIM(x.array, d)
    if not -size <= index < size:
        raise IndexError(f"select(): index {index} out of range for tensor of size {list(shape_of(x))} at dimension {d}")
    take = index_of(d, int(index))
    check_part("select_scatter", take(x.array), part)
    return with_part(SelectScatterBackward0, (d, index), x, part, take)


def batched_slice_scatter(call, input, src, dim=0, start=None, end=None, step=1):
    x, part, rank = both(call, input, src)
    return call(x, part, wrap_dim(dim, rank) + 1, start, end, step)


@op(methods=("slice_scatter",), batch=batched_slice_scatter)
def slice_scatter(input, src, dim=0, start: int | None = None, end: int | None = None, step: int = 1):
    """slice_scatter(input, src, dim=0, start=None, end=None, step=1) -> Tensor: a copy with the rows of a slice replaced.

    >>> import autograd_cy as ag
    >>> ag.slice_scatter(ag.zeros(3), ag.tensor([1.0, 2.0]), start=1)
    tensor([0., 1., 2.])
    """
    cdef Tensor x = as_tensor(input, "slice_scatter"), part = tensor_argument(src, "slice_scatter", "src", 2)
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM(x.array))
    check_dimensions(x, "slice")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    take = index_of(d, slice(start, end, step))
    check_part("slice_scatter", take(x.array), part)
    return with_part(SliceScatterBackward0, (d, start, end, step), x, part, take)


def batched_diagonal_scatter(call, input, src, offset=0, dim1=0, dim2=1):
    x, part, rank = both(call, input, src)
    return call(x, part, offset, wrap_dim(dim1, rank) + 1, wrap_dim(dim2, rank) + 1)


@op(methods=("diagonal_scatter",), batch=batched_diagonal_scatter)
def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """diagonal_scatter(input, src, offset=0, dim1=0, dim2=1) -> Tensor: a copy with the diagonal() replaced by `src`.

    >>> import autograd_cy as ag
    >>> ag.diagonal_scatter(ag.zeros(2, 2), ag.tensor([1.0, 2.0]))
    tensor([[1., 0.],
            [0., 2.]])
    """
    cdef Tensor x = as_tensor(input, "diagonal_scatter"), part = tensor_argument(src, "diagonal_scatter", "src", 2)
    cdef int ndim = cnp.PyArray_NDIM(x.array), a = wrap_dim(dim1, ndim), b = wrap_dim(dim2, ndim)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    shift = max(-cnp.PyArray_DIM(x.array, a), min(<Py_ssize_t> offset, cnp.PyArray_DIM(x.array, b)))
    take = methodcaller("diagonal", shift, a, b)
    check_part("diagonal_scatter", take(x.array), part)
    return with_part(DiagonalScatterBackward0, (offset, a, b), x, part, take)
