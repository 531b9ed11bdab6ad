"""BatchedTensor: a tensor within vmap that holds all samples of a batch.

NOTE [Batching]
  1. Within vmap an argument is a BatchedTensor: its `value` has the samples along the first dimension. Its own array is a
     view of the first sample, so that shape, dtype and strides are correct; no other code may read it.
  2. The step of NOTE [Overrides] detects an operation called with one, and computes with the values by the operation's
     rule (rules.pyx); it records operations on the values. So the graph, its engine and forward mode need no batches.
  3. With operands of several levels the innermost level is unwrapped first: the rule calls operations on the values, which
     are BatchedTensors of the next outer level.
  4. A BatchedTensor is usable as long as its level is open.
  5. A gradient within vmap is a gradient of values (func/_inputs.py). If seeds are batched but the graph is not, gradients
     travel as arrays of all samples (the task's `level`): nodes with a kernel for them (`vjp_samples`) use it, other nodes
     compute `vjp` with BatchedTensors, by the rules. All nodes do that if backward is recorded or other levels are open.
     While a gradient or a batching rule is computed on all samples of some levels, these levels are hidden (HiddenLevels).
  6. The core's own functions would compute with the first sample only. So `needs_node` and `record_all` refuse a
     BatchedTensor.
  7. A plain tensor may have a batched tangent: in a forward-mode Jacobian only the tangents are batched, so the function may
     branch on values. A node's `jvp` then computes with plain primals and BatchedTensors.
  8. When such a tensor meets a tensor that is batched at the tangent's level, it is expanded to all samples first, and the
     expanded tensor gets the tangent (`with_samples`). A plain input of a transform that runs within the level is expanded,
     too: its gradient differs between samples, and ToSamplesBackward0 returns it as a BatchedTensor. After the level is
     closed, the samples' gradients are summed. Tangents at dual levels outside the transform are not expanded:
     `unpack_dual` raises if the transform's function reads one whose gradient would be summed.
"""

import numpy as np

cimport cython

from autograd_cy._core.arrays.buffers cimport strided_view
from autograd_cy._core.graph.context cimport (
    DualLevels, Tangent, dual_level, is_visible, is_visible_number, see_again, see_up_to, visible_levels)
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.node cimport Node, Request
from autograd_cy._core.graph.record cimport new_node, record, set_tangent, tangent_of, tangents_now
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor, share_version, wants_grad
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, NO_GRAD, current_mode

from autograd_cy._core.runtime.state import refuse_new

cdef enum:
    MAX_DIMS = 64


@cython.final
cdef class BatchedTensor(Tensor):
    """All samples of a batch within vmap, which looks like a single sample.

    >>> import autograd_cy as ag
    >>> y = ag.vmap(lambda x: print(type(x).__name__, x.shape) or x)(ag.ones(2, 3))
    BatchedTensor torch.Size([3])
    """

    def __init__(self):
        raise TypeError("cannot create 'BatchedTensor' instances: vmap makes them")


cpdef Tensor batched(Tensor value, BatchLevel level):
    """batched(value, level) -> Tensor: the samples along the first dimension of `value` as a BatchedTensor of that level."""
    cdef BatchedTensor wrapper
    cdef cnp.ndarray array = value.array
    if is_sparse(value):
        raise NotImplementedError("vmap: a sparse tensor can't be the samples of a batch: call to_dense() first")
    if cnp.PyArray_NDIM(array) == 0 or cnp.PyArray_DIM(array, 0) != level.size:
        raise RuntimeError(f"vmap: a batching rule returned a tensor of shape {list(np.shape(array))} for a batch of "
                           f"{level.size}: its first dimension must hold the samples")
    wrapper = BatchedTensor.__new__(BatchedTensor)
    wrapper.value, wrapper.level, wrapper.batched = value, level, True
    if cnp.PyArray_DIM(array, 0):
        wrapper.array = strided_view(array, cnp.PyArray_BYTES(array), cnp.PyArray_NDIM(array) - 1, cnp.PyArray_DIMS(array) + 1,
                                     cnp.PyArray_STRIDES(array) + 1)
    else:                               # there is no first sample
        wrapper.array = np.zeros((<object> array).shape[1:], (<object> array).dtype)
    return wrapper


cdef BatchLevel level_of(Tensor x):
    """The innermost level of a tensor; None if it is not batched."""
    return (<BatchedTensor> x).level if x.batched else None


cdef Tensor values_of(Tensor x):
    """The plain tensor with the samples of all levels; a plain tensor is returned as is."""
    while x.batched:
        x = (<BatchedTensor> x).value
    return x


cdef object check_open(BatchLevel level):
    if not level.is_open:
        raise RuntimeError("Either your tensor may have escaped from inside a function being vmapped and this is a user "
                           "error, or a level was closed too early: return the tensor from the function, to use it outside.")


cpdef Tensor at_level(Tensor x, BatchLevel level):
    """at_level(x, level) -> Tensor: the value of `x` at that level, samples first; None if it isn't batched there.

    The result is still batched at the inner levels.
    """
    cdef BatchedTensor wrapper
    if not x.batched:
        return None
    wrapper = <BatchedTensor> x
    if wrapper.level is level:
        return wrapper.value
    cdef Tensor value = at_level(wrapper.value, level)
    return None if value is None else batched((<object> value).transpose(0, 1), wrapper.level)


cpdef Tensor at_level_or_expanded(Tensor x, BatchLevel level):
    """at_level(x, level), with the same sample repeated if `x` isn't batched there."""
    cdef Tensor value = at_level(x, level)
    if value is not None:
        return value
    if has_samples(x, level):
        return expanded(x, level)
    return (<object> x).unsqueeze(0).expand(level.size, *(<object> x).shape)


# plain tensors with batched tangents or gradients

cdef bint has_samples(Tensor x, BatchLevel level) except -1:
    """Whether a tensor that isn't batched at the level has a batched tangent, or will get a batched gradient, at it."""
    cdef int mode = current_mode()
    x = values_of(x)
    if level.unbatched and level.dual <= dual_level() and not mode & NO_GRAD and wants_grad(x):
        return True
    return mode & FORWARD_AD and any_at_level(tangents_now(x), level)


cdef bint any_at_level(Tangent tangents, BatchLevel level) except -1:
    """Whether any visible tangent is batched at the level, or has a tangent that is."""
    cdef Tensor t
    while tangents is not None:
        if is_visible_number(tangents.level):
            t = <Tensor> tangents.value
            while t.batched:
                if (<BatchedTensor> t).level is level:
                    return True
                t = (<BatchedTensor> t).value
            if any_at_level(tangents_now(t), level):
                return True
        tangents = tangents.outer
    return False


cpdef object with_samples(object x, BatchLevel level):
    """with_samples(x, level): an operand, expanded to all samples if its tangent or gradient is batched at the level: case 8.

    Items of a list or tuple are expanded one by one.
    """
    if isinstance(x, Tensor):
        return operand_at(<Tensor> x, level)
    if type(x) is list or type(x) is tuple:
        return type(x)([operand_at(<Tensor> item, level) if isinstance(item, Tensor) else item for item in x])
    return x


cdef Tensor operand_at(Tensor x, BatchLevel level):
    if at_level(x, level) is None and has_samples(x, level):
        return batched(expanded(x, level), level)
    return x


cdef Tensor expanded(Tensor x, BatchLevel level):
    """All samples of a tensor for which `has_samples` is true."""
    cdef DualLevels levels
    cdef Tensor samples, t
    cdef int k
    if x.batched:
        samples = expanded((<BatchedTensor> x).value, level)
        return batched((<object> samples).transpose(0, 1), (<BatchedTensor> x).level)
    levels = visible_levels()
    samples = samples_alike(x, level)
    if wants_grad(x) and not current_mode() & NO_GRAD:
        level.lifted = True
        see_up_to(levels, 0)
        try:
            record(new_node(ToSamplesBackward0, (level,)), samples, x)
        finally:
            see_again(levels)
    try:
        for k in range(levels.depth):
            if is_visible(levels, k):
                see_up_to(levels, k + 1)
                t = tangent_of(x)
                if t is not None:
                    see_up_to(levels, k)
                    t = at_level_or_expanded(t, level)
                    see_up_to(levels, k + 1)
                    set_tangent(samples, t)
    finally:
        see_again(levels)
    return samples


cdef Tensor samples_alike(Tensor x, BatchLevel level):
    """A view that repeats a plain tensor for each sample, without history."""
    cdef cnp.npy_intp[MAX_DIMS] dims, strides
    cdef int ndim = cnp.PyArray_NDIM(x.array), axis
    cdef Tensor view
    if ndim == MAX_DIMS:
        raise RuntimeError(f"vmap: a tensor of {MAX_DIMS} dimensions can't have one more for its samples")
    dims[0], strides[0] = level.size, 0
    for axis in range(ndim):
        dims[1 + axis], strides[1 + axis] = cnp.PyArray_DIM(x.array, axis), cnp.PyArray_STRIDE(x.array, axis)
    view = new_tensor(strided_view(x.array, cnp.PyArray_BYTES(x.array), 1 + ndim, dims, strides))
    share_version(x, view)
    return view


@cython.final
cdef class ToSamplesBackward0(Node):
    """Node of a tensor that is repeated for each sample of a level: see case 8 of NOTE [Batching]."""

    cdef object vjp(self, object g, int i):
        cdef BatchLevel level = <BatchLevel> self.constants[0]
        return batched_at(<Tensor> g, level) if is_open_here(level) else g.sum(0)

    cdef object vjp_array(self, object g, int i, Request *request):
        cdef Tensor result = <Tensor> self.vjp(new_tensor(<cnp.ndarray> g), i)
        return result if result.batched else result.array


# removing and adding levels


def is_batched(x):
    """is_batched(x) -> bool: whether `x` is a BatchedTensor."""
    return isinstance(x, Tensor) and (<Tensor> x).batched


def first_value(Tensor x):
    """first_value(x) -> Tensor: the value of a BatchedTensor; any other tensor is returned as is."""
    return (<BatchedTensor> x).value if x.batched else x


def batched_at(Tensor x, BatchLevel level):
    """batched_at(x, level) -> Tensor: the inverse of at_level(); `x` may be batched at inner levels."""
    cdef BatchedTensor wrapper
    if not x.batched or level_of(x).number < level.number:
        return batched(x, level)
    wrapper = <BatchedTensor> x
    return batched(batched_at((<object> wrapper.value).transpose(0, 1), level), wrapper.level)


def depth_of(Tensor x):
    """depth_of(x) -> int: the nesting depth of the innermost level of `x`, 1 for an outermost one; 0 if it isn't batched."""
    cdef BatchLevel level = level_of(x)
    cdef int depth = 0
    while level is not None:
        depth += 1
        level = level.outer
    return depth


def levels_of(Tensor x):
    """levels_of(x) -> list: the levels at which a tensor is batched, the innermost one first."""
    cdef list levels = []
    while x.batched:
        levels.append((<BatchedTensor> x).level)
        x = (<BatchedTensor> x).value
    return levels


def all_samples(x, levels):
    """all_samples(x, levels) -> Tensor: the samples of `x` at those levels (the innermost one first), repeated where it isn't
    batched; the outermost level is the first dimension."""
    for level in levels:
        x = at_level_or_expanded(x, level)
    return x


def as_argument(Tensor x):
    """as_argument(x) -> Tensor: all samples of `x` as an alias that requires grad.

    It is a leaf, or an operation on the samples if these have a history.
    """
    cdef Tensor alias, samples = values_of(x)
    if samples.inference:
        samples = (<object> samples).clone()
    if wants_grad(samples) or dual_level():
        alias = (<object> samples).view_as(samples)
    else:
        alias = new_tensor(samples.array)
        share_version(samples, alias)
    if not wants_grad(alias):
        (<object> alias).requires_grad_()
    return alias


def one_sample(x, levels):
    """one_sample(x, levels) -> Tensor: the inverse of all_samples(): the first dimensions become those levels."""
    for level in reversed(levels):
        x = batched_at(x, level)
    return x


cdef Tensor zeros_as(Tensor g, tuple sizes):
    """Zeros with the dtype and the batch levels of `g`; `sizes` is the shape of one sample."""
    if g.batched:
        return batched(zeros_as((<BatchedTensor> g).value, (level_of(g).size,) + sizes), level_of(g))
    return new_tensor(np.zeros(sizes, g.array.dtype))


refuse_new(BatchedTensor)
