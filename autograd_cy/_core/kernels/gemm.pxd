"""Products of matrices and vectors."""

from autograd_cy._core.arrays.dtypes cimport NCODES
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Matrix:                 # or a batch of them; strides in bytes
    char *data
    npy_intp batch, rows, columns
    npy_intp batch_stride, row_stride, column_stride

cdef Kernel[NCODES] MATMUL          # NumPy's loop: see NOTE [Borrowed matmul]

cdef cnp.ndarray product(cnp.ndarray left, bint turn_left, cnp.ndarray right, bint turn_right)
cdef Matrix matrix_of(cnp.ndarray array, bint transposed) noexcept
cdef void multiply_matrices(int dtype_code, Matrix *a, Matrix *b, char *out) noexcept nogil
cdef cnp.ndarray conjugated(cnp.ndarray array)
cdef int add_row(cnp.ndarray y, cnp.ndarray row) except -1
cdef void multiply(int dtype_code, Matrix *a, Matrix *b, char *out, npy_intp itemsize) except *
