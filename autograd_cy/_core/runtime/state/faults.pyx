"""Denying memory to one thread, so that tests can make every allocation fail in turn (debug builds only).

Between `fail_allocations` and `stop_failing` all allocations of the calling thread are counted, and some fail: allocations by
Python's allocators, of NumPy's arrays and of the pool. Dead tensors, nodes and arrays are not reused meanwhile, so every
allocation of a fresh process happens.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.string cimport strcpy

cdef extern from "faults.h" nogil:
    """
    static AUTOGRAD_CY_THREAD_LOCAL AutogradFaults autograd_cy_faults;
    static int autograd_cy_is_denied(void) { return autograd_cy_deny(&autograd_cy_faults); }
    """
    ctypedef struct Faults "AutogradFaults":
        bint armed
        long long before, failing, denied
    Faults faults "autograd_cy_faults"
    bint autograd_cy_is_denied()
    void hook_allocators "autograd_cy_hook_allocators"()

cdef extern from "numpy/arrayobject.h":
    object PyDataMem_SetHandler(object)
    object PyDataMem_GetHandler()
    int import_array "_import_array"() except -1

import_array()

cdef Handler handler                # the handler of arrays made while the thread is armed
cdef Allocator numpys               # NumPy's allocator, which the handler wraps
cdef object capsule = None
cdef object before_armed = None     # NumPy's handler


cdef bint deny() noexcept nogil:
    return autograd_cy_is_denied()


cdef bint armed() noexcept nogil:
    return faults.armed


cdef void *take(void *context, size_t size) noexcept:
    return NULL if deny() else numpys.malloc(context, size)


cdef void *take_zeros(void *context, size_t n, size_t size) noexcept:
    return NULL if deny() else numpys.calloc(context, n, size)


cdef void *resize(void *context, void *memory, size_t size) noexcept:
    return NULL if deny() else numpys.realloc(context, memory, size)


cdef int install() except -1:
    """Install the hooks, once per process."""
    global capsule, before_armed, numpys
    before_armed = PyDataMem_GetHandler()
    numpys = (<Handler *> PyCapsule_GetPointer(before_armed, "mem_handler")).allocator
    strcpy(handler.name, b"autograd_cy faults")
    handler.version = 1
    handler.allocator = Allocator(numpys.ctx, take, take_zeros, resize, numpys.free)
    capsule = PyCapsule_New(&handler, b"mem_handler", NULL)
    hook_allocators()
    return 0


def fail_allocations(long long before, long long failing=1):
    """fail_allocations(before, failing=1): let this thread's next `before` allocations succeed, and the next `failing` fail.

    RuntimeError in a release build.
    """
    if not DEBUG:
        raise RuntimeError("fail_allocations() needs a debug build (AUTOGRAD_CY_DEBUG=1)")
    if capsule is None:
        install()
    PyDataMem_SetHandler(capsule)
    faults.before, faults.failing, faults.denied = before, failing, 0
    faults.armed = True


def stop_failing():
    """stop_failing() -> int: stop counting; returns how many allocations failed."""
    faults.armed = False
    PyDataMem_SetHandler(before_armed)
    return faults.denied
