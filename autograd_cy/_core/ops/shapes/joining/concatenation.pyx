"""cat() and stack(): tensors joined along a dimension.

Both are linear: the rule of a node is the transpose, its jvp is the operation itself.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport has_channels_last, new_in_format
from autograd_cy._core.arrays.dtypes cimport code_of, dtype, dtype_of, promote
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport any_wanted, as_type, new_node, record_all, shape_of, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.shapes.reshaping cimport zeros_or
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import set_concatenate
from autograd_cy._core.ops.registry import op


@cython.final
cdef class CatBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp(self, object g, int i):
        dim, bounds, types = self.constants
        return as_type(g[(slice(None),) * dim + (slice(bounds[i], bounds[i + 1]),)], types[i][0]).reshape(types[i][1])

    cdef object jvp(self, tuple tangents):
        dim, _bounds, types = self.constants
        return cat([zeros_or(t, (kind[1], (<dtype> kind[0]).numpy_dtype)) for t, kind in zip(tangents, types)], dim)


@cython.final
cdef class StackBackward0(Node):
    cdef tuple constant_names(self):
        return ("dim",)

    cdef object vjp(self, object g, int i):
        return as_type(g[(slice(None),) * self.constants[0] + (i,)], self.constants[1][i][0])

    cdef object jvp(self, tuple tangents):
        return stack([zeros_or(t, (kind[1], (<dtype> kind[0]).numpy_dtype))
                      for t, kind in zip(tangents, self.constants[1])], self.constants[0])


cdef list tensors_of(object tensors, str operation):
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(f"{operation}(): argument 'tensors' (position 1) must be tuple of Tensors, not "
                        f"{type(tensors).__name__}")
    cdef list found = list(tensors)
    if not found:
        kind = ValueError if operation == "cat" else RuntimeError           # PyTorch's classes
        raise kind(f"{operation}(): expected a non-empty list of Tensors")
    for position, item in enumerate(found):
        if not isinstance(item, Tensor):
            raise TypeError(f"{operation}(): expected Tensor as element {position} in argument 0, but got "
                            f"{type(item).__name__}")
    return found


cdef object common_type(list tensors):
    """The NumPy dtype that all tensors promote to."""
    cdef int dtype_code = code_of((<Tensor> tensors[0]).array)
    for x in tensors:
        dtype_code = promote(dtype_code, code_of((<Tensor> x).array))
    return (<dtype> dtype_of(dtype_code)).numpy_dtype


cdef cnp.ndarray joined(object function, list tensors, int dim, object type, tuple sizes):
    """The result of a joining function of NumPy, in C order, whatever the layout of its operands."""
    cdef Tensor x
    cdef list arrays = [x.array for x in tensors]
    for x in tensors:
        if not cnp.PyArray_IS_C_CONTIGUOUS(x.array):
            return <cnp.ndarray> function(arrays, dim, out=np.empty(sizes, type), casting="unsafe")
    return <cnp.ndarray> function(arrays, dim, dtype=type)


cdef cnp.ndarray joined_channels(list tensors, int dim, object type, tuple sizes):
    """np.concatenate() for arrays that all have channels last, as the result does; None if one lacks it."""
    cdef Tensor x
    for x in tensors:
        if not has_channels_last(x.array):
            return None
    cdef cnp.ndarray out = new_in_format(code_of(np.empty(0, type)), sizes, True)
    return <cnp.ndarray> np.concatenate([x.array for x in tensors], dim, out=out, casting="unsafe")


def batched_cat(call, tensors, dim=0):
    """Drops empty 1-d tensors, as PyTorch does."""
    cdef int rank = max([0] + [rank_of(x) for x in tensors])
    cdef list joined = [x for x in tensors if rank == 1 or tuple(x.shape) != (0,)]
    return call([call.front(x) for x in joined], wrap_dim(dim, rank) + 1)


cdef int check_joins(Tensor x, tuple first, int d, list tensors) except -1:
    """Refuse a tensor that can't be joined to the first one along d."""
    cdef tuple sizes = shape_of(x)
    cdef int k
    if len(sizes) != len(first):
        raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(sizes)}")
    for k in range(len(sizes)):
        if k != d and sizes[k] != first[k]:
            number = [other is x for other in tensors].index(True)
            raise RuntimeError(f"Sizes of tensors must match except in dimension {d}. Expected size {first[k]} but got size "
                               f"{sizes[k]} for tensor number {number} in the list.")
    return 0


@op(methods=(), batch=batched_cat)
def cat(tensors, dim=0):
    """cat(tensors, dim=0) -> Tensor: the tensors joined along `dim`; their other sizes must agree.

    >>> import autograd_cy as ag
    >>> ag.cat([ag.tensor([1.0, 2.0]), ag.tensor([3.0])])
    tensor([1., 2., 3.])
    """
    cdef list found = tensors_of(tensors, "cat")
    cdef Tensor x
    # empty 1-d tensors join any shape, as in PyTorch
    cdef list shaped = [x for x in found if shape_of(x) != (0,)]
    if not shaped:                              # if there are no others, `dim` does not matter either
        shaped, dim = found, 0
    if cnp.PyArray_NDIM((<Tensor> shaped[0]).array) == 0:
        raise RuntimeError("zero-dimensional tensor (at position 0) cannot be concatenated")
    cdef int d = wrap_dim(dim, cnp.PyArray_NDIM((<Tensor> shaped[0]).array))
    cdef tuple first = shape_of(<Tensor> shaped[0])
    for x in shaped:
        check_joins(x, first, d, found)
    kind = common_type(found)
    total = sum([shape_of(x)[d] for x in shaped])
    sizes = (*first[:d], total, *first[d + 1:])
    array = joined_channels(shaped, d, kind, sizes)
    cdef Tensor y = new_tensor(joined(np.concatenate, shaped, d, kind, sizes) if array is None else array)
    if any_wanted(found):
        bounds = [0]
        for x in found:
            bounds.append(bounds[-1] + (0 if shape_of(x) == (0,) else shape_of(x)[d]))
        types = [(dtype_of(code_of(x.array)), shape_of(x)) for x in found]
        record_all(new_node(CatBackward0, (d, bounds, types)), y, found)
    return y


def batched_stack(call, tensors, dim=0):
    return call([call.front(x) for x in tensors], wrap_dim(dim, rank_of(tensors[0]) + 1) + 1)


@op(methods=(), batch=batched_stack)
def stack(tensors, dim=0):
    """stack(tensors, dim=0) -> Tensor: tensors of one shape joined along a new dimension `dim`.

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
    sizes = (*first[:d], len(found), *first[d:])
    kind, array = common_type(found), None
    if d < len(first):                                  # like PyTorch, split a dimension of a concatenation
        array = joined_channels(found, d, kind, (*first[:d], len(found) * first[d], *first[d + 1:]))
    cdef Tensor y = new_tensor(joined(np.stack, found, d, kind, sizes) if array is None else array.reshape(sizes))
    if any_wanted(found):
        types = [(dtype_of(code_of(x.array)), first) for x in found]
        record_all(new_node(StackBackward0, (d, types)), y, found)
    return y


set_concatenate(cat)
