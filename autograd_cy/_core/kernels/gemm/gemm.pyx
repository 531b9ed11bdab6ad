"""Products of matrices and vectors, by NumPy's matmul loop (knows no Tensor).

NOTE [Borrowed matmul]
np.matmul takes 700 ns for two 4x4 matrices; its inner loop, which calls BLAS, takes 40. Rules for calling it, in addition
to NOTE [Borrowed loops] in ufunc_loops.pyx:
  1. dimensions are (batch, m, n, p); strides along the batch come first, then strides of rows and columns. Exchanging
     strides transposes an operand, so gradients need no transposed copies;
  2. the result is C-contiguous. Operands may have any strides, but if BLAS can't take them (a gradient broadcast from a
     sum, say), NumPy 2.0 multiplies element by element: large ones are copied first;
  3. for n = 1, an outer product, the loop also goes element by element: floats have a kernel here, ten times as fast;
  4. newer versions copy operands that BLAS can't take; if memory runs out, the loop sets a MemoryError.

NOTE [Threads in products]
BLAS computes a small product in the calling thread. So our threads share a batch of small ones: each product is the same
call in any thread, with the same bits. No operand is left that NumPy would copy, because a worker can't raise.
BLAS would share a large product among its own threads. It is held to one (NOTE [BLAS and workers]), and our threads take
stripes of the result: of rows, or of columns if these are more. Adjacent stripes of one thread become one call. BLAS keeps
the product of a matrix with its own transpose, because it computes only half of it.
"""

import numpy as np

from cython cimport floating

from autograd_cy._core.arrays.buffers cimport cast, dense_copy, new_array
from autograd_cy._core.arrays.dtypes cimport BFLOAT16, FLOAT32, FLOAT64, code_of
from autograd_cy._core.kernels.loops cimport Kernel, borrow, copy_strided
from autograd_cy._core.kernels.matrix_views cimport Matrix, matrix_of, suits_blas, turn, turned
from autograd_cy._core.kernels.reduction_loops cimport row_dot
from autograd_cy._core.parallel.threads cimport Task, hold_blas, let_blas_go, parallel_for, thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    #include "clones.h"
    /* A column times a row. Rows are short in batches of outer products, so a loop's overhead counts: typed memoryviews, or
       pointers that may overlap, would double it. */
    #define OUTER(name, type) \\
        AUTOGRAD_CY_CLONED static void name(const char *column, npy_intp step, const type *restrict row, \\
                                            type *restrict out, npy_intp rows, npy_intp columns) { \\
            for (npy_intp i = 0; i < rows; i++, out += columns) { \\
                const type x = *(const type *) (column + i * step); \\
                npy_intp j = 0; \\
                for (; j + 8 <= columns; j += 8) \\
                    for (int k = 0; k < 8; k++) out[j + k] = x * row[j + k]; \\
                for (; j < columns; j++) out[j] = x * row[j]; \\
            } \\
        }
    OUTER(outer_f32, float)
    OUTER(outer_f64, double)
    """
    void outer_f32(char *column, npy_intp step, float *row, float *out, npy_intp rows, npy_intp columns) noexcept nogil
    void outer_f64(char *column, npy_intp step, double *row, double *out, npy_intp rows, npy_intp columns) noexcept nogil


cdef struct Product:            # a @ b, written to dense memory
    Matrix *a
    Matrix *b
    char *out
    npy_intp itemsize
    Kernel *kernel
    int panel_type              # the dtype's code for a product by panels; below 0: by the kernel
    npy_intp stripes            # of each matrix: of rows, or of columns if these are more

cdef struct Sums:
    Matrix *a
    Matrix *b
    float *out

cdef enum:
    TO_AN_ELEMENT = 8           # multiplications that take as long as one element of an elementwise loop
    STRIPES = 8                 # of a matrix, at most
    LONG_SUM = 4096             # terms of a float32 sum that is accumulated in double ...
    FEW_SUMS = 4                # ... if there are so few rows or columns that BLAS is no faster
    LANES = 16                  # rows or columns that BLAS processes together: stripes begin at multiples

borrow(MATMUL, np.matmul, lambda dtype_code: dtype_code)


cdef cnp.ndarray product(cnp.ndarray left, bint turn_left, cnp.ndarray right, bint turn_right):
    """left @ right as a new array; each is transposed first if its flag says so.

    Both have the same type and matching sizes. A vector is a column, or a row if transposed: two vectors give a scalar or an
    outer product. 3-d arrays (both, or neither) are batches of matrices.
    """
    if code_of(left) == BFLOAT16:
        return cast(product(cast(left, FLOAT32), turn_left, cast(right, FLOAT32), turn_right), BFLOAT16)
    cdef Matrix a = matrix_of(left, turn_left), b = matrix_of(right, turn_right)
    cdef bint large = a.batch * a.rows * a.columns * b.columns >= min(thresholds.blas_work, thresholds.unlocked_product)
    cdef int dtype_code = code_of(left), ndim = 0
    cdef npy_intp[3] dims
    if not cnp.PyArray_ISALIGNED(left) or (large and not suits_blas(&a, cnp.PyArray_ITEMSIZE(left))):
        left = dense_copy(left)
        a = matrix_of(left, turn_left)
    if not cnp.PyArray_ISALIGNED(right) or (large and not suits_blas(&b, cnp.PyArray_ITEMSIZE(right))):
        right = dense_copy(right)
        b = matrix_of(right, turn_right)
    if cnp.PyArray_NDIM(left) == 3:
        dims[ndim] = a.batch
        ndim += 1
    if cnp.PyArray_NDIM(left) > 1 or not turn_left:
        dims[ndim] = a.rows
        ndim += 1
    if cnp.PyArray_NDIM(right) > 1 or turn_right:
        dims[ndim] = b.columns
        ndim += 1
    cdef cnp.ndarray out = new_array(dtype_code, ndim, dims)
    if a.batch > 1:
        fold(&a, &b)
    multiply(dtype_code, &a, &b, cnp.PyArray_BYTES(out), cnp.PyArray_ITEMSIZE(out))
    return out


cdef void multiply_matrices(int dtype_code, Matrix *a, Matrix *b, char *out) noexcept nogil:
    """Write the product of two matrices that BLAS can take, of float32 or float64, to dense memory; without the GIL."""
    cdef Product made = product_of(dtype_code, a, b, out, sizeof(float) if dtype_code == FLOAT32 else sizeof(double))
    cdef npy_intp each = a.rows * a.columns * b.columns
    if each <= thresholds.blas_alone:
        multiply_part(&made, 0, 1)
    else:
        multiply_large(&made, each)


cdef Product product_of(int dtype_code, Matrix *a, Matrix *b, char *out, npy_intp itemsize) noexcept nogil:
    """Choose panels or BLAS. BLAS computes only half of the product of a matrix with its own transpose."""
    cdef bint by_panels = a.data != b.data and panels_suit(
        dtype_code, a.rows, a.columns, b.columns, b.column_stride == itemsize)
    return Product(a, b, out, itemsize, &MATMUL[dtype_code], dtype_code if by_panels else -1, 1)


cdef cnp.ndarray conjugated(cnp.ndarray array):
    """The complex conjugate; a real array itself."""
    return array.conj() if cnp.PyArray_ISCOMPLEX(array) else array


cdef void fold(Matrix *a, Matrix *b) noexcept:
    """Turn a batch of products with the same matrix into one product of a tall matrix, with the same memory layout of the
    result: a[k] @ b for all k, or a @ b[k] for columns b[k]."""
    cdef Matrix left
    if a.batch_stride == 0 and b.batch_stride != 0 and b.columns == 1:
        left = b[0]
        left.rows, left.row_stride, left.columns, left.column_stride = 1, b.batch_stride, b.rows, b.row_stride
        b[0] = a[0]
        b.rows, b.columns, b.row_stride, b.column_stride = a.columns, a.rows, a.column_stride, a.row_stride
        a[0] = left
    if b.batch_stride != 0 or (a.rows > 1 and a.batch_stride != a.rows * a.row_stride):
        return
    if a.rows == 1:
        a.row_stride = a.batch_stride
    a.rows *= a.batch
    a.batch = b.batch = 1


cdef void multiply(int dtype_code, Matrix *a, Matrix *b, char *out, npy_intp itemsize) except *:
    """Write a @ b to dense memory; see NOTE [Threads in products]."""
    cdef Product made = product_of(dtype_code, a, b, out, itemsize)
    cdef npy_intp each = a.rows * a.columns * b.columns
    cdef npy_intp weight = max(each // TO_AN_ELEMENT, 1)
    cdef Task part = multiply_part
    if dtype_code == FLOAT32 and has_few_long_sums(a, b):
        sum_in_double(a, b, out)
        return
    if a.columns == 1 and (dtype_code == FLOAT32 or dtype_code == FLOAT64):
        prefer_rows(a, b, itemsize)
        part, weight = outer_part, max(each, 1)
    if a.batch * each < thresholds.unlocked_product:
        part(&made, 0, a.batch)
    else:
        with nogil:
            if each <= thresholds.blas_alone:
                parallel_for(part, &made, a.batch, weight, 1, True)
            elif a.columns == 1:
                part(&made, 0, a.batch)
            else:
                multiply_large(&made, each)


cdef void multiply_large(Product *made, npy_intp each) noexcept nogil:
    """A batch of products that BLAS would share among its threads, of `each` multiplications."""
    cdef npy_intp longer = max(made.a.rows, made.b.columns)
    cdef bint by_panels = made.panel_type >= 0, held = False
    if made.a.data != made.b.data:
        made.stripes = max(min(min(longer // (2 * LANES), each // thresholds.blas_alone), <npy_intp> STRIPES), 1)
        held = not by_panels and made.a.batch * made.stripes > 1 and hold_blas()
    if held or by_panels:
        parallel_for(multiply_stripes, made, made.a.batch * made.stripes, each // made.stripes // TO_AN_ELEMENT, 1, True)
    else:
        multiply_part(made, 0, made.a.batch)
    let_blas_go(held)


cdef void multiply_stripes(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """Some stripes: the last ones of a matrix, whole matrices, and the first ones of another."""
    cdef Product *made = <Product *> data
    cdef npy_intp n = made.stripes, last
    if first % n != 0:
        last = min(<npy_intp> end, first + n - first % n)
        multiply_stripe(made, first // n, first % n, last - first // n * n)
        first = last
    if first // n < end // n:
        multiply_part(made, first // n, end // n)
        first = end // n * n
    if first < end:
        multiply_stripe(made, first // n, 0, end - first)


cdef void multiply_stripe(Product *made, npy_intp k, npy_intp first, npy_intp end) noexcept nogil:
    """Adjacent stripes of one matrix."""
    cdef Matrix a = made.a[0], b = made.b[0]
    cdef npy_intp row_size = b.columns * made.itemsize, start
    cdef char *out = made.out + k * a.rows * row_size
    a.data += k * a.batch_stride
    b.data += k * b.batch_stride
    if a.rows >= b.columns:
        start = border(a.rows, first, made.stripes)
        a.rows = border(a.rows, end, made.stripes) - start
        a.data += start * a.row_stride
        out += start * row_size
    else:
        start = border(b.columns, first, made.stripes)
        b.columns = border(b.columns, end, made.stripes) - start
        b.data += start * b.column_stride
        out += start * made.itemsize
    multiply_one(made, &a, &b, out)


cdef inline npy_intp border(npy_intp n, npy_intp stripe, npy_intp stripes) noexcept nogil:
    """Where a stripe begins."""
    return n if stripe == stripes else n * stripe // stripes // LANES * LANES


cdef void multiply_one(Product *made, Matrix *a, Matrix *b, char *out) noexcept nogil:
    """A part of a product, written into rows of the whole result."""
    cdef npy_intp row_size = made.b.columns * made.itemsize
    cdef npy_intp[4] dims
    cdef npy_intp[9] strides
    cdef char *args[3]
    if made.panel_type >= 0:
        multiply_by_panels(made.panel_type, a.data, a.row_stride, a.column_stride, b.data, b.row_stride, b.column_stride, out,
                           row_size, a.rows, a.columns, b.columns, NULL, 0)
        return
    args[0], args[1], args[2] = a.data, b.data, out
    dims[0], dims[1], dims[2], dims[3] = 1, a.rows, a.columns, b.columns
    strides[0] = strides[1] = strides[2] = 0
    strides[3], strides[4] = a.row_stride, a.column_stride
    strides[5], strides[6] = b.row_stride, b.column_stride
    strides[7], strides[8] = row_size, made.itemsize
    made.kernel.loop(args, dims, strides, made.kernel.data)


cdef void multiply_part(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """Some matrices of a batch."""
    cdef Product *made = <Product *> data
    cdef Matrix *a = made.a
    cdef Matrix *b = made.b
    cdef npy_intp itemsize = made.itemsize, size = a.rows * b.columns * itemsize
    cdef npy_intp[4] dims
    cdef npy_intp[9] strides
    cdef char *args[3]
    if made.panel_type >= 0:
        multiply_in_turn(made, first, end)
        return
    args[0], args[1] = a.data + first * a.batch_stride, b.data + first * b.batch_stride
    args[2] = made.out + first * size
    dims[0], dims[1], dims[2], dims[3] = end - first, a.rows, a.columns, b.columns
    strides[0], strides[1], strides[2] = a.batch_stride, b.batch_stride, size
    strides[3], strides[4] = a.row_stride, a.column_stride
    strides[5], strides[6] = b.row_stride, b.column_stride
    strides[7], strides[8] = b.columns * itemsize, itemsize
    made.kernel.loop(args, dims, strides, made.kernel.data)


cdef inline bint has_few_long_sums(Matrix *a, Matrix *b) noexcept:
    """Whether the sums are few and long, and their operands contiguous or small enough to be copied."""
    return (a.columns >= LONG_SUM and min(a.rows, b.columns) <= FEW_SUMS
            and (a.column_stride == sizeof(float) or a.rows <= FEW_SUMS)
            and (b.row_stride == sizeof(float) or b.columns <= FEW_SUMS))


cdef int sum_in_double(Matrix *left, Matrix *right, char *out) except -1:
    """Write the product of float32 matrices to dense memory."""
    cdef Matrix a = turned(left), b = right[0]
    _memory = contiguous_columns(&a), contiguous_columns(&b)
    a = turned(&a)
    cdef Sums sums = Sums(&a, &b, <float *> out)
    parallel_for(sum_part, &sums, a.batch * a.rows * b.columns, a.columns)
    return 0


cdef object contiguous_columns(Matrix *m):
    """Copy the columns of matrices if they are not contiguous. Returns the array that owns the copy."""
    cdef npy_intp size = m.rows * m.columns, count = m.batch if m.batch_stride else 1, matrix, column
    cdef cnp.ndarray copies
    cdef char *data
    if m.row_stride == sizeof(float):
        return None
    size *= count
    copies = new_array(FLOAT32, 1, &size)
    data = cnp.PyArray_BYTES(copies)
    for matrix in range(count):
        for column in range(m.columns):
            copy_strided(data + (matrix * m.columns + column) * m.rows * sizeof(float), sizeof(float),
                         m.data + matrix * m.batch_stride + column * m.column_stride, m.row_stride, m.rows, sizeof(float))
    m.data, m.row_stride, m.column_stride = data, sizeof(float), m.rows * sizeof(float)
    m.batch_stride = m.rows * m.columns * sizeof(float) if m.batch_stride else 0
    return copies


cdef void sum_part(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """Some elements of the result."""
    cdef const Sums *sums = <const Sums *> data
    cdef const Matrix *a = sums.a
    cdef const Matrix *b = sums.b
    cdef npy_intp k, row, matrix
    for k in range(first, end):
        row = k // b.columns
        matrix = row // a.rows
        sums.out[k] = <float> row_dot(
            <const float *> (a.data + matrix * a.batch_stride + row % a.rows * a.row_stride),
            <const float *> (b.data + matrix * b.batch_stride + k % b.columns * b.column_stride), a.columns)


cdef void multiply_in_turn(Product *made, npy_intp first, npy_intp end) noexcept nogil:
    """Some matrices of a batch, by panels."""
    cdef Matrix a = made.a[0], b = made.b[0]
    cdef npy_intp k, size = a.rows * b.columns * made.itemsize
    a.data += first * a.batch_stride
    b.data += first * b.batch_stride
    for k in range(first, end):
        multiply_one(made, &a, &b, made.out + k * size)
        a.data += a.batch_stride
        b.data += b.batch_stride


cdef void prefer_rows(Matrix *a, Matrix *b, npy_intp itemsize) noexcept:
    """Turn a dense column times a scalar into a scalar times a row, because the inner loop runs along rows."""
    if b.columns == 1 and a.row_stride == itemsize:
        turn(a)
        turn(b)
        a[0], b[0] = b[0], a[0]


cdef void outer_part(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """Some columns of a batch, each times its row."""
    cdef Product *made = <Product *> data
    if made.itemsize == sizeof(float):
        outer(made.a, made.b, <float *> made.out, first, end)
    else:
        outer(made.a, made.b, <double *> made.out, first, end)


cdef void outer(Matrix *a, Matrix *b, floating *out, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    cdef npy_intp i, j
    cdef Py_ssize_t k
    cdef floating x
    cdef char *column
    cdef char *row
    out += first * a.rows * b.columns
    for k in range(first, end):
        column, row = a.data + k * a.batch_stride, b.data + k * b.batch_stride
        if b.column_stride == sizeof(floating):
            if floating is float:
                outer_f32(column, a.row_stride, <float *> row, out, a.rows, b.columns)
            else:
                outer_f64(column, a.row_stride, <double *> row, out, a.rows, b.columns)
        else:
            for i in range(a.rows):
                x = (<floating *> (column + i * a.row_stride))[0]
                for j in range(b.columns):
                    out[i * b.columns + j] = x * (<floating *> (row + j * b.column_stride))[0]
        out += a.rows * b.columns
