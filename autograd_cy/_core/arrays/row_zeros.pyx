"""Arrays that are zero but for rows that are known: gradients of large tables (knows no Tensor).

NOTE [Rows]
A gradient of a table of which few rows were read is dense, as any other; to zero all of it, and to step along all of it,
costs more than the rest. So its block of the pool remembers which rows may differ from 0:
  1. `new_row_zeros` notes the rows (NOTED). That a result is used by whoever computes a gradient for a leaf, straight from
     it and unseen by hooks and captures, the engine confirms (KNOWN): it expects rows, lets the node compute, and confirms if
     its result is what was made last. What goes another way may be written in place: it stays NOTED, which counts for nothing;
  2. whoever hands the array of a `.grad` out, or writes to it, forgets them first (UNKNOWN). Thus what is KNOWN was
     seen by nobody. (`gc.get_referents(leaf)` shows `.grad` behind its back: who writes to that through NumPy is not noticed.)
  3. an array that dies while its rows are KNOWN leaves a block that is zero but for them (ZERO_ELSEWHERE): the next
     `new_row_zeros` that gets the block zeroes those rows alone. Others get it as any block, and its state counts for nothing
     when they put it back;
  4. the GIL is held by all who read or change the state; without one, the lock of the leaf whose `.grad` it is. The numbers
     stay where they are until the block serves as such zeros again or is freed: a loop may read them while another thread
     forgets them.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from autograd_cy._core.arrays.buffers cimport new_array
from autograd_cy._core.arrays.dtypes cimport ITEMSIZE
from autograd_cy._core.arrays.pool cimport KNOWN, NOTED, UNKNOWN, ZERO_ELSEWHERE, Rows, memory_handler, rows_in, size_of
from autograd_cy._core.runtime cimport numpy_api as cnp
from autograd_cy._core.runtime.thresholds cimport thresholds

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    ctypedef struct ArrayFields "PyArrayObject_fields":
        PyObject *mem_handler

cdef extern from *:
    """
    #define array_fields(array) ((PyArrayObject_fields *) (array))
    """
    ArrayFields *array_fields(PyObject *array) noexcept nogil

cdef enum:
    FEWER = 4               # so many times more rows than numbers make it worth while to know them

cdef extern from "state.h":
    pass

cdef extern from *:
    """
    /* the memory that this thread made last, since it expects some */
    static AUTOGRAD_CY_THREAD_LOCAL void *autograd_cy_latest;
    """
    void *latest "autograd_cy_latest"


cdef cnp.ndarray new_row_zeros(int dtype_code, cnp.npy_intp n, cnp.npy_intp inner, const int64_t *numbers, cnp.npy_intp count):
    """A new array (n, inner) of zeros, to whose rows of those numbers (they were checked) its maker will add.

    None if that is no better than any zeros: the array is not large, the numbers are many.
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
    """Each of the numbers once, in memory of its own; NULL if there is none."""
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
    """What the block of an array that owns memory of the pool knows; NULL: it is another."""
    if (array_fields(<PyObject *> array).mem_handler != memory_handler()
            or not cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_OWNDATA)):
        return NULL
    return rows_in(cnp.PyArray_DATA(array))


cdef void expect_rows() noexcept:
    """A node is about to compute a gradient that goes straight to a leaf."""
    global latest
    latest = NULL


cdef void confirm_rows(object made) noexcept:
    """The node gave this (an array or None): case 1 of NOTE [Rows]."""
    cdef Rows *rows
    if latest == NULL or made is None or cnp.PyArray_DATA(<cnp.ndarray> made) != latest:
        return
    rows = rows_of(<cnp.ndarray> made)
    if rows != NULL and rows.state == NOTED:
        rows.state = KNOWN


cdef void forget_rows(cnp.ndarray array) noexcept:
    """Somebody gets to see the array, or writes to it: case 2 of NOTE [Rows]."""
    cdef Rows *rows = rows_of(array)
    if rows != NULL:
        rows.state = UNKNOWN


cdef Rows *known_rows(cnp.ndarray array) noexcept:
    """Outside of which rows the array is zero; NULL: that is not known."""
    cdef Rows *rows = rows_of(array)
    return rows if rows != NULL and rows.state == KNOWN else NULL
