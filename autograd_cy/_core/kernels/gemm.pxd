"""Products of matrices and vectors."""

from autograd_cy._core.arrays.dtypes cimport NCODES
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.matrix_views cimport Matrix
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef Kernel[NCODES] MATMUL          # NumPy's loop: see NOTE [Borrowed matmul]

cdef cnp.ndarray product(cnp.ndarray left, bint turn_left, cnp.ndarray right, bint turn_right)
cdef void multiply_matrices(int dtype_code, Matrix *a, Matrix *b, char *out) noexcept nogil
cdef cnp.ndarray conjugated(cnp.ndarray array)
cdef void multiply(int dtype_code, Matrix *a, Matrix *b, char *out, npy_intp itemsize) except *
