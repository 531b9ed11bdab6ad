"""Sizes at which results begin to be computed another way: plain numbers that loops read, and that tests set."""

from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef struct Thresholds:
    npy_intp large_bytes            # of an array, from which on its memory comes from the pool, and saving one is worth care
    npy_intp spare_bytes            # of an array, up to which it serves again
    npy_intp few                    # elements, up to which the gradient of a sum is made dense
    npy_intp flat_run               # elements of contiguous operands, from which on a loop may be cut
    npy_intp shared_work            # elements of float32, from which on a loop is shared among threads
    npy_intp shared_run             # elements of a contiguous run that a thread gets: a multiple of any vector's
    npy_intp chunk                  # elements of float32 that a thread takes at once, at least
    npy_intp unlocked_work          # elements of float32, from which on a loop lets other Python threads run
    npy_intp strided_run            # elements, from which on a run of strided ones is worth making contiguous
    npy_intp copied_run             # elements of a run, below which NumPy copies a large array sooner
    npy_intp partial_work           # elements, from which on a sum is worth partial results ...
    npy_intp partial_rows           # ... if it is one of that many rows
    npy_intp deep_sum               # elements of a sum that lie apart, from which on it is kept in double
    npy_intp fused_work             # elements, from which on a kernel's results are summed block by block ...
    npy_intp fused_run              # ... if its runs are that long
    npy_intp long_choice            # elements of a row, from which on NumPy's loop finds the largest sooner
    npy_intp short_choice           # elements of a row, below which a call of NumPy's loop doesn't pay
    npy_intp long_row               # classes, from which on cross_entropy works on rows one by one
    npy_intp blas_work              # multiplications, from which on an operand is copied for BLAS
    npy_intp unlocked_product       # multiplications, from which on a product lets other Python threads run, and is shared ...
    npy_intp blas_alone             # ... up to which of each matrix: BLAS computes that in one thread
    npy_intp small_product          # multiplications, up to which our own loop multiplies blocks sooner than BLAS
    npy_intp panel_work             # multiplications, from which on matrices are multiplied by panels ...
    npy_intp panel_side             # ... if the first has as many rows and the second as many columns

cdef Thresholds thresholds
