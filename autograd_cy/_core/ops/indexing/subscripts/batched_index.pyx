"""Batching rules of indexing: one index for all samples that does what each sample's index does.

If only the samples have a batch, and the index tensors are adjacent, a full slice is put before the index. Else each sample
is selected by a further index tensor; then the dimensions of the index tensors come first in the result, after the batch,
and are moved to their places.
"""

import numpy as np

from autograd_cy._core.arrays.dtypes cimport BOOL, UINT8, code_of
from autograd_cy._core.batching.batched cimport BatchedCall
from autograd_cy._core.graph.tensor cimport Tensor, from_array

from autograd_cy._core.batching.batched import rank_of
from autograd_cy._core.batching.rules import declare_rule


cdef class Picks:
    """An index for all samples, `items`, and the shape of one sample's result: it has `rank` dimensions. Index tensors make
    `n_tensor` of them, after the first `before`. With `in_front` these come first until `in_order` moves them."""
    cdef tuple items
    cdef int rank, n_tensor, before
    cdef bint in_front


cdef Picks picks_of(BatchedCall call, Tensor x, object index, bint batched):
    """`batched`: whether the indexed tensor has all samples, along its first dimension."""
    cdef list items = list(index) if isinstance(index, tuple) or stands_for_tuple(index) else [index]
    cdef list tensors
    cdef Picks picks = Picks.__new__(Picks)
    items = with_ellipsis_spelt_out(items, rank_of(x))
    cdef list numbers = [k for k, item in enumerate(items) if is_numbers(item)]
    cdef list between = items[numbers[0]:numbers[len(numbers) - 1]] if numbers else []
    cdef bint apart = any([not is_numbers(item) and not is_int(item) for item in between])
    if batched and not apart and not any([call.is_batched(item) for item in items]):
        picks.items = (slice(None), *items)
        picks.rank = -1
        return picks
    items = [part for item in items for part in as_index_tensors(call, item)]
    tensors = [item for item in items if isinstance(item, Tensor)]
    picks.n_tensor = max([rank_of(item) for item in tensors] + [0])
    numbers = [k for k, item in enumerate(items) if isinstance(item, Tensor)]
    apart = any([not isinstance(item, Tensor) and not is_int(item) for item in items[numbers[0]:numbers[len(numbers) - 1]]])
    picks.before = 0 if apart else len([item for item in items[:numbers[0]] if not is_int(item)])
    rest = rank_of(x) - len([item for item in items if item is not None])
    picks.rank = picks.n_tensor + len([item for item in items if item is None or isinstance(item, slice)]) + rest
    items = [call.aligned(item, picks.n_tensor) if isinstance(item, Tensor) else item for item in items]
    if batched:
        own = from_array(np.arange(call.size).reshape((call.size,) + (1,) * picks.n_tensor))
        items = [own, *items]
    picks.in_front = batched
    picks.items = tuple(items)
    return picks


cdef list with_ellipsis_spelt_out(list items, int rank):
    """The items of an index, with full slices in place of an ellipsis."""
    cdef int taken = 0
    for item in items:
        if item is not None and item is not Ellipsis:
            taken += rank_of(item) if isinstance(item, Tensor) and picks_by_mask(<Tensor> item) else np.ndim(item) if (
                isinstance(item, np.ndarray) and item.dtype == bool) else 1
    for k, item in enumerate(items):
        if item is Ellipsis:
            return items[:k] + [slice(None)] * (rank - taken) + items[k + 1:]
    return items


cdef bint picks_by_mask(Tensor x) except -1:
    return code_of(x.array) in (BOOL, UINT8)


cdef bint is_int(object item):
    return not isinstance(item, (Tensor, np.ndarray, bool)) and hasattr(item, "__index__")


cdef bint is_numbers(object item):
    """Whether an item of an index is an index tensor, or is converted to one."""
    return isinstance(item, (Tensor, np.ndarray, list, tuple, bool))


cdef list as_index_tensors(BatchedCall call, object item):
    """An item of an index. A mask becomes the indices of its true elements, a sequence a tensor."""
    if not is_numbers(item):
        return [item]
    cdef Tensor x = <Tensor> item if isinstance(item, Tensor) else from_array(np.asarray(item))
    if not picks_by_mask(x):
        return [x]
    if call.is_batched(item):
        raise RuntimeError("vmap: We do not support batching operators that can support dynamic shape. Attempting to batch "
                           "over indexing with a boolean mask.")
    return [from_array(places) for places in np.nonzero(x.array)]


cdef object in_order(Picks picks, object y):
    """The result for all samples, with each one's dimensions in order."""
    cdef int n = picks.n_tensor
    if picks.rank < 0:
        return y
    if not picks.in_front:
        return y.permute(picks.before, *[d for d in range(y.ndim) if d != picks.before]) if picks.before else y
    if not picks.before or not n:
        return y
    return y.permute(0, *range(1 + n, 1 + n + picks.before), *range(1, 1 + n), *range(1 + n + picks.before, y.ndim))


cdef object refusal_of_values(object value, int rank):
    return RuntimeError(f"shape mismatch: value tensor of shape {list(np.shape(value))} cannot be broadcast to indexing "
                        f"result of {rank} dimensions (within vmap, for each sample)")


cdef object values_for(BatchedCall call, Picks picks, object value, int rank):
    """Values to write for all samples; each sample's have at most `rank` dimensions."""
    cdef int n = picks.n_tensor, surplus
    if not isinstance(value, Tensor):
        if np.ndim(value) > rank:
            raise refusal_of_values(value, rank)
        return value
    surplus = rank_of(value) - rank
    if surplus > 0 and tuple(value.shape[:surplus]) == (1,) * surplus:
        value = value.reshape(value.shape[surplus:])
    elif surplus > 0:               # the first of these dimensions would count as the batch
        raise refusal_of_values(value, rank)
    if picks.rank < 0 or not picks.before or not n:
        return call.aligned(value, rank)
    value = call.front(value)
    value = value.reshape(value.shape[0], *[1] * (rank + 1 - value.ndim), *value.shape[1:])
    return value.permute(0, *range(1 + picks.before, 1 + picks.before + n), *range(1, 1 + picks.before),
                         *range(1 + picks.before + n, value.ndim))


def batched_getitem(BatchedCall call, input, index):
    cdef Picks picks = picks_of(call, input, index, call.is_batched(input))
    return in_order(picks, call.value(input)[picks.items])


def batched_setitem(BatchedCall call, self, index, value):
    cdef Picks picks = picks_of(call, self, index, True)
    cdef object all_samples = call.value(self)
    cdef int rank = all_samples[picks.items].ndim - 1 if picks.rank < 0 else picks.rank
    all_samples[picks.items] = values_for(call, picks, value, rank)


def batched_index_put(BatchedCall call, input, indices, values, accumulate=False):
    cdef tuple index = tuple([slice(None) if item is None else item for item in indices])
    cdef object x = call.front(input)
    cdef Picks picks = picks_of(call, input, index, True)
    cdef int rank = x[picks.items].ndim - 1 if picks.rank < 0 else picks.rank
    items = tuple([None if isinstance(item, slice) else item for item in picks.items])
    return call(x, items, values_for(call, picks, values, rank), accumulate)


declare_rule(getitem, batched_getitem)
declare_rule(index_put, batched_index_put)
declare_rule(index_put_, batched_index_put)
declare_rule(set_item, batched_setitem)
