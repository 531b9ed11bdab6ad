"""How many threads a kernel may use."""

from numpy cimport npy_intp

cdef enum:
    WORTH_THREADS = 32768       # elements from which on a loop is shared among threads

cdef int threads_for(npy_intp size) noexcept nogil
