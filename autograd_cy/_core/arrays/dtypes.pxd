"""The dtype objects and PyTorch's promotion."""

from cpython.object cimport PyObject

from autograd_cy._core.runtime cimport numpy_api as cnp

cdef enum:
    BOOL = 0
    UINT8 = 1
    INT8 = 2
    INT16 = 3
    INT32 = 4
    INT64 = 5
    UINT16 = 6
    UINT32 = 7
    UINT64 = 8
    FLOAT16 = 9
    BFLOAT16 = 10
    FLOAT32 = 11
    FLOAT64 = 12
    LONGDOUBLE = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    NCODES = 16
    KERNEL_CODES = 5        # from FLOAT32 on: the types that our own kernels may compute in

cdef class dtype:
    cdef readonly str name
    cdef object descr                     # the NumPy dtype; None if there is none, or before ml_dtypes is imported
    cdef readonly int itemsize
    cdef readonly bint is_floating_point
    cdef readonly bint is_complex
    cdef readonly bint is_signed
    cdef int dtype_code
    cdef int type_num

cdef int[NCODES] TYPE_NUM
cdef int[NCODES] ITEMSIZE
cdef PyObject *DESCR[NCODES]              # NumPy's dtypes by code, borrowed from the dtype objects

cdef signed char[64] CODE_OF              # NumPy's type number -> code, or -1
cdef int registered_code(cnp.ndarray array) except -1

cdef inline int code_of(cnp.ndarray array) except -1:
    """The code of an array's type; TypeError for a type that Tensors can't have."""
    cdef int number = cnp.PyArray_TYPE(array)
    if 0 <= number < 64 and CODE_OF[number] >= 0:
        return CODE_OF[number]
    return registered_code(array)

cdef inline int kernel_code(cnp.ndarray array) except -1:
    """The type in which our kernels compute: float32 for float16 and bfloat16. They have no longdouble."""
    cdef int dtype_code = code_of(array)
    if dtype_code == LONGDOUBLE:
        refuse_extended()
    return max(dtype_code, <int> FLOAT32)

cdef int refuse_extended() except -1
cdef int check_has_kernel(int dtype_code, str operation) except -1

cdef inline bint is_half(int dtype_code) noexcept nogil:
    """Whether a type has 16 bits and is computed in float32: float16 or bfloat16."""
    return dtype_code == FLOAT16 or dtype_code == BFLOAT16

cdef dtype dtype_of(int dtype_code)
cdef dtype as_dtype(object value)
cdef int default_code() noexcept
cdef int default_complex_code() noexcept
cdef int promote(int a, int b) except -1
cdef int result_code(int a, int a_rank, int b, int b_rank) except -1
cdef int to_inexact(int dtype_code) noexcept
cdef int to_real(int dtype_code) noexcept
cdef int to_complex(int dtype_code) except -1
cdef bint is_differentiable(int dtype_code) noexcept
cdef str type_word(int dtype_code)
cdef str long_word(int dtype_code)
cdef int check_cast(int dtype_code, int target) except -1
