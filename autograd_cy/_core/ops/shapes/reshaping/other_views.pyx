"""Views composed of other views: operations with a name but no node of their own."""

from math import prod

from autograd_cy._core.graph.record cimport as_tensor, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, extend
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE, declare_rule
from autograd_cy._core.ops.registry import op
from autograd_cy._core.runtime.once import warn_once


cdef int ndim_of(object x) noexcept:
    return cnp.PyArray_NDIM((<Tensor> x).array)


# sizes

@op(methods=("unflatten",), batch=COMPOSITE)
def unflatten(input, dim, sizes: Sequence[int]):
    """unflatten(input, dim, sizes) -> Tensor: a view with the dimension `dim` split into several of those sizes.

    One of them may be -1: it follows from the others.

    >>> import autograd_cy as ag
    >>> ag.unflatten(ag.tensor([1.0, 2.0, 3.0, 4.0]), 0, (2, -1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    cdef tuple own = shape_of(as_tensor(input, "unflatten")), wanted = sizes_argument((sizes,))
    cdef int d = wrap_dim(dim, len(own))
    if not wanted:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not own:
        raise RuntimeError("unflatten: a 0-d tensor has no dimension to make several of")
    known = prod([n for n in wanted if n != -1])
    if wanted.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    if (own[d] % known if known else own[d]) if -1 in wanted else known != own[d]:
        raise RuntimeError(f"unflatten: Provided sizes {list(wanted)} don't multiply up to the size of dim {d} ({own[d]}) in "
                           "the input tensor")
    if -1 in wanted and not known:
        raise RuntimeError("unflatten: sizes can't be worked out beside a size of 0")
    wanted = tuple([own[d] // known if n == -1 else n for n in wanted])
    return view(input, own[:d] + wanted + own[d + 1:])


@op(methods=("ravel",), batch=COMPOSITE)
def ravel(input):
    """ravel(input) -> Tensor: the flattened elements; a view if they are contiguous, else a copy.

    >>> import autograd_cy as ag
    >>> ag.ravel(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 2., 3., 4.])
    """
    cdef Tensor x = as_tensor(input, "ravel")
    return reshape(input.contiguous(), cnp.PyArray_SIZE(x.array))


@op(methods=("broadcast_to",), batch=COMPOSITE)
def broadcast_to(input, *size):
    """broadcast_to(input, size) -> Tensor: a view broadcast to `size`, like expand().

    >>> import autograd_cy as ag
    >>> ag.broadcast_to(ag.tensor([1.0, 2.0]), (2, 2))
    tensor([[1., 2.],
            [1., 2.]])
    """
    return expand(as_tensor(input, "broadcast_to"), sizes_argument(size))


@op(methods=(), batch=COMPOSITE)
def broadcast_tensors(tensors: Tensor | Sequence[Tensor] = (), *others: Tensor):
    """broadcast_tensors(*tensors) -> tuple of Tensors: views of the tensors, broadcast to each other.

    >>> import autograd_cy as ag
    >>> ag.broadcast_tensors(ag.tensor([1.0, 2.0]), ag.tensor([[3.0], [4.0]]))
    (tensor([[1., 2.],
            [1., 2.]]), tensor([[3., 3.],
            [4., 4.]]))
    """
    cdef tuple found = all_of(tensors, others)
    cdef tuple common = common_sizes([shape_of(as_tensor(x, "broadcast_tensors")) for x in found])
    return tuple([x if shape_of(<Tensor> x) == common else expand(x, common) for x in found])


cdef tuple common_sizes(list shapes):
    cdef int n = max([0] + [len(sizes) for sizes in shapes]), axis
    cdef list common = [1] * n
    for sizes in shapes:
        for axis in range(1, len(sizes) + 1):
            if sizes[-axis] == 1 or common[-axis] == sizes[-axis]:
                continue
            if common[-axis] != 1:
                raise RuntimeError(f"The size of tensor a ({common[-axis]}) must match the size of tensor b ({sizes[-axis]}) "
                                   f"at non-singleton dimension {n - axis}")
            common[-axis] = sizes[-axis]
    return tuple(common)


# a minimum number of dimensions

cdef tuple all_of(object first, tuple others):
    """The tensors, given as one sequence or one by one."""
    return tuple(first) if isinstance(first, (tuple, list)) else (first, *others)


cdef object each_of(str name, object function, object first, tuple others):
    """Apply a function to one tensor, or to each of several, given one by one or as a sequence."""
    if not others and not isinstance(first, (tuple, list)):
        return function(as_tensor(first, name))
    return tuple([function(as_tensor(x, name)) for x in all_of(first, others)])


@op(methods=(), batch=COMPOSITE)
def atleast_1d(tensors: Tensor | Sequence[Tensor] = (), *others: Tensor):
    """atleast_1d(*tensors) -> Tensor: a 0-d tensor with one dimension, others unchanged; a tuple for several tensors.

    >>> import autograd_cy as ag
    >>> ag.atleast_1d(ag.tensor(1.0))
    tensor([1.])
    """
    return each_of("atleast_1d", one_dimension, tensors, others)


def one_dimension(x):
    return x if ndim_of(x) else reshape(x, 1)


@op(methods=(), batch=COMPOSITE)
def atleast_2d(tensors: Tensor | Sequence[Tensor] = (), *others: Tensor):
    """atleast_2d(*tensors) -> Tensor: a 0-d tensor as a matrix, a vector as its row, others unchanged; a tuple for several.

    >>> import autograd_cy as ag
    >>> ag.atleast_2d(ag.tensor([1.0, 2.0]))
    tensor([[1., 2.]])
    """
    return each_of("atleast_2d", two_dimensions, tensors, others)


def two_dimensions(x):
    return x if ndim_of(x) > 1 else unsqueeze(x, 0) if ndim_of(x) else reshape(x, 1, 1)


@op(methods=(), batch=COMPOSITE)
def atleast_3d(tensors: Tensor | Sequence[Tensor] = (), *others: Tensor):
    """atleast_3d(*tensors) -> Tensor: with three dimensions: a vector's is the middle one, a matrix's are the first two.

    >>> import autograd_cy as ag
    >>> ag.atleast_3d(ag.tensor([1.0, 2.0])).shape
    torch.Size([1, 2, 1])
    """
    return each_of("atleast_3d", three_dimensions, tensors, others)


def three_dimensions(x):
    cdef int rank = ndim_of(x)
    if rank > 2:
        return x
    return unsqueeze(x, -1) if rank == 2 else unsqueeze(unsqueeze(x, 0), -1) if rank else reshape(x, 1, 1, 1)


# the order of dimensions

@op(methods=("movedim", "moveaxis"), batch=COMPOSITE)
def movedim(input, source: _Dims, destination: _Dims):
    """movedim(input, source, destination) -> Tensor: a view with dimensions moved; the others keep their order.

    >>> import autograd_cy as ag
    >>> ag.movedim(ag.ones(2, 3, 4), 0, -1).shape
    torch.Size([3, 4, 2])
    """
    cdef int rank = ndim_of(as_tensor(input, "movedim")), d
    cdef tuple given = sizes_argument((source,)), wanted = sizes_argument((destination,))
    if len(given) != len(wanted):
        raise RuntimeError(f"movedim: Invalid source or destination dims: source ({list(given)} dims) should contain the same "
                           f"number of dims as destination ({list(wanted)} dims)")
    given, wanted = tuple([wrap_dim(k, rank) for k in given]), tuple([wrap_dim(k, rank) for k in wanted])
    for name, dims in (("source", given), ("destination", wanted)):
        if len(set(dims)) < len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    if rank == 0:
        return input.view_as(input)
    places = dict(zip(wanted, given))
    others = iter([d for d in range(rank) if d not in given])
    return permute(input, [places[d] if d in places else next(others) for d in range(rank)])


@op(methods=("adjoint",), batch=COMPOSITE)
def adjoint(input):
    """adjoint(input) -> Tensor: the conjugate transpose of a matrix, or of each of a batch; a view of a real tensor.

    >>> import autograd_cy as ag
    >>> ag.adjoint(ag.tensor([[1 + 1j, 2 + 2j]]))
    tensor([[1.-1.j],
            [2.-2.j]])
    """
    return transposed_conjugate(as_tensor(input, "adjoint"), "adjoint()")


cdef object transposed_conjugate(object x, str name):
    if ndim_of(x) == 0:
        warn_once(f"tensor.{name} is deprecated on 0-D tensors. Consider using x.conj().")
        return x.conj()
    if ndim_of(x) == 1:
        raise RuntimeError(f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor.")
    turned = transpose(x, -2, -1)
    return turned.conj() if x.is_complex() else turned


def conjugate_transposed(Tensor self):
    """The tensor with its last two dimensions swapped, conjugated; RuntimeError for a vector."""
    return transposed_conjugate(self, "mH")


def hermitian(Tensor self):
    """The conjugate transpose of a matrix; RuntimeError unless the tensor is a matrix or 0-d."""
    if ndim_of(self) not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim_of(self)}-D tensor."
                           + (" For batches of matrices, consider using tensor.mH" if ndim_of(self) > 2 else ""))
    return transposed_conjugate(self, "H")


extend("H", property(hermitian))
extend("mH", property(conjugate_transposed))
declare_rule(hermitian, COMPOSITE)
declare_rule(conjugate_transposed, COMPOSITE)
