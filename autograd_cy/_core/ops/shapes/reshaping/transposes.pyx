"""Views with the dimensions in another order."""

cimport cython

from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, record_view, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, extend
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import COMPOSITE, declare_rule
from autograd_cy._core.ops.registry import op
from autograd_cy._core.runtime.once import warn_once


@cython.final
cdef class TransposeBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim0", "dim1")

    cdef object vjp(self, object g, int i):
        return transpose(g, *self.constants)


@cython.final
cdef class TBackward0(Node):
    cdef object vjp(self, object g, int i):
        return t(g)


@cython.final
cdef class PermuteBackward0(Node):
    cdef tuple constant_names(self):
        return ("dims",)

    cdef object vjp(self, object g, int i):
        return permute(g, inverse_of(self.constants[0]))


cdef tuple inverse_of(tuple order):
    """The order that restores dimensions permuted to `order`."""
    cdef list places = [0] * len(order)
    for place, d in enumerate(order):
        places[d] = place
    return tuple(places)


def batched_transpose(call, input, dim0, dim1):
    cdef int rank = rank_of(input)
    dims = wrap_dim(dim0, rank), wrap_dim(dim1, rank)
    return call(call.value(input), dims[0] + 1, dims[1] + 1) if rank else call(call.value(input), 0, 0)


@op(methods=("transpose", "swapaxes", "swapdims"), linear=TransposeBackward0, batch=batched_transpose)
def transpose(input, dim0, dim1):
    """transpose(input, dim0, dim1) -> Tensor: a view with two dimensions swapped.

    >>> import autograd_cy as ag
    >>> ag.transpose(ag.ones(2, 3, 4), 0, 2).shape
    torch.Size([4, 3, 2])
    """
    cdef Tensor x = as_tensor(input, "transpose")
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    cdef int a = wrap_dim(dim0, ndim), b = wrap_dim(dim1, ndim)
    return record_view(TransposeBackward0, (a, b), x, x.array.swapaxes(a, b) if ndim else x.array[...])


def batched_t(call, input):
    if rank_of(input) > 2:
        call.on_sample(input)                       # raises the error
    return call.value(input).transpose(1, 2) if rank_of(input) == 2 else call.value(input)


@op(methods=("t",), linear=TBackward0, batch=batched_t)
def t(input):
    """t(input) -> Tensor: the transposed matrix, a view; a tensor with fewer than two dimensions is unchanged.

    >>> import autograd_cy as ag
    >>> ag.t(ag.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[1., 3.],
            [2., 4.]])
    """
    cdef Tensor x = as_tensor(input, "t")
    if cnp.PyArray_NDIM(x.array) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {cnp.PyArray_NDIM(x.array)}D")
    return record_view(TBackward0, (), x, cnp.PyArray_Transpose(x.array, NULL))


def batched_permute(call, input, *dims):
    cdef object wanted = sizes_argument(dims)
    if len(wanted) != rank_of(input):
        call.on_sample(input, wanted)               # raises the error
    return call(call.value(input), (0, *[wrap_dim(d, rank_of(input)) + 1 for d in wanted]))


@op(methods=("permute",), linear=PermuteBackward0, batch=batched_permute)
def permute(input, *dims):
    """permute(input, dims) -> Tensor: a view with the dimensions in the order of `dims`.

    >>> import autograd_cy as ag
    >>> ag.permute(ag.ones(2, 3, 4), (2, 0, 1)).shape
    torch.Size([4, 2, 3])
    """
    cdef Tensor x = as_tensor(input, "permute")
    cdef int ndim = cnp.PyArray_NDIM(x.array)
    cdef tuple order = tuple([wrap_dim(d, ndim) for d in sizes_argument(dims)])
    if len(order) != ndim:
        raise RuntimeError("permute(): number of dimensions in the tensor input does not match the length of the desired "
                           f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(order)}")
    if len(set(order)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return record_view(PermuteBackward0, (order,), x, x.array.transpose(order))


def reversed_dims(Tensor self):
    """The tensor with its dimensions in reversed order, a view; a warning unless it is a matrix."""
    cdef int ndim = cnp.PyArray_NDIM(self.array)
    if ndim == 0:
        warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif ndim != 2:
        warn_once("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
                  "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or `x.permute("
                  "*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.")
    return permute(self, tuple(range(ndim - 1, -1, -1)))


def matrix_transposed(Tensor self):
    """The tensor with its last two dimensions swapped, a view; RuntimeError for a vector."""
    if cnp.PyArray_NDIM(self.array) == 0:
        warn_once("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.")
    if cnp.PyArray_NDIM(self.array) == 1:
        raise RuntimeError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return self if cnp.PyArray_NDIM(self.array) == 0 else transpose(self, -2, -1)


extend("T", property(reversed_dims))
extend("mT", property(matrix_transposed))


declare_rule(reversed_dims, lambda call, self: call.value(self).permute(0, *range(rank_of(self), 0, -1)))
declare_rule(matrix_transposed, COMPOSITE)
