"""a * 2**b of floats and doubles."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef void ldexp_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void ldexp_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
