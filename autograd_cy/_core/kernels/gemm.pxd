"""Products of matrices in blocks, triangles, and elimination."""

from autograd_cy._core.arrays.dtypes cimport NCODES
from autograd_cy._core.kernels.loops cimport Kernel
from autograd_cy._core.kernels.matrix_views cimport Matrix
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in panels.pyx

cdef extern from "panels.h":
    ctypedef void PanelProduct(const char *a, npy_intp a_row, npy_intp a_column, const char *panel, npy_intp panel_row,
                               char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp bytes, const char *added,
                               npy_intp added_row, const npy_intp *offsets, npy_intp segments) noexcept nogil

cdef PanelProduct *panel_product(int dtype_code, npy_intp bytes) noexcept nogil
cdef npy_intp panel_width(int dtype_code) noexcept nogil
cdef int vectors() noexcept nogil
cdef void multiply_by_panels(int dtype_code, const char *a, npy_intp a_row, npy_intp a_column, const char *b, npy_intp b_row,
                             npy_intp b_column, char *out, npy_intp out_row, npy_intp m, npy_intp n, npy_intp p,
                             const char *added, npy_intp added_row) noexcept nogil

# in gemm.pyx
cdef Kernel[NCODES] MATMUL          # NumPy's loop: see NOTE [Borrowed matmul]

cdef cnp.ndarray product(cnp.ndarray left, bint turn_left, cnp.ndarray right, bint turn_right)
cdef void multiply_matrices(int dtype_code, Matrix *a, Matrix *b, char *out) noexcept nogil
cdef cnp.ndarray conjugated(cnp.ndarray array)
cdef void multiply(int dtype_code, Matrix *a, Matrix *b, char *out, npy_intp itemsize) except *

# in block_products.pyx

cdef struct Block:
    char *data
    npy_intp row, column            # strides in bytes

cdef Block transposed(Block block) noexcept nogil
cdef void multiply_blocks(int dtype_code, Block a, Block b, Block out, npy_intp m, npy_intp n, npy_intp p, bint add,
                          char *spare) noexcept nogil

# in triangles.pyx
ctypedef float complex complex64
ctypedef double complex complex128
ctypedef fused number:
    float
    double
    complex64
    complex128

cdef object solved_triangles(object a, object b, bint upper, bint unit)

# in elimination.pyx
cdef tuple eliminated(object array)
cdef object solved_eliminated(object lu, object pivots, object b, bint turned)
cdef object signs_of(object pivots)
cdef object row_order(object pivots, Py_ssize_t rows)

# in distance_loops.pyx
cdef object distances(object a, object b)
cdef object pulls(object a, object b, object g, object y)
