"""Loops shared among threads, which also let other Python threads run.

NOTE [Threads]
  1. A loop is shared by cutting its range into chunks, along a dimension in which results are independent: an element is
     computed in the same way in any thread. So results are bitwise equal for any number of threads. (Contiguous data is cut
     at multiples of 64 elements, so the remainder of a vector loop stays at the end of the range.)
  2. A loop of fewer than `shared_work` elements (of float32; fewer for wider dtypes) runs in the calling thread. So does a
     loop that is called while another thread's loop is being shared.
  3. The caller starts at once and waits for no worker to arrive. Waking a worker costs the caller some 3 us, and the worker
     needs 50 to 300 until it runs. So workers wait actively for the next loop for a while (yielding the core to any thread
     that wants it, for example one of BLAS) before they sleep, and are woken when loops took WORTH_WAKING without them.
  4. By default there are as many threads as the process may use cores, or as OMP_NUM_THREADS says. Without POSIX threads
     there is one, and requesting more raises an error that says so.
  5. A forked child works, with its own new workers.
  6. A loop of `unlocked_work` elements or more lets other Python threads run meanwhile. So its caller holds a reference to
     each array that it reads or writes. A gradient to which another thread may also add is added with the GIL held
     (`add_into`).
  7. The gain from workers depends on things that the loop can't know: whether the other core is free, is a sibling in the same
     core (no gain, and an actively waiting worker slows the caller down), or far away (each handover costs 2 us). So one loop
     in SAMPLED is timed: its first chunk runs alone, the rest is shared. If loops of about that size gain less than a tenth
     (PAYS), they run alone for some milliseconds (REST), in which workers fall asleep; then one is timed again.
"""

import os

from autograd_cy._core.recording.events cimport Span, begin_loop, end_loop, recorders_on
from autograd_cy._core.runtime.free_threading cimport peek_int, store_int
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef extern from "Python.h" nogil:
    ctypedef struct PyThreadState:
        pass
    PyThreadState *PyEval_SaveThread()
    void PyEval_RestoreThread(PyThreadState *)

cdef extern from "threads.h" nogil:
    const bint HAS_THREADS "AUTOGRAD_CY_THREADS"
    void share "autograd_cy_share"(Task task, void *data, npy_intp size, npy_intp grain, int threads, npy_intp work)
    void forget "autograd_cy_forget"()
    void watch_forks "autograd_cy_watch_forks"()

cdef enum:
    LARGEST_CHUNK = 1 << 16     # elements of float32, and at least thresholds.chunk ...
    CHUNKS = 16                 # ... but about that many chunks for each thread

cdef int number_of_threads = 1
cdef int threads_of_each = 1        # for each of several threads that run kernels at the same time; see share_cores
cdef int callers = 1
watch_forks()


cdef void parallel_for(
        Task task, void *data, npy_intp n, npy_intp weight, npy_intp grain=1, bint keep_gil=False) noexcept nogil:
    """Call the task on 0..n in parts, cut at multiples of `grain`, in parallel; each element weighs `weight` float32."""
    cdef npy_intp size = n * weight
    cdef int threads = peek_int(&threads_of_each)
    cdef PyThreadState *state = NULL
    if size >= thresholds.unlocked_work and not keep_gil:
        state = PyEval_SaveThread()
    if size < thresholds.shared_work or threads == 1:
        task(data, 0, n)
    elif recorders_on():
        share_as_event(task, data, n, grain_of(n, weight, grain, threads), threads, size)
    else:
        share(task, data, n, grain_of(n, weight, grain, threads), threads, size)
    if state != NULL:
        PyEval_RestoreThread(state)


cdef void share_as_event(Task task, void *data, npy_intp size, npy_intp grain, int threads, npy_intp work) noexcept nogil:
    cdef Span span = begin_loop()
    share(task, data, size, grain, threads, work)
    end_loop(span)


cdef inline npy_intp grain_of(npy_intp n, npy_intp weight, npy_intp grain, int threads) noexcept nogil:
    """The size of a chunk, a multiple of `grain`."""
    cdef npy_intp elements = min(max(n * weight // (threads * CHUNKS), thresholds.chunk), LARGEST_CHUNK)
    return max(elements // (weight * grain), 1) * grain


def get_num_threads():
    """get_num_threads() -> int: the number of threads that a kernel may use.

    >>> import autograd_cy as ag
    >>> ag.get_num_threads() >= 1
    True
    """
    return number_of_threads


def set_kernel_threads(int n):
    """Let kernels use that many threads; BLAS is not changed."""
    global number_of_threads
    if n < 1:
        raise RuntimeError(f"set_num_threads expects a positive integer, got {n}")
    if n > 1 and not HAS_THREADS:
        raise RuntimeError(f"set_num_threads({n}): this build has no threads of its own, its kernels use one")
    if n != number_of_threads:
        forget()
    number_of_threads = n
    kernels_use(n)
    share_cores(peek_int(&callers))


def share_cores(int n):
    """Divide the kernel threads among n threads that call kernels at the same time."""
    store_int(&callers, n)
    store_int(&threads_of_each, max(number_of_threads // n, 1))


def has_threads():
    """Whether kernels can use more than one thread."""
    return HAS_THREADS != 0


def usual_threads(text):
    """Case 4 of NOTE [Threads]: the default number of kernel threads for that text of OMP_NUM_THREADS."""
    cdef object wanted = text.partition(",")[0].strip()
    if not HAS_THREADS:
        return 1
    if wanted.isascii() and wanted.isdigit() and int(wanted) > 0:
        return min(int(wanted), 256)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


set_kernel_threads(usual_threads(os.environ.get("OMP_NUM_THREADS", "")))
