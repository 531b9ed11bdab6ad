"""How many threads a kernel may use.

NOTE [Threads]
  1. A loop is shared by cutting its range into equal parts, one a thread, along a dimension in which results lie apart:
     which thread computes an element changes nothing about how it is computed. So results have the same bits for any
     number of threads.
  2. Below WORTH_THREADS elements, and within a parallel region, a loop runs in the thread that calls it.
  3. Without OpenMP there is one thread, and asking for more is an error that says so.
  4. A forked child works, with new workers of its own (threads.h).
  5. More than one thread is the user's choice: OpenMP's workers spin for some milliseconds after each loop, and where the
     cores are as few as the threads, the threads of BLAS wait for them (a step of a network took 16 ms instead of 0.3 on
     two cores; with OMP_WAIT_POLICY=passive 0.33).
"""

from numpy cimport npy_intp

cdef extern from "threads.h" nogil:
    const bint HAS_OPENMP "AUTOGRAD_CY_OPENMP"
    bint omp_in_parallel()
    void watch_forks "autograd_cy_watch_forks"(int *)

cdef int number_of_threads = 1      # case 5
watch_forks(&number_of_threads)


cdef int threads_for(npy_intp size) noexcept nogil:
    """Into how many parts a loop over that many elements is cut."""
    if size < WORTH_THREADS or number_of_threads == 1 or omp_in_parallel():
        return 1
    return number_of_threads


def get_num_threads():
    """get_num_threads() -> int: the number of threads that a kernel may use.

    >>> import autograd_cy as ag
    >>> ag.get_num_threads() >= 1
    True
    """
    return number_of_threads


def set_kernel_threads(int n):
    """Let kernels use that many threads; BLAS is not told."""
    global number_of_threads
    if n < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {n}")
    if n > 1 and not HAS_OPENMP:
        raise RuntimeError(f"set_num_threads({n}): this build has no OpenMP, its kernels use one thread")
    number_of_threads = n


def has_openmp():
    """Whether the kernels were compiled with OpenMP."""
    return HAS_OPENMP != 0
