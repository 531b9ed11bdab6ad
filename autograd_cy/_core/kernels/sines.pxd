"""sin and cos of doubles, as loops."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef void sin_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void cos_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
