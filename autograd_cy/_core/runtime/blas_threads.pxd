"""How many threads BLAS uses while a product of ours is computed."""

cdef void kernels_use(int threads) noexcept
cdef bint hold_blas() noexcept nogil
cdef void let_blas_go(bint held) noexcept nogil
