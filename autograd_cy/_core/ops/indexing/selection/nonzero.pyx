"""Elements that aren't zero: their indices, their number, and the elements themselves."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport sizes_of
from autograd_cy._core.arrays.dtypes cimport BOOL, code_of
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node, Request, save_input, saved_array, unpack
from autograd_cy._core.graph.record cimport (
    as_tensor, broadcast_sizes, needs_node, new_node, record, shape_of, shown, tensor_argument)
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.rules import COMPOSITE, Along, sample_by_sample
from autograd_cy._core.ops.registry import op


@op(methods=("nonzero",), batch=sample_by_sample)
def nonzero(input, *, as_tuple: bool = False):
    """nonzero(input, *, as_tuple=False) -> Tensor: the places of the elements that aren't zero, one in each row (int64).

    With as_tuple=True a tuple of their indices along each dimension. Under vmap all samples must have the same number of them.

    >>> import autograd_cy as ag
    >>> ag.nonzero(ag.tensor([0.0, 3.0, 2.0]))
    tensor([[1],
            [2]])
    """
    cdef Tensor x = as_tensor(input, "nonzero")
    if as_tuple:
        indices = tuple([new_tensor(np.ascontiguousarray(numbers)) for numbers in np.nonzero(np.atleast_1d(x.array))])
        return shown("nonzero", indices, (x,))
    return shown("nonzero", new_tensor(nonzero_places(x.array)), (x,))


cdef object nonzero_places(cnp.ndarray array):
    """A row of indices for each element, stored dimension by dimension."""
    if cnp.PyArray_NDIM(array) == 0:
        return np.zeros((int(array.item() != 0), 0), np.int64)
    return np.stack(np.nonzero(array)).T


@op(methods=("argwhere",), batch=COMPOSITE)
def argwhere(input):
    """argwhere(input) -> Tensor: the places of the elements that aren't zero, one in each row; nonzero(), as NumPy calls it.

    >>> import autograd_cy as ag
    >>> ag.argwhere(ag.tensor([[0.0, 3.0], [2.0, 0.0]]))
    tensor([[0, 1],
            [1, 0]])
    """
    return nonzero(as_tensor(input, "argwhere"))


@op(methods=("nonzero_static",), batch=sample_by_sample)
def nonzero_static(input, *, size: int, fill_value: int = -1):
    """nonzero_static(input, *, size, fill_value=-1) -> Tensor: the first `size` places of nonzero(), and rows of `fill_value`
    where there are fewer.

    >>> import autograd_cy as ag
    >>> ag.nonzero_static(ag.tensor([0.0, 3.0]), size=2)
    tensor([[ 1],
            [-1]])
    """
    cdef Tensor x = as_tensor(input, "nonzero_static")
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    found = nonzero_places(x.array)[:size]
    result = np.full((size, cnp.PyArray_NDIM(x.array)), fill_value, np.int64)
    result[:len(found)] = found
    return shown("nonzero_static", new_tensor(result), (x,))


@op(methods=("count_nonzero",), batch=Along("dim", "all"))
def count_nonzero(input, dim: _Dims | None = None):
    """count_nonzero(input, dim=None) -> Tensor: the number of nonzero elements, of all or along `dim`, one or several (int64).

    >>> import autograd_cy as ag
    >>> ag.count_nonzero(ag.tensor([[0.0, 3.0], [2.0, 1.0]]), dim=1)
    tensor([1, 2])
    """
    return (as_tensor(input, "count_nonzero") != 0).sum(dim)


# elements

@cython.final
cdef class MaskedSelectBackward0(Node):
    """Constant: the sizes of the input, which the mask shares."""

    cdef tuple saved_names(self):
        return ("mask", None, None)

    cdef object vjp_array(self, object g, int i, Request *request):
        mask = saved_array(self, 0)
        if np.count_nonzero(mask) != cnp.PyArray_SIZE(<cnp.ndarray> g):
            raise RuntimeError("masked_select(): the mask was changed between forward and backward")
        result = np.zeros(sizes_of(mask), (<cnp.ndarray> g).dtype)
        result[mask] = g
        return result

    cdef object vjp(self, object g, int i):
        mask = saved_array(self, 0)
        flat = <object> zeros_as(g, (cnp.PyArray_SIZE(mask),))
        return flat.scatter(0, new_tensor(np.flatnonzero(mask)), g).reshape(self.constants[0])

    cdef object jvp(self, tuple tangents):
        return masked_select(tangents[0], unpack(self, 0))


@op(methods=("masked_select",), batch=sample_by_sample)
def masked_select(input, mask):
    """masked_select(input, mask) -> Tensor: the elements where the mask, a bool tensor, is true, as a vector.

    Input and mask are broadcast. Under vmap all samples must have the same number of them.

    >>> import autograd_cy as ag
    >>> ag.masked_select(ag.tensor([1.0, 2.0, 3.0]), ag.tensor([True, False, True]))
    tensor([1., 3.])
    """
    cdef Tensor x = as_tensor(input, "masked_select"), m = tensor_argument(mask, "masked_select", "mask", 2), y
    cdef tuple sizes
    cdef Node node
    if code_of(m.array) != BOOL:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    sizes = broadcast_sizes(shape_of(x), shape_of(m))
    x = x if shape_of(x) == sizes else (<object> x).expand(sizes)
    m = m if shape_of(m) == sizes else (<object> m).expand(sizes)
    y = new_tensor(x.array[m.array])
    if needs_node(x):
        node = new_node(MaskedSelectBackward0, (sizes,))
        save_input(node, 0, m)
        record(node, y, x)
    return y
