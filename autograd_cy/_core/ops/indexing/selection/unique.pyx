"""Distinct elements, and the positions of elements in a sorted sequence. Nothing here has a derivative."""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport cast, sizes_of
from autograd_cy._core.arrays.dtypes cimport BFLOAT16, BOOL, COMPLEX64, FLOAT32, INT64, code_of, type_word
from autograd_cy._core.graph.node cimport Node
from autograd_cy._core.graph.record cimport as_tensor, new_node, record_all, shape_of, shown, wrap_dim
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor
from autograd_cy._core.ops.reductions.sums cimport may_need_gradient
from autograd_cy._core.runtime cimport numpy_api as cnp

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import sample_by_sample
from autograd_cy._core.ops.registry import op


# distinct elements

cdef class DifferentElements(Node):
    """The node of an operation without a derivative; constant: its name in PyTorch's errors."""

    cdef object vjp(self, object g, int i):
        raise NotImplementedError(f"the derivative for '{self.constants[0]}' is not implemented.")

    cdef object jvp(self, tuple tangents):
        raise NotImplementedError(f"Trying to use forward AD with {self.constants[0]} that does not support it because it "
                                  "has not been implemented yet.")


@cython.final
cdef class Unique2Backward0(DifferentElements):
    pass


@cython.final
cdef class UniqueDimBackward0(DifferentElements):
    pass


@cython.final
cdef class UniqueConsecutiveBackward0(DifferentElements):
    pass


cdef object entered(object node_class, str name, str shown_as, object outputs, Tensor x):
    """Record the distinct elements, the first output. Differentiating them raises an error."""
    if not may_need_gradient(x):
        return shown(shown_as, outputs, (x,))
    record_all(new_node(node_class, (name,)), outputs[0] if type(outputs) is tuple else outputs, (x,))
    return outputs


@op(methods=("unique",), batch=sample_by_sample)
def unique(input, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None):
    """unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None) -> Tensor: the distinct elements, in
    order, also with sorted=False.

    Each nan counts as distinct. With `dim`, the distinct rows along it. return_inverse and return_counts make the result a
    tuple: they add the position in the result of each input element, and the number of occurrences.

    >>> import autograd_cy as ag
    >>> ag.unique(ag.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    cdef Tensor x = as_tensor(input, "unique")
    axis = checked_axis(x, dim, "unique")
    found = np.unique(ordered(x.array), return_inverse=True, return_counts=True, axis=axis, equal_nan=False)
    inverse = found[1].reshape(shape_of(x) if axis is None else -1)
    outputs = chosen(found[0].astype(x.array.dtype, copy=False), inverse, found[2], return_inverse, return_counts)
    if dim is None:
        return entered(Unique2Backward0, "_unique2", "unique", outputs, x)
    return entered(UniqueDimBackward0, "unique_dim", "unique", outputs, x)


@op(methods=("unique_consecutive",), batch=sample_by_sample)
def unique_consecutive(input, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None):
    """unique_consecutive(input, return_inverse=False, return_counts=False, dim=None) -> Tensor: the first of each run of equal
    elements.

    With `dim` the first of equal rows along it. Otherwise like unique().

    >>> import autograd_cy as ag
    >>> ag.unique_consecutive(ag.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    cdef Tensor x = as_tensor(input, "unique_consecutive")
    axis = checked_axis(x, dim, "unique_consecutive")
    rows = x.array.reshape(-1) if axis is None else np.moveaxis(x.array, axis, 0)
    differs = (rows[1:] != rows[:-1]).any(tuple(range(1, rows.ndim)))
    starts = np.flatnonzero(np.concatenate(([True] * (len(rows) > 0), differs)))
    counts = np.diff(starts, append=len(rows))
    inverse = np.repeat(np.arange(len(starts)), counts)
    values = np.moveaxis(rows[starts], 0, axis or 0)
    inverse = inverse.reshape(shape_of(x) if axis is None else -1)
    outputs = chosen(values, inverse, counts, return_inverse, return_counts)
    return entered(UniqueConsecutiveBackward0, "unique_consecutive", "unique_consecutive", outputs, x)


cdef cnp.ndarray ordered(cnp.ndarray array):
    """An array that NumPy sorts and searches with nan after all numbers: bfloat16 as float32."""
    return cast(array, FLOAT32) if code_of(array) == BFLOAT16 else array


cdef object checked_axis(Tensor x, object dim, str operation):
    if code_of(x.array) >= COMPLEX64:
        raise NotImplementedError(f"\"{operation}\" not implemented for '{type_word(code_of(x.array))}'")
    return None if dim is None else wrap_dim(dim, cnp.PyArray_NDIM(x.array))


cdef object chosen(object values, object inverse, object counts, bint with_inverse, bint with_counts):
    """The values, and the other results that were requested."""
    found = [np.asarray(values)]
    if with_inverse:
        found.append(np.asarray(inverse, np.int64))
    if with_counts:
        found.append(np.asarray(counts, np.int64))
    tensors = tuple([new_tensor(array) for array in found])
    return tensors if len(tensors) > 1 else tensors[0]


# places

def batched_places(call, sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None):
    if not any([call.is_batched(x) for x in (sorted_sequence, sorter)]) and rank_of(sorted_sequence) == 1:
        return call(sorted_sequence, call.value(input), out_int32=out_int32, right=right, side=side, sorter=sorter)
    return sample_by_sample(call, sorted_sequence, input, out_int32=out_int32, right=right, side=side, sorter=sorter)


@op(batch=batched_places)
def searchsorted(sorted_sequence: Tensor, input: Tensor | float, *, out_int32: bool = False, right: bool = False,
                 side: str | None = None, sorter: Tensor | None = None):
    """searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None) -> Tensor: the positions
    at which elements keep a sorted sequence sorted.

    The sequence lies along the last dimension; there is one for all, or one for each row of `input`. right=True (side='right')
    is the position after equal elements. With `sorter`, sequence[sorter] is the sorted one. The result is int64, or int32.

    >>> import autograd_cy as ag
    >>> ag.searchsorted(ag.tensor([1.0, 3.0, 5.0]), ag.tensor([3.0, 4.0]))
    tensor([1, 2])
    """
    cdef Tensor rows = as_tensor(sorted_sequence, "searchsorted")
    values = (<Tensor> input).array if isinstance(input, Tensor) else np.asarray(input)
    check_sequence(rows.array, values)
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError("torch.searchsorted(): side and right can't be set to opposites, got side of left while right was "
                           "True")
    sequence = rows.array if sorter is None else sorted_by(rows.array, sorter)
    sequence, values = ordered(sequence), ordered(values)
    where = "right" if right or side == "right" else "left"
    if sequence.ndim == 1:
        found = np.searchsorted(sequence, values, where)
    else:
        found = np.empty(values.shape, np.int64)
        for row in np.ndindex(values.shape[:-1]):
            found[row] = np.searchsorted(sequence[row], values[row], where)
    places = new_tensor(np.asarray(found, np.int32 if out_int32 else np.int64))
    return shown("searchsorted", places, (rows, input) if isinstance(input, Tensor) else (rows,))


cdef int check_sequence(cnp.ndarray sequence, cnp.ndarray values) except -1:
    cdef tuple own = sizes_of(sequence), given = sizes_of(values)
    for array in (sequence, values):
        if code_of(array) == BOOL or code_of(array) >= COMPLEX64:
            raise NotImplementedError(f"\"searchsorted_out_cpu\" not implemented for '{type_word(code_of(array))}'")
    if not own:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if len(own) > 1 and not given:
        raise RuntimeError("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but "
                           f"we got boundaries tensor dim({len(own)}) and input value's dim(0) numel(1)")
    if len(own) > 1 and own[:len(own) - 1] != given[:len(given) - 1]:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                           "boundaries tensor and input value tensor must match, but we got boundaries tensor "
                           f"{list(own)} and input value tensor {list(given)}")
    return 0


cdef object sorted_by(cnp.ndarray sequence, Tensor sorter):
    if code_of(sorter.array) != INT64:
        raise RuntimeError("torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                           f"{type_word(code_of(sorter.array))}")
    if not cnp.PyArray_SAMESHAPE(sequence, sorter.array):
        raise RuntimeError("torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                           f"{list(shape_of(new_tensor(sequence)))}and got sorter tensor {list(shape_of(sorter))}")
    return np.take_along_axis(sequence, sorter.array, -1)


@op(batch=sample_by_sample)
def bucketize(input: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False):
    """bucketize(input, boundaries, *, out_int32=False, right=False) -> Tensor: the index of the bucket of each element.

    Boundaries are a sorted vector; an element that equals one belongs to the bucket below it, with right=True above it.

    >>> import autograd_cy as ag
    >>> ag.bucketize(ag.tensor([0.5, 1.0, 9.0]), ag.tensor([1.0, 2.0]))
    tensor([0, 0, 2])
    """
    cdef Tensor edges = as_tensor(boundaries, "bucketize")
    if cnp.PyArray_NDIM(edges.array) != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({cnp.PyArray_NDIM(edges.array)})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)
