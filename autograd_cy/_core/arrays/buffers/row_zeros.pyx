"""Arrays that are zero except in known rows: gradients of large tables (knows no Tensor).

NOTE [Rows]
The gradient of a table is dense, even if few rows were read. Zeroing all of it and stepping along all of it costs more than
the rest. So its block of the pool remembers which rows may differ from 0:
  1. `new_row_zeros` notes the rows (NOTED). The engine confirms them (KNOWN) if the result goes straight to a leaf, unseen
     by hooks and captures: it expects rows, lets the node compute, and confirms if the node's result is the array made
     last. Any other result may be written in place: it stays NOTED, which has no effect;
  2. code that exposes the array of a `.grad`, or writes to it, forgets the rows first (UNKNOWN). So an array with KNOWN rows
     has never been exposed. (`gc.get_referents(leaf)` does expose `.grad`: a write through NumPy is not noticed then.)
  3. an array that dies while its rows are KNOWN leaves a block that is zero outside of them (ZERO_ELSEWHERE): the next
     `new_row_zeros` that gets the block zeroes only those rows. Other arrays use it like any block, and its state has no
     effect when they return it;
  4. reading and changing the state needs the GIL; without one, the lock of the leaf that has the `.grad`. The row numbers
     stay in place until the block serves as such zeros again or is freed: a loop may read them while another thread
     forgets them.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from autograd_cy._core.arrays.dtypes cimport ITEMSIZE
from autograd_cy._core.parallel.threads cimport thresholds
from autograd_cy._core.runtime cimport numpy_api as cnp

cdef extern from *:
    """
    #define array_fields(array) ((PyArrayObject_fields *) (array))
    """
    ArrayFields *array_fields(PyObject *array) noexcept nogil

cdef enum:
    FEWER = 4               # knowing the rows pays if the table has this many times more rows

cdef extern from "state.h":
    pass

cdef extern from *:
    """
    /* the memory that this thread made last since `expect_rows` */
    static AUTOGRAD_CY_THREAD_LOCAL void *autograd_cy_latest;
    """
    void *latest "autograd_cy_latest"


cdef cnp.ndarray new_row_zeros(int dtype_code, cnp.npy_intp n, cnp.npy_intp inner, const int64_t *numbers, cnp.npy_intp count):
    """A new array (n, inner) of zeros. The caller will add to the rows `numbers`, which it has checked.

    None if plain zeros are as good: the array is not large, or the numbers are many.
    """
    global latest
    cdef cnp.npy_intp[2] dims
    cdef int64_t *once
    cdef Rows *rows
    cdef cnp.ndarray array
    cdef char *memory
    cdef size_t k, size = inner * ITEMSIZE[dtype_code]
    cdef cnp.npy_intp different = 0
    dims[0], dims[1] = n, inner
    if count > n // FEWER or n * size < <size_t> thresholds.large_bytes or size > 1 << 31:
        return None
    array = new_array(dtype_code, 2, dims)
    rows = rows_of(array)
    if rows == NULL:
        return None
    memory = cnp.PyArray_BYTES(array)
    if rows.state == ZERO_ELSEWHERE:
        for k in range(rows.n):
            memset(memory + rows.numbers[k] * rows.size, 0, rows.size)
    else:
        memset(memory, 0, size_of(memory))
    free(rows.numbers)
    rows.state, rows.numbers, rows.n, rows.size = UNKNOWN, NULL, 0, size
    once = distinct(numbers, count, n, &different)
    if once != NULL:
        rows.numbers, rows.n, rows.state = once, different, NOTED
        latest = memory
    return array


cdef int64_t *distinct(const int64_t *numbers, cnp.npy_intp count, cnp.npy_intp n, cnp.npy_intp *found) noexcept nogil:
    """Each of the numbers once, in new memory; NULL if that can't be allocated."""
    cdef unsigned char *seen = <unsigned char *> calloc(n // 8 + 1, 1)
    cdef int64_t *once = <int64_t *> malloc((count + 1) * sizeof(int64_t))
    cdef cnp.npy_intp k
    cdef unsigned char bit
    if seen == NULL or once == NULL:
        free(seen)
        free(once)
        return NULL
    for k in range(count):
        bit = 1 << (numbers[k] & 7)
        if not seen[numbers[k] >> 3] & bit:
            seen[numbers[k] >> 3] |= bit
            once[found[0]] = numbers[k]
            found[0] += 1
    free(seen)
    return once


cdef inline Rows *rows_of(cnp.ndarray array) noexcept:
    """The record in the array's block; NULL if the array does not own memory of the pool."""
    if (array_fields(<PyObject *> array).mem_handler != memory_handler()
            or not cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_OWNDATA)):
        return NULL
    return rows_in(cnp.PyArray_DATA(array))


cdef void expect_rows() noexcept:
    """A node is about to compute a gradient that goes straight to a leaf."""
    global latest
    latest = NULL


cdef void confirm_rows(object made) noexcept:
    """The node has returned `made` (an array or None): case 1 of NOTE [Rows]."""
    cdef Rows *rows
    if latest == NULL or made is None or cnp.PyArray_DATA(<cnp.ndarray> made) != latest:
        return
    rows = rows_of(<cnp.ndarray> made)
    if rows != NULL and rows.state == NOTED:
        rows.state = KNOWN


cdef void forget_rows(cnp.ndarray array) noexcept:
    """The array is about to be exposed or written to: case 2 of NOTE [Rows]."""
    cdef Rows *rows = rows_of(array)
    if rows != NULL:
        rows.state = UNKNOWN


cdef Rows *known_rows(cnp.ndarray array) noexcept:
    """The rows outside of which the array is zero; NULL if they are not known."""
    cdef Rows *rows = rows_of(array)
    return rows if rows != NULL and rows.state == KNOWN else NULL
