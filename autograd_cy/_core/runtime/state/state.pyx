"""The state of a thread: its modes and its counters (lowest layer).

A thread-local variable in a .pxd would be duplicated in every module, so this module owns the only one and the others ask for
its address.
"""

cdef extern from *:
    """
    static AUTOGRAD_CY_THREAD_LOCAL AutogradThreadState autograd_cy_local;
    """
    ThreadState autograd_cy_local


cdef ThreadState *thread_state() noexcept nogil:
    return &autograd_cy_local


def is_debug_build():
    """Whether the core was compiled with AUTOGRAD_CY_DEBUG=1."""
    return DEBUG != 0
