"""Operations without a batching rule: one call for each sample."""

import warnings

import numpy as np

from autograd_cy._core.batching.batched cimport (
    BatchedCall, BatchLevel, at_level, at_level_or_expanded, batched, has_samples, level_of)
from autograd_cy._core.graph.node cimport Node, tangents_of
from autograd_cy._core.graph.tensor cimport Tensor, new_tensor


cpdef object by_loop(BatchedCall call, tuple args, dict kwargs):
    """Compute an operation without a rule sample by sample."""
    name = call.function.__name__
    if call.level.size == 0:
        raise RuntimeError(f"vmap: {name}() has no batching rule, and of an empty batch it can't be told what it would return")
    warnings.warn(
        f"There is a performance drop because we have not yet implemented the batching rule for autograd_cy::{name}. "
        "Please file an issue", UserWarning, stacklevel=2)
    return sample_by_sample(call, *args, **kwargs)


def sample_by_sample(BatchedCall call, *args, **kwargs):
    """The rule of an operation whose output shape depends on its values. It must be the same for all samples."""
    cdef Py_ssize_t k
    cdef list results = []
    if call.level.size == 0:
        raise RuntimeError(f"Batching rule not implemented for {call.function.__name__}. The fallback path does not support "
                           "vmap over dims of size 0.")
    for k in range(call.level.size):
        named = {key: sample_of(x, call.level, k) for key, x in kwargs.items()}
        results.append(call.function(*[sample_of(x, call.level, k) for x in args], **named))
    return stacked(results)


cdef object sample_of(object x, BatchLevel level, Py_ssize_t k):
    """The k-th sample of a tensor that is batched at that level; a list or tuple is converted item by item."""
    if isinstance(x, Tensor):
        if at_level(<Tensor> x, level) is not None or has_samples(<Tensor> x, level):
            return (<object> at_level_or_expanded(<Tensor> x, level))[k]
        return x
    if type(x) is list or type(x) is tuple:
        return type(x)([sample_of(item, level, k) for item in x])
    return x


cdef object stacked(list results):
    """Join the results of single samples."""
    first = results[0]
    if isinstance(first, Tensor):
        parts = [x.unsqueeze(0) for x in results]
        return concatenate(parts)
    if isinstance(first, (tuple, list)):
        items = [stacked(list(column)) for column in zip(*results)]
        return first._make(items) if hasattr(first, "_make") else type(first)(items)
    raise RuntimeError(f"vmap: an operation without a batching rule returned {type(first).__name__}, not tensors")


cdef object of_samples(object function, tuple tensors, object constant):
    """Call function(*values, constant, n) on all n samples at the innermost level of the tensors."""
    cdef BatchLevel level = innermost(tensors)
    cdef tuple values = tuple([None if x is None else at_level_or_expanded(<Tensor> x, level) for x in tensors])
    return batched(<Tensor?> function(*values, constant, level.size), level)


cdef tuple jvp_by_samples(object node, tuple tangents, tuple outputs):
    """The tangents of a node's outputs, computed sample by sample."""
    cdef BatchLevel level = innermost(tangents)
    cdef list found = []
    cdef Py_ssize_t k
    if level is None:
        raise RuntimeError(f"{node.name()} took a tensor for a batched one")
    for k in range(level.size):
        found.append(tangents_of(<Node> node, tuple([sample_of(t, level, k) for t in tangents]), outputs))
    if not found:
        return tuple([None if y is None else batched(<Tensor> no_samples(<Tensor> y), level) for y in outputs])
    return tuple([None if column[0] is None
                  else batched(stacked([sample_of(t, level, k) for k, t in enumerate(column)]), level)
                  for column in zip(*found)])


cdef object no_samples(Tensor y):
    """Zeros for the samples of an empty batch."""
    return new_tensor(np.zeros((0,) + np.shape(y.array), y.array.dtype))


cdef BatchLevel innermost(tuple tensors):
    """The innermost level at which one of the tensors (or Nones) is batched; None if none is."""
    cdef BatchLevel level = None
    for x in tensors:
        if x is not None and (<Tensor> x).batched and (level is None or level_of(<Tensor> x).number > level.number):
            level = level_of(<Tensor> x)
    return level


cdef object concatenate             # ops/shapes/reshaping/shape.pyx sets it to cat


def set_concatenate(function):
    """set_concatenate(cat): set the function that joins the results of single samples."""
    global concatenate
    concatenate = function
