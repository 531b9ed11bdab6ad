"""The worker threads of parallel walks."""

cdef class Job:
    cdef int depth                  # the number of tasks around it
    cdef int coming                 # threads that were called but have not started

    cdef bint wants_help(self) noexcept
    cdef int help(self) except -1

cdef int begin_job(Job job) except -1
cdef int end_job(Job job) except -1
cdef int call_worker(Job job, Py_ssize_t most) except -1
