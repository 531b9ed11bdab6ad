"""Products of blocks of matrices in the calling thread: small ones by our own loop, others by panels or BLAS."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Block:
    char *data
    npy_intp row, column            # strides in bytes

cdef Block transposed(Block block) noexcept nogil
cdef void multiply_blocks(int dtype_code, Block a, Block b, Block out, npy_intp m, npy_intp n, npy_intp p, bint add,
                          char *spare) noexcept nogil
