"""Operators with BatchedTensors, and the level of a call's arguments."""

import numpy as np

from autograd_cy._core.batching.batched cimport BatchedTensor, BatchLevel, batched, check_open, level_of, with_samples
from autograd_cy._core.graph.context cimport ITEM, MATMUL, NEG, RDIV, RSUB, operators
from autograd_cy._core.graph.memory cimport is_sparse
from autograd_cy._core.graph.tensor cimport Tensor
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.state cimport FORWARD_AD, thread_state


cdef tuple OPERANDS = (Tensor, int, float, complex, np.ndarray, np.generic)


cdef BatchLevel batch_level(object arguments):
    """The innermost level of the BatchedTensors among the arguments, or in lists and tuples among them; else None."""
    cdef BatchLevel level = None
    cdef bint any_sparse = False
    for x in arguments:
        if isinstance(x, Tensor):
            if (<Tensor> x).batched:
                level = inner(level, level_of(<Tensor> x))
            any_sparse |= is_sparse(x)
        elif type(x) is list or type(x) is tuple:
            for item in x:
                if isinstance(item, Tensor) and (<Tensor> item).batched:
                    level = inner(level, level_of(<Tensor> item))
                any_sparse |= is_sparse(item)
    if level is not None:
        check_open(level)
        if any_sparse:
            raise NotImplementedError("vmap: there are no batching rules for sparse tensors. Call the operation outside "
                                      "of vmap, or on to_dense()")
    return level


cdef BatchLevel inner(BatchLevel a, BatchLevel b):
    return b if a is None or b.number > a.number else a


cdef object operator_on_batch(int k, object function, BatchLevel level, object left, object right):
    """Case 6 of NOTE [Overrides]: an operator, whose operation is `function`, with BatchedTensors."""
    if k >= NEG:
        return batched_call(function, level, (left,), {})
    if not isinstance(left, OPERANDS) or (k != ITEM and not isinstance(right, OPERANDS)):
        return NotImplemented
    if level.unbatched or thread_state().mode & FORWARD_AD:         # case 8 of NOTE [Batching]
        left, right = with_samples(left, level), with_samples(right, level)
    if k != ITEM and k != MATMUL and are_aligned(left, right):
        result = operators[k](first_value(left), first_value(right))
        if isinstance(result, Tensor):
            return batched(<Tensor> result, level)
    if k == RSUB or k == RDIV:
        left, right = right, left
    return batched_call(function, level, (left, right), {})


cdef bint are_aligned(object left, object right) noexcept:
    """Whether an operator may work directly on the values of two operands, at least one of which is a BatchedTensor.

    That is so without outer levels, if the samples' dimensions are the last ones of both values, and if samples are not 0-d:
    a 0-d type counts less in promotion.
    """
    cdef int left_rank = -1, right_rank = -1
    if isinstance(left, Tensor):
        left_rank = cnp.PyArray_NDIM((<Tensor> left).array)
    elif type(left) is not float and type(left) is not int:
        return False
    if isinstance(right, Tensor):
        right_rank = cnp.PyArray_NDIM((<Tensor> right).array)
    elif type(right) is not float and type(right) is not int:
        return False
    if left_rank >= 0 and (<Tensor> left).batched:
        if (<BatchedTensor> left).value.batched or left_rank < max(right_rank, 1):
            return False
        return right_rank < 0 or not (<Tensor> right).batched or (
            right_rank == left_rank and not (<BatchedTensor> right).value.batched
            and (<BatchedTensor> right).level is (<BatchedTensor> left).level)
    return not (<BatchedTensor> right).value.batched and right_rank >= max(left_rank, 1)


cdef object first_value(object x):
    """All samples of a BatchedTensor; any other operand as it is."""
    return (<BatchedTensor> x).value if isinstance(x, Tensor) and (<Tensor> x).batched else x
