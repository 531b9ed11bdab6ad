"""Operations without a batching rule: one call for each sample."""

from autograd_cy._core.batching.batched_call cimport BatchedCall
from autograd_cy._core.batching.levels cimport BatchLevel

cpdef object by_loop(BatchedCall call, tuple args, dict kwargs)
cdef object sample_of(object x, BatchLevel level, Py_ssize_t k)
cdef object stacked(list results)
cdef object of_samples(object function, tuple tensors, object constant)
cdef tuple jvp_by_samples(object node, tuple tangents, tuple outputs)
