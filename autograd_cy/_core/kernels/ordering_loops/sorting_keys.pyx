"""int64 keys that combine the order of 32-bit numbers with their places. NumPy sorts them 3 times as fast as argsort does,
and equal numbers keep their order because their keys differ only by the place. (316 x 316, float32, us: np.argsort 2100,
stable 7900; keys and np.sort 750.)
"""

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport FLOAT32, INT64, code_of
from autograd_cy._core.kernels.borrowed cimport run
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.numpy_api cimport npy_intp

cdef enum:
    LARGEST_KEY = 0x7fffffff


cdef inline void keys_of_floats(const float[::1] x, const int[::1] bits, bint descending, long long[::1] keys) noexcept nogil:
    """Flips the bits of negative numbers. All zeros are equal; all nans are equal, and the largest."""
    cdef Py_ssize_t i
    cdef long long key
    for i in range(keys.shape[0]):
        key = bits[i] ^ (bits[i] >> 31 & LARGEST_KEY)
        key = 0 if x[i] == 0 else LARGEST_KEY if x[i] != x[i] else key
        keys[i] = (~key if descending else key) * (<long long> 1 << 32) + i


cdef inline void keys_of_integers(const int[::1] x, bint descending, long long[::1] keys) noexcept nogil:
    cdef Py_ssize_t i
    cdef long long key
    for i in range(keys.shape[0]):
        key = x[i]
        keys[i] = (~key if descending else key) * (<long long> 1 << 32) + i


cdef cnp.ndarray sorting_keys(cnp.ndarray rows, bint descending):
    """The keys of float32 or int32 in C order, along the last dimension."""
    cdef cnp.ndarray result = new_array(INT64, cnp.PyArray_NDIM(rows), cnp.PyArray_DIMS(rows))
    cdef npy_intp n = cnp.PyArray_DIM(rows, cnp.PyArray_NDIM(rows) - 1), k
    cdef const void *source = cnp.PyArray_DATA(rows)
    cdef long long *keys = <long long *> cnp.PyArray_DATA(result)
    for k in range(0, cnp.PyArray_SIZE(rows) // n if n else 0):
        if code_of(rows) == FLOAT32:
            keys_of_floats(run(<const float *> source + k * n, n), run(<const int *> source + k * n, n), descending,
                           run(keys + k * n, n))
        else:
            keys_of_integers(run(<const int *> source + k * n, n), descending, run(keys + k * n, n))
    return result


cdef inline void leave_places(long long[::1] keys) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(keys.shape[0]):
        keys[i] &= 0xffffffff


cdef cnp.ndarray places_of_keys(cnp.ndarray keys):
    """Overwrite the keys with their places, and return them."""
    leave_places(run(<long long *> cnp.PyArray_DATA(keys), cnp.PyArray_SIZE(keys)))
    return keys


# numbers that were sorted without keys

cdef inline bint rises(const double[::1] x) noexcept nogil:
    cdef Py_ssize_t i, others = 0
    for i in range(1, x.shape[0]):
        others |= not x[i - 1] < x[i]
    return others == 0


cdef bint has_equals(cnp.ndarray rows) noexcept:
    """Whether float64 rows (C order, sorted along the last dimension) have equal elements or nans."""
    cdef npy_intp n = cnp.PyArray_DIM(rows, cnp.PyArray_NDIM(rows) - 1), k
    cdef const double *x = <const double *> cnp.PyArray_DATA(rows)
    for k in range(cnp.PyArray_SIZE(rows) // n if n else 0):
        if not rises(run(x + k * n, n)):
            return True
    return False
