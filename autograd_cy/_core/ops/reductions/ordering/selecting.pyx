"""Nodes of operations that select elements of their input along one dimension: these receive the gradient."""

import numpy as np

cimport cython
from libc.string cimport memcpy

from autograd_cy._core.arrays.buffers cimport MAX_DIMS, dense_copy, is_flat, new_zeros, sizes_of
from autograd_cy._core.arrays.dtypes cimport code_of
from autograd_cy._core.batching.batched cimport zeros_as
from autograd_cy._core.graph.node cimport Node, save_input, unpack
from autograd_cy._core.graph.record cimport needs_node, new_node, record
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.kernels.selection_loops cimport take_along
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp


cdef class Selecting(Node):
    """Saves the indices. The constants begin with the dimension and end with the sizes of the input."""

    cdef tuple saved_names(self):
        return ("indices", None, None)

    cdef object kept(self, object values):
        """Values of the output's shape with the dimension restored."""
        return values

    cdef object vjp(self, object g, int i):
        return placed(self.kept(g), self.kept(unpack(self, 0)), self.constants[0], (<tuple> self.constants)[-1])

    cdef object jvp(self, tuple tangents):
        indices = unpack(self, 0)
        return tangents[0].gather(self.constants[0], self.kept(indices)).reshape(indices.shape)


cdef class OneOfMany(Selecting):
    """Selects one element along the dimension; the second constant is `keepdim`."""

    cdef tuple constant_names(self):
        return ("dim", "keepdim", "self_sym_sizes")

    cdef object kept(self, object values):
        return values if self.constants[1] or not self.constants[2] else values.unsqueeze(self.constants[0])


cdef Tensor record_selecting(object node_class, tuple constants, Tensor x, Tensor values, Tensor indices):
    """Record values as selected from `x`; returns them."""
    cdef Node node
    if not needs_node(x):
        return values
    node = new_node(node_class, constants)
    save_input(node, 0, indices)
    return record(node, values, x)


@cython.final
cdef class ScatterBackward0(Node):
    """The node of `placed`."""

    cdef tuple saved_names(self):
        return ("index", None, None)

    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp(self, object g, int i):
        return g.gather(self.constants[0], unpack(self, 0))

    cdef object jvp(self, tuple tangents):
        return placed(tangents[0], unpack(self, 0), self.constants[0], self.constants[1])


cdef Tensor placed(Tensor g, Tensor index, int dim, tuple sizes):
    """Zeros of those sizes, with the elements of `g` at the indices along `dim`. No index occurs twice."""
    if g.batched:
        return (<object> zeros_as(g, sizes)).scatter(dim, index, g)
    cdef Tensor y = new_tensor(placed_array(g.array, index.array, dim, sizes))
    return record_selecting(ScatterBackward0, (dim, sizes), g, y, index)


cdef cnp.ndarray placed_array(cnp.ndarray g, cnp.ndarray index, int dim, tuple sizes):
    cdef npy_intp[MAX_DIMS] dims
    cdef npy_intp n = 1, inner = 1, count = 1, k, place, itemsize = cnp.PyArray_ITEMSIZE(g)
    cdef int axis, ndim = len(sizes)
    cdef cnp.ndarray result
    cdef bint fits = cnp.PyArray_SAMESHAPE(g, index) and cnp.PyArray_NDIM(index) == ndim
    for axis in range(ndim):
        dims[axis] = sizes[axis]
        if axis == dim:
            n = dims[axis]
        elif fits:
            fits = cnp.PyArray_DIM(index, axis) == dims[axis]
        if axis > dim:
            inner *= dims[axis]
    if not fits:
        raise RuntimeError(f"expected a gradient and indices of shape {list(sizes)}, but for dimension {dim}, got "
                           f"{list(sizes_of(g))} and {list(sizes_of(index))}")
    if ndim:
        count = cnp.PyArray_DIM(index, dim)
    result = new_zeros(code_of(g), ndim, dims)
    g = g if is_flat(g) else dense_copy(g)
    index = index if is_flat(index) else dense_copy(index)
    cdef char *target = cnp.PyArray_BYTES(result)
    cdef char *source = cnp.PyArray_BYTES(g)
    cdef npy_intp *places = <npy_intp *> cnp.PyArray_DATA(index)
    for k in range(cnp.PyArray_SIZE(index)):
        place = places[k]
        if not 0 <= place < n:
            raise RuntimeError(f"index {place} is out of bounds for dimension {dim} with size {n}")
        place = (k // (inner * count) * n + place) * inner + k % inner
        memcpy(target + place * itemsize, source + k * itemsize, itemsize)
    return result


cdef object elements_at(cnp.ndarray array, object places, int dim):
    """The elements at those indices along a dimension."""
    if cnp.PyArray_NDIM(array) == 0:
        return (<object> array).copy()
    taken = take_along(array, dim, places)
    return np.take_along_axis(array, places, dim) if taken is None else taken
