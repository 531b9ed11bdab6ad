"""The pool that large result arrays get their memory from."""

from cpython.object cimport PyObject

cdef bint is_on() noexcept
cdef PyObject *memory_handler() noexcept
cdef void *take(void *context, size_t size) noexcept
cdef void put_back(void *context, void *memory, size_t size) noexcept
