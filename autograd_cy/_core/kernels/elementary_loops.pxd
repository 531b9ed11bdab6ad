"""Loops of elementary functions that need more than one expression: sines, remainders, powers of two."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in sines.pyx
cdef void sin_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void cos_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil

# in remainders.pyx
cdef void fmod_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void fmod_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void floor_quotient_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void floor_quotient_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil

# in powers_of_two.pyx
cdef void ldexp_f32(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void ldexp_f64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil

# in truth_loops.pyx
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

# in complex_logarithms.pyx
cdef void log1p_c64(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
cdef void log1p_c128(char **args, const npy_intp *dims, const npy_intp *strides, void *data) noexcept nogil
