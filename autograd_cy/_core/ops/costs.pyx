"""The costs of an operation's parts, measured separately: the profiler only sees whole operations."""

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport dtype, result_code, to_inexact
from autograd_cy._core.graph.tensor cimport new_tensor
from autograd_cy._core.recording.events cimport ENGINE, begin_named, end
from autograd_cy._core.runtime cimport numpy_api as cnp

from time import perf_counter_ns

cnp.import_array()

cdef enum:
    AT_ONCE = 8                 # results that live at the same time


def allocation_ns(dtype element_type, tuple shape, int repeats):
    """allocation_ns(dtype, shape, repeats) -> (float, float): the time to make a result of that shape, and to free it."""
    cdef cnp.npy_intp[64] dims
    cdef list results = [None] * AT_ONCE
    cdef long long made = 0, freed = 0, start, between
    cdef int k
    for k in range(len(shape)):
        dims[k] = shape[k]
    for _n in range(repeats):
        start = perf_counter_ns()
        for k in range(AT_ONCE):
            results[k] = new_tensor(new_array(element_type.dtype_code, len(shape), dims))
        between = perf_counter_ns()
        for k in range(AT_ONCE):
            results[k] = None
        freed += perf_counter_ns() - between
        made += between - start
    return made / (repeats * AT_ONCE), freed / (repeats * AT_ONCE)


def type_choice_ns(dtype first, dtype second, int repeats):
    """type_choice_ns(dtype, dtype, repeats) -> float: the time to decide the result type of two operands."""
    cdef long long start = perf_counter_ns()
    cdef int k, total = 0
    for k in range(repeats):
        total += to_inexact(result_code(first.dtype_code, k & 1, second.dtype_code, 1))
    return (perf_counter_ns() - start + (total < 0)) / repeats


def event_ns(int repeats):
    """event_ns(repeats) -> float: the time of one event while a profiler records."""
    cdef long long start = perf_counter_ns()
    for _k in range(repeats):
        end(begin_named(ENGINE, "nothing"))
    return (perf_counter_ns() - start) / repeats
