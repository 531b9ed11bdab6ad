"""Products of blocks of float32 or float64 matrices, in the calling thread (knows no Tensor).

A call of BLAS has overhead. Small products use our own loop, which reads both operands in place; larger ones use panels
where these apply, else BLAS.
"""

from autograd_cy._core.arrays.dtypes cimport FLOAT32
from autograd_cy._core.parallel.threads cimport hold_blas, let_blas_go, thresholds
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from *:
    """
    #include "tiles.h"
    #if defined(__GNUC__)
    /* a @ b in whole vectors: the last vector of a row may overlap the one before. Returns how many columns it computed: all,
       or none if rows are shorter than a vector. */
    #define PRODUCT(name, type) \\
        TILES(name, type, 32) \\
        AUTOGRAD_CY_CLONED_PRODUCT static npy_intp name(const char *a, npy_intp a_row, npy_intp a_column, const char *b, \\
                                                        npy_intp b_row, char *out, npy_intp out_row, npy_intp m, npy_intp n, \\
                                                        npy_intp p, int add) { \\
            npy_intp bytes = p * sizeof(type); \\
            if (bytes < 32) return 0; \\
            for (; bytes >= 64; bytes -= 64, b += 64, out += 64) \\
                name##_rows2(a, a_row, a_column, b, b_row, out, out_row, m, n, 0, 64, add ? out : NULL, out_row, \\
                             ONE_SEGMENT, 1); \\
            if (bytes >= 32) { \\
                name##_rows1(a, a_row, a_column, b, b_row, out, out_row, m, n, 0, 32, add ? out : NULL, out_row, \\
                             ONE_SEGMENT, 1); \\
                bytes -= 32, b += 32, out += 32; \\
            } \\
            if (bytes > 0) \\
                name##_rows1(a, a_row, a_column, b + bytes - 32, b_row, out + bytes - 32, out_row, m, n, 32 - bytes, 32, \\
                             add ? out + bytes - 32 : NULL, out_row, ONE_SEGMENT, 1); \\
            return p; \\
        }
    PRODUCT(product_f32, float)
    PRODUCT(product_f64, double)
    #else
    #define product_f32(...) 0
    #define product_f64(...) 0
    #endif
    """
    npy_intp product_f32(const char *a, npy_intp a_row, npy_intp a_column, const char *b, npy_intp b_row, char *out,
                         npy_intp out_row, npy_intp m, npy_intp n, npy_intp p, bint add) noexcept nogil
    npy_intp product_f64(const char *a, npy_intp a_row, npy_intp a_column, const char *b, npy_intp b_row, char *out,
                         npy_intp out_row, npy_intp m, npy_intp n, npy_intp p, bint add) noexcept nogil

ctypedef fused real:
    float
    double


cdef Block transposed(Block block) noexcept nogil:
    return Block(block.data, block.column, block.row)


cdef void multiply_blocks(int dtype_code, Block a, Block b, Block out, npy_intp m, npy_intp n, npy_intp p, bint add,
                          char *spare) noexcept nogil:
    """out = a @ b, or with `add` out + a @ b: (m, n) by (n, p), no size 0. The rows of `out` are contiguous; so are the rows
    or the columns of a and b. `spare` has room for (n, p) and for (m, p) elements."""
    if m * n * p <= thresholds.small_product:
        if dtype_code == FLOAT32:
            multiply_small(a, b, out, m, n, p, add, <float *> spare)
        else:
            multiply_small(a, b, out, m, n, p, add, <double *> spare)
    elif has_panels(dtype_code, m, p):
        multiply_by_panels(dtype_code, a.data, a.row, a.column, b.data, b.row, b.column, out.data, out.row, m, n, p,
                           out.data if add else NULL, out.row)
    else:
        multiply_by_blas(dtype_code, a, b, out, m, n, p, add, spare)


cdef void multiply_small(Block a, Block b, Block out, npy_intp m, npy_intp n, npy_intp p, bint add,
                         real *spare) noexcept nogil:
    cdef npy_intp i, j, k, done
    cdef real total
    if b.column != sizeof(real):
        for k in range(n):
            for j in range(p):
                spare[k * p + j] = element(b, k, j, <real> 0)
        b = Block(<char *> spare, p * sizeof(real), sizeof(real))
    if real is float:
        done = product_f32(a.data, a.row, a.column, b.data, b.row, out.data, out.row, m, n, p, add)
    else:
        done = product_f64(a.data, a.row, a.column, b.data, b.row, out.data, out.row, m, n, p, add)
    for i in range(m):
        for j in range(done, p):
            total = 0
            for k in range(n):
                total += element(a, i, k, <real> 0) * element(b, k, j, <real> 0)
            put(out, i, j, total, add)


cdef inline real element(Block block, npy_intp i, npy_intp j, real kind) noexcept nogil:
    return (<real *> (block.data + i * block.row + j * block.column))[0]


cdef inline void put(Block out, npy_intp i, npy_intp j, real value, bint add) noexcept nogil:
    cdef real *place = <real *> (out.data + i * out.row + j * out.column)
    place[0] = place[0] + value if add else value


cdef void multiply_by_blas(int dtype_code, Block a, Block b, Block out, npy_intp m, npy_intp n, npy_intp p, bint add,
                           char *spare) noexcept nogil:
    cdef npy_intp size = sizeof(float) if dtype_code == FLOAT32 else sizeof(double)
    cdef Block made = Block(spare, p * size, size) if add else out
    cdef npy_intp[4] dims
    cdef npy_intp[9] strides
    cdef char *args[3]
    cdef bint held = m * n * p > thresholds.blas_alone and hold_blas()     # threads share heads and blocks, not products
    args[0], args[1], args[2] = a.data, b.data, made.data
    dims[0], dims[1], dims[2], dims[3] = 1, m, n, p
    strides[0] = strides[1] = strides[2] = 0
    strides[3], strides[4] = a.row, a.column
    strides[5], strides[6] = b.row, b.column
    strides[7], strides[8] = made.row, size
    MATMUL[dtype_code].loop(args, dims, strides, MATMUL[dtype_code].data)
    let_blas_go(held)
    if add and dtype_code == FLOAT32:
        add_block(made, out, m, p, <float> 0)
    elif add:
        add_block(made, out, m, p, <double> 0)


cdef void add_block(Block source, Block out, npy_intp m, npy_intp p, real kind) noexcept nogil:
    cdef npy_intp i, j
    cdef const real *x
    cdef real *y
    for i in range(m):
        x, y = <const real *> (source.data + i * source.row), <real *> (out.data + i * out.row)
        for j in range(p):
            y[j] += x[j]
