"""The inner loops of ufuncs, by type."""

from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef int borrow(Kernel *kernels, object ufunc, object result_code_of) except -1
cdef void nextafter_bf16(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
