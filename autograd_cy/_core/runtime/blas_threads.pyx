"""How many threads BLAS uses (knows nothing).

NOTE [BLAS and workers]
OpenBLAS cuts a product into as many parts as it has threads, and its caller waits, giving way again and again, until each of
them has come and has computed its part. Where another program has the other core, that takes as long as its slice of time.
Our workers are waited for by nobody (case 3 of NOTE [Threads]), so they share products, too:
  1. for a product that it would share, OpenBLAS is held to one thread, and told its number again afterwards. That is a number
     of the whole process: of several calls at once, the first sees it and the last gives it back, unless a user set
     another one meanwhile;
  2. nothing is held where kernels use one thread, where BLAS uses one, and where it isn't an OpenBLAS: BLAS then does as it
     likes. Its functions are found in the library that NumPy's own module is linked with;
  3. a forked child is told the number, too, if another thread held it.
"""

import numpy as np

cdef extern from *:
    """
    #if !defined(AUTOGRAD_CY_ONE_THREAD) && !defined(_WIN32)
    #include <dlfcn.h>
    #include <pthread.h>

    static struct {
        int (*get)(void);           /* both, or neither */
        void (*set)(int);
        int kernels;                /* threads that kernels use */
        int calls;                  /* that hold BLAS to one thread at the moment */
        int before;                 /* what the first of them found */
        pthread_mutex_t mutex;
    } autograd_cy_blas = {.kernels = 1, .mutex = PTHREAD_MUTEX_INITIALIZER};

    /* In the library that the module at this path is linked with, whatever its name. */
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

    /* Nobody computes while a process forks; and a child has only the thread that forked, which held nothing. */
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
    """Called when the number of our threads changes."""
    kernels_use_threads(threads)


cdef bint hold_blas() noexcept nogil:
    """Hold BLAS to one thread, if it has more and may be held; whether it is, for let_blas_go()."""
    return hold()


cdef void let_blas_go(bint held) noexcept nogil:
    let_go(held)


def is_held_to_one():
    """Whether products hold BLAS, now: for tests."""
    cdef bint held = hold()
    let_go(held)
    return held


def start():
    import os

    start_blas(os.fsencode(getattr(np._core._multiarray_umath, "__file__", "")))


start()
