"""The dtype objects and PyTorch's promotion."""

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum:
    BOOL = 0
    UINT8 = 1
    INT8 = 2
    INT16 = 3
    INT32 = 4
    INT64 = 5
    FLOAT16 = 6
    FLOAT32 = 7
    FLOAT64 = 8
    COMPLEX64 = 9
    COMPLEX128 = 10
    NCODES = 11

cdef class dtype:
    cdef readonly str name
    cdef readonly object numpy_dtype
    cdef readonly int itemsize
    cdef readonly bint is_floating_point
    cdef readonly bint is_complex
    cdef readonly bint is_signed
    cdef int dtype_code
    cdef int type_num

cdef int[NCODES] TYPE_NUM
cdef int[NCODES] ITEMSIZE

cdef signed char[64] CODE_OF              # NumPy's type number -> code, or -1
cdef int unknown_type(cnp.ndarray array) except -1

cdef inline int code_of(cnp.ndarray array) except -1:
    """The code of an array's type; TypeError for a type that no Tensor has."""
    cdef int number = cnp.PyArray_TYPE(array)
    if 0 <= number < 64 and CODE_OF[number] >= 0:
        return CODE_OF[number]
    return unknown_type(array)

cdef inline int kernel_code(cnp.ndarray array) except -1:
    """The type that kernels compute in: float16 goes through float32."""
    return max(code_of(array), <int> FLOAT32)

cdef dtype dtype_of(int dtype_code)
cdef dtype as_dtype(object value)
cdef int default_code() noexcept
cdef int default_complex_code() noexcept
cdef int promote(int a, int b) noexcept
cdef int result_code(int a, int a_rank, int b, int b_rank) noexcept
cdef int to_inexact(int dtype_code) noexcept
cdef int to_real(int dtype_code) noexcept
cdef int to_complex(int dtype_code) noexcept
cdef bint is_differentiable(int dtype_code) noexcept
cdef str type_word(int dtype_code)
cdef str long_word(int dtype_code)
cdef int check_cast(int dtype_code, int target) except -1
