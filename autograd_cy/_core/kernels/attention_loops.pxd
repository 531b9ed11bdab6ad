"""Attention by blocks of rows, and its gradient."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Heads:                  # matrices, one for each sample and head; their rows are contiguous
    char *data                      # NULL if absent
    npy_intp sample, head, row      # strides in bytes

cdef struct Attention:
    int dtype_code                  # of all arrays
    npy_intp samples, heads
    npy_intp rows, columns          # queries and keys
    npy_intp size, value_size       # of a query, and of a value
    double scale
    bint causal                     # a query sees the keys up to its own number
    Heads query, key, value, mask   # the mask is added to the products; its columns are `mask_column` bytes apart
    npy_intp mask_column
    Heads out                       # the result
    void *sums                      # the logarithm of each query's sum of exponentials
    Heads g, query_gradient, key_gradient, value_gradient

cdef bint attend(Attention *attention) noexcept nogil
cdef bint attend_backwards(Attention *attention) noexcept nogil
