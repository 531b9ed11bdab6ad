"""Logical operations on floats and doubles."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef void logical_and_f32 "autograd_cy_logical_and_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil
cdef void logical_and_f64 "autograd_cy_logical_and_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil
cdef void logical_or_f32 "autograd_cy_logical_or_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                      void *data) noexcept nogil
cdef void logical_or_f64 "autograd_cy_logical_or_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                      void *data) noexcept nogil
cdef void logical_xor_f32 "autograd_cy_logical_xor_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil
cdef void logical_xor_f64 "autograd_cy_logical_xor_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil
cdef void logical_not_f32 "autograd_cy_logical_not_f32"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil
cdef void logical_not_f64 "autograd_cy_logical_not_f64"(char **args, const npy_intp *dims, const npy_intp *strides,
                                                        void *data) noexcept nogil
