"""Threads of kernels: loops cut into parts, BLAS's own threads, and the sizes from which either pays."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

# in thresholds.pyx

cdef struct Thresholds:
    npy_intp large_bytes            # of an array, from which its memory comes from the pool and saving it is optimized
    npy_intp spare_bytes            # of an array, up to which it is reused
    npy_intp few                    # elements, up to which the gradient of a sum is made dense
    npy_intp flat_run               # elements of contiguous operands, from which a loop may be cut
    npy_intp shared_work            # elements of float32, from which a loop is shared among threads
    npy_intp shared_run             # elements of a contiguous run that a thread gets: a multiple of any vector length
    npy_intp chunk                  # minimum elements of float32 that a thread takes at once
    npy_intp unlocked_work          # elements of float32, from which a loop lets other Python threads run
    npy_intp strided_run            # elements, from which a strided run is made contiguous
    npy_intp copied_run             # elements of a run, below which NumPy copies a large array faster
    npy_intp partial_work           # elements, from which a sum uses partial results ...
    npy_intp partial_rows           # ... if it has that many rows
    npy_intp deep_sum               # elements of a sum over distant elements, from which it is kept in double
    npy_intp fused_work             # elements, from which a kernel's results are summed block by block ...
    npy_intp fused_run              # ... if its runs have that length
    npy_intp long_choice            # elements of a row, from which NumPy's loop finds the largest faster
    npy_intp short_choice           # elements of a row, below which a call of NumPy's loop doesn't pay
    npy_intp long_row               # classes, from which cross_entropy works row by row
    npy_intp blas_work              # multiplications, from which an operand is copied for BLAS
    npy_intp unlocked_product       # multiplications, from which a product lets other Python threads run, and is shared ...
    npy_intp blas_alone             # ... up to this many per matrix: BLAS computes that in one thread
    npy_intp small_product          # multiplications, up to which our own loop multiplies blocks faster than BLAS
    npy_intp panel_work             # multiplications, from which matrices are multiplied by panels ...
    npy_intp panel_side             # ... if the first has that many rows and the second that many columns

cdef Thresholds thresholds

# in blas_threads.pyx
cdef bint hold_blas() noexcept nogil
cdef void let_blas_go(bint held) noexcept nogil

# in threads.pyx

cdef enum:
    UNIT = 4                    # bytes: work is counted in elements of float32

ctypedef void (*Task)(void *data, Py_ssize_t first, Py_ssize_t end) noexcept nogil

cdef void parallel_for(Task task, void *data, npy_intp n, npy_intp weight, npy_intp grain=*, bint keep_gil=*) noexcept nogil
