"""The worker threads of parallel walks (knows no graph).

Workers are created on demand, and each sleeps on its own lock. The GIL (without one, `guard`) protects the lists: it is never
released between reading a list and changing it. A forked child has no workers and makes its own. When the interpreter ends,
sleeping workers are joined; working ones end with it, as daemons do.
"""

import atexit
import os
from _thread import allocate_lock

cimport cython
from cpython.object cimport PyObject

from autograd_cy._core.runtime.free_threading cimport Hold, add_int, hold, let_go

from autograd_cy._core.parallel.threads import share_cores

cdef object guard = object()        # the lock of all that follows
cdef list workers = []
cdef list idle = []                 # workers that sleep, or are about to
cdef list jobs = []                 # running jobs
cdef bint closed = False            # the interpreter is ending
cdef int busy = 0                   # number of busy workers

GOODBYE = 1.0                       # seconds to wait for a leaving worker


cdef class Job:
    cdef bint wants_help(self) noexcept:
        """Whether one more thread would find work."""
        return False

    cdef int help(self) except -1:
        """Work until nothing is left to do."""
        raise NotImplementedError


@cython.final
cdef class Worker:
    cdef object lock, thread
    cdef Job job                    # the job that it was called for
    cdef bint leaves

    def __call__(self):
        cdef Job job
        while not self.leaves:
            job = self.next_job()
            if job is None:
                self.lock.acquire()
            else:
                at_work(1)
                try:
                    job.help()
                finally:
                    at_work(-1)
                    job = None

    cdef Job next_job(self):
        """The job that it was called for, or another one that wants help; None if it should sleep."""
        cdef Job job
        cdef Hold section
        hold(&section, <PyObject *> guard)
        try:
            job, self.job = self.job, None
            if job is not None:
                add_int(&job.coming, -1)
            if job is None or not job.wants_help():
                job = neediest()
            if job is None:
                idle.append(self)
            return job
        finally:
            let_go(&section)


cdef int at_work(int change) except -1:
    share_cores(1 + add_int(&busy, change))
    return 0


cdef Job neediest():
    """The innermost job that wants help, or None."""
    cdef Job job, found = None
    for job in list(jobs):      # wants_help() may release the lock
        if (found is None or job.depth > found.depth) and job.wants_help():
            found = job
    return found


cdef int begin_job(Job job) except -1:
    jobs.append(job)
    return 0


cdef int end_job(Job job) except -1:
    jobs.remove(job)
    return 0


cdef int call_worker(Job job, Py_ssize_t most) except -1:
    """Wake a worker for a job, or start one if there are fewer than `most`."""
    cdef Hold section
    hold(&section, <PyObject *> guard)
    try:
        return wake_or_hire(job, most)
    finally:
        let_go(&section)


cdef int wake_or_hire(Job job, Py_ssize_t most) except -1:
    """`call_worker`, with the lock held."""
    cdef Worker worker
    if closed:
        return 0
    if idle:
        worker = <Worker> idle.pop()
        worker.job = job
        add_int(&job.coming, 1)
        worker.lock.release()
    elif len(workers) < most:
        hire(job)
    return 0


cdef int hire(Job job) except -1:
    cdef Worker worker = Worker.__new__(Worker)
    import threading                # most programs don't need it
    if not workers:
        atexit.register(send_home)
    worker.lock = allocate_lock()
    worker.lock.acquire()
    worker.job = job
    add_int(&job.coming, 1)
    workers.append(worker)
    worker.thread = threading.Thread(target=worker, name=f"backward worker {len(workers)}", daemon=True)
    try:
        worker.thread.start()
    except RuntimeError:            # the system has no more threads: go without
        workers.remove(worker)
        add_int(&job.coming, -1)
    return 0


def send_home():
    """send_home(): end the sleeping workers and start no more, at the end of the interpreter."""
    global closed
    cdef Hold section
    cdef Worker worker
    cdef list leaving = []
    hold(&section, <PyObject *> guard)
    try:
        closed = True
        while idle:
            worker = <Worker> idle.pop()
            worker.leaves = True
            leaving.append(worker.thread)
            worker.lock.release()
    finally:
        let_go(&section)
    for thread in leaving:
        thread.join(GOODBYE)


def number_of_workers():
    """number_of_workers() -> int: the number of workers, for tests."""
    return len(workers)


def forget_workers():
    """forget_workers(): clear the lists in a forked child, which has no workers."""
    global busy
    workers.clear()
    idle.clear()
    jobs.clear()
    busy = 0
    share_cores(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_workers)
