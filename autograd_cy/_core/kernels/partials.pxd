"""Reductions shared among threads."""

from autograd_cy._core.kernels.loops cimport Part, Walk
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef struct Reduction:      # what is done to a walk, and what to the partial results that are made of it
    Part part
    void *data
    Part last
    void *last_data
    int dtype_code
    const char *identity    # what partial results begin with

cdef int share_reduction(Walk *walk, int n, Reduction *reduction) except -1
cdef void fill(cnp.ndarray array, const char *item, int itemsize) noexcept
