"""The number of threads that BLAS uses (knows nothing).

NOTE [BLAS and workers]
OpenBLAS cuts a product into as many parts as it has threads. Its caller yields repeatedly until each thread has come and
computed its part. If another program uses the other core, that takes a whole time slice. Nothing waits for our workers to come
(case 3 of NOTE [Threads]), so they share products, too:
  1. For a product that OpenBLAS would share, its thread count is set to one and restored afterwards. The count belongs to the
     whole process: of several concurrent calls, the first reads it and the last restores it, unless a user set another one
     meanwhile;
  2. BLAS keeps its own count if kernels use one thread, if it uses one thread, or if it isn't an OpenBLAS. Its functions are
     looked up in the library that NumPy's own module is linked with;
  3. A forked child restores the count, too, if another thread held it.
"""

import numpy as np

cdef extern from *:
    """
    #if !defined(AUTOGRAD_CY_ONE_THREAD) && !defined(_WIN32)
    #include <dlfcn.h>
    #include <pthread.h>

    static struct {
        int (*get)(void);           /* both are set, or neither is */
        void (*set)(int);
        int kernels;                /* threads that kernels use */
        int calls;                  /* running calls that hold BLAS to one thread */
        int before;                 /* the thread count that the first of them found */
        pthread_mutex_t mutex;
    } autograd_cy_blas = {.kernels = 1, .mutex = PTHREAD_MUTEX_INITIALIZER};

    /* Look in the library that the module at this path is linked with, whatever its name. */
    static void autograd_cy_find_blas(const char *path) {
        static const char *const names[][2] = {
            {"scipy_openblas_get_num_threads64_", "scipy_openblas_set_num_threads64_"},
            {"scipy_openblas_get_num_threads", "scipy_openblas_set_num_threads"},
            {"openblas_get_num_threads64_", "openblas_set_num_threads64_"},
            {"openblas_get_num_threads", "openblas_set_num_threads"},
        };
        void *module = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
        size_t k;
        for (k = 0; module && k < sizeof names / sizeof *names && !autograd_cy_blas.set; k++) {
            autograd_cy_blas.get = (int (*)(void)) dlsym(module, names[k][0]);
            autograd_cy_blas.set = autograd_cy_blas.get ? (void (*)(int)) dlsym(module, names[k][1]) : NULL;
        }
    }

    static void autograd_cy_kernels_use(int threads) { autograd_cy_blas.kernels = threads; }

    static int autograd_cy_hold_blas(void) {
        int held;
        if (!autograd_cy_blas.set || autograd_cy_blas.kernels == 1)
            return 0;
        pthread_mutex_lock(&autograd_cy_blas.mutex);
        if (autograd_cy_blas.calls == 0) {
            autograd_cy_blas.before = autograd_cy_blas.get();
            if (autograd_cy_blas.before > 1)
                autograd_cy_blas.set(1);
        }
        held = autograd_cy_blas.before > 1;
        autograd_cy_blas.calls += held;
        pthread_mutex_unlock(&autograd_cy_blas.mutex);
        return held;
    }

    static void autograd_cy_let_blas_go(int held) {
        if (!held)
            return;
        pthread_mutex_lock(&autograd_cy_blas.mutex);
        if (--autograd_cy_blas.calls == 0 && autograd_cy_blas.get() == 1)
            autograd_cy_blas.set(autograd_cy_blas.before);
        pthread_mutex_unlock(&autograd_cy_blas.mutex);
    }

    /* The lock is held while the process forks. A child has only the forking thread, which holds no BLAS. */
    static void autograd_cy_before_fork(void) { pthread_mutex_lock(&autograd_cy_blas.mutex); }

    static void autograd_cy_after_fork(void) { pthread_mutex_unlock(&autograd_cy_blas.mutex); }

    static void autograd_cy_blas_in_child(void) {
        if (autograd_cy_blas.calls > 0)
            autograd_cy_blas.set(autograd_cy_blas.before);
        autograd_cy_blas.calls = 0;
        pthread_mutex_unlock(&autograd_cy_blas.mutex);
    }

    static void autograd_cy_start_blas(const char *path) {
        autograd_cy_find_blas(path);
        pthread_atfork(autograd_cy_before_fork, autograd_cy_after_fork, autograd_cy_blas_in_child);
    }

    #else
    static void autograd_cy_start_blas(const char *path) { (void) path; }
    static void autograd_cy_kernels_use(int threads) { (void) threads; }
    static int autograd_cy_hold_blas(void) { return 0; }
    static void autograd_cy_let_blas_go(int held) { (void) held; }
    #endif
    """
    void start_blas "autograd_cy_start_blas"(const char *path)
    void kernels_use_threads "autograd_cy_kernels_use"(int threads) noexcept nogil
    bint hold "autograd_cy_hold_blas"() noexcept nogil
    void let_go "autograd_cy_let_blas_go"(bint held) noexcept nogil


cdef void kernels_use(int threads) noexcept:
    """Must be called when the number of kernel threads changes."""
    kernels_use_threads(threads)


cdef bint hold_blas() noexcept nogil:
    """Hold BLAS to one thread if it has more and can be held; returns whether it did, for let_blas_go()."""
    return hold()


cdef void let_blas_go(bint held) noexcept nogil:
    let_go(held)


def is_held_to_one():
    """Whether products hold BLAS at the moment: for tests."""
    cdef bint held = hold()
    let_go(held)
    return held


def start():
    import os

    start_blas(os.fsencode(getattr(np._core._multiarray_umath, "__file__", "")))


start()
