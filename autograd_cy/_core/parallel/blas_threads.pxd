"""The number of threads that BLAS uses while we compute a product."""

cdef void kernels_use(int threads) noexcept
cdef bint hold_blas() noexcept nogil
cdef void let_blas_go(bint held) noexcept nogil
