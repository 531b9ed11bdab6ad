"""Products of blocks of matrices, in the thread that calls: of a few elements by a loop of our own, else by panels or BLAS."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Block:
    char *data
    npy_intp row, column            # strides in bytes

cdef Block transposed(Block block) noexcept nogil
cdef void multiply_blocks(int dtype_code, Block a, Block b, Block out, npy_intp m, npy_intp n, npy_intp p, bint add,
                          char *spare) noexcept nogil
