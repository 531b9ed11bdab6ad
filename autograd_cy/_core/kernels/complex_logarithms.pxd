"""log(1 + z) of complex numbers, as loops."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef void log1p_c64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void log1p_c128(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
