"""Kinds of batching rules that operations share: elementwise, along dimensions, on all values."""

from autograd_cy._core.batching.batched_call cimport BatchedCall

cdef object aligned_call(BatchedCall call, tuple args, dict kwargs)
