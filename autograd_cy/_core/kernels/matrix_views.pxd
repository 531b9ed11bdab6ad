"""Arrays as matrices, the factors of products."""

from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Matrix:                 # or a batch of them; strides in bytes
    char *data
    npy_intp batch, rows, columns
    npy_intp batch_stride, row_stride, column_stride


cdef inline void turn(Matrix *m) noexcept:
    """Transpose in place."""
    m.rows, m.columns = m.columns, m.rows
    m.row_stride, m.column_stride = m.column_stride, m.row_stride


cdef inline Matrix matrix_of(cnp.ndarray array, bint transposed) noexcept:
    """An array as a matrix or a batch of matrices."""
    cdef int ndim = cnp.PyArray_NDIM(array)
    cdef Matrix m
    m.data = cnp.PyArray_BYTES(array)
    m.batch, m.batch_stride = 1, 0
    if ndim == 3:
        m.batch, m.batch_stride = cnp.PyArray_DIM(array, 0), cnp.PyArray_STRIDE(array, 0)
    if ndim == 1:
        m.rows, m.row_stride = cnp.PyArray_DIM(array, 0), cnp.PyArray_STRIDE(array, 0)
        m.columns, m.column_stride = 1, cnp.PyArray_ITEMSIZE(array)
    else:
        m.rows, m.row_stride = cnp.PyArray_DIM(array, ndim - 2), cnp.PyArray_STRIDE(array, ndim - 2)
        m.columns, m.column_stride = cnp.PyArray_DIM(array, ndim - 1), cnp.PyArray_STRIDE(array, ndim - 1)
    if transposed:
        turn(&m)
    return m


cdef inline bint suits_blas(Matrix *m, npy_intp itemsize) noexcept:
    """Whether rows or columns are contiguous and don't overlap."""
    return ((m.column_stride == itemsize and m.row_stride >= m.columns * itemsize and m.row_stride % itemsize == 0)
            or (m.row_stride == itemsize and m.column_stride >= m.rows * itemsize and m.column_stride % itemsize == 0))


cdef inline Matrix turned(const Matrix *m) noexcept:
    return Matrix(m.data, m.batch, m.columns, m.rows, m.batch_stride, m.column_stride, m.row_stride)
