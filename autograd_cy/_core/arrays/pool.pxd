"""The pool that provides memory for large result arrays."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t

cdef enum RowState:                 # see NOTE [Rows]
    UNKNOWN
    NOTED
    KNOWN
    ZERO_ELSEWHERE

cdef packed struct Rows:            # what a block records about its rows
    int64_t *numbers                # rows that may differ from 0, each once; or NULL
    size_t n
    unsigned int size               # of a row, in bytes
    int state

cdef bint is_on() noexcept
cdef PyObject *memory_handler() noexcept
cdef void *take(void *context, size_t size) noexcept
cdef Rows *rows_in(void *memory) noexcept
cdef size_t size_of(void *memory) noexcept
cdef void put_back(void *context, void *memory, size_t size) noexcept
