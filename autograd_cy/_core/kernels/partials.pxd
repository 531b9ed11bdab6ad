"""Reductions shared among threads."""

from autograd_cy._core.kernels.loops cimport Part, Walk
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef struct Reduction:      # `part` reduces a walk, `last` the partial results
    Part part
    void *data
    Part last
    void *last_data
    int dtype_code
    const char *identity    # the initial value of partial results

cdef int share_reduction(Walk *walk, int n, Reduction *reduction) except -1
cdef void fill(cnp.ndarray array, const char *item, int itemsize) noexcept
