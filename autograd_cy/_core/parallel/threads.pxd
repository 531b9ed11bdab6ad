"""Loops shared among threads."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    UNIT = 4                    # bytes: work is counted in elements of float32

ctypedef void (*Task)(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil

cdef void parallel_for(Task task, void *data, npy_intp n, npy_intp weight, npy_intp grain=*, bint keep_gil=*) noexcept nogil
