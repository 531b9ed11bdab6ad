"""Loops of layer_norm over dense arrays, seen as rows of n elements."""

from numpy cimport npy_intp

cdef struct Layers:         # the arrays of a loop, all of one type
    npy_intp rows, n
    const void *g
    const void *x
    const void *weight      # or NULL
    const void *bias        # or NULL
    void *means
    void *scales
    void *out
    double eps

cdef void normalize_layers(int dtype_code, Layers *layers) noexcept nogil
cdef void layer_gradient(int dtype_code, Layers *layers) noexcept nogil
cdef void layer_weight_gradient(int dtype_code, Layers *layers) noexcept nogil
